//! Stages: values that the threads of a block compute once and keep in shared memory, because its points read them at several
//! places.
//!
//! A block computes a tile of the two innermost loops. A *stage* holds the values of one node on the tile and a margin around
//! it, as wide as the taps of its readers reach. It is filled by all threads, behind it stands a barrier, and then other stages
//! and at last the results read it. Nothing else changes: where a read is not one of a stage, lowering computes the node as it
//! would without, so values are the same bits.
//!
//! What lies outside of a picture. A border brings a coordinate `c` of a margin inside, to `b(c)`. Let the tile begin at `t` in
//! `0..n` and end at `e <= n`, and the margin be `h` wide on both sides. Then `b(c)` lies in `t - h..e + h` again: a clamped
//! coordinate moves towards the tile; one mirrored at 0 lies in `0..h - t + 1`, one mirrored at `n` is above `n - 2 - h`, and
//! `t < n`; and a margin that is wider than the picture holds all of it. So a stage that is read through a border has the same
//! margin on both sides, and needs no more. A border that repeats the picture has no such law, and what is read through it is
//! computed in place.
//!
//! A small window needs no shared memory. A thread's points read a few pixels more than there are points, neighbouring threads find
//! theirs in the cache, and no thread waits for another: then there are no stages, and threads that no border touches read
//! their windows as they are.

mod across;
mod find;
mod lower;
mod margin;

pub(crate) use lower::{Around, Stages};
pub use margin::Margin;

use crate::bind::{Axis, Place};
use crate::dtype::DType;
use crate::graph::{DimId, NodeId};
use crate::plan::{Slot, SlotAxis};

/// Most bytes of shared memory of a block.
pub const SHARED_BYTES: i64 = 48 << 10;
/// Threads of a block.
const THREADS: u32 = 256;
/// Threads of a block along a row.
const ALONG: u32 = 32;

/// A loop that blocks are tiles of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLoop {
    /// The dimension.
    pub dim: DimId,
    /// Its number among the loops.
    pub number: usize,
    /// Threads of a block along it.
    pub threads: u32,
    /// Points of a thread along it.
    pub points: u32,
}

impl TileLoop {
    /// Points of a block along it.
    pub fn points_a_block(&self) -> i64 {
        i64::from(self.threads * self.points)
    }
}

/// What the threads of a block keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staging {
    /// The loops of a tile, outermost first: one or two.
    pub tile: Vec<TileLoop>,
    /// The stages, in the order in which they are filled.
    pub stages: Vec<Stage>,
    /// If there are none: what threads read around their points, and how far away.
    pub windows: Vec<Stage>,
}

impl Staging {
    /// Bytes of shared memory.
    pub fn bytes(&self) -> i64 {
        self.places().into_iter().zip(&self.stages).map(|(at, s)| at + s.bytes(&self.tile)).max().unwrap_or(0)
    }

    /// Where a stage begins, in bytes.
    pub fn offset(&self, stage: usize) -> i64 {
        self.places()[stage]
    }

    /// Where each stage begins, in bytes. One that nothing reads any more makes room for others: all threads have met since.
    fn places(&self) -> Vec<i64> {
        let mut places: Vec<i64> = Vec::with_capacity(self.stages.len());
        for (number, stage) in self.stages.iter().enumerate() {
            let needed = places.iter().zip(&self.stages).filter(|(_, s)| s.last_reader >= number);
            let mut taken: Vec<(i64, i64)> = needed.map(|(at, s)| (*at, at + s.bytes(&self.tile))).collect();
            taken.sort_unstable();
            let bytes = stage.bytes(&self.tile);
            let start = taken.iter().fold(0, |at, (from, to)| if at + bytes <= *from { at } else { at.max(*to) });
            places.push(start);
        }
        places
    }

    /// Turns along each loop of the tile in which threads fill a stage of an inner block: along the innermost a vector each, if memory
    /// runs along it.
    pub fn turns(&self, stage: usize) -> Vec<i64> {
        let turns = |(i, t): (usize, &TileLoop)| {
            let places = t.points_a_block() + self.stages[stage].filled(&self.tile, i).places();
            let vectors = i + 1 == self.tile.len() && !self.stages[stage].across;
            if vectors { places / i64::from(t.points) } else { places }
        };
        self.tile.iter().enumerate().map(turns).collect()
    }

    /// The tile along loop `number`, if tiles have that loop.
    pub fn tile_loop(&self, number: usize) -> Option<&TileLoop> {
        self.tile.iter().find(|t| t.number == number)
    }

    /// What the source text depends on.
    pub fn key(&self) -> Vec<u64> {
        let mut key = vec![self.stages.len() as u64];
        for t in &self.tile {
            key.extend([t.number as u64, u64::from(t.threads), u64::from(t.points)]);
        }
        for s in self.stages.iter().chain(&self.windows) {
            key.push(u64::from(s.node.0) << 1 | u64::from(s.across));
            key.extend(s.margins.iter().flat_map(|m| [m.before as u64, m.after as u64]));
        }
        key
    }
}

/// One node's values in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What is kept.
    pub node: NodeId,
    /// Its type.
    pub dtype: DType,
    /// The register dimensions that it varies along, with their sizes.
    pub registers: Vec<(DimId, i64)>,
    /// Along each loop of the tile, how far it reaches beyond.
    pub margins: Vec<Margin>,
    /// Along each loop of the tile, whether the node has a border there.
    pub padded: Vec<bool>,
    /// The number of the last stage that reads it; beyond all of them if results do.
    pub last_reader: usize,
    /// Whether neighbouring threads fill it along the outer loop of the tile, because memory runs along that.
    pub across: bool,
}

impl Stage {
    /// Position in a line of the stage of what stands at the tile's first point, along loop `i` of the tile. Along a line, the
    /// first vector of a fill and that of a read are both aligned where the margin allows it.
    pub fn origin(&self, tile: &[TileLoop], i: usize) -> i64 {
        let wide = self.filled(tile, i);
        if i + 1 < tile.len() {
            return -wide.before;
        }
        // Half a vector farther, taps begin at a vector and what fills the stage is cut in two.
        let points = i64::from(tile[i].points);
        let half = points > 1 && (self.margins[i].before - wide.before) * 2 == points;
        -wide.before + if half { points / 2 } else { 0 }
    }

    /// The margin in whole vectors along the innermost loop: what an inner block fills.
    pub fn filled(&self, tile: &[TileLoop], i: usize) -> Margin {
        if i + 1 == tile.len() { self.margins[i].in_steps(i64::from(tile[i].points)) } else { self.margins[i] }
    }

    /// Places along loop `i` of the tile; of a line, a multiple of 16 bytes, or an odd number where threads fill it across, so that
    /// they write to different banks.
    fn length(&self, tile: &[TileLoop], i: usize) -> i64 {
        let length = self.origin(tile, i) + tile[i].points_a_block() + self.filled(tile, i).after;
        if self.across && i + 1 == tile.len() {
            return length | 1;
        }
        let vector = if i + 1 == tile.len() { 16 / self.dtype.size() as i64 } else { 1 };
        (length + vector - 1) / vector * vector
    }

    /// Bytes of shared memory.
    pub fn bytes(&self, tile: &[TileLoop]) -> i64 {
        let places: i64 = (0..tile.len()).map(|i| self.length(tile, i)).product();
        let values: i64 = self.registers.iter().map(|(_, n)| n).product();
        places * values * self.dtype.size() as i64
    }

    /// The stage as something that is read: a plane for each register value. Lines count as apart, so that each is loaded when
    /// it is needed.
    pub fn slot(&self, tile: &[TileLoop]) -> Slot {
        let lengths = (0..tile.len()).map(|i| (tile[i].dim, self.length(tile, i)));
        let all: Vec<(DimId, i64)> = self.registers.iter().copied().chain(lengths).collect();
        let mut stride = 1;
        let mut axes = Vec::with_capacity(all.len());
        for (i, (dim, extent)) in all.into_iter().enumerate().rev() {
            let line = tile.len() == 2 && i == self.registers.len();
            axes.push(SlotAxis { axis: Axis { dim, extent, stride }, exact_extent: true, exact_stride: !line });
            stride *= extent;
        }
        axes.reverse();
        let alignment = if self.across { self.dtype.size() as u32 } else { 16 };
        Slot { dtype: self.dtype, components: 1, axes, place: Place::Device, alignment, bound: alignment }
    }
}
