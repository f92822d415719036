//! Which threads share a row: what a plan chooses, and what it can be told.

use super::PARTIALS;
use super::group::AT_ONCE;
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::plan::{BLOCK, Plan, Slot, power};
use crate::scan::CHUNK;

/// Most threads of a block, and those of one whose neighbours work on neighbouring rows.
const MOST_THREADS: u32 = 1024;
/// Most accumulators of one thread.
const HELD: u32 = 32;
/// Most rows of a block that nobody asked for, where neighbours work on neighbouring rows, and fewest: less of a line of memory is read together.
const NEIGHBOURS: u32 = 32;
const FEWEST: u32 = 8;
/// Blocks that keep a GPU busy, of which each is all that a multiprocessor holds.
const ENOUGH: i64 = 96;
/// Threads of a warp: no block has fewer.
const WARP: u32 = 32;
/// Most graph nodes of a body that is repeated for several rows.
const SHORT_BODY: usize = 24;

/// How the threads of a block share rows that are reduced: a configuration of [`Plan::configured`]. A *row* is a point of the loops that
/// are not reduced.
///
/// Results do not depend on it, to the bit: which accumulator takes which values follows from sizes alone ([`Tree`](super::Tree)), and a
/// thread has as many neighbouring accumulators of its row as there are for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sharing {
    /// Threads of a row, a power of two.
    pub threads: u32,
    /// Rows that a block goes along at once, a power of two.
    pub rows: u32,
}

/// The rows of a kernel that reduces, as far as its configuration depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Accumulators of a row.
    pub width: u32,
    /// Values that a thread holds for each accumulator: those along register dimensions.
    pub held: u32,
    /// Whether rows are cut into segments, of which several blocks have part.
    pub cut: bool,
    /// Rows that are numbered with 32 bits beyond the last one: a block may have no more.
    pub beyond: i64,
    /// What is taken unasked.
    pub untold: Sharing,
}

impl Shares {
    /// Refuses configurations that are not legal here, with the number and what it may be.
    pub fn check(&self, config: Sharing) -> Result<(), Error> {
        if config == self.untold {
            return Ok(());
        }
        power("number of threads of a row", config.threads, self.threads())?;
        let most = i64::from(MOST_THREADS / config.threads).min(self.beyond).max(0) as u32;
        power("number of rows of a block", config.rows, [WARP.div_ceil(config.threads), most])
    }

    /// Fewest and most threads of a row.
    fn threads(&self) -> [u32; 2] {
        // Results of segments are combined by as many threads as there are partial results.
        let few = if self.cut { PARTIALS as u32 } else { 1 };
        let by_registers = (self.width * self.held.next_power_of_two()).div_ceil(HELD);
        [few.max(by_registers).min(self.width), self.width.min(MOST_THREADS)]
    }

    /// All legal configurations, [`Shares::untold`] first.
    pub fn configurations(&self) -> Vec<Sharing> {
        let powers = || (0..=MOST_THREADS.ilog2()).map(|k| 1 << k);
        let all = powers().flat_map(|threads| powers().map(move |rows| Sharing { threads, rows }));
        let others = all.filter(|it| *it != self.untold && self.check(*it).is_ok());
        std::iter::once(self.untold).chain(others).collect()
    }
}

impl Plan {
    /// What a configuration of this plan shares out. `None` where nothing is reduced by several threads, where rows are gone through again, and
    /// where they are scanned: such kernels have the one configuration that the plan chooses.
    pub fn shares(&self) -> Option<Shares> {
        let group = self.group.as_ref().filter(|group| !group.again && !group.scans && !group.beside)?;
        let untold = self.sharing(false)?;
        let (outer, _) = group.split(&self.world);
        let numbered = match group.tall {
            true => outer.last().map_or(1, |w| w.extent),
            false => outer.iter().map(|w| w.extent).product(),
        };
        let most = i64::from(i32::MAX);
        // A thread may go along as many rows as `AT_ONCE`, one after the other.
        let beyond = if numbered > most { most } else { (most - numbered) / AT_ONCE };
        Some(Shares { width: group.tree.width, held: self.held(), cut: group.segments() > 1, beyond, untold })
    }

    /// The same plan under a configuration. Refuses kernels that have none, and configurations that are not legal.
    pub(crate) fn shared(&self, graph: &Graph, config: Sharing) -> Result<Plan, Error> {
        self.shares().ok_or(Error::NotShared)?.check(config)?;
        let mut plan = self.unclassified();
        plan.share(graph, config, false);
        plan.classify(graph);
        Ok(plan)
    }

    /// Which threads share a row, and how many neighbouring values each takes at a time. `beside` other sections, blocks have as
    /// many threads as theirs.
    pub(crate) fn choose_threads(&mut self, graph: &Graph, beside: bool) {
        if let Some(chosen) = self.sharing(beside) {
            self.share(graph, chosen, beside);
        }
    }

    /// What is chosen unasked; nothing where no threads share rows.
    fn sharing(&self, beside: bool) -> Option<Sharing> {
        let group = self.group.as_ref()?;
        let (held, width) = (self.held(), group.tree.width);
        let most = if beside || group.steps == 0 || !group.again { BLOCK } else { MOST_THREADS };
        let (inner, tall) = self.neighbours();
        let lanes = if group.scans {
            CHUNK
        } else if tall {
            let threads = (width * held.next_power_of_two() / HELD).clamp(1, width).max((width / 4).clamp(1, HELD));
            width / threads
        } else {
            let mut lanes = inner.unwrap_or(1).min(width);
            while lanes > 1 && lanes * held > 16 {
                lanes /= 2;
            }
            lanes.max((width / most).max(1))
        };
        let threads = width / lanes;
        if !tall {
            return Some(Sharing { threads, rows: (BLOCK / threads).max(1) });
        }
        let mut chosen = Sharing { threads, rows: (MOST_THREADS / threads).min(NEIGHBOURS) };
        // Rows that are cut are cut until there are enough blocks. Of others blocks have fewer, with more threads for each, where there would be few.
        let may = !(group.scans || group.again || beside) && group.segments() == 1;
        let few = |it: &Sharing| it.rows > FEWEST && group.row_blocks_of(&self.world, it.rows, true) < ENOUGH;
        while may && chosen.threads < width && few(&chosen) {
            chosen = Sharing { threads: 2 * chosen.threads, rows: chosen.rows / 2 };
        }
        Some(chosen)
    }

    /// Has so many threads share a row.
    fn share(&mut self, graph: &Graph, Sharing { threads, rows }: Sharing, beside: bool) {
        let (_, tall) = self.neighbours();
        let Some(group) = &mut self.group else { return };
        let lanes = group.tree.width / threads;
        let short = !(tall || beside || group.again || group.steps == 0 || graph.len() > SHORT_BODY);
        let even = lanes > 1 && self.world.last().is_some_and(|w| w.extent % i64::from(lanes) == 0);
        let passes = if short && even && rows > 1 { (AT_ONCE as u32 / group.steps).max(1) } else { 1 };
        (group.threads, group.rows, group.passes) = (threads, rows * passes, passes);
        (group.tall, group.beside) = (tall, beside);
        self.block = if tall { [rows, threads] } else { [rows * threads, 1] };
        (self.lanes, self.lane_loop) = (lanes, self.world.len() - 1);
    }

    /// Neighbouring values of a row that 16 bytes hold, if they are neighbours in memory; and whether neighbouring threads are those of
    /// neighbouring rows because rows are neighbours instead.
    fn neighbours(&self) -> (Option<u32>, bool) {
        let Some(group) = &self.group else { return (None, false) };
        let (outer, reduced) = group.split(&self.world);
        let slots = || self.inputs.iter().chain(&self.outputs);
        let runs = |s: &&Slot, dim: DimId| {
            let packed = self.registers.iter().find_map(|(d, n)| (s.stride(*d) == Some(1)).then_some(*n)).unwrap_or(1);
            s.stride(dim) == Some(packed)
        };
        let along = |dim: DimId| slots().filter(|s| runs(s, dim)).map(|s| (16 / s.dtype.size()) as u32).min();
        let inner = reduced.last().and_then(|w| along(w.dim));
        let tall = inner.is_none() && outer.last().is_some_and(|w| w.extent >= 8 && along(w.dim).is_some());
        (inner, tall)
    }
}
