//! How a product of bits is cut into tiles that a GPU has room for.

use super::{Becomes, BitProduct};
use crate::Error;
use crate::bits::gpu::words_per_row;
use crate::dispatch::{Link, ProductExtents};
use crate::stream::{MatmulTime, RESULTS, STAGES};

/// What tiles are multiples of, where they are not a whole side: bits to which rows are padded.
const GRANULE: usize = 128;
/// Rows of a tile at most: enough for thousands of blocks of a kernel.
const ROWS: usize = 4096;
/// Columns of a tile at most: with so many a band of rows is multiplied more slowly than the next one comes, and more would only delay the begin.
const COLUMNS: usize = 65_536;

/// A product of bits in tiles, each of all pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitPlan {
    /// The whole, in bits.
    pub extents: ProductExtents,
    /// Bits of an element of the result: 1, or 32 of counts.
    pub element_bits: usize,
    /// Rows and columns of a tile of the result. Columns are a multiple of 128, or all.
    pub tile: [usize; 2],
    /// Whether bands of the right factor are transposed on the device.
    pub transposes: bool,
}

impl BitPlan {
    /// The largest tiles that so many bytes of the GPU's memory hold. [`Error::Budget`] without room for tiles of 128 x 128 over the whole depth.
    pub fn new(product: &BitProduct<'_>, becomes: Becomes, budget: u64) -> Result<BitPlan, Error> {
        Self::of_one_tile(product, becomes).within(budget)
    }

    /// All of it at once.
    pub(super) fn of_one_tile(product: &BitProduct<'_>, becomes: Becomes) -> BitPlan {
        Self::of_extents(product.extents(), becomes, product.transposes())
    }

    /// The same of factors that are known by their extents.
    pub(super) fn of_extents(extents: ProductExtents, becomes: Becomes, transposes: bool) -> BitPlan {
        let tile = [extents.rows.max(1), extents.columns.max(1)];
        BitPlan { extents, element_bits: becomes.element_bits(), tile, transposes }
    }

    /// The same in the largest tiles that so many bytes hold.
    pub(crate) fn within(self, budget: u64) -> Result<BitPlan, Error> {
        let ProductExtents { rows, columns, .. } = self.extents;
        let part = |all: usize, side: usize| all.clamp(1, side);
        let of = |side: usize| BitPlan { tile: [part(rows, side.min(ROWS)), part(columns, side.min(COLUMNS))], ..self };
        let mut sides = (1..=COLUMNS / GRANULE).rev().map(|count| count * GRANULE);
        let fits = |side: &usize| of(*side).device_bytes() <= u128::from(budget);
        let Some(side) = sides.find(fits) else {
            let requested = u64::try_from(of(GRANULE).device_bytes()).unwrap_or(u64::MAX);
            let what = "device memory for a product's tiles";
            return Err(Error::Budget { what, requested, available: budget, limit: budget });
        };
        Ok(of(side).evened())
    }

    /// The same number of tiles, as even as may be.
    fn evened(self) -> BitPlan {
        let even = |extent: usize, part: usize| {
            let parts = extent.div_ceil(part).max(1);
            extent.div_ceil(parts).next_multiple_of(GRANULE).clamp(1, part)
        };
        let ProductExtents { rows, columns, .. } = self.extents;
        BitPlan { tile: [even(rows, self.tile[0]), even(columns, self.tile[1])], ..self }
    }

    /// Tiles along rows and columns.
    pub fn counts(&self) -> [usize; 2] {
        [self.extents.rows.div_ceil(self.tile[0]), self.extents.columns.div_ceil(self.tile[1])]
    }

    /// Tiles of the result in the GPU's memory: one is computed while the other one is copied back.
    pub(super) fn results(&self) -> usize {
        let [down, across] = self.counts();
        if down * across <= 1 { 1 } else { RESULTS }
    }

    /// Words of 32 bits of a band of rows of the left factor.
    pub(super) fn left_words(&self) -> usize {
        self.tile[0] * words_per_row(self.extents.depth)
    }

    /// Words of the two buffers of the right factor: where the next band comes to, and where the one lies that is multiplied. What is not
    /// transposed and comes at once needs one.
    pub(super) fn right_words(&self) -> [usize; 2] {
        let (depth, columns) = (self.extents.depth, self.tile[1]);
        let turned = columns * words_per_row(depth);
        match (self.transposes, self.counts()[1] > 1) {
            (true, _) => [depth * words_per_row(columns), turned],
            (false, true) => [turned; 2],
            (false, false) => [turned, 0],
        }
    }

    /// Words of a tile of the result.
    pub(super) fn result_words(&self) -> usize {
        self.tile[0] * self.result_row(self.tile[1])
    }

    /// Words of a row of so many results.
    pub(super) fn result_row(&self, columns: usize) -> usize {
        if self.element_bits == 1 { words_per_row(columns) } else { columns }
    }

    /// Words of the longest row that goes through host memory.
    pub(super) fn longest_row(&self) -> usize {
        let columns = self.tile[1];
        words_per_row(self.extents.depth).max(words_per_row(columns)).max(self.result_row(columns)).max(1)
    }

    /// Bytes of the most that goes to one place.
    pub(super) fn most_at_once(&self) -> u128 {
        let words = [self.left_words(), self.right_words()[0], self.result_words()];
        4 * words.into_iter().fold(0, usize::max) as u128
    }

    /// Bytes of the GPU's memory.
    pub fn device_bytes(&self) -> u128 {
        let left = STAGES as u128 * self.left_words() as u128;
        let right = self.right_words().iter().map(|words| *words as u128).sum::<u128>();
        4 * (left + right + self.results() as u128 * self.result_words() as u128)
    }

    /// Bytes that are copied to the GPU: the right factor once, the left one for each band of columns.
    pub fn bytes_to_gpu(&self) -> u128 {
        let ProductExtents { rows, columns, depth } = self.extents;
        let left = rows as u128 * words_per_row(depth) as u128 * self.counts()[1] as u128;
        let right = match self.transposes {
            true => depth as u128 * self.bands_of_columns().map(|columns| words_per_row(columns) as u128).sum::<u128>(),
            false => columns as u128 * words_per_row(depth) as u128,
        };
        4 * (left + right)
    }

    /// Bytes that are copied back.
    pub fn bytes_to_host(&self) -> u128 {
        let row = self.bands_of_columns().map(|columns| self.result_row(columns) as u128).sum::<u128>();
        4 * self.extents.rows as u128 * row
    }

    fn bands_of_columns(&self) -> impl Iterator<Item = usize> + use<> {
        let (all, part) = (self.extents.columns, self.tile[1]);
        (0..all).step_by(part).map(move |begin| part.min(all - begin))
    }

    /// What it is expected to take from pinned memory, with so many operations a second: AND and addition count as two.
    pub fn time(&self, link: &Link, operations: f64) -> MatmulTime {
        let ProductExtents { rows, columns, depth } = self.extents;
        let compute = 2.0 * rows as f64 * columns as f64 * depth as f64 / operations;
        let (to_gpu, to_host) = (self.bytes_to_gpu() as f64, self.bytes_to_host() as f64);
        let [down, across] = self.counts();
        let both = to_host / link.both;
        // While results go back, operands come at the rate of both ways.
        let to_gpu = both.min(to_gpu / link.both) + (to_gpu - both * link.both).max(0.0) / link.to_gpu;
        let first = 4.0 * (self.right_words()[0] + self.left_words()) as f64 / link.to_gpu;
        let last = to_host / (down * across).max(1) as f64 / link.to_host;
        MatmulTime { compute, to_gpu, to_host: both, wall: compute.max(to_gpu).max(both) + first + last }
    }
}
