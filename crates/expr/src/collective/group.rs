//! How the threads of a block go along rows, and which share one.

use super::{LONGEST, Shared, Tree};
use crate::graph::{DimId, Graph, Op};
use crate::plan::{Extent, Plan, WorldDim};
use std::collections::BTreeSet;

/// Steps along a row that is gone through once which are written one after the other, so that their loads are under way together.
pub(super) const AT_ONCE: i64 = 4;

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
        self.row_blocks_of(world, self.rows, self.tall)
    }

    /// The same of so many rows each, that are neighbours or not.
    pub(super) fn row_blocks_of(&self, world: &[WorldDim], rows: u32, tall: bool) -> i64 {
        let (outer, _) = self.split(world);
        let per = i64::from(rows);
        match outer.split_last() {
            Some((last, rest)) if tall => {
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
