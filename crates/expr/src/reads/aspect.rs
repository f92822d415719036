//! Pictures resized into a frame of another shape.

use super::filter::Sampling;
use super::resize::Target;
use super::sampled;
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Size, Unary};

/// What becomes of a picture's proportions in a frame of `height` x `width`.
///
/// To preserve them, a picture of `h` x `w` becomes `height` high and `r(height / h * w)` wide, or, if that is more than
/// `width`, `width` wide and `r(width / w * h)` high: all in `f32`, `r` rounding halves up. It stands at
/// `((height - its height) / 2, (width - its width) / 2)`, rounded down, and the rest of the frame is background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aspect {
    /// The picture fills the frame.
    #[default]
    Ignore,
    /// The proportions are preserved, the picture is centred.
    Preserve,
    /// As [`Aspect::Preserve`], with the width that follows from the height made even, or the height that follows from the
    /// width: 1 less where it is odd.
    PreserveRnEven,
    /// As [`Aspect::Preserve`], at the left edge of the frame.
    PreserveLeft,
}

/// Where a picture stands in its frame along one dimension.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: NodeId,
    length: NodeId,
}

impl Graph {
    /// `source` resized into a frame of `height` x `width` with `background` (of the result's type) around it.
    pub fn resize_fit(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, i64),
        (dim_x, width): (DimId, i64),
        sampling: Sampling,
        aspect: Aspect,
        background: NodeId,
    ) -> NodeId {
        if aspect == Aspect::Ignore {
            return self.resize(source, (dim_y, height), (dim_x, width), sampling);
        }
        if !self.legal(dim_y, height, 1) || !self.legal(dim_x, width, 1) {
            return source;
        }
        let (rows, columns) = self.fitted(source, (dim_y, height as i32), (dim_x, width as i32), aspect);
        let (target_y, inside_y) = self.part(dim_y, Size::Const(height), rows);
        let (target_x, inside_x) = self.part(dim_x, Size::Const(width), columns);
        let picture = self.resample(source, dim_x, target_x, sampling);
        let picture = self.resample(picture, dim_y, target_y, sampling);
        let picture = self.cast(picture, sampled(self.node(source).dtype));
        let inside = self.binary(Binary::And, inside_y, inside_x);
        self.select(inside, picture, background)
    }

    /// Rows and columns of the frame that the picture takes.
    fn fitted(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, i32),
        (dim_x, width): (DimId, i32),
        aspect: Aspect,
    ) -> (Part, Part) {
        let (size_y, size_x) = (self.needed(source, dim_y, 1), self.needed(source, dim_x, 1));
        let (from_y, from_x) = (self.extent(size_y), self.extent(size_x));
        let (height, width) = (self.int(height), self.int(width));
        let mut wide = self.proportional(height, from_y, from_x);
        let mut high = self.proportional(width, from_x, from_y);
        if aspect == Aspect::PreserveRnEven {
            (wide, high) = (self.even(wide), self.even(high));
        }
        let too_wide = self.binary(Binary::Gt, wide, width);
        let columns = self.select(too_wide, width, wide);
        let rows = self.select(too_wide, high, height);
        let left = match aspect {
            Aspect::PreserveLeft => self.int(0),
            _ => self.centred(columns, width),
        };
        (Part { first: self.centred(rows, height), length: rows }, Part { first: left, length: columns })
    }

    /// `r(to / from * other)`.
    fn proportional(&mut self, to: NodeId, from: NodeId, other: NodeId) -> NodeId {
        let [to, from, other] = [to, from, other].map(|n| self.cast(n, DType::F32));
        let scale = self.binary(Binary::Div, to, from);
        let length = self.binary(Binary::Mul, scale, other);
        let whole = self.unary(Unary::Trunc, length);
        // Of the rounded product, so not contracted with it.
        let rest = self.rounded(Binary::Sub, length, whole);
        let (half, one) = (self.real(DType::F32, 0.5), self.real(DType::F32, 1.0));
        let up = self.binary(Binary::Ge, rest, half);
        let above = self.binary(Binary::Add, whole, one);
        let length = self.select(up, above, whole);
        self.cast(length, DType::I32)
    }

    fn even(&mut self, n: NodeId) -> NodeId {
        let one = self.int(1);
        let odd = self.binary(Binary::And, n, one);
        self.binary(Binary::Sub, n, odd)
    }

    fn centred(&mut self, length: NodeId, frame: NodeId) -> NodeId {
        let (rest, two) = (self.binary(Binary::Sub, frame, length), self.int(2));
        self.binary(Binary::Div, rest, two)
    }

    /// The samples of a part of the frame along `dim`, and whether a point is in it. Outside, the sample is one of its edges'.
    fn part(&mut self, dim: DimId, size: Size, part: Part) -> (Target, NodeId) {
        let index = self.index(dim);
        let local = self.binary(Binary::Sub, index, part.first);
        let (zero, one) = (self.int(0), self.int(1));
        let (after, before_end) = (self.binary(Binary::Ge, local, zero), self.binary(Binary::Lt, local, part.length));
        let inside = self.binary(Binary::And, after, before_end);
        // A picture that is far too long may take no row at all.
        let samples = self.binary(Binary::Max, part.length, one);
        let last = self.last(samples);
        (Target { index: self.limited(local, zero, last), samples, size }, inside)
    }
}
