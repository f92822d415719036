//! Transpositions: an operand whose memory runs along another loop than the results' goes through shared memory, so that
//! neighbouring threads read neighbours in the one order and write neighbours in the other.

use super::find::tile;
use super::{Margin, Stage, Staging};
use crate::bind::Place;
use crate::graph::{DimId, Graph, NodeId, Op};
use crate::plan::{Plan, Slot};

/// Shortest loops that are worth it.
const LEAST: i64 = 16;

impl Plan {
    /// Puts the loop along which operands are transposed next to the innermost one, and says what blocks keep of them.
    pub(crate) fn transposed(&mut self, graph: &Graph) -> Option<Staging> {
        let inner = self.inner().filter(|w| w.extent >= LEAST)?.dim;
        // Only what is read where it stands, and by nothing that moves.
        if self.group.is_some()
            || graph.nodes().any(|n| matches!(n.op, Op::At { .. } | Op::Reduce { .. } | Op::Scan { .. }))
        {
            return None;
        }
        let along = self.inputs.iter().find_map(|s| self.across(s, inner))?;
        let from = self.world.iter().position(|w| w.dim == along)?;
        let list: Vec<Stage> = graph.ids().filter_map(|n| self.kept_across(graph, n, (along, inner))).collect();
        let w = self.world.remove(from);
        self.world.insert(self.world.len() - 1, w);
        let found = tile(graph, self, &list).map(|tile| Staging { tile, stages: list, windows: Vec::new() });
        found.filter(|s| s.tile.len() == 2 && s.bytes() <= super::SHARED_BYTES)
    }

    /// The loop that an operand's memory runs along, if it is not the innermost one.
    fn across(&self, slot: &Slot, inner: DimId) -> Option<DimId> {
        if slot.place != Place::Device
            || slot.components != 1
            || slot.stride(inner).is_none_or(|s| s.unsigned_abs() < 2)
        {
            return None;
        }
        let runs = |w: &&crate::plan::WorldDim| slot.stride(w.dim) == Some(1) && w.extent >= LEAST && !w.wide();
        self.world.iter().find(runs).map(|w| w.dim).filter(|dim| *dim != inner)
    }

    /// What is kept of an operand that runs along `along`.
    fn kept_across(&self, graph: &Graph, node: NodeId, (along, inner): (DimId, DimId)) -> Option<Stage> {
        let Op::Input { operand, .. } = graph.node(node).op else { return None };
        let slot = &self.inputs[usize::from(operand)];
        (self.across(slot, inner) == Some(along)).then(|| Stage {
            node,
            dtype: graph.node(node).dtype,
            registers: self.registers.iter().filter(|(d, _)| slot.stride(*d).is_some()).copied().collect(),
            margins: vec![Margin::NONE; 2],
            padded: vec![false; 2],
            last_reader: usize::MAX,
            across: true,
        })
    }
}
