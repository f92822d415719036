//! Memory of the host that results and operands pass through.

use super::Device;
use crate::Error;
use crate::budget::Budget;
use crate::linear::{Gpu, LOCKED, Locked};
use crate::matrix::{Dense, Element, Shape};

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
    Locked(Locked<T>),
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
        let pinned = room.pinned.as_ref().filter(|_| LOCKED.contains(&bytes));
        let locked = gpu.zip(pinned).and_then(|(gpu, pinned)| Locked::new(gpu, pinned, length));
        locked.map_or_else(|| Dense::zeros(shape).map(Own::Ordinary), |it| Ok(Own::Locked(it)))
    }

    pub(super) fn values(&self) -> &[T] {
        match self {
            Own::Locked(memory) => memory,
            Own::Ordinary(dense) => dense.values(),
        }
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        match self {
            Own::Locked(memory) => memory,
            Own::Ordinary(dense) => dense.values_mut(),
        }
    }
}
