//! What cannot be a function of a point, and what to do instead.

use super::{Caller, LANES};
use crate::collective::{SERIAL, Shared};
use crate::graph::{DimId, Graph, NodeId, Op};
use thiserror::Error;

/// Why an expression cannot stand inside of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The name is none that C++ takes.
    #[error(
        "`{name}` cannot be the name of a function; use letters, digits and `_`, with a letter first and no `__`, of at most {limit} characters"
    )]
    Name {
        /// The name.
        name: String,
        /// The most characters.
        limit: usize,
    },
    /// So many points at once are not possible.
    #[error("a function has 1, 2, 4 or 8 points at once, got {lanes}; more than 1 need a dimension to stand along")]
    Lanes {
        /// How many were asked for.
        lanes: u32,
    },
    /// The expression has several results, or none.
    #[error(
        "the expression has {got} results, a kernel takes 1 value from a function; store one of them, and inline the others under names of their own"
    )]
    Results {
        /// How many it has.
        got: usize,
    },
    /// A result consists of parts.
    #[error(
        "the expression joins {parts} parts along dimension `{dim}`, each of which a kernel would compute alone; store the result of `concatenate` first, and read that"
    )]
    Joined {
        /// The dimension.
        dim: &'static str,
        /// How many.
        parts: usize,
    },
    /// Places are computed, or not every place is stored.
    #[error(
        "the expression decides where along dimension `{dim}` its values are stored, which is the kernel's to decide; `.store` the values, and scatter what the kernel stored in a call of its own"
    )]
    Scattered {
        /// The dimension.
        dim: &'static str,
    },
    /// A dimension of the expression is none of the kernel's points.
    #[error(
        "the expression stores dimension `{dim}`, which the kernel's points over ({points}) lack; `.rename::<{dim}, _>()` it to one of those, or reduce it"
    )]
    Beyond {
        /// The dimension.
        dim: &'static str,
        /// Those of the kernel.
        points: String,
    },
    /// The expression lacks a dimension of the kernel's points.
    #[error(
        "the kernel's points over ({points}) have dimension `{dim}`, which the expression over ({stored}) does not store; store it too: an operand without it does not vary along it"
    )]
    Lacks {
        /// The dimension.
        dim: &'static str,
        /// Those of the kernel.
        points: String,
        /// Those of the expression.
        stored: String,
    },
    /// A dimension stands twice among those of the points.
    #[error("dimension `{dim}` stands twice among the kernel's points over ({points}); `rename` one of its two roles")]
    Twice {
        /// The dimension.
        dim: &'static str,
        /// Those of the kernel.
        points: String,
    },
    /// Threads would have to share a reduction.
    #[error(
        "the expression reduces {values} values along dimension `{dim}`, and a point takes at most {limit} by itself; reduce it in a call of its own, and read the result as an operand"
    )]
    Reduced {
        /// The dimension, the first if there are several.
        dim: &'static str,
        /// How many.
        values: i64,
        /// The most that a thread takes.
        limit: i64,
    },
    /// Threads would have to share a scan.
    #[error(
        "the expression scans dimension `{dim}`, of which a kernel has one point at a time; scan in a call of its own, and read the result as an operand"
    )]
    Scanned {
        /// The dimension.
        dim: &'static str,
    },
    /// There is no such operand.
    #[error("operand {operand} is said to be given, but the expression has {operands}, counted from 0")]
    NoOperand {
        /// The number.
        operand: u16,
        /// How many there are.
        operands: usize,
    },
    /// The given operand's elements are no single values.
    #[error(
        "operand {operand} is given, but its elements have {components} components; a kernel passes one value, the others are read from memory"
    )]
    Element {
        /// The operand.
        operand: u16,
        /// How many.
        components: u8,
    },
    /// The given operand and the points have different dimensions.
    #[error(
        "operand {operand} is given at points over ({points}), and differs from them in dimension `{dim}`; declare it over exactly those"
    )]
    Given {
        /// The operand.
        operand: u16,
        /// The dimension.
        dim: &'static str,
        /// Those of the kernel.
        points: String,
    },
    /// The given operand is read elsewhere.
    #[error(
        "operand {operand} is given, so there is its value at the point alone, but the expression reads it at another `{dim}`; store it and read it in a call of its own, or leave out what moves it along `{dim}`"
    )]
    Elsewhere {
        /// The operand.
        operand: u16,
        /// The dimension.
        dim: &'static str,
    },
}

/// Refuses what no size can mend.
pub(super) fn check(graph: &Graph, caller: &Caller<'_>) -> Result<(), Refusal> {
    let lanes = caller.lanes;
    if !LANES.contains(&lanes) || (lanes > 1 && caller.points.is_empty()) {
        return Err(Refusal::Lanes { lanes });
    }
    results(graph)?;
    dimensions(graph, caller)?;
    scans(graph)?;
    caller.given.map_or(Ok(()), |operand| given(graph, caller, operand))
}

fn results(graph: &Graph) -> Result<(), Refusal> {
    let results = graph.results();
    let [result] = results.as_slice() else { return Err(Refusal::Results { got: results.len() }) };
    if let Some(along) = result.along {
        return Err(Refusal::Joined { dim: graph.dim_name(along), parts: result.outputs.len() });
    }
    let Some(partial) = graph.partial(0) else { return Ok(()) };
    let computed = |d: &&DimId| partial.places.iter().any(|p| p.dim == partial.inner_dim(**d));
    let dim = partial.shown.iter().find(computed).or(partial.shown.first());
    Err(Refusal::Scattered { dim: dim.map_or("?", |d| graph.dim_name(*d)) })
}

fn dimensions(graph: &Graph, caller: &Caller<'_>) -> Result<(), Refusal> {
    let (stored, points) = (&graph.outputs[0].dims, names(caller));
    if let Some(dim) = stored.iter().find(|d| caller.points.iter().all(|(p, ..)| p != *d)) {
        return Err(Refusal::Beyond { dim: graph.dim_name(*dim), points });
    }
    if let Some((_, dim, _)) = caller.points.iter().find(|(p, ..)| !stored.contains(p)) {
        let stored: Vec<&str> = stored.iter().map(|d| graph.dim_name(*d)).collect();
        return Err(Refusal::Lacks { dim, points, stored: stored.join(", ") });
    }
    let count = |dim: DimId| caller.points.iter().filter(|(d, ..)| *d == dim).count();
    match caller.points.iter().find(|(p, ..)| count(*p) > 1) {
        Some((_, dim, _)) => Err(Refusal::Twice { dim, points }),
        None => Ok(()),
    }
}

fn scans(graph: &Graph) -> Result<(), Refusal> {
    let (mut seen, mut stack) = (vec![false; graph.len()], vec![graph.outputs[0].node]);
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[node.0 as usize], true) {
            continue;
        }
        let op = &graph.node(node).op;
        if let Op::Scan { dim, .. } = op {
            return Err(Refusal::Scanned { dim: graph.dim_name(*dim) });
        }
        op.for_each_arg(|a: NodeId| stack.push(a));
    }
    Ok(())
}

fn given(graph: &Graph, caller: &Caller<'_>, operand: u16) -> Result<(), Refusal> {
    let Some(spec) = graph.operands.get(usize::from(operand)) else {
        return Err(Refusal::NoOperand { operand, operands: graph.operands.len() });
    };
    if spec.components != 1 {
        return Err(Refusal::Element { operand, components: spec.components });
    }
    let more = spec.dims.iter().find(|d| caller.points.iter().all(|(p, ..)| p != *d)).map(|d| graph.dim_name(*d));
    let fewer = || caller.points.iter().find(|(p, ..)| !spec.dims.contains(p)).map(|(_, name, _)| *name);
    match more.or_else(fewer) {
        Some(dim) => Err(Refusal::Given { operand, dim, points: names(caller) }),
        None => Ok(()),
    }
}

fn names(caller: &Caller<'_>) -> String {
    let names: Vec<&str> = caller.points.iter().map(|(_, name, _)| *name).collect();
    names.join(", ")
}

/// A reduction that threads would share.
pub(super) fn shared(graph: &Graph, shared: &Shared) -> Refusal {
    let dim = shared.dims.first().map_or("?", |(d, _)| graph.dim_name(*d));
    Refusal::Reduced { dim, values: shared.dims.iter().map(|(_, n)| n).product(), limit: SERIAL }
}
