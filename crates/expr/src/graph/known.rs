//! The graphs of eager expressions that this thread has evaluated, for later ones to follow.

use super::Graph;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Most graphs that a thread keeps.
const KEPT: usize = 256;

thread_local! {
    /// A place is empty while its graph is followed.
    static KNOWN: RefCell<Vec<Option<Box<Graph>>>> = const { RefCell::new(Vec::new()) };
    /// The place of the expression that was evaluated last, and the place that is filled next.
    static LAST: Cell<usize> = const { Cell::new(0) };
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

/// The graph that a new trace starts from: the one that came after the last one before, to be followed, else an empty one.
pub(crate) fn begin() -> Box<Graph> {
    KNOWN.with_borrow_mut(|known| {
        let last = known.get(LAST.get()).and_then(|g| g.as_ref()?.journal.as_ref());
        let graph = last.map(|j| j.after).and_then(|after| known.get_mut(after)?.take());
        let mut graph = graph.unwrap_or_else(|| Box::new(Graph { journal: Some(Box::default()), ..Graph::default() }));
        if let Some(journal) = graph.journal.as_mut().filter(|j| j.made.is_some()) {
            journal.follow(Some(0));
        }
        graph
    })
}

/// Puts another known graph, that `fits` says, in the place of a followed one. Whether there is one.
pub(super) fn exchange(graph: &mut Graph, fits: impl Fn(&Graph, &Graph) -> bool) -> bool {
    let found = KNOWN.with_borrow_mut(|known| {
        known.iter_mut().find(|other| other.as_deref().is_some_and(|other| fits(graph, other)))?.take()
    });
    let Some(mut found) = found else { return false };
    found.trace = graph.trace;
    std::mem::swap(graph, &mut found);
    keep(found);
    true
}

/// Puts a followed graph back to its place.
pub(super) fn keep(graph: Box<Graph>) {
    let Some(place) = graph.journal.as_ref().map(|j| j.place) else { return };
    KNOWN.with_borrow_mut(|known| {
        if let Some(free) = known.get_mut(place).filter(|g| g.is_none()) {
            *free = Some(graph);
        }
    });
}

/// Ends a trace that was equal to a whole known graph: what was made of that.
pub(crate) fn again<K: Any + Send + Sync>(graph: Box<Graph>) -> Result<Arc<K>, Box<Graph>> {
    let made = graph.journal.as_ref().and_then(|j| Some((j.place, j.made.clone()?.downcast().ok()?)));
    let Some((place, made)) = made else { return Err(graph) };
    keep(graph);
    succeed(place);
    Ok(made)
}

/// Ends a new trace: what `make` makes of its graph. Both are kept, if later traces can follow it.
pub(crate) fn learn<K: Any + Send + Sync>(mut graph: Box<Graph>, make: impl FnOnce(Graph) -> Arc<K>) -> Arc<K> {
    let journal = graph.journal.take();
    let made = make((*graph).clone());
    graph.journal = journal;
    remember(graph, made.clone());
    made
}

fn remember(mut graph: Box<Graph>, made: Arc<dyn Any + Send + Sync>) {
    let plain = graph.error.is_none() && graph.joins.is_empty() && graph.partials.is_empty();
    let Some(journal) = graph.journal.as_deref_mut().filter(|_| plain) else { return };
    let place = NEXT.replace((NEXT.get() + 1) % KEPT);
    (journal.place, journal.after, journal.made) = (place, place, Some(made));
    KNOWN.with_borrow_mut(|known| {
        known.resize_with(known.len().max(place + 1), || None);
        known[place] = Some(graph);
    });
    succeed(place);
}

/// Remembers that the expression at `place` followed the one before.
fn succeed(place: usize) {
    let last = LAST.replace(place);
    KNOWN.with_borrow_mut(|known| {
        if let Some(Some(last)) = known.get_mut(last)
            && let Some(journal) = &mut last.journal
        {
            journal.after = place;
        }
    });
}
