//! Cholesky's factor, and solutions by it.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::Staging;
use super::factors::Factors;
use super::on::{On, by};
use super::operands;
use super::parts::{FactorPart, Part};
use super::pipeline::Watch;
use super::plan::PanelPlan;
use crate::Error;
use crate::dispatch::Tiles;
use crate::linear::Scalar;
use crate::store::{Scratch, Sink, Stored};
use std::fmt;
use std::marker::PhantomData;

/// `a = L adjoint(L)` in a scratch: what [`linear::Cholesky`](crate::linear::Cholesky) is for matrices that fit.
pub struct StreamedCholesky<'a, T> {
    pub(super) factors: Factors<'a>,
    element: PhantomData<fn() -> T>,
}

/// The factor of a Hermitian positive definite matrix, made in panels that fit into the budgets, as [`lu`](fn@super::lu) makes its own. What is
/// above the diagonal of `a` has no influence, and neither have imaginary parts on the diagonal.
///
/// Errors: [`Error::NotPositiveDefinite`] names the first leading minor that is not positive; one that is NaN is none. The others are those of
/// [`lu`](fn@super::lu).
pub fn cholesky<'a, 'on, T: Scalar + Stored>(
    on: impl Into<On<'on>>,
    a: Factor<'_>,
    scratch: &'a dyn Scratch,
    control: Control<'_>,
) -> Result<StreamedCholesky<'a, T>, Error> {
    let on = on.into();
    let size = operands::square::<T>("Cholesky's factorisation", &a, scratch)?;
    let beside = on.beside::<T>()?;
    let plan = PanelPlan::cholesky_beside(size, size_of::<T>(), on.available(), &beside);
    let plan = on.planned(plan)?.read_from(&a);
    let grant = on.grant::<T>(&beside, &[(&plan, a)], None)?;
    let watch = Watch { control, before: 0, steps: plan.steps() };
    let cholesky = by!(grant, |engine| StreamedCholesky::factor(engine, &plan, a, scratch, grant.staging, watch))?;
    on.record(Tiles::Factors(plan), cholesky.traffic());
    Ok(cholesky)
}

impl<'a, T: Scalar + Stored> StreamedCholesky<'a, T> {
    pub(super) fn factor<E: Eliminator<T>>(
        engine: &E,
        plan: &PanelPlan,
        source: Factor<'_>,
        scratch: &'a dyn Scratch,
        staging: Staging,
        watch: Watch<'_>,
    ) -> Result<Self, Error> {
        let (factors, _) = Factors::make::<T, E>(engine, plan, (source, None), scratch, (staging, watch))?;
        Ok(StreamedCholesky { factors, element: PhantomData })
    }

    /// How it was made.
    pub fn plan(&self) -> PanelPlan {
        self.factors.plan
    }

    /// What was copied for it.
    pub fn traffic(&self) -> Traffic {
        self.factors.traffic
    }

    /// L, with zeros above its diagonal.
    pub fn l(&self) -> FactorPart<'a, T> {
        FactorPart::new(self.factors.scratch, Part::Lower)
    }

    /// x with `a x = b`, into a sink, which is not committed, by whoever made the factor or another. Errors: as [`solve`](super::solve).
    pub fn solve<'on>(
        &self,
        on: impl Into<On<'on>>,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.factors.solve::<T>(on.into(), b, sink, control)
    }

    /// The inverse of the matrix that was factored, into a sink, which is not committed.
    pub fn inverse<'on>(
        &self,
        on: impl Into<On<'on>>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.factors.inverse::<T>(on.into(), sink, control)
    }
}

impl<T> fmt::Debug for StreamedCholesky<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedCholesky").field("plan", &self.factors.plan).finish_non_exhaustive()
    }
}
