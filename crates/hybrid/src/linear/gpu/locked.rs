//! Page-locked memory of the host that somebody has for a moment. It is kept for whoever wants as much next: locking takes longer than copying.

use super::Gpu;
use crate::budget::{Budget, Permit};
use crate::stream::keeps_slots;
use bytemuck::Pod;
use std::ops::{Deref, DerefMut, RangeInclusive};
use tilewright_driver::PinnedBuffer;

/// Bytes of results and of operands that are whole in page-locked memory for a moment: fewer are faster without it, and more takes long to be locked the first time, 0.2 ms a megabyte.
pub(crate) const LOCKED: RangeInclusive<usize> = 32 << 10..=32 << 20;

/// Page-locked memory, which holds whatever it held before.
pub(crate) struct Locked<T: Pod> {
    memory: PinnedBuffer<T>,
    length: usize,
    _permit: Permit,
}

impl<T: Pod> Locked<T> {
    /// For so many elements; none where the budget has no room for that and for what the device keeps.
    pub(crate) fn new(gpu: &Gpu, pinned: &Budget, length: usize) -> Option<Self> {
        let bytes = length * size_of::<T>();
        // Of few sizes, so that what is kept serves others.
        let step = (1usize << bytes.checked_ilog2()?).div_ceil(4);
        let elements = bytes.next_multiple_of(step).div_ceil(size_of::<T>());
        let pinned = Some(pinned).filter(|pinned| keeps_slots(pinned))?;
        let permit = pinned.try_acquire((elements * size_of::<T>()) as u64).ok()?;
        let memory = gpu.stream().device().pinned_scratch(elements).ok()?;
        Some(Locked { memory, length, _permit: permit })
    }

    /// What copies go to and from; the first elements of it are these.
    pub(super) fn buffer(&self) -> &PinnedBuffer<T> {
        &self.memory
    }

    pub(super) fn buffer_mut(&mut self) -> &mut PinnedBuffer<T> {
        &mut self.memory
    }
}

/// Looking into it waits for its copies.
impl<T: Pod> Deref for Locked<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory[..self.length]
    }
}

impl<T: Pod> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[..self.length]
    }
}

/// Bytes of a piece, and how many there are at most. Of those that threads fill, past their caches, one is copied while another one is filled. Those that they empty they have in their caches then, and
/// a device writes to what is there at half its rate: that comes again when it is there no more.
const TO_FILL: (usize, usize) = (2 << 20, 2);
const TO_EMPTY: (usize, usize) = (4 << 20, 8);

/// Pieces through which what is larger passes, in turns.
pub(super) struct Pieces<T: Pod>(Vec<Locked<T>>);

impl<T: Pod> Pieces<T> {
    /// For so many elements in all that go to the GPU.
    pub(super) fn to_fill(gpu: &Gpu, length: usize) -> Option<Self> {
        Self::new(gpu, length, TO_FILL)
    }

    /// For so many that come from there.
    pub(super) fn to_empty(gpu: &Gpu, length: usize) -> Option<Self> {
        Self::new(gpu, length, TO_EMPTY)
    }

    fn new(gpu: &Gpu, length: usize, (bytes, most): (usize, usize)) -> Option<Self> {
        let elements = length.min(bytes / size_of::<T>());
        let count = length.div_ceil(elements.max(1)).min(most);
        (0..count).map(|_| Locked::new(gpu, gpu.pinned(), elements)).collect::<Option<_>>().map(Pieces)
    }

    /// Elements of a piece.
    pub(super) fn elements(&self) -> usize {
        self.0[0].length
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// That through which the part of this number passes.
    pub(super) fn of(&mut self, number: usize) -> &mut Locked<T> {
        let count = self.0.len();
        &mut self.0[number % count]
    }
}
