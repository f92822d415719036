//! Memory for a pass on a GPU.

use super::super::face::Budgets;
use super::super::gpu::GpuEngine;
use super::super::matmul::Staging;
use super::super::matmul_plan::STAGES;
use crate::Error;
use crate::budget::{Permit, Ring, RingWish};
use crate::linear::{Gpu, Scalar};

/// Slots of host memory on the way to the device, and on the way back.
const SLOTS: [usize; 2] = [2 * STAGES, 2];
/// Bytes of a slot at most: copies of so much run at the link's full rate, and to lock more takes long.
const SLOT_BYTES: usize = 32 << 20;
/// Threads that fill and empty a slot: one does not keep the link busy.
const THREADS: usize = 12;

/// A GPU, and what its passes may use until this is dropped.
pub(super) struct Grant {
    pub(super) engine: GpuEngine,
    pub(super) staging: Staging,
    _device: Permit,
    _pinned: Ring,
}

impl Grant {
    /// So many bytes of the device's memory, and slots of the host's for slices of so many elements.
    pub(super) fn new<T: Scalar>(
        gpu: &Gpu,
        budgets: &Budgets,
        device_bytes: u128,
        slice: usize,
    ) -> Result<Grant, Error> {
        // Missing libraries are found before anything is read.
        gpu.blas()?;
        gpu.solver()?;
        let device = budgets.device.try_acquire(u64::try_from(device_bytes).unwrap_or(u64::MAX))?;
        let granule = size_of::<T>() as u64;
        let slot_bytes = (slice.max(1).saturating_mul(size_of::<T>()).min(SLOT_BYTES) as u64).next_multiple_of(granule);
        let wish = RingWish { slots: SLOTS.iter().sum::<usize>() as u64, slot_bytes, granule };
        let Some(ring) = budgets.pinned.ring(wish).filter(|ring| ring.slots >= 2) else {
            let (requested, available, limit) = (2 * granule, budgets.pinned.available(), budgets.pinned.limit());
            return Err(Error::Budget { what: "pinned memory for a slot each way", requested, available, limit });
        };
        let slots_back = SLOTS[1].min(ring.slots as usize / 2);
        let slots = ring.slots as usize - slots_back;
        let elements = ring.slot_bytes as usize / size_of::<T>();
        let staging = Staging { slots, slots_back, elements, threads: rayon::current_num_threads().min(THREADS) };
        Ok(Grant { engine: GpuEngine::new(gpu)?, staging, _device: device, _pinned: ring })
    }
}
