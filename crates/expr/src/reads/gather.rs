//! Reads at any coordinates, which have to lie inside.

use crate::dtype::DType;
use crate::graph::{DimId, Graph, NodeId, Note, Op, Size};

impl Graph {
    /// `source` read at `coords` (`i32`). A coordinate outside is clamped and marks the launch as failed; a literal one is
    /// refused when sizes are known. Dimensions of the result that `sizes` does not name are as long as the coordinates say,
    /// or the source.
    pub fn gather(&mut self, source: NodeId, coords: &[(DimId, NodeId)], sizes: &[(DimId, Size)]) -> NodeId {
        let mut all = self.kept(source, coords);
        all.retain(|(dim, _)| sizes.iter().all(|(d, _)| d != dim));
        all.extend_from_slice(sizes);
        let inside: Vec<(DimId, NodeId)> =
            coords.iter().map(|(dim, coord)| (*dim, self.guarded(source, *dim, *coord))).collect();
        self.at(source, &inside, &all)
    }

    /// `coord` checked to lie inside `source`.
    fn guarded(&mut self, source: NodeId, dim: DimId, coord: NodeId) -> NodeId {
        let size = self.needed(source, dim, 1);
        if let Op::Const(literal) = self.node(coord).op
            && !matches!(size, Size::Node(_))
        {
            let at = literal.get::<i32>();
            self.note(Note::Order(dim, size, at, at));
            return coord;
        }
        let (zero, extent) = (self.int(0), self.extent(size));
        let last = self.last(extent);
        self.push(Op::Guard { value: coord, low: zero, high: last, operand: None }, DType::I32)
    }
}
