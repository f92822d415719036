//! Page-locked memory that several threads write, each under the lock of the rows that it writes.

use bytemuck::Pod;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};
use tilewright_driver::PinnedBuffer;

/// Rows that are locked together.
const BAND: usize = 64;

/// Page-locked memory, row by row.
pub(crate) struct SharedRows<'a, T: Pod> {
    /// Borrowed for writing by whoever has all of it, for reading by those who have rows.
    buffer: RwLock<&'a mut PinnedBuffer<T>>,
    start: *mut u8,
    rows: usize,
    pitch: usize,
    bands: Vec<Mutex<()>>,
}

// SAFETY: bytes behind the address are reached under locks alone, and the buffer that they belong to is borrowed for as long. Nothing else is bound to a thread.
unsafe impl<T: Pod + Send> Send for SharedRows<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Pod + Send> Sync for SharedRows<'_, T> {}

impl<'a, T: Pod> SharedRows<'a, T> {
    /// Memory that is so many rows of equally many elements.
    pub(crate) fn new(buffer: &'a mut PinnedBuffer<T>, rows: usize) -> Self {
        let pitch = (buffer.len() / rows.max(1)) * size_of::<T>();
        let start = buffer.as_mut_ptr().cast();
        let bands = (0..rows.div_ceil(BAND)).map(|_| Mutex::new(())).collect();
        SharedRows { buffer: RwLock::new(buffer), start, rows, pitch, bands }
    }

    /// All of the memory, when nobody has any rows.
    pub(crate) fn all(&self) -> RwLockWriteGuard<'_, &'a mut PinnedBuffer<T>> {
        self.buffer.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls for the bytes of each of these rows, in their order, of which no other thread has the same meanwhile; once the copies are done that were queued.
    pub(crate) fn for_each(&self, rows: Range<usize>, mut call: impl FnMut(&mut [u8])) {
        assert!(rows.end <= self.rows, "rows {rows:?} of {}", self.rows);
        if self.pitch == 0 {
            return rows.for_each(|_| call(&mut []));
        }
        let buffer = self.buffer.read().unwrap_or_else(PoisonError::into_inner);
        buffer.settle();
        let mut begin = rows.start;
        while begin < rows.end {
            let end = rows.end.min((begin / BAND + 1) * BAND);
            let _band = self.bands[begin / BAND].lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: rows of the memory, whose lock nobody else has, and nobody has all of it.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(self.start.add(begin * self.pitch), (end - begin) * self.pitch)
            };
            bytes.chunks_exact_mut(self.pitch).for_each(&mut call);
            begin = end;
        }
    }
}
