//! How the threads of a pointwise kernel divide its points: the configuration, which ones are legal, and which one is taken unasked.
//!
//! Results do not depend on it: each point is computed by the same operations in the same order, by whichever thread.

use super::configuration::power;
use super::schedule::{gathers, most_lanes, shape_of_block};
use super::{BLOCK, Extent, Plan};
use crate::error::Error;
use crate::graph::{Graph, Op};

/// Most neighbouring points of a thread.
const LANES: u32 = 16;
/// Most words of a thread.
const WORDS: u32 = 4;
/// Threads of a block, fewest and most.
const THREADS: [u32; 2] = [64, 512];
/// Most values that a thread computes.
const VALUES: u32 = 32;
/// Most graph nodes that a thread's straight-line code repeats.
const NODES: u32 = 4096;

/// What the threads of a pointwise kernel have to do: a configuration of [`Plan::configured`].
///
/// A thread computes `words` groups of `lanes` neighbouring points each. Groups lie as far from each other as the threads of a block reach
/// side by side, so that neighbouring threads access neighbouring memory in each of them, and all groups' loads are under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointwise {
    /// Neighbouring points, a power of two: so many elements are accessed at once, 16 bytes at most each time. Where pixels are gathered,
    /// rows.
    pub lanes: u32,
    /// Groups of them: 1, 2 or 4.
    pub words: u32,
    /// Threads of a block: a power of two from 64 to 512.
    pub threads: u32,
}

/// The points of a pointwise kernel, as far as its configuration depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Points of the innermost loop, of the one outside it, and of all others together; 1 where there is none.
    pub loops: [i64; 3],
    /// How many loops there are, at least 1.
    pub rank: u32,
    /// Values that a thread holds for each point of the loops: those along register dimensions.
    pub held: u32,
    /// Nodes of the graph.
    pub nodes: u32,
    /// Whether lanes lie along the innermost loop; else, where pixels are gathered, along the one outside it.
    pub side_by_side: bool,
    /// Most lanes: 16 bytes of the operand with the smallest elements that stand side by side, or the rows that make sense.
    pub most_lanes: u32,
    /// Whether the kernel knows the size of the innermost loop.
    pub known_inner: bool,
    /// What is taken unasked.
    pub untold: Pointwise,
}

impl Division {
    /// Refuses configurations that are not legal here, with the number and what it may be.
    pub fn check(&self, config: Pointwise) -> Result<(), Error> {
        let Pointwise { lanes, words, threads } = config;
        if config == self.untold {
            return Ok(());
        }
        power("number of lanes", lanes, [1, self.most_lanes])?;
        power("number of words", words, [1, if self.side_by_side { WORDS } else { 1 }])?;
        power("number of threads of a block", threads, THREADS)?;
        let most = |what, got: i64, most: i64| match got <= most {
            true => Ok(()),
            false => Err(Error::Configuration { what, got, least: 1, most }),
        };
        let (values, along) = (lanes * words * self.held, self.loops[usize::from(!self.side_by_side)]);
        most("number of points of a thread along one loop", (lanes * words).into(), along)?;
        most("number of values of a thread", values.into(), VALUES.into())?;
        most("number of nodes that a thread goes through", i64::from(values) * i64::from(self.nodes), NODES.into())?;
        // Where a loop's coordinates have 32 bits, those of threads behind its end have to fit too.
        let reach = i64::from(lanes * words * threads);
        if words > 1 && along <= i64::from(i32::MAX) {
            most("number of points of a loop with words", along, i64::from(i32::MAX) - reach)?;
        }
        Ok(())
    }

    /// All legal configurations, [`Division::untold`] first; of those that divide a short loop alike, one.
    pub fn configurations(&self) -> Vec<Pointwise> {
        let powers = |least: u32, most: u32| (0..32).map(|k| 1u32 << k).filter(move |n| (least..=most).contains(n));
        let each = |lanes| powers(1, WORDS).map(move |words| (lanes, words));
        let all = powers(1, LANES).flat_map(each).flat_map(|(lanes, words)| {
            powers(THREADS[0], THREADS[1]).map(move |threads| Pointwise { lanes, words, threads })
        });
        let mut found = vec![self.untold];
        let same = |a: Pointwise, b: Pointwise| (a.lanes, a.words, self.block(a)) == (b.lanes, b.words, self.block(b));
        for config in all.filter(|it| self.check(*it).is_ok()) {
            if !found.iter().any(|known| same(*known, config)) {
                found.push(config);
            }
        }
        found
    }

    /// Threads of a block along the innermost loop and the one outside it.
    pub fn block(&self, config: Pointwise) -> [u32; 2] {
        let points = if self.side_by_side { config.lanes * config.words } else { 1 };
        let chunks = ceil(self.loops[0], i64::from(points));
        shape_of_block(self.rank as usize, self.known_inner, chunks, config.threads)
    }

    /// Blocks along the innermost loop, along the one outside it, and along all others.
    pub fn blocks(&self, config: Pointwise) -> [i64; 3] {
        let ([x, y], points) = (self.block(config), i64::from(config.lanes * config.words));
        let along = if self.side_by_side { [points, 1] } else { [1, points] };
        let [inner, outer, rest] = self.loops;
        [ceil(inner, i64::from(x) * along[0]), ceil(outer, i64::from(y) * along[1]), rest]
    }
}

/// The quotient, rounded up.
fn ceil(n: i64, by: i64) -> i64 {
    (n + by - 1) / by
}

impl Plan {
    /// What a configuration of this plan divides. `None` where something is reduced, scanned, staged or scattered, and where there is nothing
    /// to divide: such kernels have the one configuration that the plan chooses.
    pub fn division(&self, graph: &Graph) -> Option<Division> {
        let shared = self.group.is_some() || self.staging.is_some() || self.private.is_some();
        let reduced = graph.nodes().any(|n| matches!(n.op, Op::Reduce { .. } | Op::Scan { .. }));
        if shared || reduced || self.waits || !graph.partials.is_empty() {
            return None;
        }
        let inner = self.inner()?;
        let mut untold = self.clone();
        untold.choose_lanes(graph);
        let rank = self.world.len();
        let extent = |from_inside: usize| self.world.iter().rev().nth(from_inside).map_or(1, |w| w.extent);
        let side_by_side = !gathers(graph, inner.dim);
        Some(Division {
            loops: [extent(0), extent(1), self.world.iter().rev().skip(2).map(|w| w.extent).product()],
            rank: rank as u32,
            held: self.held(),
            nodes: graph.len() as u32,
            side_by_side,
            most_lanes: if side_by_side { self.narrowest() } else { most_lanes(rank) },
            known_inner: matches!(inner.class, Extent::Exact(_)),
            untold: Pointwise { lanes: untold.lanes, words: 1, threads: BLOCK },
        })
    }

    /// The same plan under a configuration. Refuses kernels that have none, and configurations that are not legal.
    pub(super) fn divided(&self, graph: &Graph, config: Pointwise) -> Result<Plan, Error> {
        self.division(graph).ok_or(Error::NotPointwise)?.check(config)?;
        let mut plan = self.unclassified();
        plan.choose_lanes(graph);
        (plan.lanes, plan.words) = (config.lanes, config.words);
        plan.classify(graph);
        plan.choose_block(config.threads);
        Ok(plan)
    }

    /// 16 bytes of the operand with the smallest elements, of those that stand side by side.
    fn narrowest(&self) -> u32 {
        let slots = self.inputs.iter().chain(&self.outputs);
        slots.filter(|s| self.runs(s)).map(|s| (16 / s.dtype.size()) as u32).max().unwrap_or(1)
    }
}
