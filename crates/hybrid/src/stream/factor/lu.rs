//! LU factors, solutions and inverses.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::Staging;
use super::super::verify::ReadBack;
#[cfg(doc)]
use super::super::verify::Verify;
use super::factors::Factors;
use super::identity::Identity;
use super::on::{On, by};
use super::parts::{FactorPart, Part};
use super::pipeline::{Carried, Watch};
use super::plan::PanelPlan;
use super::{operands, parts, singular};
use crate::Error;
use crate::dispatch::{self, Tiles};
use crate::linear::Scalar;
use crate::store::{Extents, MemoryScratch, Scratch, Sink, Stored};
use std::fmt;
use std::marker::PhantomData;

/// `P a = L U` with partial pivoting, in a scratch: what [`linear::Lu`](crate::linear::Lu) is for matrices that fit.
///
/// Rows of L stand in the scratch as they were when their panel was written: exchanges of later panels are not made in it, but wherever it is
/// read. So nothing is written twice, and solutions exchange rows block by block, as the factorisation did.
pub struct StreamedLu<'a, T> {
    pub(super) factors: Factors<'a>,
    singular: Option<usize>,
    element: PhantomData<fn() -> T>,
}

/// The factors of a square matrix, made by a GPU, or by the CPU, in panels that fit into the budgets ([`On`]), with pivots from the whole height of a panel.
/// The scratch is of the size of the matrix, in memory or in a file; what it holds is overwritten. While one panel is computed, the one before is written and
/// the next one is read.
///
/// [`PanelPlan::lu`] says what this takes, without a GPU. A singular matrix has factors too; solutions and inverses are refused. Results depend on
/// the plan and on the processor in the last bits: the same sizes and budgets give the same bits.
///
/// Errors: [`Error::NotSquare`], [`Error::Shape`] for a scratch of another size, [`Error::ElementType`]; [`Error::NotFinite`] for a matrix with NaN
/// or infinities, which cuSOLVER would lose on its way; [`Error::Budget`] without room for a panel of one column; [`Error::Cancelled`]; those of the source, of the scratch and of the driver.
pub fn lu<'a, 'on, T: Scalar + Stored>(
    on: impl Into<On<'on>>,
    a: Factor<'_>,
    scratch: &'a dyn Scratch,
    control: Control<'_>,
) -> Result<StreamedLu<'a, T>, Error> {
    let on = on.into();
    let size = operands::square::<T>("lu", &a, scratch)?;
    let beside = on.beside::<T>()?;
    let plan = PanelPlan::lu_beside(size, size_of::<T>(), on.available(), &beside);
    let plan = on.planned(plan)?.read_from(&a);
    let grant = on.grant::<T>(&beside, &[(&plan, a)], None)?;
    let watch = Watch { control, before: 0, steps: plan.steps() };
    let lu = by!(grant, |engine| StreamedLu::factor(engine, &plan, a, scratch, grant.staging, watch))?;
    on.record(Tiles::Factors(plan), lu.traffic());
    Ok(lu)
}

/// x with `a x = b`, for all columns of `b`, into a sink, which is not committed: [`lu`], and [`StreamedLu::solve`] with its factors. Columns are
/// solved for in panels too, each of which all factors go by twice; a few columns, as many as a slice has, go through L while it is made, are kept
/// in host memory, and meet U alone. Where `control` has it verified, all is read once more when it is done ([`Verify::check_solution`]).
///
/// Errors: those of [`lu`]; [`Error::Singular`], as matrices in memory have it; [`Error::Shape`] where `b` or the sink does not fit;
/// [`Error::WrongSolution`], and [`Error::Unsupported`] where a sink that cannot be read is to be verified.
pub fn solve<'on, T: Scalar + Stored>(
    on: impl Into<On<'on>>,
    [a, b]: [Factor<'_>; 2],
    scratch: &dyn Scratch,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let on = on.into();
    let size = operands::square::<T>("solve", &a, scratch)?;
    let columns = operands::solution::<T>(size, &b, sink)?;
    let beside = on.beside::<T>()?;
    let plans = PanelPlan::lu_solution([size, columns], size_of::<T>(), on.available(), &beside);
    let [factors, solution] = on.planned(plans)?;
    let factors = factors.read_from(&a);
    let grant = on.grant::<T>(&beside, &[(&factors, a), (&solution, b)], Some(sink))?;
    let (plans, with) = ([&factors, &solution], (grant.staging, control));
    let traffic = by!(grant, |engine| solve_on::<T, _>(engine, plans, [a, b], (scratch, sink), with))?;
    on.record(Tiles::Solution { factors, solution }, traffic);
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
        dispatch::checked(verify.check_solution_with::<T>([a, b], &x, &|| control.check(watch.steps, watch.steps))?);
    }
    let factored = lu.traffic();
    Ok(Traffic { to_gpu: factored.to_gpu + solved.to_gpu, to_host: factored.to_host + solved.to_host })
}

/// The inverse of a square matrix, into a sink, which is not committed: [`solve`] with the columns of the identity, which takes four times as
/// long as factors alone, and is less exact than a solution where the inverse would be multiplied by something.
pub fn inverse<'on, T: Scalar + Stored>(
    on: impl Into<On<'on>>,
    a: Factor<'_>,
    scratch: &dyn Scratch,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let size = operands::square::<T>("inverse", &a, scratch)?;
    solve::<T>(on, [a, Factor::plain(&Identity::<T>::new(size))], scratch, sink, control)
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

    /// x with `a x = b`, into a sink, which is not committed, by whoever made the factors or another. Errors: as [`solve`].
    pub fn solve<'on>(
        &self,
        on: impl Into<On<'on>>,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.check()?;
        self.factors.solve::<T>(on.into(), b, sink, control)
    }

    /// The inverse of the matrix that was factored, into a sink, which is not committed.
    pub fn inverse<'on>(
        &self,
        on: impl Into<On<'on>>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.check()?;
        self.factors.inverse::<T>(on.into(), sink, control)
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
