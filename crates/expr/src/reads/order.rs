//! Whole dimensions in another order: reversed, permuted, renamed, repeated, turned.

use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, NodeId, Note, Size};

/// Which way the planes of a circular buffer are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaneOrder {
    /// Plane `z` is read from `(first - z) mod n`: `first` is the newest.
    NewestFirst,
    /// Plane `z` is read from `(first + z) mod n`: `first` is the oldest.
    OldestFirst,
}

impl Graph {
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
        self.note(Note::Order(dim, self.size_of(source, dim), order.iter().copied().min().unwrap_or(0), largest));
        let reordered = self.at(source, &[(dim, from)], &[(dim, Size::Const(order.len() as i64))]);
        self.called("reorder", &[source], reordered)
    }

    /// `source` with `dim` running backwards.
    pub fn reverse(&mut self, source: NodeId, dim: DimId) -> NodeId {
        let size = self.needed(source, dim, 0);
        let from = self.backwards(size, dim);
        let reversed = self.at(source, &[(dim, from)], &[(dim, size)]);
        self.called("reverse", &[source], reversed)
    }

    /// The coordinate along `along`, counted from the end of a dimension of this size.
    fn backwards(&mut self, size: Size, along: DimId) -> NodeId {
        let (extent, index) = (self.extent(size), self.index(along));
        let last = self.last(extent);
        self.binary(Binary::Sub, last, index)
    }

    /// `source` turned by `quarters` quarter turns from `dim_x` towards `-dim_y`: anticlockwise, where rows run downwards.
    pub fn rot90(&mut self, source: NodeId, dim_y: DimId, dim_x: DimId, quarters: i32) -> NodeId {
        if quarters.rem_euclid(4) == 0 {
            return source;
        }
        let (size_y, size_x) = (self.needed(source, dim_y, 0), self.needed(source, dim_x, 0));
        let turned = [(dim_y, size_x), (dim_x, size_y)];
        match quarters.rem_euclid(4) {
            1 => {
                let (y, x) = (self.index(dim_x), self.backwards(size_x, dim_y));
                self.at(source, &[(dim_y, y), (dim_x, x)], &turned)
            }
            2 => {
                let (y, x) = (self.backwards(size_y, dim_y), self.backwards(size_x, dim_x));
                self.at(source, &[(dim_y, y), (dim_x, x)], &[(dim_y, size_y), (dim_x, size_x)])
            }
            _ => {
                let (y, x) = (self.backwards(size_y, dim_x), self.index(dim_y));
                self.at(source, &[(dim_y, y), (dim_x, x)], &turned)
            }
        }
    }

    /// The planes of a circular buffer along `dim`, in order from plane `first` (`i32`, any number: it counts modulo the size).
    pub fn rotate_planes(&mut self, source: NodeId, dim: DimId, first: NodeId, order: PlaneOrder) -> NodeId {
        let size = self.needed(source, dim, 1);
        let extent = self.extent(size);
        let (_, first) = self.periods(first, extent);
        let index = self.index(dim);
        let from = match order {
            PlaneOrder::NewestFirst => {
                let from = self.binary(Binary::Sub, first, index);
                let around = self.binary(Binary::Add, from, extent);
                let zero = self.int(0);
                let before = self.binary(Binary::Lt, from, zero);
                self.select(before, around, from)
            }
            PlaneOrder::OldestFirst => {
                // `first + index` need not fit an `i32`.
                let left = self.binary(Binary::Sub, extent, first);
                let (within, around) = (self.binary(Binary::Add, first, index), self.binary(Binary::Sub, index, left));
                let past = self.binary(Binary::Ge, index, left);
                self.select(past, around, within)
            }
        };
        self.at(source, &[(dim, from)], &[(dim, size)])
    }

    /// `source` with its dimension `from` called `to`.
    pub fn rename(&mut self, source: NodeId, from: DimId, to: DimId) -> NodeId {
        let (size, index) = (self.size_of(source, from), self.index(to));
        self.at(source, &[(from, index)], &[(to, size)])
    }

    /// `source` repeated `n` times along a new dimension.
    pub fn repeat(&mut self, source: NodeId, dim: DimId, n: i64) -> NodeId {
        if !self.legal(dim, n, 0) {
            return source;
        }
        self.at(source, &[], &[(dim, Size::Const(n))])
    }
}
