//! Reads at other coordinates, all built from [`Op::At`]: crop, bilinear resize, reorder, rename.

use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, Inside, NodeId, Op, Size, Unary};

/// Where pixels are sampled when a picture is resized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Centres {
    /// A pixel's sample is at its centre: `s = (x + 0.5) * from / to - 0.5`, clamped to the picture. PyTorch's and
    /// OpenCV's convention.
    #[default]
    Half,
    /// A pixel's sample is at its corner: `s = x * from / to`. OpenCV-CUDA's and the Fused Kernel Library's convention.
    Corner,
}

impl Graph {
    /// The coordinate along `dim`.
    pub fn index(&mut self, dim: DimId) -> NodeId {
        self.push(Op::Index(dim), DType::I32)
    }

    fn int(&mut self, value: i32) -> NodeId {
        self.constant(Scalar::of(value))
    }

    /// Component `component` of a rectangle expression, which reads an operand, perhaps at other coordinates.
    fn component(&mut self, rect: NodeId, component: u8) -> NodeId {
        match self.node(rect).op.clone() {
            Op::Input { operand, .. } => self.input(operand, component),
            Op::At { source, coords, sizes } => {
                let source = self.component(source, component);
                self.at(source, &coords, &sizes)
            }
            _ => rect,
        }
    }

    fn operand_of(&self, node: NodeId) -> Option<u16> {
        match &self.node(node).op {
            Op::Input { operand, .. } => Some(*operand),
            Op::At { source, .. } => self.operand_of(*source),
            _ => None,
        }
    }

    /// `source` seen through boxes: the point (`y`, `x`) of a box is the point (`y + box.y`, `x + box.x`) of `source`.
    /// The result gains the boxes' dimensions; along `dim_y` and `dim_x` it is as long as each box.
    pub fn crop(&mut self, source: NodeId, dim_y: DimId, dim_x: DimId, rect: NodeId) -> NodeId {
        let (size_y, size_x) = (self.needed(source, dim_y, 1), self.needed(source, dim_x, 1));
        let Some(operand) = self.operand_of(rect) else { return source };
        let inside = Inside { boxes: operand, height: size_y, width: size_x };
        if !self.insides.contains(&inside) {
            self.insides.push(inside);
        }
        let (x, width) = self.span(rect, operand, 0, 2, size_x);
        let (y, height) = self.span(rect, operand, 1, 3, size_y);
        let (at_x, at_y) = (self.index(dim_x), self.index(dim_y));
        let (from_x, from_y) = (self.binary(Binary::Add, at_x, x), self.binary(Binary::Add, at_y, y));
        let sizes = [(dim_y, Size::Node(height)), (dim_x, Size::Node(width))];
        let crop = self.at(source, &[(dim_y, from_y), (dim_x, from_x)], &sizes);
        self.called("crop", &[source], crop)
    }

    /// First coordinate and length of a box along one dimension, guarded to lie in `0..size`.
    fn span(&mut self, rect: NodeId, operand: u16, first: u8, length: u8, size: Size) -> (NodeId, NodeId) {
        let (first, length) = (self.component(rect, first), self.component(rect, length));
        let (zero, one, extent) = (self.int(0), self.int(1), self.extent(size));
        let last = self.binary(Binary::Sub, extent, one);
        let first = self.push(Op::Guard { value: first, low: zero, high: last, operand }, DType::I32);
        let room = self.binary(Binary::Sub, extent, first);
        let length = self.push(Op::Guard { value: length, low: one, high: room, operand }, DType::I32);
        (first, length)
    }

    /// `source` resampled to `height` x `width` by bilinear interpolation in its floating-point type (`f32` for 8- and
    /// 16-bit integers and `f32`, else `f64`): `p + f * (q - p)`, first along `dim_x`, then along `dim_y`.
    pub fn resize(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, i64),
        (dim_x, width): (DimId, i64),
        centres: Centres,
    ) -> NodeId {
        for (dim, size) in [(dim_y, height), (dim_x, width)] {
            if size < 1 || size > i64::from(i32::MAX) {
                let dim = self.dim_name(dim);
                self.fail(Error::Size { dim, size });
                return source;
            }
        }
        let real = sampled(self.node(source).dtype);
        let columns = self.resample(source, (dim_x, width), centres, real);
        let resized = self.resample(columns, (dim_y, height), centres, real);
        self.called("resize", &[source], resized)
    }

    /// `source` interpolated along one dimension.
    fn resample(&mut self, source: NodeId, (dim, to): (DimId, i64), centres: Centres, real: DType) -> NodeId {
        let (first, second, fraction) = self.taps(source, dim, to, centres, real);
        let tap = |g: &mut Self, at: NodeId| {
            let value = g.at(source, &[(dim, at)], &[(dim, Size::Const(to))]);
            g.cast(value, real)
        };
        let (first, second) = (tap(self, first), tap(self, second));
        self.lerp(first, second, fraction)
    }

    fn lerp(&mut self, p: NodeId, q: NodeId, f: NodeId) -> NodeId {
        let step = self.binary(Binary::Sub, q, p);
        self.fma(f, step, p)
    }

    /// The two neighbouring coordinates along `dim` and the weight of the second.
    fn taps(&mut self, source: NodeId, dim: DimId, to: i64, centres: Centres, real: DType) -> (NodeId, NodeId, NodeId) {
        let literal = |g: &mut Self, v: f64| {
            let s = if real == DType::F32 { Scalar::of(v as f32) } else { Scalar::of(v) };
            g.constant(s)
        };
        let size = self.needed(source, dim, 1);
        let from = self.extent(size);
        let one = self.int(1);
        let last = self.binary(Binary::Sub, from, one);
        let (from_real, to_real) = (self.cast(from, real), literal(self, to as f64));
        let scale = self.binary(Binary::Div, from_real, to_real);
        let index = self.index(dim);
        let index = self.cast(index, real);
        let at = match centres {
            Centres::Corner => self.binary(Binary::Mul, index, scale),
            Centres::Half => {
                let (half, minus_half, zero) = (literal(self, 0.5), literal(self, -0.5), literal(self, 0.0));
                let centre = self.binary(Binary::Add, index, half);
                let at = self.fma(centre, scale, minus_half);
                self.binary(Binary::Max, at, zero)
            }
        };
        let floor = self.unary(Unary::Floor, at);
        // Not contracted with the product that made `at`: exact as it stands, and never below 0.
        let fraction = self.rounded(Binary::Sub, at, floor);
        let first = self.cast(floor, DType::I32);
        let first = self.binary(Binary::Min, first, last);
        let second = self.binary(Binary::Add, first, one);
        let second = self.binary(Binary::Min, second, last);
        (first, second, fraction)
    }

    /// `source` with index `i` of `dim` read from `order[i]`.
    pub fn reorder(&mut self, source: NodeId, dim: DimId, order: &[i32]) -> NodeId {
        let index = self.index(dim);
        let Some((last, rest)) = order.split_last() else {
            let name = self.dim_name(dim);
            self.fail(Error::Size { dim: name, size: 0 });
            return source;
        };
        let mut from = self.int(*last);
        for (i, value) in rest.iter().enumerate().rev() {
            let (here, value) = (self.int(i as i32), self.int(*value));
            let matches = self.binary(Binary::Eq, index, here);
            from = self.select(matches, value, from);
        }
        let largest = order.iter().copied().max().unwrap_or(0);
        self.orders.push((dim, self.size_of(source, dim), order.iter().copied().min().unwrap_or(0), largest));
        let reordered = self.at(source, &[(dim, from)], &[(dim, Size::Const(order.len() as i64))]);
        self.called("reorder", &[source], reordered)
    }

    /// `source` with `dim` running backwards.
    pub fn reverse(&mut self, source: NodeId, dim: DimId) -> NodeId {
        let size = self.needed(source, dim, 0);
        let (extent, one, index) = (self.extent(size), self.int(1), self.index(dim));
        let last = self.binary(Binary::Sub, extent, one);
        let from = self.binary(Binary::Sub, last, index);
        let reversed = self.at(source, &[(dim, from)], &[(dim, size)]);
        self.called("reverse", &[source], reversed)
    }

    /// `source` with its dimension `from` called `to`.
    pub fn rename(&mut self, source: NodeId, from: DimId, to: DimId) -> NodeId {
        let (size, index) = (self.size_of(source, from), self.index(to));
        self.at(source, &[(from, index)], &[(to, size)])
    }

    /// `source` repeated `n` times along a new dimension.
    pub fn repeat(&mut self, source: NodeId, dim: DimId, n: i64) -> NodeId {
        if n < 0 || n > i64::from(i32::MAX) {
            let dim = self.dim_name(dim);
            self.fail(Error::Size { dim, size: n });
            return source;
        }
        self.at(source, &[], &[(dim, Size::Const(n))])
    }
}

/// The floating-point type in which values of a type are interpolated.
pub fn sampled(dtype: DType) -> DType {
    match dtype {
        DType::I32 | DType::U32 | DType::I64 | DType::U64 | DType::F64 => DType::F64,
        _ => DType::F32,
    }
}
