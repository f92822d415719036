//! How factors and solutions are cut into panels of columns that a GPU has room for.

use super::memory::Standing;
use super::schedule::Task;
use crate::Error;
use crate::dispatch::{Accelerator, Unit};
use crate::store::{Extents, Tile};
use crate::stream::matmul::Factor;
use crate::stream::matmul_plan::{MatmulTime, STAGES, largest};
use std::ops::Range;

/// Columns of factors that are streamed at once, where panels want all the rest: products of that depth run at 0.85 of the full rate.
const SLICE: usize = 512;
/// The same, where panels leave more: 0.97 of the rate (37.6 and 42.8 of 44 TFLOP/s, H200, f64, 2026-11-25).
const WIDE: usize = 1024;
/// Columns by which slices become wider.
const STEP: usize = 64;
/// Slices in the memory of the GPU at once, at least: one is multiplied, while the next one comes.
const LEAST_STAGES: usize = 2;
/// Bytes of a row that are read at once, from something that is stored row by row.
const READ_BYTES: usize = 32 << 10;
/// Chunks beside one another that are read at once, at least: one more is read in part.
const CHUNKS: usize = 4;
/// The part of the memory that one slice may take.
const PART: usize = 16;
/// Bands of a solution on their way back: one is turned while the other one is copied.
const BANDS_BACK: usize = 2;
/// Bytes for each row that exchanges take, as other columns are told them.
const EXCHANGE_BYTES: usize = 4;
/// Bytes for each row that a factorisation finds: exchanges and a diagonal.
const FOUND_BYTES: usize = 24;

/// Bytes that a processor takes beside the memory of a plan.
pub(crate) type Beside<'a> = dyn Fn(&PanelPlan) -> u128 + 'a;

/// What panels of columns go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// `P a = L U`, with pivots from the whole height of a panel.
    Lu,
    /// `a = L adjoint(L)`.
    Cholesky,
    /// Solutions by LU factors that were made in panels of so many columns.
    LuSolution {
        /// Columns of such a panel.
        block: usize,
    },
    /// Solutions by U alone, of what went through L as further columns of the matrix.
    LuBackward,
    /// Solutions by a factor of Cholesky's.
    CholeskySolution,
}

/// A left-looking pass: panels of columns, of full height, are brought to the GPU one after the other; all factors that stand to the left of a
/// panel, or of solutions all, go by in slices of columns, and the panel is factored itself, or is a solution, and goes back.
///
/// Left-looking, because a panel is then written once: nothing but what is read again is copied. The wider a panel, the fewer bytes: all
/// factors are read about once for each panel. Those of the panel before have not left the GPU, and are met where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanelPlan {
    /// What panels go through.
    pub pass: Pass,
    /// Rows and columns of the matrix that is factored, or was.
    pub size: usize,
    /// Columns of all panels: of factors those of the matrix, and what is carried through L with them.
    pub columns: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Columns of a panel.
    pub panel: usize,
    /// Columns of factors that are streamed at once.
    pub slice: usize,
    /// Slices in the memory of the GPU at once.
    pub stages: usize,
    /// Columns of the matrix that are best read together. Panels of factors come in strips of as many, or of a slice's.
    pub together: usize,
}

impl PanelPlan {
    /// The widest panels that so many bytes of the GPU's memory hold, for an LU factorisation.
    pub fn lu(size: usize, element_bytes: usize, budget: u64) -> Result<PanelPlan, Error> {
        Self::lu_beside(size, element_bytes, budget, &|_| 0)
    }

    /// The same, for Cholesky's factorisation.
    pub fn cholesky(size: usize, element_bytes: usize, budget: u64) -> Result<PanelPlan, Error> {
        Self::cholesky_beside(size, element_bytes, budget, &|_| 0)
    }

    /// The same, for solutions of so many columns by the factors of this plan.
    pub fn solution(&self, columns: usize, budget: u64) -> Result<PanelPlan, Error> {
        self.solution_beside(columns, budget, &|_| 0)
    }

    /// All columns as one panel.
    pub(crate) fn lu_at_once(size: usize, element_bytes: usize) -> PanelPlan {
        let (pass, slice, stages) = (Pass::Lu, 1, LEAST_STAGES);
        PanelPlan { pass, size, columns: size, element_bytes, panel: size, slice, stages, together: 1 }
    }

    /// For an LU factorisation, beside what that takes more.
    pub(crate) fn lu_beside(
        size: usize,
        element_bytes: usize,
        budget: u64,
        beside: &Beside<'_>,
    ) -> Result<PanelPlan, Error> {
        Self::new(Pass::Lu, [size, size], element_bytes, budget, beside)
    }

    /// The same, for Cholesky's.
    pub(crate) fn cholesky_beside(
        size: usize,
        element_bytes: usize,
        budget: u64,
        beside: &Beside<'_>,
    ) -> Result<PanelPlan, Error> {
        Self::new(Pass::Cholesky, [size, size], element_bytes, budget, beside)
    }

    /// The same, for solutions by the factors of this plan.
    pub(crate) fn solution_beside(&self, columns: usize, budget: u64, beside: &Beside<'_>) -> Result<PanelPlan, Error> {
        let pass = match self.pass {
            Pass::Lu => Pass::LuSolution { block: self.panel },
            Pass::Cholesky => Pass::CholeskySolution,
            solution => solution,
        };
        Self::new(pass, [self.size, columns], self.element_bytes, budget, beside)
    }

    /// The same, for factors, and for solutions of so many columns by them. A few columns go through L with the last panel, so that nobody reads L
    /// again.
    pub(crate) fn lu_solution(
        [size, columns]: [usize; 2],
        element_bytes: usize,
        budget: u64,
        beside: &Beside<'_>,
    ) -> Result<[PanelPlan; 2], Error> {
        let carrying = Self::new(Pass::Lu, [size, size.saturating_add(columns)], element_bytes, budget, beside);
        if let Some(carrying) = carrying.ok().filter(PanelPlan::carries) {
            return Ok([carrying, Self::new(Pass::LuBackward, [size, columns], element_bytes, budget, beside)?]);
        }
        let factors = Self::lu_beside(size, element_bytes, budget, beside)?;
        Ok([factors, factors.solution_beside(columns, budget, beside)?])
    }

    fn new(
        pass: Pass,
        [size, columns]: [usize; 2],
        element_bytes: usize,
        budget: u64,
        beside: &Beside<'_>,
    ) -> Result<PanelPlan, Error> {
        let elements = usize::try_from(budget / element_bytes.max(1) as u64).unwrap_or(usize::MAX);
        let slice = (elements / PART / size.max(1)).clamp(1, SLICE.min(size.max(1)));
        let of = |panel| PanelPlan { pass, size, columns, element_bytes, panel, slice, stages: STAGES, together: 1 };
        let fits = |plan: &PanelPlan| plan.bytes_beside(beside) <= u128::from(budget);
        match largest(columns.max(1), |panel| fits(&of(panel))) {
            Some(panel) => {
                let panels = columns.div_ceil(panel).max(1);
                let even = columns.div_ceil(panels).max(1);
                Ok(of(even).widened(fits))
            }
            None => {
                let requested = u64::try_from(of(1).bytes_beside(beside)).unwrap_or(u64::MAX);
                let what = "device memory for a panel of one column";
                Err(Error::Budget { what, requested, available: budget, limit: budget })
            }
        }
    }

    /// Slices as wide as the memory that panels leave lets them be; fewer ones, where these are wider.
    fn widened(self, fits: impl Fn(&PanelPlan) -> bool) -> PanelPlan {
        let most = WIDE.min(self.size).saturating_sub(self.slice) / STEP;
        let widest = |stages| {
            let of = |steps| PanelPlan { slice: self.slice + steps * STEP, stages, ..self };
            of(largest(most, |steps| fits(&of(steps))).unwrap_or(0))
        };
        let (more, fewer) = (widest(self.stages), widest(LEAST_STAGES.min(self.stages)));
        if fewer.slice > more.slice { fewer } else { more }
    }

    /// The same, for a matrix that is read from this.
    pub(super) fn read_from(self, source: &Factor<'_>) -> PanelPlan {
        self.reading(read_together(source, self.element_bytes))
    }

    /// The same, for a matrix of which so many columns are best read together.
    pub(crate) fn reading(self, together: usize) -> PanelPlan {
        PanelPlan { together, ..self }
    }

    /// Whether further columns go through L with the last panel: where that is one of the matrix too, and they are no more than rows that
    /// a slice meets have room for.
    pub(super) fn carries(&self) -> bool {
        let carried = self.columns - self.size.min(self.columns);
        self.pass == Pass::Lu && (1..=self.slice).contains(&carried) && (self.panels() - 1) * self.panel < self.size
    }

    /// How many panels there are.
    pub fn panels(&self) -> usize {
        if self.size == 0 { 0 } else { self.columns.div_ceil(self.panel) }
    }

    /// Panels in the memory of the GPU at once: one is computed, while the last one goes back and the next one comes.
    pub fn panels_held(&self) -> usize {
        self.panels().min(2)
    }

    /// Whether panels are factored, and not solved for.
    pub(super) fn factors(&self) -> bool {
        matches!(self.pass, Pass::Lu | Pass::Cholesky)
    }

    /// Bytes of the GPU's memory: panels, slices, the rows of a panel that a slice meets, solutions on their way back, exchanges. What
    /// cuSOLVER wants besides is not among them.
    pub fn device_bytes(&self) -> u128 {
        let buffers = self.buffers().map(|(count, elements)| count as u128 * elements as u128).iter().sum::<u128>();
        buffers * self.element_bytes as u128 + self.found_bytes() as u128
    }

    /// The same, with what a processor takes besides.
    pub(crate) fn bytes_beside(&self, beside: &Beside<'_>) -> u128 {
        self.device_bytes().saturating_add(beside(self))
    }

    /// Bytes of exchanges and of what factorisations find.
    pub(super) fn found_bytes(&self) -> usize {
        let each = match self.pass {
            Pass::Lu => EXCHANGE_BYTES + FOUND_BYTES,
            Pass::Cholesky => FOUND_BYTES,
            Pass::LuSolution { .. } => EXCHANGE_BYTES,
            Pass::LuBackward | Pass::CholeskySolution => 0,
        };
        each * self.size
    }

    /// How many buffers, of how many elements: panels, slices, rows that a slice meets, bands that go back.
    pub(super) fn buffers(&self) -> [(usize, usize); 4] {
        let meets = if self.pass == Pass::Cholesky { 0 } else { self.slice.saturating_mul(self.panel) };
        let back = if self.factors() { 0 } else { BANDS_BACK };
        let panel = self.size.saturating_mul(self.panel);
        [(self.panels_held(), panel), (self.stages, self.slice_elements()), (1, meets), (back, self.slice_elements())]
    }

    /// Elements that the memory of a slice has room for: a row of a panel at least.
    pub(super) fn slice_elements(&self) -> usize {
        self.size.saturating_mul(self.slice).max(self.panel)
    }

    /// The columns of a panel.
    pub(super) fn columns_of(&self, panel: usize) -> Range<usize> {
        let begin = panel * self.panel;
        begin..(begin + self.panel).min(self.columns)
    }

    /// Those that are factored, and those that are carried through L.
    pub(super) fn split_columns(&self, panel: usize) -> [Range<usize>; 2] {
        let columns = self.columns_of(panel);
        let border = if self.factors() { columns.end.min(self.size) } else { columns.end };
        [columns.start..border, border..columns.end]
    }

    /// The rows of a panel: of Cholesky's factor those from the diagonal on.
    pub(super) fn rows_of(&self, panel: usize) -> Range<usize> {
        let top = if self.pass == Pass::Cholesky { panel * self.panel } else { 0 };
        top..self.size
    }

    /// Where a panel stands in its memory.
    pub(super) fn standing(&self, panel: usize) -> Standing {
        Standing::new(&self.rows_of(panel), self.columns_of(panel).start)
    }

    /// Columns of a panel that come at once.
    pub(super) fn strip(&self) -> usize {
        let strip = if self.factors() { self.together.max(1).next_multiple_of(self.slice) } else { self.panel };
        strip.min(self.panel)
    }

    /// Rows, band by band, so that so many columns of each have room where a slice has.
    pub(super) fn bands(&self, rows: Range<usize>, columns: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (end, height) = (rows.end, (self.slice_elements() / columns.max(1)).max(1));
        rows.step_by(height).map(move |begin| begin..end.min(begin.saturating_add(height)))
    }

    /// Steps from begin to end.
    pub fn steps(&self) -> u64 {
        self.tasks().count() as u64
    }

    /// Bytes that are copied to the GPU.
    pub fn bytes_to_gpu(&self) -> u128 {
        let of = |task: Task| match task {
            Task::Load { rows, columns, .. } => rows.len() * columns.len(),
            Task::Eliminate { .. } => self.streamed(&task).as_ref().map_or(0, Tile::count),
            Task::Exchange { .. } | Task::Finish { .. } => 0,
        };
        self.tasks().map(|task| of(task) as u128).sum::<u128>() * self.element_bytes as u128
    }

    /// Bytes that are copied back.
    pub fn bytes_to_host(&self) -> u128 {
        let of = |panel| self.rows_of(panel).len() as u128 * self.columns_of(panel).len() as u128;
        (0..self.panels()).map(of).sum::<u128>() * self.element_bytes as u128
    }

    /// Operations; of complex numbers four times as many.
    pub fn flops(&self) -> f64 {
        let (size, columns) = (self.size as f64, self.columns as f64);
        match self.pass {
            Pass::Lu => 2.0 / 3.0 * size.powi(3) + size * size * (columns - size),
            Pass::Cholesky => size.powi(3) / 3.0,
            Pass::LuSolution { .. } | Pass::CholeskySolution => 2.0 * size * size * columns,
            Pass::LuBackward => size * size * columns,
        }
    }

    /// What it is expected to take, of so many operations, from pinned memory: factorisations of panels are taken to run at the rate of
    /// products.
    pub fn time(&self, gpu: &Accelerator, unit: Unit, flops: f64) -> MatmulTime {
        let compute = flops / gpu.processor.flops.of(unit) + self.steps() as f64 * gpu.processor.call;
        let (to_gpu, to_host) = (self.bytes_to_gpu() as f64, self.bytes_to_host() as f64);
        let panel = to_host / self.panels().max(1) as f64;
        let both = to_host / gpu.link.both;
        // While panels go back, others come at the rate of both ways.
        let to_gpu = both.min(to_gpu / gpu.link.both) + (to_gpu - to_host).max(0.0) / gpu.link.to_gpu;
        let ends = panel / gpu.link.to_gpu + panel / gpu.link.to_host;
        MatmulTime { compute, to_gpu, to_host: both, wall: compute.max(to_gpu).max(both) + ends }
    }
}

/// Columns of a matrix that are best read together. A narrow strip of what is stored row by row is many short reads, and one of what is stored in chunks
/// reads more than itself.
pub(crate) fn read_together(source: &Factor<'_>, element_bytes: usize) -> usize {
    let Extents { rows, columns } = source.source.grain();
    match source.form.stored([rows, columns]) {
        [_, 1] => 1,
        [1, columns] => columns.min(READ_BYTES / element_bytes.max(1)),
        [_, columns] => columns.saturating_mul(CHUNKS),
    }
}
