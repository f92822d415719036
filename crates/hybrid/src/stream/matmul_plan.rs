//! How a product of matrices is cut into tiles that a GPU has room for.

use super::strips;
use crate::Error;
use crate::dispatch::{Accelerator, ProductExtents, Unit};

/// Panels under way: one is read, one is copied, one is multiplied.
pub const STAGES: usize = 3;
/// Tiles of the result: one is computed while the other one is copied back.
pub const RESULTS: usize = 2;
/// What tiles are multiples of, where they are not a whole side.
const GRANULE: usize = 64;
/// The depth of a panel, where there is so much.
const PANEL: usize = 1024;
/// The least depth of a panel where there is so much: below it copies are short.
const LEAST_PANEL: usize = 64;

/// A product `c = a b` in tiles of `c`, each the sum of panels of `a` and `b` that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatmulPlan {
    /// The whole.
    pub extents: ProductExtents,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Rows and columns of a tile of the result.
    pub tile: [usize; 2],
    /// Depth of a panel. Of a deeper one than 1024 pieces come, each of which is multiplied when it is there.
    pub panel: usize,
    /// Panels in the memory of the GPU at once, 1 to [`STAGES`].
    pub stages: usize,
}

/// What a plan is expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatmulTime {
    /// Seconds of multiplication.
    pub compute: f64,
    /// Seconds of copies to the GPU.
    pub to_gpu: f64,
    /// Seconds of copies back.
    pub to_host: f64,
    /// Seconds from begin to end: the longest of the three, the first panel and what of the last tile goes back after the last product.
    pub wall: f64,
}

impl MatmulPlan {
    /// The largest tiles that so many bytes of the GPU's memory hold: the larger, the fewer bytes are copied. One stage copies and
    /// multiplies in turns. Refuses budgets without room for the smallest tiles.
    pub fn new(extents: ProductExtents, element_bytes: usize, budget: u64, stages: usize) -> Result<MatmulPlan, Error> {
        let most = extents.rows.max(extents.columns).max(1);
        Self::of_tiles(extents, element_bytes, budget, stages, most, |side| tile(extents, side))
    }

    /// Tiles of whole rows of the result, as many rows as so many bytes hold. More bytes are copied than in square tiles; but panels of `b` and tiles of
    /// the result have no gaps in matrices that lie row by row, and what has none a GPU copies from and to page-locked memory at the link's rate.
    /// The last tile has half as many rows, where there is room for the others to have more: nothing is computed while it goes back.
    pub fn by_rows(
        extents: ProductExtents,
        element_bytes: usize,
        budget: u64,
        stages: usize,
    ) -> Result<MatmulPlan, Error> {
        let band = |rows: usize| [tile(extents, rows)[0], extents.columns.max(1)];
        let plan = Self::of_tiles(extents, element_bytes, budget, stages, extents.rows.max(1), band)?;
        let short = plan.with_a_short_end();
        Ok(if short.device_bytes() <= u128::from(budget) { short } else { plan })
    }

    /// Tiles that so many bytes hold: of whole rows where a GPU reads `b` itself, row by row, if that is not much more to copy.
    pub(crate) fn suited(
        extents: ProductExtents,
        element_bytes: usize,
        budget: u64,
        reads_c: bool,
        b_lies_by_rows: bool,
    ) -> Result<MatmulPlan, Error> {
        let plan = Self::new(extents, element_bytes, budget, STAGES)?;
        let by_rows = b_lies_by_rows.then(|| Self::by_rows(extents, element_bytes, budget, STAGES).ok()).flatten();
        let much = plan.bytes_to_gpu(reads_c) / 2 * 3;
        Ok(by_rows.filter(|by_rows| by_rows.bytes_to_gpu(reads_c) <= much).unwrap_or(plan))
    }

    /// The largest tiles that fit, of sides up to `most`.
    fn of_tiles(
        extents: ProductExtents,
        element_bytes: usize,
        budget: u64,
        stages: usize,
        most: usize,
        tile: impl Fn(usize) -> [usize; 2],
    ) -> Result<MatmulPlan, Error> {
        let stages = stages.clamp(1, STAGES);
        let of = |tile: [usize; 2], panel| MatmulPlan { extents, element_bytes, tile, panel, stages };
        let mut panel = extents.depth.clamp(1, PANEL);
        loop {
            let fits = |side: usize| of(tile(side), panel).device_bytes() <= u128::from(budget);
            if let Some(side) = largest(most, fits) {
                let plan = of(tile(side), panel);
                // Small tiles for the sake of deep panels are no good.
                if side >= panel || panel <= LEAST_PANEL {
                    return Ok(plan.evened());
                }
            } else if panel <= LEAST_PANEL.min(extents.depth) {
                let least = of(tile(1), panel).device_bytes();
                let requested = u64::try_from(least).unwrap_or(u64::MAX);
                let what = "device memory for a product's tiles";
                return Err(Error::Budget { what, requested, available: budget, limit: budget });
            }
            panel = (panel / 2).max(1);
        }
    }

    /// That it is one of this product, and that its tiles get somewhere.
    pub(super) fn check(&self, extents: ProductExtents, element_bytes: usize) -> Result<(), Error> {
        let operation = "a streamed product";
        let ProductExtents { rows, columns, depth } = extents;
        let parts = [
            ("rows of the plan", rows, self.extents.rows),
            ("columns of the plan", columns, self.extents.columns),
            ("depth of the plan", depth, self.extents.depth),
            ("bytes of the plan's elements", element_bytes, self.element_bytes),
        ];
        if let Some(&(what, expected, got)) = parts.iter().find(|(_, expected, got)| expected != got) {
            return Err(Error::Shape { operation, what, expected, got });
        }
        let parts = [
            ("rows of the plan's tiles", self.tile[0]),
            ("columns of the plan's tiles", self.tile[1]),
            ("depth of the plan's panels", self.panel),
            ("stages of the plan", self.stages),
        ];
        match parts.iter().find(|(_, got)| *got == 0) {
            Some(&(what, got)) => Err(Error::Shape { operation, what, expected: 1, got }),
            None => Ok(()),
        }
    }

    /// The same number of tiles, as even as may be: the last ones are not much smaller than the others.
    fn evened(self) -> MatmulPlan {
        let ProductExtents { rows, columns, depth } = self.extents;
        let even = |extent: usize, part: usize, granule: usize| {
            let parts = extent.div_ceil(part).max(1);
            extent.div_ceil(parts).next_multiple_of(granule).min(part).max(1)
        };
        let granule = |part: usize| if part.is_multiple_of(GRANULE) { GRANULE } else { 1 };
        let tile = [(rows, self.tile[0]), (columns, self.tile[1])].map(|(all, part)| even(all, part, granule(part)));
        MatmulPlan { tile, panel: even(depth, self.panel, granule(self.panel)), ..self }
    }

    /// As many tiles along rows, the last of which has about half of the others' rows.
    fn with_a_short_end(self) -> MatmulPlan {
        let [down, ..] = self.counts();
        let rows = (2 * self.extents.rows).div_ceil((2 * down).saturating_sub(1).max(1)).next_multiple_of(GRANULE);
        let short = MatmulPlan { tile: [rows, self.tile[1]], ..self };
        if self.stages > 1 && down > 1 && short.counts()[0] == down { short } else { self }
    }

    /// Tiles along rows and columns, and panels of each.
    pub fn counts(&self) -> [usize; 3] {
        let ProductExtents { rows, columns, depth } = self.extents;
        [rows.div_ceil(self.tile[0]), columns.div_ceil(self.tile[1]), depth.div_ceil(self.panel)]
    }

    /// In the same memory more panels, none deeper than it takes for copies to be long: no product waits for more than that. In turns panels stay whole.
    pub(super) fn in_pieces(self) -> MatmulPlan {
        if self.stages <= 1 || self.panel <= PANEL {
            return self;
        }
        MatmulPlan { panel: PANEL, stages: self.stages * self.panel / PANEL, ..self }
    }

    /// Rows and columns of what is brought of both factors at once, and of what is computed.
    pub(super) fn tiles(&self) -> [[usize; 2]; 3] {
        let [rows, columns] = self.tile;
        [[rows, self.panel], [self.panel, columns], self.tile]
    }

    /// Bytes of the GPU's memory: panels of both factors in all stages, and tiles of the result.
    pub fn device_bytes(&self) -> u128 {
        let [rows, columns] = self.tile.map(|side| side as u128);
        let panels = self.stages as u128 * (rows + columns) * self.panel as u128;
        (panels + self.results() as u128 * rows * columns) * self.element_bytes as u128
    }

    /// Tiles of the result in the GPU's memory: two, where there is more than one at all.
    pub fn results(&self) -> usize {
        let [down, across, _] = self.counts();
        if self.stages == 1 || down * across <= 1 { 1 } else { RESULTS }
    }

    /// Bytes that are copied to the GPU: each row of `a` once for every tile beside it, each column of `b` for every one below. `c` too,
    /// where it is read.
    pub fn bytes_to_gpu(&self, reads_c: bool) -> u128 {
        let ProductExtents { rows, columns, depth } = self.extents;
        let [down, across, _] = self.counts();
        let [rows, columns, depth, down, across] = [rows, columns, depth, down, across].map(|it| it as u128);
        let c = if reads_c { rows * columns } else { 0 };
        ((rows * across + columns * down) * depth + c) * self.element_bytes as u128
    }

    /// Bytes that are copied back.
    pub fn bytes_to_host(&self) -> u128 {
        self.extents.rows as u128 * self.extents.columns as u128 * self.element_bytes as u128
    }

    /// What it is expected to take, of so many operations, from pinned memory.
    pub fn time(&self, gpu: &Accelerator, unit: Unit, flops: f64, reads_c: bool) -> MatmulTime {
        let [down, across, panels] = self.counts();
        let tiles = (down * across).max(1) as f64;
        let compute = flops / gpu.processor.flops.of(unit) + tiles * panels as f64 * gpu.processor.call;
        let (to_gpu, to_host) = (self.bytes_to_gpu(reads_c) as f64, self.bytes_to_host() as f64);
        if self.stages == 1 {
            let (to_gpu, to_host) = (to_gpu / gpu.link.to_gpu, to_host / gpu.link.to_host);
            return MatmulTime { compute, to_gpu, to_host, wall: compute + to_gpu + to_host };
        }
        // While results go back, operands come at the rate of both ways.
        let both = to_host / gpu.link.both;
        let to_gpu = both.min(to_gpu / gpu.link.both) + (to_gpu - both * gpu.link.both).max(0.0) / gpu.link.to_gpu;
        let pieces = self.in_pieces();
        let first = ((self.tile[0] + self.tile[1]) * pieces.panel * self.element_bytes) as f64 / gpu.link.to_gpu;
        let ProductExtents { rows, columns, .. } = self.extents;
        let part = |all: usize, tile: usize| (all - all.saturating_sub(1) / tile * tile) as f64 / all.max(1) as f64;
        let last = part(rows, self.tile[0]) * part(columns, self.tile[1]);
        // Of the last tile's products those by the panels that are there together.
        let [_, _, panels] = pieces.counts();
        let together = pieces.stages.min(STAGES).min(panels).max(1) as f64 / panels.max(1) as f64;
        let last = strips::tail(last * to_host / gpu.link.to_host, last * together * compute);
        MatmulTime { compute, to_gpu, to_host: both, wall: compute.max(to_gpu).max(both) + first + last }
    }
}

/// A tile of this side: no larger than the whole, and of whole granules where it is less.
fn tile(extents: ProductExtents, side: usize) -> [usize; 2] {
    [extents.rows, extents.columns].map(|extent| {
        let side = if side >= GRANULE { side / GRANULE * GRANULE } else { side };
        if side >= extent { extent.max(1) } else { side }
    })
}

/// The largest number up to `most` that fits; fitting ends at some number and does not begin again.
pub(crate) fn largest(most: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if fits(most) {
        return Some(most);
    }
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0).then_some(low)
}
