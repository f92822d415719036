//! Some results of an expression, or a part of one, as one of its own.

use super::Uncut;
use super::moved::Moved;
use crate::graph::{DimId, Graph, NodeId, Output};
use crate::join::Join;
use std::collections::BTreeMap;
use std::ops::Range;

impl Graph {
    /// Some of the results, by their numbers, of operands whose lengths are known; and which operands they are of.
    pub fn only_results(
        &self,
        results: &[usize],
        length: impl Fn(u16, DimId) -> i64,
    ) -> Result<(Graph, Vec<u16>), Uncut> {
        let all = self.results();
        let partial = |result: &usize| all[*result].outputs.clone().any(|output| self.partial(output).is_some());
        if let Some(result) = results.iter().copied().find(|result| partial(result)) {
            return Err(Uncut::Scattered { result });
        }
        let outputs = results.iter().flat_map(|result| all[*result].outputs.clone());
        let Moved { graph: mut made, kept, nodes } = self.of_outputs(outputs, &length)?;
        for result in results {
            let (joined, first) = (&all[*result], made.outputs.len());
            made.outputs.extend(self.moved_outputs(joined.outputs.clone(), &nodes));
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
        if self.partial(output).is_some() {
            return Err(Uncut::Scattered { result: output });
        }
        let Moved { graph: mut made, kept, nodes } = self.of_outputs(output..output + 1, &length)?;
        made.outputs.extend(self.moved_outputs(output..output + 1, &nodes));
        Ok((made, kept))
    }

    /// What some outputs are made of.
    fn of_outputs(
        &self,
        outputs: impl Iterator<Item = usize>,
        length: &dyn Fn(u16, DimId) -> i64,
    ) -> Result<Moved, Uncut> {
        let needed = self.needed_by(outputs.map(|output| self.outputs[output].node), &[]);
        let kept = self.operands_of(&needed).into_iter().chain(self.lengths_of(&needed)).collect();
        let mut moved = Moved::new(self, kept);
        needed.into_iter().try_for_each(|node| moved.node(self, node, length).map(drop))?;
        moved.pad(self);
        Ok(moved)
    }

    fn moved_outputs(&self, outputs: Range<usize>, nodes: &BTreeMap<NodeId, NodeId>) -> impl Iterator<Item = Output> {
        self.outputs[outputs].iter().map(|it| Output { node: nodes[&it.node], ..it.clone() })
    }
}
