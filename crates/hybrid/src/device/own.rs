//! Memory of the host that results and operands pass through.

use super::Device;
use crate::Error;
use crate::budget::{Budget, Permit};
use crate::linear::Gpu;
use crate::matrix::{Dense, Element, Shape};
use crate::stream::keeps_slots;
use crate::stream::transfer::LOCKED;
use tilewright_driver::PinnedBuffer;

/// What of the host's memory may be used.
#[derive(Clone)]
pub(super) struct HostMemory {
    /// For what is gathered or fetched, and for a result that is whole before it takes its place.
    pub(super) host: Budget,
    /// For what of that is page-locked; none where there is no GPU.
    pub(super) pinned: Option<Budget>,
}

/// Memory of a matrix that somebody has for a moment.
pub(super) enum Own<T: Element> {
    /// Kept for the next one: copies to and from the GPU have the link's rate, and the system need not give pages first.
    Locked {
        memory: PinnedBuffer<T>,
        length: usize,
        _permit: Permit,
    },
    Ordinary(Dense<T>),
}

impl Device {
    /// What of the host's memory may be used.
    pub(super) fn host_memory(&self) -> HostMemory {
        HostMemory { host: self.host.clone(), pinned: self.gpu.as_ref().map(|it| it.budgets.pinned.clone()) }
    }
}

impl<T: Element> Own<T> {
    /// Whatever it holds: page-locked for what goes to a GPU, or comes from there, if there is room for it and for what the device keeps.
    pub(super) fn new(room: &HostMemory, gpu: Option<&Gpu>, shape: Shape) -> Result<Self, Error> {
        let (bytes, length) = (shape.bytes::<T>()?.0, shape.length::<T>()?.0);
        let pinned = room.pinned.as_ref().filter(|pinned| LOCKED.contains(&bytes) && keeps_slots(pinned));
        let locked = gpu.zip(pinned).and_then(|(gpu, pinned)| {
            // Of few sizes, so that what is kept serves others.
            let elements = bytes.next_multiple_of((1 << bytes.ilog2()) / 4).div_ceil(size_of::<T>());
            let permit = pinned.try_acquire((elements * size_of::<T>()) as u64).ok()?;
            let memory = gpu.stream().device().pinned_scratch(elements).ok()?;
            Some(Own::Locked { memory, length, _permit: permit })
        });
        locked.map_or_else(|| Dense::zeros(shape).map(Own::Ordinary), Ok)
    }

    pub(super) fn values(&self) -> &[T] {
        match self {
            Own::Locked { memory, length, .. } => &memory[..*length],
            Own::Ordinary(dense) => dense.values(),
        }
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        match self {
            Own::Locked { memory, length, .. } => &mut memory[..*length],
            Own::Ordinary(dense) => dense.values_mut(),
        }
    }
}
