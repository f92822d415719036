//! Some results of an expression, as one of its own.

use super::Uncut;
use super::moved::Moved;
use crate::graph::{DimId, Graph, Output};
use crate::join::Join;

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
        let needed = self.needed_by(outputs.map(|output| self.outputs[output].node), &[]);
        let kept = self.operands_of(&needed).into_iter().chain(self.lengths_of(&needed)).collect();
        let mut moved = Moved::new(self, kept);
        needed.into_iter().try_for_each(|node| moved.node(self, node, &length).map(drop))?;
        moved.pad(self);
        let Moved { graph: mut made, nodes, kept } = moved;
        for result in results {
            let (joined, first) = (&all[*result], made.outputs.len());
            let outputs = &self.outputs[joined.outputs.clone()];
            made.outputs.extend(outputs.iter().map(|it| Output { node: nodes[&it.node], ..it.clone() }));
            let join = joined.along.map(|along| {
                let outputs = first..made.outputs.len();
                Join { outputs, along, dims: joined.dims.into() }
            });
            made.joins.extend(join);
        }
        Ok((made, kept))
    }
}
