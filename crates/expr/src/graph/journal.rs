//! How a graph is built again without building it: what an eager expression does step by step is compared with what an expression
//! before it did.
//!
//! A graph that is *followed* is whole already. Each step of the new trace is compared, in full, with the step in its journal; as long
//! as they are equal nothing is hashed, allocated or changed. Where they part, the trace goes over to another known graph that
//! begins with the same steps, or, if there is none, does these steps again on a graph of its own.

use super::{DimId, Equation, Graph, Inside, Need, Node, NodeId, Op, OperandSpec, Size, known};
use crate::dtype::DType;
use std::any::Any;
use std::sync::Arc;

/// What is noted about sizes beside the nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Note {
    Need(Need),
    Equation(Equation),
    Inside(Inside),
    /// As in [`Graph::orders`].
    Order(DimId, Size, i32, i32),
}

/// A step of building a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// The node was pushed, as a new one or again.
    Node(NodeId),
    Operand(u16),
    Note(Note),
}

/// The steps of an eager trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    steps: Vec<Step>,
    /// Steps that the trace has done so far, while it follows this graph; `None` while it writes.
    followed: Option<usize>,
    /// Nodes that the followed steps have made.
    nodes: u32,
    /// Whether a node is being made, whose own nodes are no steps.
    nested: bool,
    /// Where among the known graphs it belongs, and which of them was evaluated after it the last time.
    pub(super) place: usize,
    pub(super) after: usize,
    /// What was made of it.
    pub(super) made: Option<Arc<dyn Any + Send + Sync>>,
}

impl Journal {
    /// Puts the trace at this step of the graph; `None` writes on.
    pub(super) fn follow(&mut self, step: Option<usize>) {
        (self.followed, self.nodes) = (step, 0);
        let made = self.steps[..step.unwrap_or(0)]
            .iter()
            .filter_map(|s| if let Step::Node(n) = s { Some(n.0 + 1) } else { None });
        self.nodes = made.max().unwrap_or(0);
    }
}

impl Graph {
    /// Whether the trace so far is equal to the beginning of this graph, which is another trace's.
    pub(crate) fn is_followed(&self) -> bool {
        self.journal.as_ref().is_some_and(|j| j.followed.is_some())
    }

    /// Whether the trace ends here as a known graph does, `is` being what else is asked of that. If so, the graph becomes that one.
    pub(crate) fn ends(&mut self, is: impl Fn(&Graph) -> bool) -> bool {
        let Some(at) = self.journal.as_ref().and_then(|j| j.followed) else { return false };
        let whole = |graph: &Graph| graph.journal.as_ref().is_some_and(|j| j.steps.len() == at) && is(graph);
        if whole(self) {
            return true;
        }
        let found = known::exchange(self, |this, other| whole(other) && begin_alike(this, other, at));
        if let Some(journal) = self.journal.as_mut().filter(|_| found) {
            journal.follow(Some(at));
        }
        found
    }

    /// Nodes of the trace so far.
    pub(crate) fn traced(&self) -> u32 {
        match &self.journal {
            Some(journal) if journal.followed.is_some() => journal.nodes,
            _ => self.len() as u32,
        }
    }

    /// The step that the trace does now, if `is` says that it is the next one of the graph that it follows.
    #[inline]
    fn next(&mut self, is: &dyn Fn(&Graph, Step) -> bool) -> Option<Step> {
        let journal = self.journal.as_ref()?;
        let at = journal.followed?;
        match journal.steps.get(at).copied().filter(|step| is(self, *step)) {
            Some(step) => Some(self.step(at, step)),
            None => self.turn(at, is),
        }
    }

    #[inline]
    fn step(&mut self, at: usize, step: Step) -> Step {
        if let Some(journal) = &mut self.journal {
            journal.followed = Some(at + 1);
            if let Step::Node(node) = step {
                journal.nodes = journal.nodes.max(node.0 + 1);
            }
        }
        step
    }

    /// Goes over to another known graph that begins with the same steps and then has this one, or writes.
    #[cold]
    fn turn(&mut self, at: usize, is: &dyn Fn(&Graph, Step) -> bool) -> Option<Step> {
        let found = known::exchange(self, |this, other| {
            let step = other.journal.as_ref().and_then(|j| j.steps.get(at)).copied();
            step.is_some_and(|step| is(other, step)) && begin_alike(this, other, at)
        });
        if !found {
            self.write_on();
            return None;
        }
        let journal = self.journal.as_mut()?;
        journal.follow(Some(at));
        let step = journal.steps[at];
        Some(self.step(at, step))
    }

    /// Ends following: the steps so far are done on a graph of the trace's own.
    #[cold]
    pub(crate) fn write_on(&mut self) {
        let Some(at) = self.journal.as_ref().and_then(|j| j.followed) else { return };
        let mut own =
            Graph { journal: Some(Box::default()), trace: self.trace, names: self.names.clone(), ..Graph::default() };
        let steps: Vec<Step> = self.journal.iter().flat_map(|j| &j.steps[..at]).copied().collect();
        for step in steps {
            match step {
                Step::Node(id) => {
                    let Node { op, dtype, .. } = self.node(id);
                    own.push(op.clone(), *dtype);
                }
                Step::Operand(number) => {
                    own.operand(self.operands[usize::from(number)].clone());
                }
                Step::Note(note) => own.note(note),
            }
        }
        let made = own.len() as u32;
        own.padded = self.padded.iter().filter(|(n, _)| n.0 < made).map(|(n, p)| (*n, p.clone())).collect();
        own.histograms = self.histograms.iter().filter(|(n, _)| n.0 < made).map(|(n, s)| (*n, s.clone())).collect();
        known::keep(Box::new(std::mem::replace(self, own)));
    }

    /// As [`Graph::write_on`], for what no later trace can follow.
    pub(crate) fn without_journal(&mut self) {
        self.write_on();
        self.journal = None;
    }

    /// Records a step, while writing.
    fn record(&mut self, step: Step) {
        if let Some(journal) = self.journal.as_mut().filter(|j| !j.nested) {
            journal.steps.push(step);
        }
    }

    /// Adds a node, or finds the equal one that is there.
    pub fn push(&mut self, op: Op, dtype: DType) -> NodeId {
        if self.journal.is_none() {
            return self.add(op, dtype);
        }
        let is = |graph: &Graph, step: Step| match step {
            Step::Node(id) => graph.node(id).dtype == dtype && graph.node(id).op == op,
            _ => false,
        };
        if let Some(Step::Node(id)) = self.next(&is) {
            return id;
        }
        let outer = self.nest(true);
        let id = self.add(op, dtype);
        self.nest(outer);
        self.record(Step::Node(id));
        id
    }

    /// Whether nodes are part of another one; gives what was so before.
    fn nest(&mut self, nested: bool) -> bool {
        self.journal.as_mut().is_some_and(|j| std::mem::replace(&mut j.nested, nested))
    }

    /// Declares the next operand and returns its number.
    pub fn operand(&mut self, spec: OperandSpec) -> u16 {
        self.write_on();
        self.operands.push(spec);
        let number = (self.operands.len() - 1) as u16;
        self.record(Step::Operand(number));
        number
    }

    /// The next operand of the graph that is followed, if `is` says that it is this one.
    pub(crate) fn next_operand(&mut self, is: impl Fn(&OperandSpec) -> bool) -> Option<u16> {
        let is = |graph: &Graph, step: Step| match step {
            Step::Operand(number) => is(&graph.operands[usize::from(number)]),
            _ => false,
        };
        match self.next(&is) {
            Some(Step::Operand(number)) => Some(number),
            _ => None,
        }
    }

    /// Keeps a note about sizes; one that is there already is kept once.
    pub(crate) fn note(&mut self, note: Note) {
        if self.next(&|_, step| step == Step::Note(note)).is_some() {
            return;
        }
        match note {
            Note::Need(need) => once(&mut self.needs, need),
            Note::Equation(equation) => once(&mut self.equations, equation),
            Note::Inside(inside) => once(&mut self.insides, inside),
            Note::Order(dim, size, low, high) => self.orders.push((dim, size, low, high)),
        }
        self.record(Step::Note(note));
    }
}

fn once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether two graphs begin with the same `steps`.
fn begin_alike(a: &Graph, b: &Graph, steps: usize) -> bool {
    let (Some(x), Some(y)) = (&a.journal, &b.journal) else { return false };
    let same = |(x, y): (&Step, &Step)| {
        x == y
            && match *x {
                Step::Node(id) => a.node(id).op == b.node(id).op && a.node(id).dtype == b.node(id).dtype,
                Step::Operand(number) => a.operands[usize::from(number)] == b.operands[usize::from(number)],
                Step::Note(_) => true,
            }
    };
    y.steps.len() >= steps && x.steps[..steps].iter().zip(&y.steps).all(same)
}
