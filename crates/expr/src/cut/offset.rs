//! The same expression for windows, where something is computed from coordinates: these are counted from the begin of the whole.

use super::Share;
use super::moved::with_operands;
use super::scanned::wide;
use super::walk::{Found, shift};
use crate::graph::{Binary, DimId, Graph, NodeId, Op, OperandSpec, Size};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// How a node is meant where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sense {
    /// At a point of the window, its coordinate counted from the begin of the whole.
    Counted,
    /// As [`Sense::Counted`], read at a coordinate that is brought inside of the window.
    Inside,
    /// A place within the window.
    Place,
    /// At a coordinate of the whole.
    Whole,
}

struct Offset<'a> {
    graph: &'a Graph,
    dim: DimId,
    shares: &'a [Share],
    /// Operands that are there once more, whole, behind the others.
    twice: &'a [u16],
}

/// The expression with more operands: those that are read anywhere too, whole; what stands before a band of each scan along `dim`; and, where something is
/// computed with them, the first index of a window and the length of the whole; and where a band begins and ends, where scans are read beside the point, or
/// windows have values that another band scatters.
pub(super) fn with_first_index(graph: &Graph, dim: DimId, found: &Found) -> (Graph, Option<[NodeId; 2]>) {
    let offset = Offset { graph, dim, shares: &found.shares, twice: &found.twice };
    let mut made = Graph::default();
    graph.names().iter().for_each(|(dim, name)| made.name_dim(*dim, name));
    for spec in &graph.operands {
        made.operand(spec.clone());
    }
    for operand in &found.twice {
        made.operand(graph.operands[usize::from(*operand)].clone());
    }
    let mut before = BTreeMap::new();
    for (scan, from) in &found.scans {
        let Op::Scan { reduction, .. } = graph.node(*scan).op else { continue };
        let dtype = wide(reduction, graph.node(*scan).dtype);
        let dims = graph.dims_without(dim, *scan).into();
        let number = made.operand(OperandSpec { dtype, components: 1, dims });
        before.insert(*scan, (made.input(number, 0), reduction, *from));
    }
    let told = found.counted.then(|| made.told());
    let band = found.knows_band().then(|| made.told());
    let mut moved: BTreeMap<(NodeId, Sense), NodeId> = BTreeMap::new();
    // What a node is made from has a lower number.
    for (node, sense) in offset.needed() {
        let here = graph.node(node);
        let there = match (&here.op, told) {
            (Op::Index(d), Some([first, length])) if *d == dim && sense == Sense::Counted => {
                let index = made.index(dim);
                let index = made.binary(Binary::Add, index, first);
                // Beyond an end it is the other end's.
                if found.wraps { made.periods(index, length).1 } else { index }
            }
            (Op::Extent(size), Some([_, length])) if offset.is_length(*size) && sense != Sense::Place => length,
            (op, _) => {
                let mut senses = offset.senses(node, sense).into_iter();
                let mut numbers: Vec<NodeId> = arguments(op).zip(&mut senses).map(|(a, s)| moved[&(a, s)]).collect();
                let scan = before.get(&node).filter(|_| sense == Sense::Counted);
                if let (Some((_, reduction, from)), Some([begin, _])) = (scan, band) {
                    numbers[0] = made.scanned_from((dim, begin, *from), *reduction, numbers[0]);
                }
                let there = made.push(offset.of_whole(with_arguments(op, &numbers), sense), here.dtype);
                scan.map_or(there, |(before, reduction, _)| made.behind(*before, there, *reduction))
            }
        };
        moved.insert((node, sense), there);
    }
    for ((node, sense), there) in &moved {
        let Some(padded) = graph.padded.get(node).filter(|_| *sense != Sense::Inside) else { continue };
        let (of_source, of_places) = match sense {
            Sense::Whole => (Sense::Whole, Sense::Whole),
            _ => (Sense::Counted, Sense::Place),
        };
        let is_place = |n: &NodeId| padded.coords.iter().any(|(_, coord)| coord == n);
        let to = |n: NodeId| moved.get(&(n, if is_place(&n) { of_places } else { of_source })).copied();
        // Whatever is not there is no part of what was moved.
        if to(padded.source).is_some() && padded.coords.iter().all(|(_, coord)| to(*coord).is_some()) {
            made.padded.insert(*there, padded.moved(|n| to(n).unwrap_or(n)));
        }
    }
    for output in 0..graph.outputs.len() {
        made.store_moved(graph, output, |node| moved[&(node, Sense::Counted)]);
    }
    if let Some(band) = band.filter(|_| found.scatters_beside()) {
        made.scatter_within(dim, band);
    }
    made.joins = graph.joins.clone();
    (made, band)
}

impl Offset<'_> {
    /// All that the results are made from, in the order in which it is made.
    fn needed(&self) -> BTreeSet<(NodeId, Sense)> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<_> = self.graph.all_roots().into_iter().map(|node| (node, Sense::Counted)).collect();
        while let Some((node, sense)) = open.pop() {
            if needed.insert((node, sense)) {
                open.extend(arguments(&self.graph.node(node).op).zip(self.senses(node, sense)));
            }
        }
        needed
    }

    /// How the arguments of a node are meant, in the order of [`Op::for_each_arg`].
    fn senses(&self, node: NodeId, sense: Sense) -> Vec<Sense> {
        let op = &self.graph.node(node).op;
        let is_padded = sense == Sense::Counted && self.graph.padded.contains_key(&node);
        match (op, sense) {
            (Op::Select(..), Sense::Counted) if is_padded => vec![Sense::Place, Sense::Inside, Sense::Counted],
            (Op::At { coords, sizes, .. }, Sense::Counted | Sense::Inside) => {
                let inside = is_padded || sense == Sense::Inside;
                let along = coords.iter().find(|(dim, _)| *dim == self.dim);
                let elsewhere =
                    along.is_some_and(|(_, coord)| !inside && shift(self.graph, self.dim, *coord).is_none());
                let of_coord = |(dim, coord): &(DimId, NodeId)| match inside {
                    true => Sense::Place,
                    false if *dim == self.dim && shift(self.graph, self.dim, *coord).is_some() => Sense::Place,
                    false => Sense::Counted,
                };
                let source = if elsewhere { Sense::Whole } else { Sense::Counted };
                let sizes = sizes.iter().filter(|(_, size)| matches!(size, Size::Node(_))).map(|_| Sense::Counted);
                [source].into_iter().chain(coords.iter().map(of_coord)).chain(sizes).collect()
            }
            (Op::Reduce { dim, .. }, Sense::Counted) if *dim == self.dim => vec![Sense::Whole, Sense::Counted],
            _ => arguments(op).map(|_| sense).collect(),
        }
    }

    /// An operation of operands that are there whole, at a coordinate of the whole; anywhere else where it is as long as these along another dimension, or
    /// reduces all of them.
    fn of_whole(&self, mut op: Op, sense: Sense) -> Op {
        let whole = |operand: u16| {
            let more = self.twice.iter().position(|it| *it == operand)?;
            Some((self.graph.operands.len() + more) as u16)
        };
        let size = |size: Size| match size {
            Size::Operand(operand, dim) => Ok::<_, Infallible>(Size::Operand(whole(operand).unwrap_or(operand), dim)),
            size => Ok(size),
        };
        match &mut op {
            Op::At { sizes, .. } if sense != Sense::Whole => {
                for (_, of) in sizes.iter_mut().filter(|(dim, _)| *dim != self.dim) {
                    let Ok(of_whole) = size(*of);
                    *of = of_whole;
                }
                op
            }
            op if sense != Sense::Whole && !matches!(op, Op::Reduce { .. }) => op.clone(),
            _ => {
                let Ok(op) = with_operands(op, &whole, &size);
                op
            }
        }
    }

    /// Whether a size is the length of a window.
    fn is_length(&self, size: Size) -> bool {
        matches!(size, Size::Operand(operand, dim)
            if dim == self.dim && matches!(self.shares[usize::from(operand)], Share::Band(_)))
    }
}

/// The nodes that an operation reads.
pub(super) fn arguments(op: &Op) -> impl Iterator<Item = NodeId> + use<> {
    let mut arguments = Vec::new();
    op.for_each_arg(|argument| arguments.push(argument));
    arguments.into_iter()
}

/// The same operation with other arguments, in the order of [`Op::for_each_arg`].
pub(super) fn with_arguments(op: &Op, numbers: &[NodeId]) -> Op {
    let mut op = op.clone();
    let mut numbers = numbers.iter();
    op.for_each_arg_mut(|argument| *argument = numbers.next().copied().unwrap_or(*argument));
    op
}
