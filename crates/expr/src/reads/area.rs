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
        let (zero, one) = (self.constant(Scalar::of(0i64)), self.constant(Scalar::of(1i64)));
        let start = self.binary(Binary::Mul, index, from);
        let first = self.binary(Binary::Div, start, to);
        let end = self.binary(Binary::Add, start, from);
        let inside = self.binary(Binary::Sub, end, one);
        let last = self.binary(Binary::Div, inside, to);
        let count = self.binary(Binary::Sub, last, first);
        let count = self.binary(Binary::Add, count, one);
        let (first_pixel, count) = (self.cast(first, DType::I32), self.cast(count, DType::I32));

        // The pixels of a sample are a dimension of their own, which the sum takes away again.
        let pixels = within(dim);
        let step = self.index(pixels);
        let pixel = self.binary(Binary::Add, first_pixel, step);
        let value = self.at(source, &[(dim, pixel)], &[(dim, target.size)]);
        let value = self.cast(value, real);

        let wide = self.cast(step, DType::I64);
        let number = self.binary(Binary::Add, first, wide);
        let left = self.binary(Binary::Mul, number, to);
        let left = self.binary(Binary::Sub, left, start);
        let right = self.binary(Binary::Add, left, to);
        let (left, right) = (self.binary(Binary::Max, left, zero), self.binary(Binary::Min, right, from));
        let weight = self.binary(Binary::Sub, right, left);
        let weight = self.cast(weight, real);
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
