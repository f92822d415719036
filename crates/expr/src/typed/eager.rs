//! Eager expressions: a trace per thread that opens with the first tensor used and ends with the evaluation.
//!
//! The same expression again finds what was made of it by its steps alone (`graph/journal.rs`): no graph is built.

use super::expr::Expr;
use super::trace::{Outputs, TraceId, begin, current, end, operand, with};
use crate::dtype::Element;
use crate::graph::{Graph, known};
use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use tilewright_dims::Set;

thread_local! {
    static TRACE: Cell<TraceId> = const { Cell::new(0) };
}

/// The trace that is open on this thread, if one is.
pub fn open() -> Option<u64> {
    current()
}

/// The next operand of the thread's eager trace, which is opened if need be; with the operand's number.
pub fn input<T: Element, S: Set>() -> (u16, Expr<T, S>) {
    if current().is_none_or(|id| id != TRACE.get()) {
        TRACE.set(begin(known::begin()));
    }
    let id = TRACE.get();
    let mut number = 0;
    let node = with(id, |g| {
        number = operand::<T, S>(g);
        g.input(number, 0)
    });
    (number, Expr::new(node, id))
}

/// Ends the thread's eager trace with these results, and gives what `make` makes of its graph, or made of an equal one before.
pub fn finish<O: Outputs, K: Any + Send + Sync>(outputs: &O, make: impl FnOnce(Graph) -> Arc<K>) -> Arc<K> {
    let id = TRACE.replace(0);
    let mut graph = end(id);
    let stored = |graph: &Graph| {
        let mut results = 0;
        outputs.are_in(graph, id, &mut results) && results == graph.outputs.len()
    };
    if graph.ends(stored) {
        match known::again(graph) {
            Ok(made) => return made,
            Err(other) => graph = other,
        }
    }
    graph.write_on();
    outputs.declare(&mut graph, id);
    known::learn(graph, make)
}
