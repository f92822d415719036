//! Pictures resampled to another size.

use super::filter::{Centres, Filter, Sampling};
use super::sampled;
use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, NodeId, Size};

/// What a dimension is resampled to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// Which sample is wanted, from 0 on.
    pub(super) index: NodeId,
    /// How many samples there are, at least 1.
    pub(super) samples: NodeId,
    /// The size of the result.
    pub(super) size: Size,
}

impl Graph {
    /// `source` resampled to `height` x `width` in its floating-point type (`f32` for 8- and 16-bit integers and `f32`, else
    /// `f64`), first along `dim_x`, then along `dim_y`. Pixels outside are the nearest inside.
    pub fn resize(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, i64),
        (dim_x, width): (DimId, i64),
        sampling: impl Into<Sampling>,
    ) -> NodeId {
        if !self.legal(dim_y, height, 1) || !self.legal(dim_x, width, 1) {
            return source;
        }
        let resized =
            self.resize_to(source, (dim_y, Size::Const(height)), (dim_x, Size::Const(width)), sampling.into());
        self.called("resize", &[source], resized)
    }

    /// As [`Graph::resize`], to `factor` times the size: `size * factor` in `f64`, rounded halves to even, and at least 1.
    pub fn resize_by(
        &mut self,
        source: NodeId,
        (dim_y, factor_y): (DimId, f64),
        (dim_x, factor_x): (DimId, f64),
        sampling: impl Into<Sampling>,
    ) -> NodeId {
        for (dim, factor) in [(dim_y, factor_y), (dim_x, factor_x)] {
            if !(factor > 0.0 && factor.is_finite()) {
                let dim = self.dim_name(dim);
                self.fail(Error::Factor { dim, factor });
                return source;
            }
        }
        let (height, width) = (self.times(source, dim_y, factor_y), self.times(source, dim_x, factor_x));
        let resized = self.resize_to(source, (dim_y, height), (dim_x, width), sampling.into());
        self.called("resize", &[source], resized)
    }

    fn times(&mut self, source: NodeId, dim: DimId, factor: f64) -> Size {
        let size = self.needed(source, dim, 1);
        let extent = self.extent(size);
        let (extent, factor) = (self.cast(extent, DType::F64), self.real(DType::F64, factor));
        let product = self.binary(Binary::Mul, extent, factor);
        let (size, one) = (self.cast(product, DType::I32), self.int(1));
        Size::Node(self.binary(Binary::Max, size, one))
    }

    /// `source` with the nearest pixel at each place of `height` x `width`, as it is.
    pub fn resize_nearest(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, i64),
        (dim_x, width): (DimId, i64),
        centres: Centres,
    ) -> NodeId {
        if !self.legal(dim_y, height, 1) || !self.legal(dim_x, width, 1) {
            return source;
        }
        let (height, width) = (self.target(dim_y, Size::Const(height)), self.target(dim_x, Size::Const(width)));
        let sampling = Filter::Nearest.at(centres);
        let columns = self.resample(source, dim_x, width, sampling);
        let resized = self.resample(columns, dim_y, height, sampling);
        self.called("resize", &[source], resized)
    }

    fn resize_to(&mut self, source: NodeId, y: (DimId, Size), x: (DimId, Size), sampling: Sampling) -> NodeId {
        let (height, width) = (self.target(y.0, y.1), self.target(x.0, x.1));
        let columns = self.resample(source, x.0, width, sampling);
        let resized = self.resample(columns, y.0, height, sampling);
        self.cast(resized, sampled(self.node(source).dtype))
    }

    fn target(&mut self, dim: DimId, size: Size) -> Target {
        Target { index: self.index(dim), samples: self.extent(size), size }
    }

    /// `source` resampled along one dimension: in its floating-point type, or, for the nearest pixel, in its own.
    pub(super) fn resample(&mut self, source: NodeId, dim: DimId, target: Target, sampling: Sampling) -> NodeId {
        let size = self.needed(source, dim, 1);
        let from = self.extent(size);
        let sizes = [(dim, target.size)];
        if sampling.filter == Filter::Nearest {
            let at = self.nearest(from, target, sampling.centres);
            return self.at(source, &[(dim, at)], &sizes);
        }
        let real = sampled(self.node(source).dtype);
        if sampling.filter == Filter::Area {
            return self.covered(source, dim, target, real);
        }
        let (zero, last) = (self.int(0), self.last(from));
        let mut place = self.place(from, target, sampling.centres, real);
        if (sampling.filter, sampling.centres) == (Filter::Linear, Centres::Half) {
            let edge = self.real(real, 0.0);
            place = self.binary(Binary::Max, place, edge);
        }
        let (mut pixels, weights) = self.taps(place, sampling.filter, real);
        if let (Filter::Linear, [first, second]) = (sampling.filter, pixels.as_mut_slice()) {
            // Never before the first pixel.
            *first = self.binary(Binary::Min, *first, last);
            let one = self.int(1);
            let next = self.binary(Binary::Add, *first, one);
            *second = self.binary(Binary::Min, next, last);
        } else {
            pixels.iter_mut().for_each(|p| *p = self.limited(*p, zero, last));
        }
        let mut value = |at: &NodeId| {
            let value = self.at(source, &[(dim, *at)], &sizes);
            self.cast(value, real)
        };
        let values: Vec<NodeId> = pixels.iter().map(&mut value).collect();
        self.blend(&weights, &values)
    }

    /// Where a sample lies among the pixels.
    fn place(&mut self, from: NodeId, target: Target, centres: Centres, real: DType) -> NodeId {
        let (from, to) = (self.cast(from, real), self.cast(target.samples, real));
        let scale = self.binary(Binary::Div, from, to);
        let index = self.cast(target.index, real);
        match centres {
            Centres::Corner => self.binary(Binary::Mul, index, scale),
            Centres::Half => {
                let (half, minus_half) = (self.real(real, 0.5), self.real(real, -0.5));
                let centre = self.binary(Binary::Add, index, half);
                self.fma(centre, scale, minus_half)
            }
        }
    }

    /// The pixel that a sample lies in, exactly.
    fn nearest(&mut self, from: NodeId, target: Target, centres: Centres) -> NodeId {
        let [from_wide, mut to, mut index] = [from, target.samples, target.index].map(|n| self.cast(n, DType::I64));
        if centres == Centres::Half {
            index = self.binary(Binary::Add, index, index);
            let one = self.constant(Scalar::of(1i64));
            index = self.binary(Binary::Add, index, one);
            to = self.binary(Binary::Add, to, to);
        }
        let product = self.binary(Binary::Mul, index, from_wide);
        let at = self.binary(Binary::Div, product, to);
        let (at, last) = (self.cast(at, DType::I32), self.last(from));
        self.binary(Binary::Min, at, last)
    }
}
