//! What stands a few pixels away: the taps of a stencil.
//!
//! A source with a border is one node, defined at every coordinate; each tap reads it at the coordinates and a literal. So all
//! taps of a window have the same source, which is computed once where a kernel can keep it.

use super::borders::{Border, Inside};
use crate::dtype::Scalar;
use crate::graph::{Binary, DimId, Graph, NodeId, Size};

/// A node that goes on beyond its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Padded {
    /// What it is inside.
    pub(crate) source: NodeId,
    /// Where it is read along each dimension with a border: a function of the coordinate along that dimension.
    pub(crate) coords: Box<[(DimId, NodeId)]>,
    /// Whether a coordinate outside is brought no farther inside than it was outside, or to the edge.
    pub(crate) near: bool,
}

impl Padded {
    /// The same in a graph where nodes have other numbers.
    pub(crate) fn moved(&self, node: impl Fn(NodeId) -> NodeId) -> Padded {
        let coords = self.coords.iter().map(|(dim, coord)| (*dim, node(*coord))).collect();
        Padded { source: node(self.source), coords, near: self.near }
    }
}

impl Graph {
    /// `source` at coordinates that lie `by` away, along each dimension that is named: the value at coordinate `c` is that of
    /// `source` at `c + k`, and outside of `source` the border's. The result has the shape of `source`.
    ///
    /// The taps of one window share what they read if they name the same dimensions, those with a distance of 0 too.
    pub fn shifted(&mut self, source: NodeId, by: &[(DimId, i32)], border: Border<NodeId>) -> NodeId {
        let by: Vec<(DimId, i32)> =
            by.iter().filter(|(dim, _)| self.node(source).shape.iter().any(|(d, _)| d == dim)).copied().collect();
        if by.is_empty() {
            return source;
        }
        let dims: Vec<DimId> = by.iter().map(|(dim, _)| *dim).collect();
        let padded = self.padded(source, &dims, border);
        let sizes: Vec<(DimId, Size)> = dims.iter().map(|dim| (*dim, self.size_of(source, *dim))).collect();
        let coords: Vec<(DimId, NodeId)> = by.iter().map(|(dim, k)| (*dim, self.away(*dim, *k))).collect();
        self.at(padded, &coords, &sizes)
    }

    /// The coordinate along `dim`, and `k` more.
    fn away(&mut self, dim: DimId, k: i32) -> NodeId {
        let index = self.index(dim);
        if k == 0 {
            return index;
        }
        let k = self.constant(Scalar::of(k));
        self.binary(Binary::Add, index, k)
    }

    /// `source` with a border along `dims`, at any coordinates along these.
    fn padded(&mut self, source: NodeId, dims: &[DimId], border: Border<NodeId>) -> NodeId {
        let mut inside: Vec<(DimId, Inside)> = Vec::with_capacity(dims.len());
        let mut sizes: Vec<(DimId, Size)> = Vec::with_capacity(dims.len());
        for dim in dims {
            // An empty source has an empty result: nothing is read.
            let size = self.needed(source, *dim, 0);
            let (extent, index) = (self.extent(size), self.index(*dim));
            inside.push((*dim, self.within(extent, index, border)));
            sizes.push((*dim, size));
        }
        let padded = self.at_inside(source, &inside, &sizes, border);
        let coords = inside.iter().map(|(dim, inside)| (*dim, inside.at)).collect();
        let near = !matches!(border, Border::Wrap);
        if !self.is_followed() {
            self.padded.insert(padded, Padded { source, coords, near });
        }
        padded
    }
}
