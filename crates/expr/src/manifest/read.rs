//! A plan from its text: the graph is built anew by its own constructors, each line after it was checked.

use super::check::{Checks, NUMBERS, boxes};
use super::functions::Functions;
use super::lex::{Line, Mistake, Parsed, Token, mistake, nearest};
use super::names::{BINARY, Dims, REDUCTIONS, UNARY, kept, one_of, read_dtype};
use super::{OwnedView, PlanText, literal};
use crate::graph::{DimId, Equation, Graph, Inside, Need, NodeId, Note, Op, Size};
use crate::reads::Padded;
use std::collections::HashMap;

/// Most operands and most results.
const OPERANDS: usize = 256;
/// Operations other than those on one or two values.
const OTHERS: [&str; 15] = [
    "const", "input", "index", "extent", "fma", "select", "cast", "bits", "guard", "at", "call", "carry", "iterate",
    "reduce", "scan",
];

/// A plan that was read.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// What it computes.
    pub graph: Graph,
    /// Its operands.
    pub operands: Vec<OwnedView>,
    /// Its results.
    pub results: Vec<OwnedView>,
}

/// Which text of a plan a mistake is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPart {
    /// That of a dimension, by its number.
    Dim(usize),
    /// That of an operand.
    Operand(usize),
    /// That of a result.
    Result(usize),
    /// That of the graph.
    Graph,
}

/// Reads a plan, with the functions of its manifest. What is wrong with it comes back with the part that it stands in.
///
/// Types, dimensions and numbers of things are checked, so that the plan can be laid out and emitted. Whether a coordinate lies
/// inside of what is read there is not: that is the promise of whoever wrote the text.
pub fn read(text: &PlanText, functions: &Functions) -> Result<ReadPlan, (PlanPart, Mistake)> {
    let mut dims = Dims::default();
    for (i, dim) in text.dims.iter().enumerate() {
        dims.declare(&mut Line::new(dim, 0)).map_err(|m| (PlanPart::Dim(i), m))?;
    }
    let mut graph = Graph::default();
    dims.all().for_each(|(id, name)| graph.name_dim(id, name));
    for (part, list) in [(PlanPart::Operand(OPERANDS), &text.operands), (PlanPart::Result(OPERANDS), &text.results)] {
        if list.len() > OPERANDS {
            return mistake(0, format!("a plan has at most {OPERANDS} operands and as many results"))
                .map_err(|m| (part, m));
        }
    }
    let mut operands = Vec::new();
    for (i, operand) in text.operands.iter().enumerate() {
        let (spec, view) =
            OwnedView::read_operand(&mut Line::new(operand, 0), &dims).map_err(|m| (PlanPart::Operand(i), m))?;
        graph.operand(spec);
        operands.push(view);
    }
    let result = |(i, text): (usize, &String)| {
        OwnedView::read_result(&mut Line::new(text, 0), &dims).map_err(|m| (PlanPart::Result(i), m))
    };
    let results = text.results.iter().enumerate().map(result).collect::<Result<Vec<_>, _>>()?;
    let mut reader = Reader {
        graph,
        dims: &dims,
        functions,
        nodes: HashMap::new(),
        checks: Checks::default(),
        equations: Vec::new(),
    };
    reader.lines(&text.graph).map_err(|m| (PlanPart::Graph, m))?;
    Ok(ReadPlan { graph: reader.graph, operands, results })
}

/// Reading at work.
pub(super) struct Reader<'a> {
    pub(super) graph: Graph,
    pub(super) dims: &'a Dims,
    functions: &'a Functions,
    /// The nodes, by their numbers in the text.
    nodes: HashMap<u32, NodeId>,
    pub(super) checks: Checks,
    /// The equations that the text has.
    equations: Vec<Equation>,
}

impl Reader<'_> {
    fn lines(&mut self, text: &str) -> Parsed<()> {
        let mut start = 0;
        for line in text.split('\n') {
            self.line(&mut Line::new(line, start))?;
            start += line.len() + 1;
        }
        if self.graph.outputs.is_empty() {
            return mistake(text.len(), "the plan stores nothing; it ends with a line such as `store %7 (Y, X)`");
        }
        // Those that nodes bring with them are there, whether the text has them or not; the text says in which order.
        let derived = std::mem::take(&mut self.graph.equations);
        self.graph.equations = std::mem::take(&mut self.equations);
        for equation in derived {
            if !self.graph.equations.contains(&equation) {
                self.graph.equations.push(equation);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        match line.take()? {
            Token::End => Ok(()),
            Token::Node(number) => self.node_line(line, number),
            Token::Word(word) => {
                self.statement(line, word)?;
                line.end()
            }
            _ => line.refuse("a line begins with a node such as `%3`, or with `store` or what else is said of nodes"),
        }
    }

    fn statement(&mut self, line: &mut Line<'_>, word: &str) -> Parsed<()> {
        const STATEMENTS: [&str; 9] =
            ["need", "equal", "inside", "order", "padded", "made", "store", "scatter", "join"];
        match word {
            "need" => self.need(line),
            "equal" => self.equal(line),
            "inside" => self.inside(line),
            "order" => self.order(line),
            "padded" => self.padded(line),
            "made" => self.made(line),
            "store" => self.store_line(line),
            "scatter" => self.scatter_line(line),
            "join" => self.join_line(line),
            _ => line.refuse(format!("`{word}` is nothing that is said of nodes; {}", nearest(word, STATEMENTS))),
        }
    }

    fn node_line(&mut self, line: &mut Line<'_>, number: u32) -> Parsed<()> {
        if self.nodes.contains_key(&number) {
            return line.refuse(format!("node %{number} stands here twice"));
        }
        line.sign('=')?;
        let dtype = read_dtype(line)?;
        let word = line.word("an operation")?;
        let at = line.last();
        let op = if word == "const" { Op::Const(literal::read(line, dtype)?) } else { self.op(line, word)? };
        line.end()?;
        self.checks.op(&self.graph, &op, dtype).or_else(|message| mistake(at, message))?;
        let node = self.graph.push(op, dtype);
        self.checks.note(&self.graph).or_else(|message| mistake(at, message))?;
        self.nodes.insert(number, node);
        Ok(())
    }

    fn op(&self, line: &mut Line<'_>, word: &str) -> Parsed<Op> {
        if let Some((_, op)) = UNARY.iter().find(|(name, _)| *name == word) {
            return Ok(Op::Unary(*op, self.node(line)?));
        }
        if let Some((_, op)) = BINARY.iter().find(|(name, _)| *name == word) {
            return Ok(Op::Binary(*op, self.node(line)?, self.node(line)?));
        }
        match word {
            "input" | "index" | "extent" => self.leaf(line, word),
            "carry" | "iterate" | "reduce" | "scan" => self.looped(line, word),
            "at" => self.at(line),
            "guard" => self.guard(line),
            "fma" => Ok(Op::Fma(self.node(line)?, self.node(line)?, self.node(line)?)),
            "select" => Ok(Op::Select(self.node(line)?, self.node(line)?, self.node(line)?)),
            "cast" => Ok(Op::Cast(self.node(line)?)),
            "bits" => Ok(Op::Bits(self.node(line)?)),
            "call" => {
                let function = self.functions.read(line)?;
                Ok(Op::Call(function, line.list(|line| self.node(line))?.into()))
            }
            _ => {
                let unary = UNARY.iter().map(|(name, _)| *name);
                let all = unary.chain(BINARY.iter().map(|(name, _)| *name)).chain(OTHERS);
                line.refuse(format!("`{word}` is no operation; {}", nearest(word, all)))
            }
        }
    }

    /// An operation on no node.
    fn leaf(&self, line: &mut Line<'_>, word: &str) -> Parsed<Op> {
        match word {
            "index" => Ok(Op::Index(self.dims.read(line)?)),
            "extent" => Ok(Op::Extent(self.size(line)?)),
            _ => {
                let operand = self.operand(line)?;
                let several = matches!(line.peek()?, Token::Number(_));
                let component = if several { line.integer("a component", (0, 255))? as u8 } else { 0 };
                Ok(Op::Input { operand, component })
            }
        }
    }

    /// A loop, or an end of one.
    fn looped(&self, line: &mut Line<'_>, word: &str) -> Parsed<Op> {
        match word {
            "carry" => {
                let start = self.node(line)?;
                let number = line.integer("the number of an iteration", (0, NUMBERS))? as u32;
                let times = line.integer("a number of steps", (0, u32::MAX.into()))? as u32;
                Ok(Op::Carry { start, number, times })
            }
            "iterate" => Ok(Op::Iterate { carry: self.node(line)?, next: self.node(line)? }),
            _ => {
                let reduction = one_of(line, "reduction", &REDUCTIONS)?;
                let (source, dim) = (self.node(line)?, self.dims.read(line)?);
                match word {
                    "scan" => Ok(Op::Scan { reduction, source, dim }),
                    _ => Ok(Op::Reduce { reduction, source, dim, size: self.size(line)? }),
                }
            }
        }
    }

    fn at(&self, line: &mut Line<'_>) -> Parsed<Op> {
        let source = self.node(line)?;
        let coords = self.coords(line)?.into();
        let sizes = line.list(|line| Ok((self.dims.read(line)?, self.size(line)?)))?.into();
        Ok(Op::At { source, coords, sizes })
    }

    fn guard(&self, line: &mut Line<'_>) -> Parsed<Op> {
        let (value, low, high) = (self.node(line)?, self.node(line)?, self.node(line)?);
        let operand = if line.word_if("boxes")? { Some(self.operand(line)?) } else { None };
        Ok(Op::Guard { value, low, high, operand })
    }

    /// Reads a node that stands above.
    pub(super) fn node(&self, line: &mut Line<'_>) -> Parsed<NodeId> {
        let number = line.node()?;
        match self.nodes.get(&number) {
            Some(node) => Ok(*node),
            None => line.refuse(format!("no node %{number} stands above this line")),
        }
    }

    /// Reads a node that is outside of all iterations.
    pub(super) fn closed(&self, line: &mut Line<'_>) -> Parsed<NodeId> {
        let node = self.node(line)?;
        self.checks.closed(node).or_else(|message| line.refuse(message))?;
        Ok(node)
    }

    pub(super) fn coords(&self, line: &mut Line<'_>) -> Parsed<Vec<(DimId, NodeId)>> {
        line.list(|line| {
            let dim = self.dims.read(line)?;
            line.sign('=')?;
            Ok((dim, self.node(line)?))
        })
    }

    fn operand(&self, line: &mut Line<'_>) -> Parsed<u16> {
        Ok(line.integer("the number of an operand", (0, u16::MAX.into()))? as u16)
    }

    fn size(&self, line: &mut Line<'_>) -> Parsed<Size> {
        match line.peek()? {
            Token::Node(_) => Ok(Size::Node(self.node(line)?)),
            Token::Number(_) => Ok(Size::Const(line.integer("a size", (i64::MIN, i64::MAX))?)),
            _ => {
                let word = line.word("a size (`any`, a number, a node, or `Y@0`: that of an operand)")?;
                if *line.peek()? != Token::Sign('@') && word == "any" {
                    return Ok(Size::Any);
                }
                let dim = self.dims.named(line, word)?;
                line.sign('@')?;
                Ok(Size::Operand(self.operand(line)?, dim))
            }
        }
    }

    /// Reads a size that is in order.
    fn checked_size(&self, line: &mut Line<'_>) -> Parsed<Size> {
        let size = self.size(line)?;
        self.checks.size(&self.graph, size).or_else(|message| line.refuse(message))?;
        Ok(size)
    }

    fn need(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let (dim, size) = (self.dims.read(line)?, self.checked_size(line)?);
        if !line.word_if("least")? {
            line.take()?;
            return line.refuse("expected `least` and the smallest legal size");
        }
        let least = line.integer("the smallest legal size", (0, i32::MAX.into()))?;
        self.graph.note(Note::Need(Need { dim, size, least }));
        Ok(())
    }

    fn equal(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let dim = self.dims.read(line)?;
        let equation = Equation { dim, a: self.checked_size(line)?, b: self.checked_size(line)? };
        if !self.equations.contains(&equation) {
            self.equations.push(equation);
        }
        Ok(())
    }

    fn inside(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let operand = self.operand(line)?;
        boxes(&self.graph, operand).or_else(|message| line.refuse(message))?;
        if line.word_if("anywhere")? {
            self.graph.note(Note::Inside(Inside { boxes: operand, picture: None }));
            return Ok(());
        }
        let sizes = line.list(|line| self.checked_size(line))?;
        let [height, width] = sizes[..] else { return line.refuse("a picture has two sizes: `(Y@0, X@0)`") };
        self.graph.note(Note::Inside(Inside { boxes: operand, picture: Some((height, width)) }));
        Ok(())
    }

    fn order(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        const INDEX: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);
        let (dim, size) = (self.dims.read(line)?, self.checked_size(line)?);
        let low = line.integer("the smallest index", INDEX)? as i32;
        let high = line.integer("the largest index", INDEX)? as i32;
        self.graph.note(Note::Order(dim, size, low, high));
        Ok(())
    }

    /// A node that goes on beyond its source: what it is has to show that.
    fn padded(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let node = self.node(line)?;
        let at = line.last();
        let source = self.node(line)?;
        let coords: Box<[(DimId, NodeId)]> = self.coords(line)?.into();
        let near = match line.word("`near` or `far`")? {
            "near" => true,
            "far" => false,
            other => return line.refuse(format!("expected `near` or `far`, found `{other}`")),
        };
        let reads = |n: NodeId| match &self.graph.node(n).op {
            Op::At { source: from, coords: places, .. } => *from == source && *places == coords,
            _ => false,
        };
        let is = match self.graph.node(node).op {
            Op::Select(_, inside, _) => reads(inside) || reads(node),
            _ => reads(node),
        };
        let along = |(dim, coord): &(DimId, NodeId)| self.graph.node(*coord).shape.iter().all(|(d, _)| d == dim);
        if !is || !coords.iter().all(along) {
            return mistake(at, "this node is no read of that source at these coordinates, each a function of its own");
        }
        self.graph.padded.insert(node, Padded { source, coords, near });
        Ok(())
    }

    /// What a node is a result of, for those who look inside.
    fn made(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let node = self.node(line)?;
        let name = line.text("the name of a function")?;
        let of = line.list(|line| self.node(line))?;
        if of.iter().any(|n| *n >= node) {
            return line.refuse("what a node is made of stands above it");
        }
        self.graph.named(kept(&name), &of, node);
        Ok(())
    }
}
