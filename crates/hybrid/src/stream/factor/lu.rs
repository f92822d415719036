//! LU factors, solutions and inverses.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::face::Budgets;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::Staging;
use super::super::verify::ReadBack;
#[cfg(doc)]
use super::super::verify::Verify;
use super::factors::Factors;
use super::grant::Grant;
use super::identity::Identity;
use super::parts::{FactorPart, Part};
use super::pipeline::{Carried, Watch};
use super::plan::PanelPlan;
use super::{operands, parts, singular};
use crate::Error;
use crate::dispatch::{self, Tiles};
use crate::linear::{Gpu, Scalar};
use crate::store::{Extents, MemoryScratch, Scratch, Sink, Stored};
use std::fmt;
use std::marker::PhantomData;
use tilewright_driver::solver::Solver;

/// `P a = L U` with partial pivoting, in a scratch: what [`linear::Lu`](crate::linear::Lu) is for matrices that fit.
///
/// Rows of L stand in the scratch as they were when their panel was written: exchanges of later panels are not made in it, but wherever it is
/// read. So nothing is written twice, and solutions exchange rows block by block, as the factorisation did.
pub struct StreamedLu<'a, T> {
    pub(super) factors: Factors<'a>,
    singular: Option<usize>,
    element: PhantomData<fn() -> T>,
}

/// The factors of a square matrix, made on a GPU in panels that fit into the budgets, with pivots from the whole height of a panel. The scratch is
/// of the size of the matrix, in memory or in a file; what it holds is overwritten. While one panel is computed, the one before is written and the
/// next one is read.
///
/// [`PanelPlan::lu`] says what this takes, without a GPU. A singular matrix has factors too; solutions and inverses are refused. Results depend on
/// the plan in the last bits: the same sizes and budgets give the same bits.
///
/// Errors: [`Error::NotSquare`], [`Error::Shape`] for a scratch of another size, [`Error::ElementType`]; [`Error::NotFinite`] for a matrix with NaN
/// or infinities, which cuSOLVER would lose on its way; [`Error::Budget`] without room for a panel of one column; [`Error::Cancelled`]; those of the source, of the scratch and of the driver.
pub fn lu<'a, T: Scalar + Stored>(
    gpu: &Gpu,
    budgets: &Budgets,
    a: Factor<'_>,
    scratch: &'a dyn Scratch,
    control: Control<'_>,
) -> Result<StreamedLu<'a, T>, Error> {
    let size = operands::square::<T>("lu", &a, scratch)?;
    let (solver, available) = (gpu.solver()?, budgets.device.available());
    // A panel that it cannot tell about is none.
    let more = |panel| lu_workspace::<T>(&solver, [size, panel]).unwrap_or(u128::MAX);
    let plan = PanelPlan::lu_beside(size, size_of::<T>(), available, more);
    let plan = unless_lost(gpu, plan)?.read_from(&a);
    let bytes = plan.device_bytes().saturating_add(more(plan.panel));
    let grant = Grant::new::<T>(gpu, budgets, (bytes, plan.slice_elements()), &[a], &[(a.source.grain(), plan.panel)])?;
    let watch = Watch { control, before: 0, steps: plan.steps() };
    let lu = StreamedLu::factor(&grant.engine, &plan, a, scratch, grant.staging, watch)?;
    dispatch::streamed(Tiles::Factors(plan), lu.traffic());
    Ok(lu)
}

/// x with `a x = b`, for all columns of `b`, into a sink, which is not committed: [`lu`], and [`StreamedLu::solve`] with its factors. Columns are
/// solved for in panels too, each of which all factors go by twice; a few columns, as many as a slice has, go through L while it is made, are kept
/// in host memory, and meet U alone. Where `control` has it verified, all is read once more when it is done ([`Verify::check_solution`]).
///
/// Errors: those of [`lu`]; [`Error::Singular`], as matrices in memory have it; [`Error::Shape`] where `b` or the sink does not fit;
/// [`Error::WrongSolution`], and [`Error::Unsupported`] where a sink that cannot be read is to be verified.
pub fn solve<T: Scalar + Stored>(
    gpu: &Gpu,
    budgets: &Budgets,
    [a, b]: [Factor<'_>; 2],
    scratch: &dyn Scratch,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let size = operands::square::<T>("solve", &a, scratch)?;
    let columns = operands::solution::<T>(size, &b, sink)?;
    let (solver, available) = (gpu.solver()?, budgets.device.available());
    // A panel that it cannot tell about is none.
    let more = |panel| lu_workspace::<T>(&solver, [size, panel]).unwrap_or(u128::MAX);
    let plans = PanelPlan::lu_solution([size, columns], size_of::<T>(), available, more);
    let [factors, solution] = unless_lost(gpu, plans)?;
    let factors = factors.read_from(&a);
    let bytes = solution.device_bytes().max(factors.device_bytes().saturating_add(more(factors.panel)));
    let slice = factors.slice_elements().max(solution.slice_elements());
    let (of_a, of_b) = ((a.source.grain(), factors.panel), (b.source.grain(), solution.panel));
    let grant = Grant::new::<T>(gpu, budgets, (bytes, slice), &[a, b], &[of_a, of_b, (sink.grain(), solution.panel)])?;
    let plans = [&factors, &solution];
    let traffic = solve_on::<T, _>(&grant.engine, plans, [a, b], (scratch, sink), (grant.staging, control))?;
    dispatch::streamed(Tiles::Solution { factors, solution }, traffic);
    Ok(traffic)
}

pub(super) fn solve_on<T: Scalar + Stored, E: Eliminator<T>>(
    engine: &E,
    [factors, solution]: [&PanelPlan; 2],
    [a, b]: [Factor<'_>; 2],
    (scratch, sink): (&dyn Scratch, &dyn Sink),
    (staging, control): (Staging, Control<'_>),
) -> Result<Traffic, Error> {
    let checked = control.verify.map(|verify| Ok::<_, Error>((verify, ReadBack::of(sink)?))).transpose()?;
    let control = Control { verify: None, ..control };
    let watch = Watch { control, before: 0, steps: factors.steps() + solution.steps() };
    let after = Watch { before: factors.steps(), ..watch };
    let (lu, solved) = if factors.carries() {
        let half_way = MemoryScratch::new(Extents::new(solution.columns, solution.size), T::ELEMENT)?;
        let carrying = (a, Some(Carried { from: b, to: &half_way }));
        let lu = StreamedLu::<T>::made(engine, factors, carrying, scratch, (staging, watch))?;
        let solved = lu.solved(engine, solution, Factor::transposed(&half_way), sink, staging, after)?;
        (lu, solved)
    } else {
        let lu = StreamedLu::<T>::factor(engine, factors, a, scratch, staging, watch)?;
        let solved = lu.solved(engine, solution, b, sink, staging, after)?;
        (lu, solved)
    };
    if let Some((verify, x)) = checked {
        verify.check_solution_with::<T>([a, b], &x, &|| control.check(watch.steps, watch.steps))?;
    }
    let factored = lu.traffic();
    Ok(Traffic { to_gpu: factored.to_gpu + solved.to_gpu, to_host: factored.to_host + solved.to_host })
}

/// The inverse of a square matrix, into a sink, which is not committed: [`solve`] with the columns of the identity, which takes four times as
/// long as factors alone, and is less exact than a solution where the inverse would be multiplied by something.
pub fn inverse<T: Scalar + Stored>(
    gpu: &Gpu,
    budgets: &Budgets,
    a: Factor<'_>,
    scratch: &dyn Scratch,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let size = operands::square::<T>("inverse", &a, scratch)?;
    solve::<T>(gpu, budgets, [a, Factor::plain(&Identity::<T>::new(size))], scratch, sink, control)
}

/// What cuSOLVER wants for a panel of so many rows and columns, if it can tell.
pub(crate) fn lu_workspace<T: Scalar>(solver: &Solver, [size, panel]: [usize; 2]) -> Option<u128> {
    solver.getrf_bytes::<T>(size, panel.min(size)).ok().map(|bytes| bytes as u128)
}

/// A plan, or why there is none: a device that lost its context tells about no panel, which is no lack of room.
fn unless_lost<P>(gpu: &Gpu, plan: Result<P, Error>) -> Result<P, Error> {
    plan.or_else(|error| gpu.stream().synchronize().map_err(Error::from).and(Err(error)))
}

impl<'a, T: Scalar + Stored> StreamedLu<'a, T> {
    pub(super) fn factor<E: Eliminator<T>>(
        engine: &E,
        plan: &PanelPlan,
        source: Factor<'_>,
        scratch: &'a dyn Scratch,
        staging: Staging,
        watch: Watch<'_>,
    ) -> Result<Self, Error> {
        Self::made(engine, plan, (source, None), scratch, (staging, watch))
    }

    fn made<E: Eliminator<T>>(
        engine: &E,
        plan: &PanelPlan,
        (source, carried): (Factor<'_>, Option<Carried<'_>>),
        scratch: &'a dyn Scratch,
        (staging, watch): (Staging, Watch<'_>),
    ) -> Result<Self, Error> {
        let (factors, diagonal) = Factors::make::<T, E>(engine, plan, (source, carried), scratch, (staging, watch))?;
        let singular = singular::pivot(&diagonal, &source)?;
        Ok(StreamedLu { factors, singular, element: PhantomData })
    }

    pub(super) fn solved<E: Eliminator<T>>(
        &self,
        engine: &E,
        plan: &PanelPlan,
        b: Factor<'_>,
        sink: &dyn Sink,
        staging: Staging,
        watch: Watch<'_>,
    ) -> Result<Traffic, Error> {
        self.check()?;
        self.factors.solved::<T, E>(engine, plan, b, sink, (staging, watch))
    }

    /// That it can be solved by.
    fn check(&self) -> Result<(), Error> {
        let size = self.factors.plan.size;
        self.singular.map_or(Ok(()), |pivot| Err(Error::Singular { pivot, size }))
    }

    /// Row i of `P a` is row `permutation()[i]` of `a`.
    pub fn permutation(&self) -> Vec<usize> {
        let mut permutation: Vec<usize> = (0..self.factors.plan.size).collect();
        for (block, rows) in self.factors.exchanges.iter().enumerate() {
            let top = block * self.factors.plan.panel;
            rows.iter().enumerate().for_each(|(row, other)| permutation.swap(top + row, top + other));
        }
        permutation
    }

    /// Of each block of columns of L, and how many those are, which row of the scratch is its row i.
    pub(crate) fn orders(&self) -> (usize, Vec<Vec<usize>>) {
        let PanelPlan { panel, size, .. } = self.factors.plan;
        (panel, parts::orders(panel, size, &self.factors.exchanges))
    }

    /// The first pivot, counted from 0, by which the matrix is singular, as [`Lu::singular_pivot`](crate::linear::Lu::singular_pivot) has it.
    pub fn singular_pivot(&self) -> Option<usize> {
        self.singular
    }

    /// How it was made.
    pub fn plan(&self) -> PanelPlan {
        self.factors.plan
    }

    /// What was copied for it.
    pub fn traffic(&self) -> Traffic {
        self.factors.traffic
    }

    /// L, with rows in the order of `P a`.
    pub fn l(&self) -> FactorPart<'a, T> {
        let Factors { scratch, plan, exchanges, .. } = &self.factors;
        FactorPart::new(*scratch, Part::unit_lower(plan.panel, plan.size, exchanges))
    }

    /// U.
    pub fn u(&self) -> FactorPart<'a, T> {
        FactorPart::new(self.factors.scratch, Part::Upper)
    }

    /// x with `a x = b`, into a sink, which is not committed. Errors: as [`solve`].
    pub fn solve(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.check()?;
        self.factors.solve::<T>(gpu, budgets, b, sink, control)
    }

    /// The inverse of the matrix that was factored, into a sink, which is not committed.
    pub fn inverse(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.check()?;
        self.factors.inverse::<T>(gpu, budgets, sink, control)
    }
}

impl<T> fmt::Debug for StreamedLu<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedLu")
            .field("plan", &self.factors.plan)
            .field("singular", &self.singular)
            .finish_non_exhaustive()
    }
}
