//! Which outputs can be scattered at all, once sizes are known.

use crate::bind::Binding;
use crate::graph::{Graph, Output};

/// The graph with every histogram computed the general way whose source has no size that a loop can have: boxes that differ, or
/// that the device alone knows. `None` where nothing is to be changed.
pub(crate) fn resolve(graph: &Graph, binding: &Binding<'_>) -> Option<Graph> {
    let open = |world: &[(u64, crate::graph::Size)]| world.iter().any(|(d, size)| binding.size(*d, *size).is_err());
    let general = |(output, partial): (&usize, &super::Partial)| {
        let node = partial.general.filter(|_| open(&partial.world))?;
        Some((*output, Output { node, dims: partial.shown.clone() }))
    };
    let replaced: Vec<(usize, Output)> = graph.partials.iter().filter_map(general).collect();
    if replaced.is_empty() {
        return None;
    }
    let mut resolved = graph.clone();
    for (output, plain) in replaced {
        resolved.outputs[output] = plain;
        resolved.partials.remove(&output);
    }
    Some(resolved)
}
