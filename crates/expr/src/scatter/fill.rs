//! What gives the places of a result their first value: a store of one literal, in a launch before.

use super::Initial;
use crate::graph::{Graph, Output};

/// For each output whose places get a value first, its number and a graph that stores that value everywhere.
pub(crate) fn fills(graph: &Graph) -> Vec<(usize, Graph)> {
    let mut all = Vec::new();
    for (output, partial) in &graph.partials {
        let Initial::Filled(initial) = partial.initial else { continue };
        let mut fill = Graph::default();
        graph.names().iter().for_each(|(dim, name)| fill.name_dim(*dim, name));
        let node = fill.constant(initial);
        fill.outputs.push(Output { node, dims: graph.outputs[*output].dims.clone() });
        all.push((*output, fill));
    }
    all
}
