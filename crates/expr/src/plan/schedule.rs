//! What a thread has: which dimensions live in registers, how many points it computes.

use super::{Extent, Plan, Slot, WorldDim};
use crate::bind::Place;
use crate::graph::{Binary, DimId, Graph, Node, Op, Size};
use crate::stage::Staging;

/// Most values that a thread holds for one point of the other dimensions.
const MAX_REGISTERS: i64 = 8;
/// Most values that a thread computes.
const MAX_VALUES: u32 = 16;
/// Most graph nodes that a thread's straight-line code repeats: longer code takes seconds to compile.
const MAX_NODES: u32 = 4096;
/// Rows that a thread computes where pixels are gathered: more save a few instructions a pixel, and take longer to compile.
const ROWS: u32 = 2;
/// Points that the threads of a large GPU, all at once, have in one row each. A kernel that knows to have fewer leaves them one row; what
/// is smaller still takes as long as a launch.
const FEW: std::ops::Range<i64> = 1 << 14..1 << 19;

impl Plan {
    /// A short dimension that is innermost in some operand's memory lives in registers; else one along which expressions are
    /// stacked, so that what they share is computed once.
    pub(super) fn choose_registers(&mut self, graph: &Graph) {
        let fits = |w: &WorldDim| (2..=MAX_REGISTERS).contains(&w.extent);
        let packed = |s: &Slot| match s.axes.as_slice() {
            [.., _, last] if s.components == 1 && s.place == Place::Device => Some(last.axis.dim),
            _ => None,
        };
        let slots = || self.inputs.iter().chain(&self.outputs);
        let loops = self.world.len() - self.group.as_ref().map_or(0, |g| g.loops);
        let free = &self.world[..loops];
        let short = |d: &DimId| free.iter().any(|w| w.dim == *d && fits(w));
        let stacked = || free.iter().map(|w| w.dim).find(|d| short(d) && stacks(graph, *d));
        let Some(dim) = slots().filter_map(packed).find(short).or_else(stacked) else {
            return;
        };
        if self.world.len() < 2 {
            return;
        }
        let at = self.world.iter().position(|w| w.dim == dim).unwrap_or(0);
        let w = self.world.remove(at);
        self.registers.push((w.dim, w.extent));
    }

    /// Points per thread: 16 bytes of the widest operand that is contiguous along the inner dimension; where the inner
    /// coordinate takes part in a gather, several rows instead, which share what depends on the column, if a row is not long work.
    pub(super) fn choose_lanes(&mut self, graph: &Graph) {
        let Some(inner) = self.inner().copied() else { return };
        let held = self.held();
        let last = self.world.len() - 1;
        let (lane_loop, most) = if gathers(graph, inner.dim) {
            (last.saturating_sub(1), if last == 0 || has_windows(graph) || self.few(graph) { 1 } else { ROWS })
        } else {
            let slots = self.inputs.iter().chain(&self.outputs);
            (last, slots.filter(|s| self.runs(s)).map(|s| (16 / s.dtype.size()) as u32).min().unwrap_or(1))
        };
        let mut lanes = most;
        let long = |lanes: u32| graph.len() as u32 * lanes * held > MAX_NODES;
        while lanes > 1 && (long(lanes) || lanes * held > MAX_VALUES || i64::from(lanes) > self.world[lane_loop].extent)
        {
            lanes /= 2;
        }
        (self.lanes, self.lane_loop) = (lanes, lane_loop);
        self.waits = lane_loop < last && has_windows(graph);
    }

    /// Values that a thread holds for each point of the loops.
    pub(crate) fn held(&self) -> u32 {
        self.registers.iter().map(|(_, n)| *n as u32).product()
    }

    /// Whether a slot's elements stand side by side along the inner dimension.
    pub(super) fn runs(&self, slot: &Slot) -> bool {
        self.inner().is_some_and(|w| slot.stride(w.dim) == Some(self.packed(slot)))
    }

    /// Whether the kernel knows all sizes, and that its threads are few.
    fn few(&self, graph: &Graph) -> bool {
        self.world.iter().all(|w| literal(graph, w)) && FEW.contains(&self.points())
    }

    /// Threads and their points as the stages want them. Where threads read their windows themselves, blocks are small.
    pub(super) fn choose_tile(&mut self, beside: bool) {
        let Some(Staging { tile, windows, .. }) = &mut self.staging else { return };
        self.waits = !windows.is_empty();
        if let [outer, _] = tile.as_mut_slice()
            && self.waits
            && !beside
        {
            outer.threads /= 2;
        }
        let [.., inner] = tile.as_slice() else { return };
        (self.lanes, self.lane_loop) = (inner.points, inner.number);
        self.block = [inner.threads, if tile.len() == 2 { tile[0].threads } else { 1 }];
    }

    /// The shape of blocks of so many threads, where they divide more than one point.
    pub(super) fn choose_block(&mut self, threads: u32) {
        let n = self.world.len();
        let Some(inner) = self.inner() else {
            self.block = [1, 1];
            return;
        };
        let points = i64::from(self.inner_lanes() * self.words);
        let chunks = (inner.extent + points - 1) / points;
        self.block = match &self.private {
            // A block that has places of its own has one index of each loop outside.
            Some(private) if private.outer + 1 == n => [threads, 1],
            _ => shape_of_block(n, matches!(inner.class, Extent::Exact(_)), chunks, threads),
        };
    }
}

/// Threads of a block along the innermost of `rank` loops and the one outside it, for so many `chunks`: what a thread has of the innermost
/// loop. Whether the kernel knows that loop's size.
pub(super) fn shape_of_block(rank: usize, known: bool, chunks: i64, threads: u32) -> [u32; 2] {
    let clamp = |v: i64, most: u32| (v.clamp(1, i64::from(most)) as u32).next_power_of_two();
    let x = match known {
        true => fewest_idle(clamp(chunks, threads), chunks),
        false if rank == 1 || chunks >= i64::from(threads / 2) => threads,
        false => 32,
    };
    [x, if rank >= 2 { threads / x } else { 1 }]
}

/// Most rows that a thread has where pixels are gathered: twice those that it has unasked.
pub(super) fn most_lanes(rank: usize) -> u32 {
    if rank > 1 { 2 * ROWS } else { 1 }
}

/// Whether the size of a loop is part of the expression.
pub(super) fn literal(graph: &Graph, w: &WorldDim) -> bool {
    graph.outputs.iter().any(|o| graph.size_of(o.node, w.dim) == Size::Const(w.extent))
}

/// Of `most` threads side by side, a half and a quarter: those of which the fewest have nothing to do, if they are warps.
fn fewest_idle(most: u32, chunks: i64) -> u32 {
    let candidates = [most, most / 2, most / 4].into_iter().filter(|x| *x == most || *x >= 64);
    candidates.min_by_key(|x| (chunks + i64::from(*x) - 1) / i64::from(*x) * i64::from(*x)).unwrap_or(most)
}

/// Whether expressions that are computed are chosen by the coordinate along `dim`.
fn stacks(graph: &Graph, dim: DimId) -> bool {
    let by_coordinate = |n| match graph.node(n).op {
        Op::Binary(Binary::Eq, a, _) => graph.node(a).op == Op::Index(dim),
        _ => false,
    };
    graph.nodes().any(|node| match node.op {
        Op::Select(c, yes, _) => by_coordinate(c) && !matches!(graph.node(yes).op, Op::Const(_)),
        _ => false,
    })
}

/// Whether something is reduced over as many values as are computed: a thread has several of them at once.
fn has_windows(graph: &Graph) -> bool {
    graph.nodes().any(|node| matches!(node.op, Op::Reduce { size: Size::Node(_), .. }))
}

/// Whether some operand is read at a coordinate that is computed from the one along `dim`.
pub(super) fn gathers(graph: &Graph, dim: DimId) -> bool {
    let computed =
        |node: &Node| !matches!(node.op, Op::Index(_)) && node.shape.binary_search_by_key(&dim, |(d, _)| *d).is_ok();
    graph.nodes().any(|node| match &node.op {
        Op::At { coords, .. } => coords.iter().any(|(_, c)| computed(graph.node(*c))),
        _ => false,
    })
}
