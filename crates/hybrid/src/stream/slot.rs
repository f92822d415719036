//! Host memory that copies of a GPU go from and to.

use bytemuck::Pod;
use std::ops::{Deref, DerefMut};
use tilewright_driver::PinnedBuffer;

/// A slot, page-locked or in ordinary memory.
pub(crate) enum Slot<T: Pod> {
    /// Copies go on by themselves; looking into it waits for them.
    Locked(PinnedBuffer<T>),
    /// Copies are waited for when they are queued.
    Ordinary(Vec<T>),
}

impl<T: Pod> Deref for Slot<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Slot::Locked(buffer) => buffer,
            Slot::Ordinary(values) => values,
        }
    }
}

impl<T: Pod> DerefMut for Slot<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Slot::Locked(buffer) => buffer,
            Slot::Ordinary(values) => values,
        }
    }
}
