//! Samples that are means of what they cover.

use super::resize::Target;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, DimId, Graph, NodeId, Size};
use crate::reduce::Reduction;

impl Graph {
    /// `source` resampled along `dim`, each sample the mean of the pixels that it covers. In units in which a pixel is
    /// `samples` long and a sample `from`, edges are whole numbers, so that weights are exact.
    pub(super) fn covered(&mut self, source: NodeId, dim: DimId, target: Target, real: DType) -> NodeId {
        let size = self.needed(source, dim, 1);
        let extent = self.extent(size);
        let [from, to, index] = [extent, target.samples, target.index].map(|n| self.cast(n, DType::I64));
        let one = self.constant(Scalar::of(1i64));
        let start = self.binary(Binary::Mul, index, from);
        let first = self.binary(Binary::Div, start, to);
        let end = self.binary(Binary::Add, start, from);
        let inside = self.binary(Binary::Sub, end, one);
        let last = self.binary(Binary::Div, inside, to);
        let count = self.binary(Binary::Sub, last, first);
        let count = self.binary(Binary::Add, count, one);
        let [first_pixel, last_pixel, count] = [first, last, count].map(|n| self.cast(n, DType::I32));

        // The pixels of a sample are a dimension of their own, which the sum takes away again.
        let pixels = within(dim);
        let step = self.index(pixels);
        let pixel = self.binary(Binary::Add, first_pixel, step);
        let value = self.at(source, &[(dim, pixel)], &[(dim, target.size)]);
        let value = self.cast(value, real);

        // Only the first pixel and the last one are cut by the sample's ends.
        let after = self.binary(Binary::Add, first, one);
        let after = self.binary(Binary::Mul, after, to);
        let after = self.binary(Binary::Min, after, end);
        let before = self.binary(Binary::Mul, last, to);
        let [of_first, of_last] = [(after, start), (end, before)].map(|(a, b)| self.binary(Binary::Sub, a, b));
        let [of_first, of_last, of_others] = [of_first, of_last, to].map(|weight| self.cast(weight, real));
        let none = self.constant(Scalar::of(0i32));
        let first_step = self.binary(Binary::Eq, step, none);
        let last_step = self.binary(Binary::Eq, pixel, last_pixel);
        let weight = self.select(last_step, of_last, of_others);
        let weight = self.select(first_step, of_first, weight);
        let product = self.rounded(Binary::Mul, weight, value);
        let sum = self.reduce_to(Reduction::Sum, product, pixels, Size::Node(count));
        let whole = self.cast(extent, real);
        let mean = self.rounded(Binary::Div, sum, whole);
        self.at(mean, &[], &[(dim, target.size)])
    }
}

/// The dimension of the pixels that a sample along `dim` covers: an id that no declared dimension has but by a chance of 2^-64.
fn within(dim: DimId) -> DimId {
    dim.rotate_left(29) ^ 0x9e37_79b9_7f4a_7c15
}
