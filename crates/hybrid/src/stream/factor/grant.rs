//! Memory for a pass on a GPU.

use super::super::face::Budgets;
use super::super::gpu::GpuEngine;
use super::super::matmul::Factor;
use super::super::staging::{Load, Staging};
use crate::Error;
use crate::budget::{Permit, Ring};
use crate::linear::{Gpu, Scalar};
use crate::store::Extents;

/// A GPU, and what its passes may use until this is dropped.
pub(super) struct Grant {
    pub(super) engine: GpuEngine,
    pub(super) staging: Staging,
    _device: Permit,
    _pinned: Option<Ring>,
}

impl Grant {
    /// So many bytes of the device's memory, and slots of the host's for slices of so many elements, and for grains of what is stored over so many
    /// columns.
    pub(super) fn new<T: Scalar>(
        gpu: &Gpu,
        budgets: &Budgets,
        (device_bytes, slice): (u128, usize),
        read: &[Factor<'_>],
        stored: &[(Extents, usize)],
    ) -> Result<Grant, Error> {
        // Missing libraries are found before anything is read.
        gpu.blas()?;
        gpu.solver()?;
        let device = budgets.device.try_acquire(u64::try_from(device_bytes).unwrap_or(u64::MAX))?;
        let element = size_of::<T>();
        let most = slice as u128 * element as u128;
        let load = Load { granule: element, most, ways: [true; 2], ..Load::default() };
        let load = read.iter().fold(load, |load, factor| load.reading(factor.source));
        let load = stored.iter().fold(load, |load, (grain, columns)| load.with_grain(*grain, *columns, element));
        let (staging, ring) = Staging::new::<T>(&budgets.pinned, load);
        let engine = GpuEngine::new(gpu)?.locking_within(&budgets.pinned)?;
        Ok(Grant { engine, staging, _device: device, _pinned: ring })
    }
}
