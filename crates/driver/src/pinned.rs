use std::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use bytemuck::Pod;

use crate::{Device, Error, buffer::byte_count, raw};

const OUT_OF_MEMORY: u32 = 2;

/// Typed page-locked host memory: what asynchronous copies at full PCIe speed need. Not write-combined. Starts zeroed.
///
/// It is used as a slice. While a queued copy uses it, borrowing it as a slice, or dropping it, waits for that copy.
pub struct PinnedBuffer<T: Pod> {
    raw: raw::Pinned,
    device: Device,
    len: usize,
    element: PhantomData<T>,
}

impl Device {
    /// Page-locked host memory for `len` elements, zeroed. Takes about 0.2 ms per MB: allocate once, use often.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>, Error> {
        let requested = byte_count::<T>(len)?;
        self.pinned_of(len, raw::Pinned::allocate(self.context(), requested))
    }

    /// As [`pinned`](Device::pinned), for use by one piece of work after another: what is dropped is kept, up to 128 MiB a device and the oldest
    /// going first, for the next that asks for as many bytes, which finds there whatever was left. [`Stream::trim`](crate::Stream::trim) gives it to the system.
    pub fn pinned_scratch<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>, Error> {
        let requested = byte_count::<T>(len)?;
        self.pinned_of(len, raw::Pinned::allocate_kept(self.context(), requested))
    }

    /// Whether values lie in memory that the driver has page-locked, for whomever: copies from and to there have the link's rate as they are.
    pub fn is_pinned<T: Pod>(&self, values: &[T]) -> bool {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let ends = [bytes.first(), bytes.last()];
        ends.into_iter().all(|end| end.is_some_and(|byte| self.context().has_locked(byte)))
    }

    fn pinned_of<T: Pod>(&self, len: usize, raw: Result<raw::Pinned, Error>) -> Result<PinnedBuffer<T>, Error> {
        let raw = raw.map_err(|error| match error.is_code(&[OUT_OF_MEMORY]) {
            true => Error::OutOfPinnedMemory { requested: len * size_of::<T>() },
            false => error,
        })?;
        Ok(PinnedBuffer { raw, device: *self, len, element: PhantomData })
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where its elements are: for whoever shares it among threads, and [settles](Self::settle) it before each use.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.raw.address_mut().cast()
    }

    /// Waits for the copies that use it.
    pub fn settle(&self) {
        self.raw.settle();
    }

    pub(crate) fn raw(&self) -> &raw::Pinned {
        &self.raw
    }

    pub(crate) fn raw_mut(&mut self) -> &mut raw::Pinned {
        &mut self.raw
    }
}

/// The bytes of page-locked memory, whatever it holds, to copy from.
#[derive(Clone, Copy)]
pub struct PinnedBytes<'a> {
    raw: &'a raw::Pinned,
}

/// The bytes of page-locked memory, whatever it holds, to copy to.
pub struct PinnedBytesMut<'a> {
    raw: &'a mut raw::Pinned,
}

/// Rows of page-locked memory, in bytes: the parts `begin + i * pitch .. begin + i * pitch + width`, `i` below `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinnedRows {
    /// Where the first one begins.
    pub begin: usize,
    /// Bytes of a row.
    pub width: usize,
    /// From one row to the next: at least `width`.
    pub pitch: usize,
    /// Rows.
    pub count: usize,
}

impl PinnedRows {
    /// Bytes of all rows, where that is a number.
    pub(crate) fn bytes(&self) -> Option<usize> {
        self.width.checked_mul(self.count)
    }

    /// Where the last one ends; none for rows that overlap.
    pub(crate) fn end(&self) -> Option<usize> {
        let last = self.count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(self.pitch))?;
        let apart = self.width <= self.pitch || self.count <= 1;
        last.checked_add(self.begin)?.checked_add(self.width).filter(|_| apart)
    }

    /// Whether there are no gaps between them.
    pub(crate) fn are_one(&self) -> bool {
        self.width == self.pitch || self.count <= 1
    }
}

impl<'a> PinnedBytes<'a> {
    /// The bytes, once the copies are done that write them.
    pub fn as_slice(&self) -> &'a [u8] {
        self.raw.bytes()
    }

    pub(crate) fn raw(&self) -> &'a raw::Pinned {
        self.raw
    }
}

impl PinnedBytesMut<'_> {
    pub(crate) fn raw_mut(&mut self) -> &mut raw::Pinned {
        self.raw
    }

    /// The bytes, once the copies are done that use them.
    pub fn as_slice(&mut self) -> &mut [u8] {
        self.raw.bytes_mut()
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Its bytes, to copy from.
    pub fn pinned_bytes(&self) -> PinnedBytes<'_> {
        PinnedBytes { raw: &self.raw }
    }

    /// Its bytes, to copy to.
    pub fn pinned_bytes_mut(&mut self) -> PinnedBytesMut<'_> {
        PinnedBytesMut { raw: &mut self.raw }
    }
}

impl fmt::Debug for PinnedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBytes [{}]", self.raw.length())
    }
}

impl fmt::Debug for PinnedBytesMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBytesMut [{}]", self.raw.length())
    }
}

impl<T: Pod> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.raw.bytes())
    }
}

impl<T: Pod> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.raw.bytes_mut())
    }
}

impl<T: Pod> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer [{}; {}] of {:?}", std::any::type_name::<T>(), self.len, self.device)
    }
}
