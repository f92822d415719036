//! [`PointwiseProblem`]: what the model is told of a launch, whatever its configuration.

use super::arithmetic::arithmetic;
use super::operation::NAME;
use super::traffic::traffic;
use crate::fields::{self, Field};
use tilewright_expr::plan::{Division, Pointwise};
use tilewright_expr::sections::Sections;
use tilewright_perf::Error;
use tilewright_perf::dataset::Named;

/// A pointwise launch in numbers: its loops, bytes and operations of a point, bytes of all points. No dimension, no graph, no type is left
/// in it; launches that do the like are one problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PointwiseProblem {
    pub(super) inner: usize,
    pub(super) outer: usize,
    pub(super) rest: usize,
    pub(super) rank: usize,
    pub(super) held: usize,
    pub(super) nodes: usize,
    pub(super) side_by_side: usize,
    pub(super) most_lanes: usize,
    pub(super) known_inner: usize,
    pub(super) lanes: usize,
    pub(super) threads: usize,
    /// The largest power of two, up to 16, that divides the loop along which lanes lie.
    pub(super) divisor: usize,
    pub(super) aligned: usize,
    pub(super) operands: usize,
    pub(super) results: usize,
    pub(super) read_beside: usize,
    pub(super) read_apart: usize,
    pub(super) read_again: usize,
    pub(super) read_gathered: usize,
    pub(super) sent: usize,
    pub(super) written_beside: usize,
    pub(super) written_apart: usize,
    pub(super) bytes_read: usize,
    pub(super) bytes_written: usize,
    pub(super) narrowest: usize,
    pub(super) widest: usize,
    pub(super) light: usize,
    pub(super) heavy: usize,
    pub(super) wide: usize,
}

macro_rules! fields {
    ($($name:ident)*) => {
        [$((stringify!($name), |it| it.$name, |it, value| it.$name = value)),*]
    };
}

const FIELDS: [Field<PointwiseProblem>; 29] = fields![
    inner outer rest rank held nodes side_by_side most_lanes known_inner lanes threads divisor aligned operands results read_beside
    read_apart read_again read_gathered sent written_beside written_apart bytes_read bytes_written narrowest widest light heavy wide
];

impl PointwiseProblem {
    /// That of a launch, if it is one of a single pointwise section.
    pub(crate) fn of(sections: &Sections<'_>) -> Option<PointwiseProblem> {
        let (division, section) = (sections.division()?, &sections.list[0]);
        let (graph, plan) = (&*section.graph, &section.plan);
        let (arithmetic, traffic) = (arithmetic(graph, &plan.registers), traffic(graph, plan));
        let [inner, outer, rest] = division.loops.map(|n| n.max(1) as usize);
        let along = if division.side_by_side { inner } else { outer };
        Some(PointwiseProblem {
            inner,
            outer,
            rest,
            rank: division.rank as usize,
            held: division.held as usize,
            nodes: division.nodes as usize,
            side_by_side: division.side_by_side.into(),
            most_lanes: division.most_lanes as usize,
            known_inner: division.known_inner.into(),
            lanes: division.untold.lanes as usize,
            threads: division.untold.threads as usize,
            divisor: 1 << along.trailing_zeros().min(4),
            aligned: traffic.aligned.into(),
            operands: plan.inputs.len(),
            results: plan.outputs.len(),
            read_beside: traffic.read_beside,
            read_apart: traffic.read_apart,
            read_again: traffic.read_again,
            read_gathered: traffic.read_gathered,
            sent: traffic.sent,
            written_beside: traffic.written_beside,
            written_apart: traffic.written_apart,
            bytes_read: traffic.bytes_read,
            bytes_written: traffic.bytes_written,
            narrowest: traffic.narrowest,
            widest: traffic.widest,
            light: arithmetic.light,
            heavy: arithmetic.heavy,
            wide: arithmetic.wide,
        })
    }

    /// As rows of data sets have it.
    pub fn names(&self) -> Named {
        fields::configuration(FIELDS, self)
    }

    /// The inverse of [`PointwiseProblem::names`]. Refuses names that are missing, and loops without points.
    pub fn of_names(problem: &Named) -> Result<PointwiseProblem, Error> {
        let mut it = PointwiseProblem::default();
        fields::set_all(NAME, &FIELDS, problem, &mut it)?;
        let none = [it.inner, it.outer, it.rest, it.rank, it.held, it.lanes, it.threads, it.most_lanes].contains(&0);
        let large = [it.nodes, it.held, it.lanes, it.threads, it.most_lanes].into_iter().any(|n| n > 1 << 20);
        match none || large {
            true => Err(fields::refused(NAME, format!("no launch has {it:?}"))),
            false => Ok(it),
        }
    }

    /// Bytes that a launch reads and writes.
    pub fn bytes(&self) -> usize {
        self.bytes_read + self.bytes_written
    }

    /// What a configuration divides.
    pub fn division(&self) -> Division {
        let of = |n: usize| n as u32;
        let untold = Pointwise { lanes: of(self.lanes), words: 1, threads: of(self.threads) };
        Division {
            loops: [self.inner, self.outer, self.rest].map(|n| n as i64),
            rank: of(self.rank),
            held: of(self.held),
            nodes: of(self.nodes),
            side_by_side: self.side_by_side != 0,
            most_lanes: of(self.most_lanes),
            known_inner: self.known_inner != 0,
            untold,
        }
    }

    /// The problem that stands for all of its class: what grows with sizes is rounded down to powers of two. A choice that sees nothing else
    /// is the same for all sizes of a class.
    pub fn class(&self) -> PointwiseProblem {
        let floor = |n: usize| n.checked_ilog2().map_or(n, |log| 1 << log);
        let [inner, outer, rest] = [self.inner, self.outer, self.rest].map(floor);
        // What the kernel knows is no size that varies.
        let inner = if self.known_inner != 0 { self.inner } else { inner };
        let (bytes_read, bytes_written) = (floor(self.bytes_read), floor(self.bytes_written));
        PointwiseProblem { inner, outer, rest, bytes_read, bytes_written, ..*self }
    }
}
