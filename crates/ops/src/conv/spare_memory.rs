//! What the row kernel's blocks do with shared memory that is left over: images that lie apart, so that matrices meet in no bank, and one more row that waits.

use super::multiprocessor::SYSTEM_BYTES;
use super::row_plan::{LONGEST_SIDE, RowPlan};

/// Pixels of a matrix, and banks of shared memory as wide as one of its rows, a cell of 16 bytes.
const MATRIX: usize = 8;
/// Idle columns are worth their place where matrices take at least so much longer without them, and pixels have so many cells (docs/notes/conv.md).
const LEAST_WAIT: f32 = 0.3;
const LEAST_CELLS: usize = 4;

impl RowPlan {
    /// The same with what its blocks have memory for besides, as long as no fewer of them stand on a multiprocessor: columns that nobody needs, and one more row that
    /// waits to be sent. It is for the kernel's text, and models are told of it: nothing that is legal or estimated depends on it.
    pub(crate) fn roomy(self) -> RowPlan {
        let with_columns = RowPlan { reach: self.reach + self.idle_columns(), ..self };
        let with_row = |plan: RowPlan| RowPlan { waiting: usize::from(self.config.whole_rows), ..plan };
        let measured = |plan: RowPlan| RowPlan { shared_bytes: plan.shared_bytes(), ..plan };
        let fits = |plan: &RowPlan| {
            let has_room = plan.shared_bytes + SYSTEM_BYTES <= plan.room && plan.reach <= LONGEST_SIDE;
            has_room && plan.resident() == self.resident()
        };
        let plans = [with_row(with_columns), with_columns, with_row(self)];
        plans.into_iter().map(measured).find(fits).unwrap_or(self)
    }

    /// Columns behind those of each image, which no tap meets, so that eight pixels side by side, the rows of a matrix, do not lie in the same banks where one image ends
    /// and the next one begins: if that saves much, and pixels are not so narrow that the copy engine is busier with their number than with their bytes.
    fn idle_columns(&self) -> usize {
        match self.period() {
            Some(period) if self.pixel_cells() >= LEAST_CELLS && self.waits_for_banks() >= LEAST_WAIT => {
                (self.config.columns + (period - 1) * self.reach) % period
            }
            _ => 0,
        }
    }

    /// [`RowPlan::waits_for_banks`] of the [`RowPlan::roomy`] one.
    pub(super) fn waits_when_roomy(&self) -> f32 {
        if self.period().is_some() { self.roomy().waits_for_banks() } else { 0.0 }
    }

    /// How much longer matrices take for the sake of pixels of two images in the same banks, as a part.
    pub(crate) fn waits_for_banks(&self) -> f32 {
        let Some(period) = self.period() else { return 0.0 };
        let is_even = (self.config.columns + (period - 1) * self.reach).is_multiple_of(period);
        if is_even { 0.0 } else { (self.unaligned() * period) as f32 / (MATRIX * self.config.columns) as f32 }
    }

    /// Pixels after which banks come round again, where a row has several images and the copy engine brings them.
    fn period(&self) -> Option<usize> {
        let (images, across) = (self.config.images, self.columns.across());
        let meets = self.bulk && images > 1 && across.up == 1 && across.down == 1;
        let swizzled = if self.span > 1 { 0 } else { self.pixel_cells().trailing_zeros().min(MATRIX.trailing_zeros()) };
        meets.then_some(MATRIX >> swizzled)
    }

    /// Of eight images those that do not end where a matrix does: of as many columns' matrices so many have pixels of two images.
    fn unaligned(&self) -> usize {
        MATRIX - (1 << self.config.columns.trailing_zeros().min(MATRIX.trailing_zeros()))
    }
}
