//! A plan as text: dimensions, operands, results, and the graph, a node a line.

use super::functions::id_of;
use super::names::{BINARY, COLLISIONS, Dims, REDUCTIONS, UNARY, name_in};
use super::{OwnedView, literal};
use crate::extend::Function;
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use crate::scatter::{Initial, Partial, Place, inner};
use std::fmt::Write as _;

/// The texts of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanText {
    /// Its dimensions.
    pub dims: Vec<String>,
    /// Its operands.
    pub operands: Vec<String>,
    /// Its results.
    pub results: Vec<String>,
    /// What computes these from those, a line each.
    pub graph: String,
}

/// Prints a plan. [`read`](super::read) gives it back.
pub fn print(graph: &Graph, operands: &[OwnedView], results: &[OwnedView]) -> PlanText {
    let dims = Dims::of(graph, ids(graph));
    let printer = Printer { graph, dims };
    let views = graph.operands.iter().zip(operands);
    PlanText {
        dims: printer.dims.texts(),
        operands: views.map(|(spec, view)| view.operand(spec, &printer.dims)).collect(),
        results: results.iter().map(|view| view.result(&printer.dims)).collect(),
        graph: printer.graph(),
    }
}

/// The functions that a graph calls.
pub fn functions(graph: &Graph) -> impl Iterator<Item = Function> + '_ {
    graph.nodes().filter_map(|node| if let Op::Call(function, _) = &node.op { Some(*function) } else { None })
}

/// Every dimension, those with a name first.
fn ids(graph: &Graph) -> Vec<DimId> {
    let mut ids: Vec<DimId> = graph.names().iter().map(|(id, _)| *id).collect();
    ids.extend(graph.operands.iter().flat_map(|o| o.dims.iter().copied()));
    for node in graph.nodes() {
        ids.extend(node.shape.iter().map(|(id, _)| *id));
        match &node.op {
            Op::At { coords, sizes, .. } => {
                ids.extend(coords.iter().map(|(id, _)| *id));
                ids.extend(sizes.iter().map(|(id, _)| *id));
            }
            Op::Reduce { dim, .. } | Op::Scan { dim, .. } => ids.push(*dim),
            _ => {}
        }
    }
    ids.extend(graph.outputs.iter().flat_map(|o| o.dims.iter().copied()));
    ids.extend(graph.joins.iter().flat_map(|j| j.dims.iter().copied()));
    ids
}

struct Printer<'a> {
    graph: &'a Graph,
    dims: Dims,
}

impl Printer<'_> {
    fn graph(&self) -> String {
        let mut text = String::new();
        for id in self.graph.ids() {
            let node = self.graph.node(id);
            let _ = writeln!(text, "%{} = {} {}", id.0, node.dtype, self.op(&node.op));
        }
        let lines = self.notes().into_iter().chain(self.marks()).chain(self.outputs());
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Const(value) => format!("const {}", literal::text(*value)),
            Op::Input { operand, component: 0 } => format!("input {operand}"),
            Op::Input { operand, component } => format!("input {operand} {component}"),
            Op::Index(dim) => format!("index {}", self.dim(*dim)),
            Op::Extent(size) => format!("extent {}", self.size(*size)),
            Op::Unary(op, a) => format!("{} %{}", name_in(&UNARY, op), a.0),
            Op::Binary(op, a, b) => format!("{} %{} %{}", name_in(&BINARY, op), a.0, b.0),
            Op::Fma(a, b, c) => format!("fma %{} %{} %{}", a.0, b.0, c.0),
            Op::Select(c, a, b) => format!("select %{} %{} %{}", c.0, a.0, b.0),
            Op::Cast(a) => format!("cast %{}", a.0),
            Op::Bits(a) => format!("bits %{}", a.0),
            Op::Guard { value, low, high, operand } => {
                let boxes = operand.map_or_else(String::new, |o| format!(" boxes {o}"));
                format!("guard %{} %{} %{}{boxes}", value.0, low.0, high.0)
            }
            Op::At { source, coords, sizes } => {
                format!("at %{} ({}) ({})", source.0, self.coords(coords), self.sizes(sizes))
            }
            Op::Call(function, args) => {
                let number = function.number().map_or_else(String::new, |n| format!(" {n}"));
                format!("call {}{number} ({})", id_of(*function), nodes(args))
            }
            Op::Carry { start, number, times } => format!("carry %{} {number} {times}", start.0),
            Op::Iterate { carry, next } => format!("iterate %{} %{}", carry.0, next.0),
            Op::Reduce { reduction, source, dim, size } => {
                let (how, dim, size) = (name_in(&REDUCTIONS, reduction), self.dim(*dim), self.size(*size));
                format!("reduce {how} %{} {dim} {size}", source.0)
            }
            Op::Scan { reduction, source, dim } => {
                format!("scan {} %{} {}", name_in(&REDUCTIONS, reduction), source.0, self.dim(*dim))
            }
        }
    }

    fn dim(&self, dim: DimId) -> &str {
        self.dims.label(dim)
    }

    fn list(&self, dims: &[DimId]) -> String {
        dims.iter().map(|d| self.dim(*d)).collect::<Vec<_>>().join(", ")
    }

    fn size(&self, size: Size) -> String {
        match size {
            Size::Any => "any".into(),
            Size::Const(n) => n.to_string(),
            Size::Operand(operand, dim) => format!("{}@{operand}", self.dim(dim)),
            Size::Node(node) => format!("%{}", node.0),
        }
    }

    fn coords(&self, coords: &[(DimId, NodeId)]) -> String {
        coords.iter().map(|(d, n)| format!("{} = %{}", self.dim(*d), n.0)).collect::<Vec<_>>().join(", ")
    }

    fn sizes(&self, sizes: &[(DimId, Size)]) -> String {
        sizes.iter().map(|(d, s)| format!("{} {}", self.dim(*d), self.size(*s))).collect::<Vec<_>>().join(", ")
    }

    /// What is asked of sizes and boxes.
    fn notes(&self) -> Vec<String> {
        let graph = self.graph;
        let needs =
            graph.needs.iter().map(|n| format!("need {} {} least {}", self.dim(n.dim), self.size(n.size), n.least));
        let equations =
            graph.equations.iter().map(|e| format!("equal {} {} {}", self.dim(e.dim), self.size(e.a), self.size(e.b)));
        let insides = graph.insides.iter().map(|i| match i.picture {
            Some((height, width)) => format!("inside {} ({}, {})", i.boxes, self.size(height), self.size(width)),
            None => format!("inside {} anywhere", i.boxes),
        });
        let order = |(dim, size, low, high): &(DimId, Size, i32, i32)| {
            format!("order {} {} {low} {high}", self.dim(*dim), self.size(*size))
        };
        needs.chain(equations).chain(insides).chain(graph.orders.iter().map(order)).collect()
    }

    /// What is known about nodes.
    fn marks(&self) -> Vec<String> {
        let graph = self.graph;
        let mut lines = Vec::new();
        for node in graph.ids() {
            if let Some(p) = graph.padded.get(&node) {
                let near = if p.near { "near" } else { "far" };
                lines.push(format!("padded %{} %{} ({}) {near}", node.0, p.source.0, self.coords(&p.coords)));
            }
            if let Some((name, of)) = graph.made_by(node) {
                let name = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                lines.push(format!("made %{} \"{name}\" ({})", node.0, nodes(of)));
            }
        }
        lines
    }

    fn outputs(&self) -> Vec<String> {
        let output = |(number, output): (usize, &crate::graph::Output)| match self.graph.partial(number) {
            None => format!("store %{} ({})", output.node.0, self.list(&output.dims)),
            Some(partial) => self.partial(output.node, partial),
        };
        let join = |j: &crate::join::Join| {
            let (along, dims) = (self.dim(j.along), self.list(&j.dims));
            format!("join {along} ({dims}) {} {}", j.outputs.start, j.outputs.end)
        };
        let outputs = self.graph.outputs.iter().enumerate().map(output);
        outputs.chain(self.graph.joins.iter().map(join)).collect()
    }

    fn partial(&self, value: NodeId, partial: &Partial) -> String {
        let outer = |p: &Place| partial.shown.iter().copied().find(|d| inner(*d) == p.dim).unwrap_or(p.dim);
        let places = self.places(partial.places.iter().map(|p| (outer(p), p.coord, p.extent)));
        let (shown, how) = (self.list(&partial.shown), name_in(&COLLISIONS, &partial.collision));
        let mut line = format!("scatter %{} ({shown}) ({places}) {how} {}", value.0, initial(partial.initial));
        if let Some(condition) = partial.condition {
            let _ = write!(line, " if %{}", condition.0);
        }
        if let Some(general) = partial.general {
            let _ = write!(line, " else %{}", general.0);
        }
        line
    }

    fn places(&self, places: impl Iterator<Item = (DimId, NodeId, i64)>) -> String {
        let place = |(dim, coord, extent): (DimId, NodeId, i64)| format!("{} = %{} {extent}", self.dim(dim), coord.0);
        places.map(place).collect::<Vec<_>>().join(", ")
    }
}

fn nodes(nodes: &[NodeId]) -> String {
    nodes.iter().map(|n| format!("%{}", n.0)).collect::<Vec<_>>().join(", ")
}

fn initial(initial: Initial) -> String {
    match initial {
        Initial::Filled(value) => format!("filled {}", literal::text(value)),
        Initial::Held(value) => format!("held {}", literal::text(value)),
    }
}
