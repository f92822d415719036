//! Who makes factors and solutions: what it takes beside the memory of panels, and leave to use that.

use super::super::face::Budgets;
use super::super::gpu::GpuEngine;
use super::super::matmul::{Factor, Traffic};
use super::super::staging::{Load, Staging};
use super::host::HostEngine;
use super::plan::{Beside, PanelPlan, Pass};
use crate::Error;
use crate::budget::{Budget, Memory, Permit};
use crate::dispatch::{self, Tiles};
use crate::linear::{Gpu, Scalar};
use crate::store::Sink;
use tilewright_driver::solver::Solver;

/// The part of a budget of host memory that panels leave to slots, which go between stores and them.
const SLOTS: u64 = 8;

/// Who makes factors and solutions, and the memory that it may use: made of `(&gpu, &budgets)`, or of `&budget`, by `into()`.
#[derive(Clone, Copy, Debug)]
pub enum On<'a> {
    /// A GPU.
    Gpu(&'a Gpu, &'a Budgets),
    /// The CPU, in a budget of host memory. That is what plans then call the GPU's, and copies to the GPU are those from stores into it.
    Host(&'a Budget),
}

impl<'a> From<(&'a Gpu, &'a Budgets)> for On<'a> {
    fn from((gpu, budgets): (&'a Gpu, &'a Budgets)) -> Self {
        On::Gpu(gpu, budgets)
    }
}

impl<'a> From<&'a Budget> for On<'a> {
    fn from(host: &'a Budget) -> Self {
        On::Host(host)
    }
}

/// What cuSOLVER wants for an LU panel of so many rows and columns, if it can tell.
pub(crate) fn lu_workspace<T: Scalar>(solver: &Solver, [size, panel]: [usize; 2]) -> Option<u128> {
    solver.getrf_bytes::<T>(size, panel.min(size)).ok().map(|bytes| bytes as u128)
}

/// What the CPU takes beside a plan's memory: copies without gaps in which it factors, with faer's workspace for them, and what is carried through L.
pub(crate) fn beside_on_host(plan: &PanelPlan) -> u128 {
    let of = |rows: usize, columns: usize| rows as u128 * columns as u128 * plan.element_bytes as u128;
    match plan.pass {
        Pass::Lu => 2 * of(plan.size, plan.panel) + of(plan.size, plan.columns.saturating_sub(plan.size)),
        Pass::Cholesky => 2 * of(plan.panel, plan.panel),
        Pass::LuBackward => of(plan.size, plan.columns),
        Pass::LuSolution { .. } | Pass::CholeskySolution => 0,
    }
}

/// Bytes of so much host memory that panels may take.
pub(crate) fn for_panels(available: u64) -> u64 {
    available - available / SLOTS
}

impl On<'_> {
    /// Bytes that panels may take.
    pub(super) fn available(&self) -> u64 {
        match self {
            On::Gpu(_, budgets) => budgets.device.available(),
            On::Host(host) => for_panels(host.available()),
        }
    }

    /// What it takes beside a plan's memory. Missing libraries are found before anything is read.
    pub(super) fn beside<T: Scalar>(&self) -> Result<impl Fn(&PanelPlan) -> u128 + use<T>, Error> {
        let solver = match self {
            On::Gpu(gpu, _) => Some(gpu.solver()?),
            On::Host(_) => None,
        };
        Ok(move |plan: &PanelPlan| match &solver {
            // A panel that it cannot tell about is none.
            Some(solver) if plan.pass == Pass::Lu => {
                lu_workspace::<T>(solver, [plan.size, plan.panel]).unwrap_or(u128::MAX)
            }
            Some(_) => 0,
            None => beside_on_host(plan),
        })
    }

    /// A plan, or why there is none: a device that lost its context tells about no panel, which is no lack of room.
    pub(super) fn planned<P>(&self, plan: Result<P, Error>) -> Result<P, Error> {
        plan.map_err(|error| match (self, error) {
            (On::Gpu(gpu, _), error) => gpu.stream().synchronize().map_or_else(Error::from, |()| error),
            (On::Host(host), Error::Budget { requested, available, limit, .. }) => {
                Error::Budget { what: host.memory().name(), requested, available, limit }
            }
            (On::Host(_), error) => error,
        })
    }

    /// Memory for passes, one after the other, each with what it reads, and slots for the largest of their slices, and for grains of what is stored.
    pub(super) fn grant<T: Scalar>(
        &self,
        beside: &Beside<'_>,
        passes: &[(&PanelPlan, Factor<'_>)],
        sink: Option<&dyn Sink>,
    ) -> Result<Grant, Error> {
        let plans = || passes.iter().map(|(plan, _)| *plan);
        let bytes = plans().map(|plan| plan.bytes_beside(beside)).max().unwrap_or(0);
        let slice = plans().map(PanelPlan::slice_elements).max().unwrap_or(0);
        let element = size_of::<T>();
        let load = Load { granule: element, most: slice as u128 * element as u128, ..Load::default() };
        let load = passes.iter().fold(load, |load, (plan, read)| {
            load.reading(read.source).with_grain(read.source.grain(), plan.panel, element)
        });
        let load = Load { bytes: [load.stored; 2], ..load };
        let last = passes.last().map_or(0, |(plan, _)| plan.panel);
        let load = sink.map_or(load, |sink| load.with_grain(sink.grain(), last, element));
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        match self {
            On::Gpu(gpu, budgets) => {
                gpu.blas()?;
                let memory = budgets.device.try_acquire(bytes)?;
                let (staging, slots) = Staging::new::<T>(&budgets.pinned, load);
                let engine = GpuEngine::new(gpu)?.locking_within(&budgets.pinned)?;
                let slots = slots.map(|ring| ring.permit);
                Ok(Grant { engine: Granted::Gpu(engine), staging, _memory: memory, _slots: slots })
            }
            On::Host(host) => {
                let left = host.available().saturating_sub(bytes);
                let memory = host.try_acquire(bytes)?;
                // Stores take some as well, to gather what they are written part by part.
                let mut slots = host.try_acquire(left / 2)?;
                let (staging, ring) = Staging::new::<T>(&Budget::new(Memory::Host, slots.bytes()), load);
                slots.shrink_to(ring.map_or(0, |ring| ring.permit.bytes()));
                Ok(Grant { engine: Granted::Host(HostEngine), staging, _memory: memory, _slots: Some(slots) })
            }
        }
    }

    /// Leaves the record of what something was made in. To the CPU nothing is copied.
    pub(super) fn record(&self, tiles: Tiles, traffic: Traffic) {
        match self {
            On::Gpu(..) => dispatch::streamed(tiles, traffic),
            On::Host(_) => dispatch::in_tiles(tiles),
        }
    }
}

/// A device, and what its passes may use until this is dropped.
pub(super) struct Grant {
    pub(super) engine: Granted,
    pub(super) staging: Staging,
    _memory: Permit,
    _slots: Option<Permit>,
}

pub(super) enum Granted {
    Gpu(GpuEngine),
    Host(HostEngine),
}

/// What the device of a grant does, whichever that is.
macro_rules! by {
    ($grant:expr, |$engine:ident| $work:expr) => {
        match &$grant.engine {
            $crate::stream::factor::on::Granted::Gpu($engine) => $work,
            $crate::stream::factor::on::Granted::Host($engine) => $work,
        }
    };
}

pub(super) use by;
