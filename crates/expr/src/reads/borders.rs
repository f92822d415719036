//! What lies outside of a picture.

use crate::graph::{Binary, DimId, Graph, NodeId, Size};

/// What a read outside of `0..n` gives. Shown for `abcdefgh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Border<T> {
    /// A value: `vvv|abcdefgh|vvv`.
    Constant(T),
    /// The nearest inside: `aaa|abcdefgh|hhh`.
    Replicate,
    /// Mirrored at the edge, with period `2n`: `cba|abcdefgh|hgf`.
    Reflect,
    /// Mirrored at the outermost pixel, with period `2n - 2`: `dcb|abcdefgh|gfe`. Where `n` is 1, that pixel.
    Reflect101,
    /// Repeated, with period `n`: `fgh|abcdefgh|abc`.
    Wrap,
}

impl<T> Border<T> {
    /// The same border with another constant.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Border<U> {
        match self {
            Border::Constant(value) => Border::Constant(f(value)),
            Border::Replicate => Border::Replicate,
            Border::Reflect => Border::Reflect,
            Border::Reflect101 => Border::Reflect101,
            Border::Wrap => Border::Wrap,
        }
    }
}

/// A coordinate that was brought inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    /// In `0..n`, whatever the coordinate.
    pub(super) at: NodeId,
    /// Whether the coordinate was there before, for a constant border.
    pub(super) was: Option<NodeId>,
}

impl Graph {
    /// `source` read at `coords` (any `i32`), where a border stands around it. A constant holds where any coordinate is
    /// outside. Dimensions of the result that `sizes` does not name are as long as the coordinates say, or the source.
    pub fn at_border(
        &mut self,
        source: NodeId,
        coords: &[(DimId, NodeId)],
        sizes: &[(DimId, Size)],
        border: Border<NodeId>,
    ) -> NodeId {
        let mut all = self.kept(source, coords);
        all.retain(|(dim, _)| sizes.iter().all(|(d, _)| d != dim));
        all.extend_from_slice(sizes);
        let inside: Vec<(DimId, Inside)> =
            coords.iter().map(|(dim, coord)| (*dim, self.inside(source, *dim, *coord, border))).collect();
        self.at_inside(source, &inside, &all, border)
    }

    /// `source` at coordinates that were brought inside, or the border's constant.
    pub(super) fn at_inside(
        &mut self,
        source: NodeId,
        coords: &[(DimId, Inside)],
        sizes: &[(DimId, Size)],
        border: Border<NodeId>,
    ) -> NodeId {
        let places: Vec<(DimId, NodeId)> = coords.iter().map(|(dim, inside)| (*dim, inside.at)).collect();
        let value = self.at(source, &places, sizes);
        let was = coords.iter().filter_map(|(_, inside)| inside.was);
        let was = was.reduce(|a, b| self.binary(Binary::And, a, b));
        match (was, border) {
            (Some(was), Border::Constant(outside)) => self.select(was, value, outside),
            _ => value,
        }
    }

    /// Brings a coordinate along `dim` into `source`.
    pub(super) fn inside(&mut self, source: NodeId, dim: DimId, coord: NodeId, border: Border<NodeId>) -> Inside {
        let size = self.needed(source, dim, 1);
        let extent = self.extent(size);
        self.within(extent, coord, border)
    }

    /// Brings a coordinate into `0..extent`.
    pub(super) fn within(&mut self, extent: NodeId, coord: NodeId, border: Border<NodeId>) -> Inside {
        let (zero, last) = (self.int(0), self.last(extent));
        let always = |at| Inside { at, was: None };
        match border {
            Border::Constant(_) => {
                let (above, below) = (self.binary(Binary::Ge, coord, zero), self.binary(Binary::Lt, coord, extent));
                let was = self.binary(Binary::And, above, below);
                Inside { at: self.limited(coord, zero, last), was: Some(was) }
            }
            Border::Replicate => always(self.limited(coord, zero, last)),
            Border::Wrap => always(self.periods(coord, extent).1),
            Border::Reflect => always(self.mirrored(coord, extent, last)),
            Border::Reflect101 => {
                // A single pixel has no neighbour to mirror.
                let one = self.int(1);
                let period = self.binary(Binary::Max, last, one);
                let at = self.mirrored(coord, period, period);
                always(self.binary(Binary::Min, at, last))
            }
        }
    }

    /// Within its run of `length`, counted forwards in even runs and from `start` backwards in odd ones. (The period, two
    /// runs, need not fit an `i32`.)
    fn mirrored(&mut self, coord: NodeId, length: NodeId, start: NodeId) -> NodeId {
        let (runs, rest) = self.periods(coord, length);
        let back = self.binary(Binary::Sub, start, rest);
        let (zero, one) = (self.int(0), self.int(1));
        let odd = self.binary(Binary::And, runs, one);
        let odd = self.binary(Binary::Ne, odd, zero);
        self.select(odd, back, rest)
    }

    /// `coord / length` rounded down, and what is left, in `0..length`.
    pub(crate) fn periods(&mut self, coord: NodeId, length: NodeId) -> (NodeId, NodeId) {
        let runs = self.binary(Binary::Div, coord, length);
        let whole = self.binary(Binary::Mul, runs, length);
        let rest = self.binary(Binary::Sub, coord, whole);
        let (zero, one) = (self.int(0), self.int(1));
        let below = self.binary(Binary::Lt, rest, zero);
        let (runs_below, rest_below) = (self.binary(Binary::Sub, runs, one), self.binary(Binary::Add, rest, length));
        (self.select(below, runs_below, runs), self.select(below, rest_below, rest))
    }

    /// `source` with `before` more indices before `dim` and `after` more behind, which a border gives.
    pub fn pad(&mut self, source: NodeId, dim: DimId, (before, after): (i64, i64), border: Border<NodeId>) -> NodeId {
        if !self.legal(dim, before, 0)
            || !self.legal(dim, after, 0)
            || !self.legal(dim, before.saturating_add(after), 0)
        {
            return source;
        }
        let size = match self.needed(source, dim, 1) {
            Size::Const(n) => Size::Const(n + before + after),
            size => {
                let (extent, more) = (self.extent(size), self.int((before + after) as i32));
                Size::Node(self.binary(Binary::Add, extent, more))
            }
        };
        if let Size::Const(n) = size
            && !self.legal(dim, n, 1)
        {
            return source;
        }
        let (index, before) = (self.index(dim), self.int(before as i32));
        let coord = self.binary(Binary::Sub, index, before);
        self.at_border(source, &[(dim, coord)], &[(dim, size)], border)
    }
}
