//! What blocks keep in shared memory.

use super::tree::operation;
use crate::dtype::DType;
use crate::graph::Graph;
use crate::plan::Plan;
use std::fmt;

/// Values that a block computes once for all its points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// What is kept: the operation that makes it.
    pub operation: String,
    /// Its type.
    pub dtype: DType,
    /// Along each dimension of the block's tile, the places kept: the tile's points and what lies around them.
    pub places: Vec<(&'static str, i64)>,
    /// Bytes of shared memory.
    pub bytes: i64,
}

/// The stages of a plan.
pub(super) fn kept(graph: &Graph, plan: &Plan) -> Vec<Kept> {
    let Some(staging) = &plan.staging else { return Vec::new() };
    let tile = &staging.tile;
    let stage = |stage: &crate::stage::Stage| Kept {
        operation: operation(graph, graph.padded.get(&stage.node).map_or(stage.node, |p| p.source)),
        dtype: stage.dtype,
        places: tile
            .iter()
            .zip(&stage.margins)
            .map(|(t, m)| (graph.dim_name(t.dim), t.points_a_block() + m.places()))
            .collect(),
        bytes: stage.bytes(tile),
    };
    staging.stages.iter().map(stage).collect()
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<String> = self.places.iter().map(|(dim, n)| format!("{dim} = {n}")).collect();
        write!(f, "{} ({}), {} bytes a block: {}", self.dtype, places.join(", "), self.bytes, self.operation)
    }
}
