//! What the typed face makes sure of where a program writes an expression, checked where a text says it: types, numbers of things,
//! loops that close.

use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Size, Unary};
use std::collections::HashMap;

/// Most nodes of a plan.
pub(super) const NODES: usize = 1 << 20;
/// Most dimensions of a node.
const DIMS: usize = 32;
/// Most loops one inside the other.
const DEPTH: u32 = 256;
/// Most operations of a size that is computed: the host goes through them, each as often as it is read.
const WEIGHT: u64 = 1 << 22;
/// Most steps of an iteration that tells iterations apart.
pub(super) const NUMBERS: i64 = 1 << 30;

/// What is wrong with a node.
type Checked<T = ()> = Result<T, String>;

/// What is known of the nodes so far beside the graph.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// How many operations the host goes through where a node is a size (`sizes.rs`).
    weights: Vec<u64>,
    /// The iterations that each node is inside of, where it is in any.
    open: HashMap<NodeId, Vec<NodeId>>,
    /// What ended each iteration.
    ended: HashMap<NodeId, NodeId>,
}

impl Checks {
    /// Refuses an operation that has not the type that it should have, or does not fit what it is of.
    pub(super) fn op(&self, graph: &Graph, op: &Op, dtype: DType) -> Checked {
        let made = self.type_of(graph, op, dtype)?;
        if made != dtype {
            return Err(format!("this makes values of {made}, the line says {dtype}"));
        }
        if graph.len() >= NODES {
            return Err(format!("a plan has at most {NODES} nodes"));
        }
        if depth(graph, op) > DEPTH {
            return Err(format!("more than {DEPTH} reductions, scans and iterations stand one inside the other"));
        }
        Ok(())
    }

    /// The type of an operation's values.
    fn type_of(&self, graph: &Graph, op: &Op, dtype: DType) -> Checked<DType> {
        let of = |n: &NodeId| graph.node(*n).dtype;
        match op {
            Op::Const(value) => Ok(value.dtype),
            Op::Input { operand, component } => input(graph, *operand, *component),
            Op::Index(_) => Ok(DType::I32),
            Op::Extent(size) => self.extent(graph, *size),
            Op::Unary(op, a) => unary(*op, of(a)),
            Op::Binary(op, a, b) => binary(*op, of(a), of(b)),
            Op::Fma(a, b, c) => {
                same("fma", &[of(a), of(b), of(c)])?;
                Ok(of(a))
            }
            Op::Select(c, a, b) => {
                is("the condition of `select`", of(c), DType::Bool)?;
                same("select", &[of(a), of(b)])?;
                Ok(of(a))
            }
            Op::Cast(a) if of(a) == dtype => Err(format!("a cast of {dtype} to {dtype} is none")),
            Op::Cast(_) => Ok(dtype),
            Op::Bits(a) if of(a).size() != dtype.size() || of(a) == DType::Bool || dtype == DType::Bool => Err(
                format!("`bits` keeps the size: {} has {} bytes, {dtype} has {}", of(a), of(a).size(), dtype.size()),
            ),
            Op::Bits(_) => Ok(dtype),
            Op::Guard { value, low, high, operand } => {
                [value, low, high].into_iter().try_for_each(|n| is("what `guard` takes", of(n), DType::I32))?;
                operand.map_or(Ok(()), |o| boxes(graph, o))?;
                Ok(DType::I32)
            }
            Op::At { source, coords, sizes } => {
                self.at(graph, coords, sizes)?;
                Ok(of(source))
            }
            Op::Call(function, args) => {
                let types: Vec<DType> = args.iter().map(of).collect();
                if types != function.arguments() {
                    let names = |types: &[DType]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
                    let (takes, got) = (names(function.arguments()), names(&types));
                    return Err(format!("function `{}` takes ({takes}), not ({got})", function.name()));
                }
                Ok(function.result())
            }
            Op::Carry { start, .. } => Ok(of(start)),
            Op::Iterate { carry, next } => self.iterate(graph, *carry, *next),
            Op::Reduce { source, dim, size, .. } => {
                self.size(graph, *size)?;
                self.has(graph, *source, *dim, "reduce")?;
                not_half("reduce", of(source))
            }
            Op::Scan { source, dim, .. } => {
                self.has(graph, *source, *dim, "scan")?;
                not_half("scan", of(source))
            }
        }
    }

    fn has(&self, graph: &Graph, node: NodeId, dim: DimId, what: &str) -> Checked {
        if graph.node(node).shape.iter().any(|(d, _)| *d == dim) {
            return Ok(());
        }
        Err(format!("`{what}` goes along `{}`, which %{} lacks", graph.dim_name(dim), node.0))
    }

    fn extent(&self, graph: &Graph, size: Size) -> Checked<DType> {
        match size {
            Size::Const(_) | Size::Node(_) => Err("`extent` is that of an operand; a number is a `const`".into()),
            size => self.size(graph, size).map(|()| DType::I32),
        }
    }

    /// Refuses a size that is no number of points.
    pub(super) fn size(&self, graph: &Graph, size: Size) -> Checked {
        match size {
            Size::Any => Ok(()),
            Size::Const(n) if (0..=i64::from(i32::MAX)).contains(&n) => Ok(()),
            Size::Const(n) => Err(format!("a size is from 0 to {}, not {n}", i32::MAX)),
            Size::Operand(operand, dim) => {
                let Some(spec) = graph.operands.get(usize::from(operand)) else { return no_operand(graph, operand) };
                match spec.dims.contains(&dim) {
                    true => Ok(()),
                    false => Err(format!("operand {operand} has no dimension `{}`", graph.dim_name(dim))),
                }
            }
            Size::Node(node) => {
                is("a size", graph.node(node).dtype, DType::I32)?;
                if self.weights[node.0 as usize] > WEIGHT {
                    return Err(format!("a size that is computed has at most {WEIGHT} operations"));
                }
                Ok(())
            }
        }
    }

    fn at(&self, graph: &Graph, coords: &[(DimId, NodeId)], sizes: &[(DimId, Size)]) -> Checked {
        coords.iter().try_for_each(|(_, c)| is("a coordinate", graph.node(*c).dtype, DType::I32))?;
        sizes.iter().try_for_each(|(_, size)| self.size(graph, *size))?;
        let moved = coords.iter().enumerate().find(|(i, (dim, _))| coords[..*i].iter().any(|(d, _)| d == dim));
        let sized = sizes.iter().enumerate().find(|(i, (dim, _))| sizes[..*i].iter().any(|(d, _)| d == dim));
        let dim = moved.map(|(_, (dim, _))| dim).or(sized.map(|(_, (dim, _))| dim));
        dim.map_or(Ok(()), |dim| Err(format!("dimension `{}` stands here twice", graph.dim_name(*dim))))
    }

    fn iterate(&self, graph: &Graph, carry: NodeId, next: NodeId) -> Checked<DType> {
        let Op::Carry { start, .. } = graph.node(carry).op else {
            return Err(format!("`iterate` ends what a `carry` began; %{} is none", carry.0));
        };
        let dtype = graph.node(carry).dtype;
        is("the next value of this iteration", graph.node(next).dtype, dtype)?;
        if let Some(end) = self.ended.get(&carry) {
            let again = matches!(graph.node(*end).op, Op::Iterate { next: known, .. } if known == next);
            if !again {
                return Err(format!("the steps of %{} end in %{} already", carry.0, end.0));
            }
        }
        let lacks = |dim: &DimId| graph.node(start).shape.iter().all(|(d, _)| d != dim);
        if let Some((dim, _)) = graph.node(next).shape.iter().find(|(d, _)| lacks(d)) {
            return Err(crate::Error::Step { dim: graph.dim_name(*dim) }.to_string());
        }
        if graph.elsewhere(next, carry) {
            return Err(crate::Error::Carried.to_string());
        }
        Ok(dtype)
    }

    /// Takes note of the nodes that the graph has by now.
    pub(super) fn note(&mut self, graph: &Graph) -> Checked {
        for number in self.weights.len()..graph.len() {
            let node = NodeId(number as u32);
            let weight = self.weight(&graph.node(node).op);
            let mut open: Vec<NodeId> = Vec::new();
            let op = &graph.node(node).op;
            op.for_each_arg(|a| {
                open.extend(self.open.get(&a).into_iter().flatten());
            });
            match op {
                Op::Carry { .. } => open.push(node),
                Op::Iterate { carry, .. } => {
                    open.retain(|c| c != carry);
                    self.ended.insert(*carry, node);
                }
                _ => {}
            }
            open.sort_unstable();
            open.dedup();
            if open.len() > DEPTH as usize || graph.node(node).shape.len() > DIMS {
                return Err(format!(
                    "a node has at most {DIMS} dimensions, and is inside of at most {DEPTH} iterations"
                ));
            }
            self.weights.push(weight);
            if !open.is_empty() {
                self.open.insert(node, open);
            }
        }
        Ok(())
    }

    fn weight(&self, op: &Op) -> u64 {
        let of = |n: &NodeId| self.weights[n.0 as usize];
        match op {
            Op::Guard { value: a, .. } | Op::At { source: a, .. } => of(a).saturating_add(1),
            Op::Unary(..) | Op::Cast(_) | Op::Bits(_) | Op::Binary(..) | Op::Fma(..) | Op::Select(..) => {
                let mut weight = 1u64;
                op.for_each_arg(|a| weight = weight.saturating_add(of(&a)));
                weight
            }
            _ => 1,
        }
    }

    /// Refuses what is inside of an iteration where it stands outside.
    pub(super) fn closed(&self, node: NodeId) -> Checked {
        match self.open.get(&node).and_then(|open| open.first()) {
            Some(carry) => Err(format!("%{} is a value of a step of %{}, which no `iterate` ends", node.0, carry.0)),
            None => Ok(()),
        }
    }
}

fn depth(graph: &Graph, op: &Op) -> u32 {
    let of = |n: NodeId| u32::from(graph.node(n).depth);
    let mut depth = 0;
    op.for_each_arg(|a| depth = depth.max(of(a)));
    match op {
        Op::At { source, coords, .. } => depth.max(of(*source) + coords.iter().map(|(_, c)| of(*c)).max().unwrap_or(0)),
        _ => depth + 1,
    }
}

fn no_operand<T>(graph: &Graph, operand: u16) -> Checked<T> {
    Err(format!("the plan has {} operands, counted from 0, and no operand {operand}", graph.operands.len()))
}

/// Refuses an operand that holds no boxes.
pub(super) fn boxes(graph: &Graph, operand: u16) -> Checked {
    match graph.operands.get(usize::from(operand)) {
        None => no_operand(graph, operand),
        Some(spec) if (spec.dtype, spec.components) == (DType::I32, 4) => Ok(()),
        Some(_) => Err(format!("operand {operand} holds no boxes (`Rect`)")),
    }
}

fn input(graph: &Graph, operand: u16, component: u8) -> Checked<DType> {
    match graph.operands.get(usize::from(operand)) {
        None => no_operand(graph, operand),
        Some(spec) if component < spec.components => Ok(spec.dtype),
        Some(spec) => {
            Err(format!("an element of operand {operand} has {} components, counted from 0", spec.components))
        }
    }
}

fn unary(op: Unary, a: DType) -> Checked<DType> {
    let floats = matches!(op, Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round);
    let bits = matches!(op, Unary::Not | Unary::CountOnes | Unary::LeadingZeros);
    match a.is_float() {
        false if floats => Err(format!("this is an operation on floats, not on {a}")),
        true if bits => Err(format!("this is an operation on integers and bool, not on {a}")),
        _ => Ok(a),
    }
}

fn binary(op: Binary, a: DType, b: DType) -> Checked<DType> {
    same("a binary operation", &[a, b])?;
    let bits = matches!(op, Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr);
    if bits && a.is_float() {
        return Err(format!("this is an operation on integers and bool, not on {a}"));
    }
    Ok(if op.compares() { DType::Bool } else { a })
}

fn same(what: &str, types: &[DType]) -> Checked {
    match types.iter().find(|t| **t != types[0]) {
        Some(other) => Err(format!("{what} takes values of one type, not {} and {other}; `cast` one", types[0])),
        None => Ok(()),
    }
}

fn is(what: &str, got: DType, expected: DType) -> Checked {
    if got == expected { Ok(()) } else { Err(format!("{what} is of {expected}, not of {got}")) }
}

fn not_half(what: &str, dtype: DType) -> Checked<DType> {
    match dtype.is_half() {
        true => Err(format!("`{what}` takes halves as f32: `cast` them before, and the result back")),
        false => Ok(dtype),
    }
}
