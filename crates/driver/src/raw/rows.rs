//! Copies of rows of page-locked memory, to device memory without gaps and back.

use std::ptr;

use cudarc::driver::sys::*;

use super::{Memory, Pinned, Stream};
use crate::{Error, PinnedRows};

impl Memory {
    /// Queues a copy of rows to the bytes from `at` on; the host side stays locked by the event of `source`.
    pub(crate) fn copy_rows_from_pinned(
        &self,
        at: usize,
        source: &Pinned,
        rows: &PinnedRows,
        stream: &Stream,
    ) -> Result<(), Error> {
        let (bytes, end) = self.both_span(at, rows)?;
        let copy = CUDA_MEMCPY2D {
            srcHost: source.pointer.0.wrapping_add(rows.begin).cast(),
            dstDevice: self.address + at as u64,
            ..between(CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE, rows)
        };
        source.queue(end, stream, |driver| match rows.are_one() {
            // SAFETY: both sides span the rows (checked here and in `queue`). `Pinned` gives nobody its bytes for writing, and is not freed, before
            // the event that `queue` records has come to pass.
            true => unsafe { cu!(driver, cuMemcpyHtoDAsync_v2(copy.dstDevice, copy.srcHost, bytes, stream.handle.0)) },
            // SAFETY: as above; the description is read before the call returns.
            false => unsafe { cu!(driver, cuMemcpy2DAsync_v2(&copy, stream.handle.0)) },
        })
    }

    /// As `copy_rows_from_pinned`, the other way.
    pub(crate) fn copy_rows_to_pinned(
        &self,
        at: usize,
        target: &mut Pinned,
        rows: &PinnedRows,
        stream: &Stream,
    ) -> Result<(), Error> {
        let (bytes, end) = self.both_span(at, rows)?;
        let copy = CUDA_MEMCPY2D {
            dstHost: target.pointer.0.wrapping_add(rows.begin).cast(),
            srcDevice: self.address + at as u64,
            ..between(CUmemorytype::CU_MEMORYTYPE_DEVICE, CUmemorytype::CU_MEMORYTYPE_HOST, rows)
        };
        target.queue(end, stream, |driver| match rows.are_one() {
            // SAFETY: as in `copy_rows_from_pinned`; `Pinned` gives nobody its bytes for reading either before the event.
            true => unsafe { cu!(driver, cuMemcpyDtoHAsync_v2(copy.dstHost, copy.srcDevice, bytes, stream.handle.0)) },
            // SAFETY: as above.
            false => unsafe { cu!(driver, cuMemcpy2DAsync_v2(&copy, stream.handle.0)) },
        })
    }

    /// Bytes of the rows, which this memory has from `at` on, and where they end in page-locked memory.
    fn both_span(&self, at: usize, rows: &PinnedRows) -> Result<(usize, usize), Error> {
        let too_long = Error::Length { what: "rows of page-locked memory", expected: self.bytes, got: usize::MAX };
        let (bytes, end) = rows.bytes().zip(rows.end()).ok_or(too_long)?;
        self.spans(at, bytes)?;
        Ok((bytes, end))
    }
}

/// All but the addresses.
fn between(from: CUmemorytype, to: CUmemorytype, rows: &PinnedRows) -> CUDA_MEMCPY2D {
    let pitch = |side| if side == CUmemorytype::CU_MEMORYTYPE_HOST { rows.pitch } else { rows.width };
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: pitch(from),
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        dstPitch: pitch(to),
        WidthInBytes: rows.width,
        Height: rows.count,
    }
}
