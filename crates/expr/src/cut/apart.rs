//! Some results of an expression, or a part of one, as one of its own.

use super::Uncut;
use super::moved::Moved;
use crate::graph::{DimId, Graph, NodeId};
use crate::join::Join;

impl Graph {
    /// Some of the results, by their numbers, of operands whose lengths are known; and which operands they are of.
    pub fn only_results(
        &self,
        results: &[usize],
        length: impl Fn(u16, DimId) -> i64,
    ) -> Result<(Graph, Vec<u16>), Uncut> {
        let all = self.results();
        let outputs = results.iter().flat_map(|result| all[*result].outputs.clone());
        let Moved { graph: mut made, kept, nodes, .. } =
            self.alone(outputs.flat_map(|output| self.roots(output)), &length)?;
        for result in results {
            let (joined, first) = (&all[*result], made.outputs.len());
            joined.outputs.clone().for_each(|output| made.store_moved(self, output, |node| nodes[&node]));
            let join = joined.along.map(|along| {
                let outputs = first..made.outputs.len();
                Join { outputs, along, dims: joined.dims.into() }
            });
            made.joins.extend(join);
        }
        Ok((made, kept))
    }

    /// One output alone, which may be a part of a result; and which operands it is of.
    pub fn only_part(&self, output: usize, length: impl Fn(u16, DimId) -> i64) -> Result<(Graph, Vec<u16>), Uncut> {
        let Moved { graph: mut made, kept, nodes, .. } = self.alone(self.roots(output).into_iter(), &length)?;
        made.store_moved(self, output, |node| nodes[&node]);
        Ok((made, kept))
    }

    /// Some nodes, and all that they are made from.
    pub(super) fn alone(
        &self,
        nodes: impl Iterator<Item = NodeId>,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Moved, Uncut> {
        let needed = self.needed_by(nodes, &[]);
        let kept = self.operands_of(&needed).into_iter().chain(self.lengths_of(&needed)).collect();
        let mut moved = Moved::new(self, kept);
        needed.into_iter().try_for_each(|node| moved.node(self, node, length).map(drop))?;
        moved.pad(self);
        Ok(moved)
    }
}
