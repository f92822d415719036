//! How the threads of a block go along rows, and which share one.

use super::{LONGEST, Shared, Tree};
use crate::graph::{DimId, Graph, Op};
use crate::plan::{Extent, Plan, Slot, WorldDim};
use crate::scan::CHUNK;
use std::collections::BTreeSet;

/// Threads of a block, if one row does not need more.
const BLOCK: u32 = 256;
/// Most threads of a block, and those of one whose neighbours work on neighbouring rows.
const MOST_THREADS: u32 = 1024;
/// Most accumulators of one thread.
const HELD: u32 = 32;
/// Steps along a row that is gone through once which are written one after the other, so that their loads are under way together.
const AT_ONCE: i64 = 4;
/// Most graph nodes of a body that is repeated for several rows.
const SHORT_BODY: usize = 24;

/// How the threads of a block go along rows. A *row* is a point of the loops that are not reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many of the world's loops are reduced: the innermost ones.
    pub loops: usize,
    /// The dimensions that are reduced.
    pub set: BTreeSet<DimId>,
    /// Values of a row.
    pub n: i64,
    /// The order in which they are reduced.
    pub tree: Tree,
    /// Whether rows are gone through again.
    pub again: bool,
    /// Whether rows are scanned.
    pub scans: bool,
    /// Steps in which a thread goes along a row, if they are few enough to be written one after the other; else 0.
    pub steps: u32,
    /// Whether every accumulator takes equally many values of a row.
    pub full: bool,
    /// Threads that share a row. Each has `width / threads` accumulators, for as many neighbouring values.
    pub threads: u32,
    /// Rows of a block.
    pub rows: u32,
    /// Rows that each thread has part in, one after the other.
    pub passes: u32,
    /// Whether its dimensions are reduced together in every place.
    pub everywhere: bool,
    /// Whether neighbouring threads are those of neighbouring rows, because memory is contiguous along the innermost loop
    /// that is not reduced.
    pub tall: bool,
    /// Whether other sections of a launch are computed beside it, whose blocks it cannot wait for.
    pub beside: bool,
}

impl Group {
    /// Puts the reduced dimensions at the end of the world.
    pub(crate) fn new(shared: &Shared, world: &mut Vec<WorldDim>) -> Group {
        world.retain(|w| shared.dims.iter().all(|(d, _)| *d != w.dim));
        let rows: i64 = world.iter().map(|w| w.extent).product();
        let n: i64 = shared.dims.iter().map(|(_, n)| *n).product();
        let reduced =
            shared.dims.iter().map(|(dim, n)| WorldDim { dim: *dim, extent: *n, class: Extent::MultipleOf(1) });
        world.extend(reduced);
        let tree = match shared.scans {
            true => Tree::scanned(n, rows, !shared.again),
            false => Tree::new(n, rows, shared.again),
        };
        let (loops, again, everywhere) = (shared.dims.len(), shared.again, shared.everywhere);
        let scans = shared.scans;
        let set = shared.set();
        let full = n > 0 && n % i64::from(tree.width) == 0;
        let most = if again { LONGEST } else { AT_ONCE * i64::from(tree.width) };
        let steps = match !scans && n <= most {
            true if full => n as u32 / tree.width,
            true => (n.max(1) as u32).div_ceil(tree.width).next_power_of_two(),
            false => 0,
        };
        let (threads, rows, passes, tall, beside) = (1, 1, 1, false, false);
        Group { loops, n, set, tree, again, scans, everywhere, steps, full, threads, rows, passes, tall, beside }
    }

    /// The loops that are not reduced, and those that are.
    pub fn split<'a>(&self, world: &'a [WorldDim]) -> (&'a [WorldDim], &'a [WorldDim]) {
        world.split_at(world.len() - self.loops)
    }

    /// Segments of a row.
    pub fn segments(&self) -> i64 {
        self.tree.segments(self.n)
    }

    /// Whether the segments of rows are gone through again and again. Their blocks wait for each other after each turn; in a
    /// launch with other sections, one block goes through all segments of its rows.
    pub fn in_turns(&self) -> bool {
        self.again && !self.scans && self.segments() > 1
    }

    /// Whether the blocks of the launch wait for each other, so that all must be there at once. Fewer blocks do as well.
    pub fn together(&self) -> bool {
        self.in_turns() && !self.beside
    }

    pub(crate) fn blocks(&self, world: &[WorldDim]) -> i64 {
        let segments = if self.in_turns() && self.beside { 1 } else { self.segments() };
        self.row_blocks(world) * segments
    }

    /// Blocks that all first segments take.
    pub fn row_blocks(&self, world: &[WorldDim]) -> i64 {
        let (outer, _) = self.split(world);
        let per = i64::from(self.rows);
        match outer.split_last() {
            Some((last, rest)) if self.tall => {
                rest.iter().map(|w| w.extent).product::<i64>() * ((last.extent + per - 1) / per)
            }
            _ => (outer.iter().map(|w| w.extent).product::<i64>() + per - 1) / per,
        }
    }

    /// Whether the number of a value within its row needs 64 bits.
    pub fn wide(&self) -> bool {
        self.n > i64::from(i32::MAX)
    }

    /// Whether the number of a row needs 64 bits.
    pub fn wide_rows(&self, world: &[WorldDim]) -> bool {
        self.split(world).0.iter().map(|w| w.extent).product::<i64>() > i64::from(i32::MAX)
    }

    pub(crate) fn key(&self, world: &[WorldDim]) -> impl Iterator<Item = u64> {
        let wide = [u64::from(self.wide()), u64::from(self.wide_rows(world))];
        let wide = wide.into_iter().chain([u64::from(self.steps), u64::from(self.full && self.steps > 0)]);
        let parts = [self.tree.width, self.threads, self.rows, self.passes, u32::from(self.tall)].map(u64::from);
        let cut = u64::from(self.segments() > 1);
        let segment = if cut == 1 { self.tree.segment as u64 } else { 0 };
        let beside = u64::from(self.beside);
        parts.into_iter().chain(wide).chain([self.loops as u64, u64::from(self.again), cut, segment, beside])
    }
}

impl Plan {
    /// Which threads share a row, and how many neighbouring values each takes at a time. `beside` other sections, blocks have as
    /// many threads as theirs.
    pub(crate) fn choose_threads(&mut self, graph: &Graph, beside: bool) {
        let held: u32 = self.registers.iter().map(|(_, n)| *n as u32).product();
        let Some(group) = &self.group else { return };
        let (outer, reduced) = group.split(&self.world);
        let width = group.tree.width;
        let slots = || self.inputs.iter().chain(&self.outputs);
        let runs = |s: &&Slot, dim: DimId| {
            let packed = self.registers.iter().find_map(|(d, n)| (s.stride(*d) == Some(1)).then_some(*n)).unwrap_or(1);
            s.stride(dim) == Some(packed)
        };
        let along = |dim: DimId| slots().filter(|s| runs(s, dim)).map(|s| (16 / s.dtype.size()) as u32).min();
        let inner = reduced.last().and_then(|w| along(w.dim));
        let tall = inner.is_none() && outer.last().is_some_and(|w| w.extent >= 8 && along(w.dim).is_some());
        let most = if beside || group.steps == 0 || !group.again { BLOCK } else { MOST_THREADS };
        let least = (width / most).max(1);
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
            lanes.max(least)
        };
        let threads = width / lanes;
        let (rows, block) = match tall {
            true => ((MOST_THREADS / threads).min(HELD), [(MOST_THREADS / threads).min(HELD), threads]),
            false => ((BLOCK / threads).max(1), [BLOCK.max(threads), 1]),
        };
        let short = !(tall || beside || group.again || group.steps == 0 || graph.len() > SHORT_BODY);
        let even = lanes > 1 && reduced.last().is_some_and(|w| w.extent % i64::from(lanes) == 0);
        let passes = if short && even && rows > 1 { (AT_ONCE as u32 / group.steps).max(1) } else { 1 };
        (self.lanes, self.lane_loop, self.block) = (lanes, self.world.len() - 1, block);
        if let Some(group) = &mut self.group {
            (group.threads, group.rows, group.passes) = (threads, rows * passes, passes);
            (group.tall, group.beside) = (tall, beside);
        }
    }

    /// Whether a dimension is reduced by one thread somewhere, step after step, so that it must stay a loop of its own.
    pub(crate) fn reduces_alone(&self, graph: &Graph, dim: DimId) -> bool {
        let reduces = |op: &Op| matches!(op, Op::Reduce { dim: d, .. } if *d == dim);
        if !graph.nodes().any(|n| reduces(&n.op)) {
            return false;
        }
        let Some(group) = &self.group else { return true };
        let (_, reduced) = group.split(&self.world);
        if reduced.iter().all(|w| w.dim != dim) {
            return true;
        }
        graph.nodes().any(|n| matches!(n.op, Op::At { .. })) || !group.everywhere
    }
}
