//! How products of matrices with vectors are cut into panels that a GPU has room for.

use super::matmul_plan::{MatmulTime, RESULTS, STAGES, largest};
use crate::Error;
use crate::dispatch::{Accelerator, MatvecExtents, Unit};
use crate::store::Tile;
use std::ops::Range;

/// Bytes of a panel, where there are so many. Each element of a matrix is copied once and used once, whatever the panels: larger ones would only
/// have more copied before the first product, and larger steps. A copy of so much takes a millisecond, beside microseconds of its calls.
const PANEL_BYTES: u128 = 64 << 20;

/// Products of matrices with vectors, `y = a x` for each matrix of a batch, in panels that follow one another: some matrices, or some rows of one.
/// Vectors come once: one for all matrices stays, others come with theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatvecPlan {
    /// The whole.
    pub extents: MatvecExtents,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Matrices of a panel: one where a panel has not all of its rows.
    pub matrices: usize,
    /// Rows of each matrix of a panel.
    pub rows: usize,
    /// Panels in the memory of the GPU at once, 1 to [`STAGES`].
    pub stages: usize,
}

/// A panel: these rows of each of these matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panel {
    pub(crate) matrices: Range<usize>,
    pub(crate) rows: Range<usize>,
    /// Where it stands in all matrices, one below another.
    pub(crate) below: Range<usize>,
    /// Where the vectors of its matrices stand.
    pub(crate) vectors: Range<usize>,
}

impl Panel {
    /// Its part of a matrix of one column.
    pub(crate) fn column(&self) -> Tile {
        Tile { rows: self.below.clone(), columns: 0..1 }
    }
}

impl MatvecPlan {
    /// Panels that so many bytes of the GPU's memory hold. One stage copies and multiplies in turns. Refuses budgets without room for a vector and for
    /// a row of a matrix in each stage.
    pub fn new(extents: MatvecExtents, element_bytes: usize, budget: u64, stages: usize) -> Result<MatvecPlan, Error> {
        let stages = stages.clamp(1, STAGES);
        let of = |matrices, rows| MatvecPlan { extents, element_bytes, matrices, rows, stages };
        let fits = |plan: MatvecPlan| plan.device_bytes() <= u128::from(budget);
        let suits = |plan: MatvecPlan| fits(plan) && plan.panel_bytes() <= PANEL_BYTES;
        let MatvecExtents { count, rows, .. } = extents;
        let whole = largest(count.max(1), |matrices| suits(of(matrices, rows))).map(|matrices| of(matrices, rows));
        let parts = || largest(rows.max(1), |rows| suits(of(1, rows))).map(|rows| of(1, rows));
        let least = of(1, 1.min(rows));
        let requested = || u64::try_from(least.device_bytes()).unwrap_or(u64::MAX);
        let what = "device memory for a vector and rows of a matrix";
        whole
            .or_else(parts)
            .or_else(|| fits(least).then_some(least))
            .map(MatvecPlan::evened)
            .ok_or_else(|| Error::Budget { what, requested: requested(), available: budget, limit: budget })
    }

    /// As many panels, as even as may be.
    fn evened(self) -> MatvecPlan {
        let even = |extent: usize, part: usize| extent.div_ceil(extent.div_ceil(part.max(1)).max(1));
        let (matrices, rows) = (even(self.extents.count, self.matrices), even(self.extents.rows, self.rows));
        MatvecPlan { matrices, rows, ..self }
    }

    /// How many panels there are.
    pub fn panels(&self) -> usize {
        let [across, down] = self.counts();
        across.saturating_mul(down)
    }

    /// Parts of the batch, and parts of the rows of each.
    fn counts(&self) -> [usize; 2] {
        [self.extents.count.div_ceil(self.matrices.max(1)), self.extents.rows.div_ceil(self.rows.max(1))]
    }

    /// All panels, in their order.
    pub(crate) fn each(&self) -> impl Iterator<Item = Panel> + use<> {
        let MatvecPlan { extents: MatvecExtents { count, rows, columns }, matrices, rows: height, .. } = *self;
        let parts = move |all: usize, part: usize| {
            (0..all).step_by(part.max(1)).map(move |begin| begin..all.min(begin.saturating_add(part.max(1))))
        };
        parts(count, matrices).flat_map(move |matrices| {
            parts(rows, height).map(move |part| Panel {
                below: matrices.start * rows + part.start..(matrices.end - 1) * rows + part.end,
                vectors: matrices.start * columns..matrices.end * columns,
                matrices: matrices.clone(),
                rows: part,
            })
        })
    }

    /// Rows and columns of the largest that is brought of matrices and of vectors at once, and of what is computed.
    pub(super) fn tiles(&self) -> [[usize; 2]; 3] {
        let (MatvecExtents { columns, .. }, height) = (self.extents, self.matrices * self.rows);
        [[height, columns], [self.matrices * columns, 1], [height, 1]]
    }

    fn panel_bytes(&self) -> u128 {
        self.matrices as u128 * self.rows as u128 * self.extents.columns as u128 * self.element_bytes as u128
    }

    /// Buffers for panels, for their vectors, and for results: one of each kind where that is all there is.
    pub(super) fn buffers(&self) -> [usize; 3] {
        let alone = |parts: usize, several: usize| if parts <= 1 { 1 } else { several };
        let results = if self.stages == 1 { 1 } else { RESULTS };
        [alone(self.panels(), self.stages), alone(self.counts()[0], self.stages), alone(self.panels(), results)]
    }

    /// Bytes of the GPU's memory: panels in all stages, vectors, and parts of the result.
    pub fn device_bytes(&self) -> u128 {
        let [panels, vectors, results] = self.buffers().map(|it| it as u128);
        let vector = self.matrices as u128 * self.extents.columns as u128;
        let part = self.matrices as u128 * self.rows as u128;
        panels * self.panel_bytes() + (vectors * vector + results * part) * self.element_bytes as u128
    }

    /// Bytes that are copied to the GPU: everything once, `y` where it is read; vectors of nothing are not.
    pub fn bytes_to_gpu(&self, reads_y: bool) -> u128 {
        let MatvecExtents { count, rows, columns } = self.extents;
        let [count, rows, columns] = [count, rows, if rows == 0 { 0 } else { columns }].map(|it| it as u128);
        let y = if reads_y { count * rows } else { 0 };
        (count * columns * (rows + 1) + y) * self.element_bytes as u128
    }

    /// Bytes that are copied back.
    pub fn bytes_to_host(&self) -> u128 {
        self.extents.count as u128 * self.extents.rows as u128 * self.element_bytes as u128
    }

    /// What it is expected to take, of so many operations, from pinned memory. The copies bind it wherever a matrix is not on the GPU: an element
    /// that crosses the link is multiplied once.
    pub fn time(&self, gpu: &Accelerator, unit: Unit, flops: f64, reads_y: bool) -> MatmulTime {
        let panels = self.panels().max(1) as f64;
        let (there, back) = (self.bytes_to_gpu(reads_y) as f64, self.bytes_to_host() as f64);
        let arithmetic = (flops / gpu.processor.flops.of(unit)).max((there + back) / gpu.processor.memory);
        let compute = arithmetic + panels * gpu.processor.call;
        if self.stages == 1 {
            let (to_gpu, to_host) = (there / gpu.link.to_gpu, back / gpu.link.to_host);
            return MatmulTime { compute, to_gpu, to_host, wall: compute + to_gpu + to_host };
        }
        // While results go back, operands come at the rate of both ways.
        let both = back / gpu.link.both;
        let to_gpu = both.min(there / gpu.link.both) + (there - both * gpu.link.both).max(0.0) / gpu.link.to_gpu;
        // The last panel is multiplied when nothing comes any more, and its part goes back.
        let (first, last) = (self.panel_bytes() as f64 / gpu.link.to_gpu, back / panels / gpu.link.to_host);
        let wall = (first + compute).max(to_gpu + compute / panels).max(both) + last;
        MatmulTime { compute, to_gpu, to_host: both, wall }
    }
}
