//! Cholesky's factor, and solutions by it.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::face::Budgets;
use super::super::matmul::{Factor, Staging, Traffic};
use super::grant::Grant;
use super::identity::Identity;
use super::operands;
use super::parts::{FactorPart, Part};
use super::pipeline::{Run, Target, Watch};
use super::plan::PanelPlan;
use crate::Error;
use crate::linear::{Gpu, Scalar};
use crate::store::{Scratch, Sink, Stored};
use std::fmt;
use std::marker::PhantomData;

/// `a = L adjoint(L)` in a scratch: what [`linear::Cholesky`](crate::linear::Cholesky) is for matrices that fit.
pub struct StreamedCholesky<'a, T> {
    scratch: &'a dyn Scratch,
    plan: PanelPlan,
    traffic: Traffic,
    element: PhantomData<fn() -> T>,
}

/// The factor of a Hermitian positive definite matrix, made on a GPU in panels that fit into the budgets, as [`lu`](fn@super::lu) makes its own. What is
/// above the diagonal of `a` has no influence, and neither have imaginary parts on the diagonal.
///
/// Errors: [`Error::NotPositiveDefinite`] names the first leading minor that is not positive; one that is NaN is none. The others are those of
/// [`lu`](fn@super::lu).
pub fn cholesky<'a, T: Scalar + Stored>(
    gpu: &Gpu,
    budgets: &Budgets,
    a: Factor<'_>,
    scratch: &'a dyn Scratch,
    control: Control<'_>,
) -> Result<StreamedCholesky<'a, T>, Error> {
    let size = operands::square::<T>("Cholesky's factorisation", &a, scratch)?;
    let plan = PanelPlan::cholesky(size, size_of::<T>(), budgets.device.available())?;
    let grant = Grant::new::<T>(gpu, budgets, plan.device_bytes(), plan.slice_elements())?;
    let watch = Watch { control, before: 0, steps: plan.steps() };
    StreamedCholesky::factor(&grant.engine, &plan, a, scratch, grant.staging, watch)
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
        let run = Run { engine, plan, source, scratch, target: Target::Factors, staging, watch };
        let (_, traffic) = run.run::<T>(&[])?;
        Ok(StreamedCholesky { scratch, plan: *plan, traffic, element: PhantomData })
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
        let run =
            Run { engine, plan, source: b, scratch: self.scratch, target: Target::Solution(sink), staging, watch };
        run.run::<T>(&[]).map(|(_, traffic)| traffic)
    }

    /// How it was made.
    pub fn plan(&self) -> PanelPlan {
        self.plan
    }

    /// What was copied for it.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// L, with zeros above its diagonal.
    pub fn l(&self) -> FactorPart<'a, T> {
        FactorPart::new(self.scratch, Part::Lower)
    }

    /// x with `a x = b`, into a sink, which is not committed. Errors: as [`solve`](super::solve).
    pub fn solve(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        let columns = operands::solution::<T>(self.plan.size, &b, sink)?;
        let plan = self.plan.solution(columns, budgets.device.available())?;
        let grant = Grant::new::<T>(gpu, budgets, plan.device_bytes(), plan.slice_elements())?;
        let watch = Watch { control, before: 0, steps: plan.steps() };
        self.solved(&grant.engine, &plan, b, sink, grant.staging, watch)
    }

    /// The inverse of the matrix that was factored, into a sink, which is not committed.
    pub fn inverse(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.solve(gpu, budgets, Factor::plain(&Identity::<T>::new(self.plan.size)), sink, control)
    }
}

impl<T> fmt::Debug for StreamedCholesky<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamedCholesky").field("plan", &self.plan).finish_non_exhaustive()
    }
}
