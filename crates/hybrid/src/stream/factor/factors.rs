//! Factors in a scratch, and solutions by them: what LU and Cholesky have in common.

use super::super::control::Control;
use super::super::engine::Eliminator;
use super::super::face::Budgets;
use super::super::gpu::GpuEngine;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::Staging;
use super::grant::Grant;
use super::identity::Identity;
use super::operands;
use super::pipeline::{Carried, Run, Target, Watch};
use super::plan::PanelPlan;
use super::written::Written;
use crate::Error;
use crate::linear::{Gpu, Scalar};
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

    /// Solves on a GPU.
    pub(super) fn solve<T: Scalar + Stored>(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        b: Factor<'_>,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error>
    where
        GpuEngine: Eliminator<T>,
    {
        let columns = operands::solution::<T>(self.plan.size, &b, sink)?;
        let plan = self.plan.solution(columns, budgets.device.available())?;
        let chunks = [(b.source.grain(), plan.panel), (sink.grain(), plan.panel)];
        let grant = Grant::new::<T>(gpu, budgets, (plan.device_bytes(), plan.slice_elements()), &[b], &chunks)?;
        let watch = Watch { control, before: 0, steps: plan.steps() };
        self.solved::<T, _>(&grant.engine, &plan, b, sink, (grant.staging, watch))
    }

    /// The inverse of what was factored.
    pub(super) fn inverse<T: Scalar + Stored>(
        &self,
        gpu: &Gpu,
        budgets: &Budgets,
        sink: &dyn Sink,
        control: Control<'_>,
    ) -> Result<Traffic, Error>
    where
        GpuEngine: Eliminator<T>,
    {
        self.solve::<T>(gpu, budgets, Factor::plain(&Identity::<T>::new(self.plan.size)), sink, control)
    }
}
