//! Tracing: a closure over expressions runs once and leaves a graph.

use super::expr::Expr;
use crate::dtype::{Element, Scalar};
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, OperandSpec};
use crate::scatter::Scattering;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use tilewright_dims::{Dims, Set};

/// Identifies a trace within its thread; 0 is none.
pub(super) type TraceId = u64;

thread_local! {
    static OPEN: RefCell<Vec<(TraceId, Box<Graph>)>> = const { RefCell::new(Vec::new()) };
    static LAST: Cell<TraceId> = const { Cell::new(0) };
}

/// The innermost open trace.
pub(super) fn current() -> Option<TraceId> {
    OPEN.with_borrow(|open| open.last().map(|(id, _)| *id))
}

/// Extends the innermost trace. An expression of another trace marks it as failed.
pub(super) fn with(trace: TraceId, f: impl FnOnce(&mut Graph) -> NodeId) -> NodeId {
    OPEN.with_borrow_mut(|open| match open.last_mut() {
        Some((id, graph)) if *id == trace => f(graph),
        Some((_, graph)) => graph.stale(),
        None => NodeId(0),
    })
}

pub(super) fn begin(mut graph: Box<Graph>) -> TraceId {
    let id = LAST.get() + 1;
    graph.trace = id;
    LAST.set(id);
    OPEN.with_borrow_mut(|open| open.push((id, graph)));
    id
}

pub(super) fn end(id: TraceId) -> Box<Graph> {
    OPEN.with_borrow_mut(|open| {
        let at = open.iter().rposition(|(i, _)| *i == id);
        at.map(|at| open.remove(at).1).unwrap_or_default()
    })
}

/// Ends a trace even if the closure panics.
struct Guard(TraceId);
impl Drop for Guard {
    fn drop(&mut self) {
        end(self.0);
    }
}

/// A result: an expression under the layout `L`.
#[must_use = "a store does nothing until it is returned from the closure given to `fuse`, or evaluated"]
pub struct Out<T, L> {
    stored: Stored,
    _types: PhantomData<(T, L)>,
}

/// What a result is made of.
#[derive(Debug)]
enum Stored {
    /// An expression.
    One(NodeId, TraceId),
    /// Expressions one after the other along a dimension.
    Joined((DimId, &'static str), Vec<(NodeId, TraceId)>),
    /// Values that go to computed places.
    Scattered(Box<Scattering>, TraceId),
    /// An expression where another, a condition, holds, and what is elsewhere in a new tensor.
    Under([NodeId; 2], Scalar, TraceId),
}

impl<T, L> Out<T, L> {
    pub(super) fn new(node: NodeId, trace: TraceId) -> Self {
        Out { stored: Stored::One(node, trace), _types: PhantomData }
    }

    pub(super) fn joined(along: (DimId, &'static str), parts: Vec<(NodeId, TraceId)>) -> Self {
        Out { stored: Stored::Joined(along, parts), _types: PhantomData }
    }

    pub(super) fn scattered(scattering: Scattering, trace: TraceId) -> Self {
        Out { stored: Stored::Scattered(Box::new(scattering), trace), _types: PhantomData }
    }

    pub(super) fn under((node, condition): (NodeId, NodeId), initial: Scalar, trace: TraceId) -> Self {
        Out { stored: Stored::Under([node, condition], initial, trace), _types: PhantomData }
    }
}

impl<T, L> std::fmt::Debug for Out<T, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Out({:?})", self.stored)
    }
}

/// Expressions, or what is stored of them: one, or a tuple of two to four.
pub trait Traceable {
    /// Their nodes, each with its trace.
    fn nodes(&self) -> Vec<(NodeId, u64)>;
}

impl<T, S> Traceable for Expr<T, S> {
    fn nodes(&self) -> Vec<(NodeId, u64)> {
        vec![(self.node, self.trace)]
    }
}

impl<T, L> Traceable for Out<T, L> {
    fn nodes(&self) -> Vec<(NodeId, u64)> {
        match &self.stored {
            Stored::One(node, trace) => vec![(*node, *trace)],
            Stored::Joined(_, parts) => parts.clone(),
            Stored::Scattered(scattering, trace) => vec![(scattering.value, *trace)],
            Stored::Under([node, _], _, trace) => vec![(*node, *trace)],
        }
    }
}

/// Says that `made` is what `name` makes of `of`, where all are of the open trace.
pub(crate) fn name(name: &'static str, of: &[(NodeId, u64)], made: &impl Traceable) {
    OPEN.with_borrow_mut(|open| {
        let Some((id, graph)) = open.last_mut() else { return };
        let made = made.nodes();
        if of.iter().chain(&made).any(|(_, trace)| trace != id) {
            return;
        }
        let of: Vec<NodeId> = of.iter().map(|(node, _)| *node).collect();
        made.iter().for_each(|(node, _)| graph.named(name, &of, *node));
    });
}

/// What a fused closure returns: one result, or a tuple of up to four.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result",
    label = "expected stored expressions",
    note = "end the closure with `.store::<(..)>()`, or a tuple of such"
)]
pub trait Outputs {
    /// Appends the results to the graph.
    fn declare(&self, graph: &mut Graph, trace: u64);

    /// Whether they are the next results of `graph`, from number `next` on, which moves behind them. Who cannot tell says no.
    fn are_in(&self, graph: &Graph, trace: u64, next: &mut usize) -> bool {
        let _ = (graph, trace, next);
        false
    }
}

impl<T: Element, L: Dims> Outputs for Out<T, L> {
    fn declare(&self, graph: &mut Graph, trace: u64) {
        let stale = |graph: &Graph, (node, of): (NodeId, TraceId)| of != trace || node.0 as usize >= graph.len();
        for (id, name) in L::IDS.iter().zip(L::NAMES) {
            graph.name_dim(*id, name);
        }
        match &self.stored {
            Stored::One(node, of) if stale(graph, (*node, *of)) => graph.fail(Error::Stale),
            Stored::One(node, _) => graph.store(*node, L::IDS),
            Stored::Scattered(scattering, of) if stale(graph, (scattering.value, *of)) => graph.fail(Error::Stale),
            Stored::Scattered(scattering, _) => graph.scatter(scattering, L::IDS),
            Stored::Under([node, _], _, of) if stale(graph, (*node, *of)) => graph.fail(Error::Stale),
            Stored::Under([node, condition], initial, _) => graph.store_where(*node, *condition, *initial, L::IDS),
            Stored::Joined(_, parts) if parts.iter().any(|p| stale(graph, *p)) => graph.fail(Error::Stale),
            Stored::Joined((along, name), parts) => {
                graph.name_dim(*along, name);
                let nodes: Vec<NodeId> = parts.iter().map(|(node, _)| *node).collect();
                graph.join(*along, &nodes, L::IDS);
            }
        }
    }

    fn are_in(&self, graph: &Graph, trace: u64, next: &mut usize) -> bool {
        let output = graph.outputs.get(*next);
        *next += 1;
        // The others are of graphs that nothing follows.
        matches!(&self.stored, Stored::One(node, of)
            if *of == trace && output.is_some_and(|o| o.node == *node && *o.dims == *L::IDS))
    }
}

macro_rules! outputs {
    ($($O:ident $i:tt),*) => {
        impl<$($O: Traceable),*> Traceable for ($($O,)*) {
            fn nodes(&self) -> Vec<(NodeId, u64)> {
                [$(self.$i.nodes()),*].concat()
            }
        }
        impl<$($O: Outputs),*> Outputs for ($($O,)*) {
            fn declare(&self, graph: &mut Graph, trace: u64) {
                $(self.$i.declare(graph, trace);)*
            }
            fn are_in(&self, graph: &Graph, trace: u64, next: &mut usize) -> bool {
                $(self.$i.are_in(graph, trace, next))&&*
            }
        }
    };
}
outputs!(A 0, B 1);
outputs!(A 0, B 1, C 2);
outputs!(A 0, B 1, C 2, D 3);

/// A traced closure: its graph, and in its type what it reads and makes.
#[derive(Debug)]
pub struct Traced<A, O> {
    /// The graph.
    pub graph: Graph,
    _types: PhantomData<fn(A) -> O>,
}

/// A closure over operands `A` that makes results `O`.
#[diagnostic::on_unimplemented(
    message = "this closure cannot be fused",
    label = "expected a closure over `In<T, (dimensions)>` that returns `.store::<(..)>()`",
    note = "write the types of its arguments: `|x: In<f32, (Y, X)>| ..`"
)]
pub trait Trace<A, O> {
    /// Runs the closure once.
    fn trace(self) -> Traced<A, O>;
}

/// Runs `f` once and keeps what it computes.
pub fn trace<A, O, F: Trace<A, O>>(f: F) -> Traced<A, O> {
    f.trace()
}

/// Declares an operand of `T` over the set `S`.
pub(super) fn operand<T: Element, S: Set>(graph: &mut Graph) -> u16 {
    if let Some(number) = graph.next_operand(is_operand::<T, S>) {
        return number;
    }
    let mut dims = Vec::new();
    S::for_each(&mut |id, name| {
        graph.name_dim(id, name);
        dims.push(id);
    });
    graph.operand(OperandSpec { dtype: T::DTYPE, components: T::COMPONENTS, dims: dims.into() })
}

fn is_operand<T: Element, S: Set>(spec: &OperandSpec) -> bool {
    let (mut rest, mut same) = (spec.dims.iter(), true);
    S::for_each(&mut |id, _| same &= rest.next() == Some(&id));
    same && rest.next().is_none() && spec.dtype == T::DTYPE && spec.components == T::COMPONENTS
}

macro_rules! closures {
    ($($T:ident $S:ident),*) => {
        impl<F, O: Outputs, $($T: Element, $S: Set),*> Trace<($(Expr<$T, $S>,)*), O> for F
        where
            F: FnOnce($(Expr<$T, $S>),*) -> O,
        {
            #[allow(non_snake_case, unused_mut, reason = "one expansion per arity, zero included")]
            fn trace(self) -> Traced<($(Expr<$T, $S>,)*), O> {
                let mut graph = Graph::default();
                $(
                    let number = operand::<$T, $S>(&mut graph);
                    let $T = graph.input(number, 0);
                )*
                let id = begin(Box::new(graph));
                let guard = Guard(id);
                let outputs = self($(Expr::<$T, $S>::new($T, id)),*);
                std::mem::forget(guard);
                let mut graph = end(id);
                outputs.declare(&mut graph, id);
                Traced { graph: *graph, _types: PhantomData }
            }
        }
    };
}
closures!();
closures!(A SA);
closures!(A SA, B SB);
closures!(A SA, B SB, C SC);
closures!(A SA, B SB, C SC, D SD);
closures!(A SA, B SB, C SC, D SD, E SE);
closures!(A SA, B SB, C SC, D SD, E SE, G SG);
closures!(A SA, B SB, C SC, D SD, E SE, G SG, H SH);
closures!(A SA, B SB, C SC, D SD, E SE, G SG, H SH, I SI);
