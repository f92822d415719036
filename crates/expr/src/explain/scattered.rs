//! Results whose places are computed, or not all stored.

use crate::graph::{Graph, NodeId};
use crate::plan::Plan;
use crate::scatter::{Collision, Initial};
use std::fmt;

/// How a section scatters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatters {
    /// What values that meet become.
    pub collision: Collision,
    /// The places that each block has in shared memory first, their bytes, and the tiles that it goes along; where it has none,
    /// values meet in the result.
    pub private: Option<[i64; 3]>,
}

impl Scatters {
    pub(super) fn new(graph: &Graph, plan: &Plan) -> Option<Scatters> {
        let partial = graph.partials.values().find(|p| !p.places.is_empty())?;
        let private = plan.private.as_ref().map(|p| [p.places(), p.bytes(), p.turns(plan)]);
        Some(Scatters { collision: partial.collision, private })
    }
}

impl fmt::Display for Scatters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.collision {
            Collision::Unique => write!(f, "each value to a place of its own"),
            collision => write!(f, "values that meet become one by {}", collision.name()),
        }?;
        match self.private {
            Some([places, bytes, turns]) => {
                let tiles = if turns == 1 { "its tile".to_string() } else { format!("its {turns} tiles") };
                write!(f, ", in {places} places ({bytes} bytes) of each block first, for {tiles}")
            }
            None => write!(f, ", in the result"),
        }
    }
}

/// The results whose places get a value in a launch before.
pub(super) fn filled(graph: &Graph) -> Vec<usize> {
    let outputs = graph.partials.iter().filter(|(_, p)| matches!(p.initial, Initial::Filled(_))).map(|(o, _)| *o);
    outputs.filter_map(|o| graph.results().iter().position(|r| r.outputs.contains(&o))).collect()
}

/// What stands above the parts of an output, and the parts.
pub(super) fn titles(graph: &Graph, output: usize, title: &str) -> Vec<(String, NodeId)> {
    let node = graph.outputs[output].node;
    let Some(partial) = graph.partial(output) else { return vec![(title.to_string(), node)] };
    let what = if partial.places.is_empty() { "stored under a condition" } else { "scattered" };
    let mut all = vec![(format!("{title}, {what}"), node)];
    all.extend(partial.places.iter().map(|p| (format!("at {}", graph.dim_name(p.dim)), p.coord)));
    all.extend(partial.condition.map(|c| ("where".to_string(), c)));
    all
}
