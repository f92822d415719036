//! A file in the address space.

use std::{ffi::c_void, fs::File, io, ptr, slice};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The first bytes of a file, mapped to be read.
pub(crate) struct Map {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: the mapping is only read, and lies at its place until this is dropped.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps a file that is open for reading. It must have so many bytes, at least one, and keep them: to read a page that a file
    /// has no longer ends the process (`SIGBUS`).
    pub(crate) fn new(file: &File, bytes: usize) -> io::Result<Self> {
        // SAFETY: a mapping of its own, at a place that the system chooses: nothing that was there before changes.
        let start = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::PRIVATE, file, 0) }?;
        Ok(Self { start, bytes })
    }

    /// What the file holds. Whoever reads it must not count on finding the same twice: only another process that writes into
    /// the file could change it, and who ships a file is told to replace it by renaming instead.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable, has this many bytes and is there as long as `self`. Bytes have no invalid values, and
        // nobody writes into the file (above).
        unsafe { slice::from_raw_parts(self.start.cast(), self.bytes) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and nothing borrows from it any more. It cannot fail for a mapping that is there.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}
