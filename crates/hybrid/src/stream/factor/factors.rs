//! Factors in a scratch, and solutions by them: what LU and Cholesky have in common.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::Staging;
use super::identity::Identity;
use super::on::{On, by};
use super::operands;
use super::pipeline::{Carried, Run, Target, Watch};
use super::plan::PanelPlan;
use super::written::Written;
use crate::Error;
use crate::linear::Scalar;
use crate::store::{Scratch, Sink, Stored};

/// Factors, made by a plan.
pub(super) struct Factors<'a> {
    pub(super) scratch: &'a dyn Scratch,
    pub(super) plan: PanelPlan,
    /// Exchanges of rows, block by block.
    pub(super) exchanges: Vec<Vec<usize>>,
    pub(super) traffic: Traffic,
}

impl<'a> Factors<'a> {
    /// Factors a matrix, and carries further columns through L; the diagonal of the factor is the other result.
    pub(super) fn make<T: Scalar + Stored, E: Eliminator<T>>(
        engine: &E,
        plan: &PanelPlan,
        (source, carried): (Factor<'_>, Option<Carried<'_>>),
        scratch: &'a dyn Scratch,
        (staging, watch): (Staging, Watch<'_>),
    ) -> Result<(Self, Vec<T>), Error> {
        let (target, written) = (Target::Factors, Written::default());
        let run = Run { plan, source, scratch, target, staging, watch, carried, written };
        let (found, traffic) = run.run::<T, E>(engine, &[])?;
        Ok((Factors { scratch, plan: *plan, exchanges: found.exchanges, traffic }, found.diagonal))
    }

    /// Solves on a device, by a plan.
    pub(super) fn solved<T: Scalar + Stored, E: Eliminator<T>>(
        &self,
        engine: &E,
        plan: &PanelPlan,
        b: Factor<'_>,
        sink: &dyn Sink,
        (staging, watch): (Staging, Watch<'_>),
    ) -> Result<Traffic, Error> {
        let (target, written) = (Target::Solution(sink), Written::default());
        let run = Run { plan, source: b, scratch: self.scratch, target, staging, watch, carried: None, written };
        run.run::<T, E>(engine, &self.exchanges).map(|(_, traffic)| traffic)
    }

    /// Solves by a plan of its own.
    pub(super) fn solve<T: Scalar + Stored>(
        &self,
        on: On<'_>,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        let columns = operands::solution::<T>(self.plan.size, &b, sink)?;
        let beside = on.beside::<T>()?;
        let plan = on.planned(self.plan.solution_beside(columns, on.available(), &beside))?;
        let grant = on.grant::<T>(&beside, &[(&plan, b)], Some(sink))?;
        let watch = Watch { control, before: 0, steps: plan.steps() };
        by!(grant, |engine| self.solved::<T, _>(engine, &plan, b, sink, (grant.staging, watch)))
    }

    /// The inverse of what was factored.
    pub(super) fn inverse<T: Scalar + Stored>(
        &self,
        on: On<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error> {
        self.solve::<T>(on, Factor::plain(&Identity::<T>::new(self.plan.size)), sink, control)
    }
}
