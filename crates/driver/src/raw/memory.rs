//! Device memory, page-locked host memory, and every copy between them.
//!
//! Each owner holds its context; its address was given by the driver and is freed once, in `drop`.

use std::ptr;

use cudarc::driver::sys::*;

use super::{Context, Driver, Event, Handle, Stream, pool, spare::Block};
use crate::Error;
use crate::account::Granted;

/// Device memory from the stream-ordered pool, given back on the stream that it came from: to what the stream keeps, or to the driver.
pub(crate) struct Memory {
    pub(crate) stream: std::sync::Arc<Stream>,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    _granted: Granted,
}

/// What memory that is used again is filled with in a build for tests, so that nobody takes what was there before for a result.
const POISON: u8 = 0xA5;

const OUT_OF_MEMORY: u32 = 2;
/// Memory is allocated in multiples of so many bytes.
const WORDS: usize = 16;

impl Memory {
    /// `bytes` is not 0.
    pub(crate) fn allocate(stream: std::sync::Arc<Stream>, bytes: usize) -> Result<Self, Error> {
        // Small values are exchanged with the words around them, which belong to the same memory.
        let capturing = || Err(Error::Capturing { call: "an allocation" });
        if stream.is_captured() {
            return capturing();
        }
        let granted = Granted::ask(bytes)?;
        let class = pool::class(bytes.next_multiple_of(WORDS));
        if let Some(address) = class.and_then(|class| stream.pool.take(class)) {
            let memory = Self { stream, address, bytes, _granted: granted };
            if cfg!(debug_assertions) {
                memory.fill(POISON, bytes, &memory.stream)?;
            }
            return Ok(memory);
        }
        if stream.is_capturing()? {
            return capturing();
        }
        let whole = class.map_or(bytes.next_multiple_of(WORDS), |(_, whole)| whole);
        let address = stream.take_from_driver(whole).or_else(|error| match error.is_code(&[OUT_OF_MEMORY]) {
            true => {
                stream.empty_pool();
                stream.take_from_driver(whole)
            }
            false => Err(error),
        })?;
        Ok(Self { stream, address, bytes, _granted: granted })
    }

    /// Whether `offset..offset + length` lies inside: what every copy below relies on.
    pub(super) fn spans(&self, offset: usize, length: usize) -> Result<(), Error> {
        let inside = offset.checked_add(length).is_some_and(|end| end <= self.bytes);
        if inside { Ok(()) } else { Err(Error::Length { what: "a device copy", expected: self.bytes, got: length }) }
    }

    /// Returns when `source` has been read.
    pub(crate) fn copy_from_host(&self, at: usize, source: &[u8], stream: &Stream) -> Result<(), Error> {
        self.spans(at, source.len())?;
        let (to, bytes) = (self.address + at as u64, source.as_ptr().cast());
        // SAFETY: both sides span the length; the synchronisation outlives the borrow of `source`.
        unsafe { cu!(stream.context.bind()?, cuMemcpyHtoDAsync_v2(to, bytes, source.len(), stream.handle.0)) }?;
        stream.synchronize()
    }

    /// Returns when `target` has been written.
    pub(crate) fn copy_to_host(&self, at: usize, target: &mut [u8], stream: &Stream) -> Result<(), Error> {
        self.spans(at, target.len())?;
        let (from, bytes) = (self.address + at as u64, target.as_mut_ptr().cast());
        // SAFETY: both sides span the length; the synchronisation outlives the borrow of `target`.
        unsafe { cu!(stream.context.bind()?, cuMemcpyDtoHAsync_v2(bytes, from, target.len(), stream.handle.0)) }?;
        stream.synchronize()
    }

    /// Queues a copy of `length` bytes to those from `at` on; the host side stays locked by the event of `source`.
    pub(crate) fn copy_from_pinned(
        &self,
        at: usize,
        source: &Pinned,
        length: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        self.spans(at, length)?;
        let (to, from) = (self.address + at as u64, source.pointer.0.cast());
        source.queue(length, stream, |driver| {
            // SAFETY: both sides span the length (checked here and in `queue`). `Pinned` gives nobody its bytes for
            // writing, and is not freed, before the event that `queue` records has come to pass.
            unsafe { cu!(driver, cuMemcpyHtoDAsync_v2(to, from, length, stream.handle.0)) }
        })
    }

    /// As `copy_from_pinned`, the other way.
    pub(crate) fn copy_to_pinned(
        &self,
        at: usize,
        target: &mut Pinned,
        length: usize,
        stream: &Stream,
    ) -> Result<(), Error> {
        self.spans(at, length)?;
        let (to, from) = (target.pointer.0.cast(), self.address + at as u64);
        target.queue(length, stream, |driver| {
            // SAFETY: as in `copy_from_pinned`; `Pinned` gives nobody its bytes for reading either before the event.
            unsafe { cu!(driver, cuMemcpyDtoHAsync_v2(to, from, length, stream.handle.0)) }
        })
    }

    pub(crate) fn copy_from_device(&self, source: &Memory, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length)?;
        source.spans(0, length)?;
        let driver = stream.context.bind()?;
        // SAFETY: both sides span the length.
        unsafe { cu!(driver, cuMemcpyDtoDAsync_v2(self.address, source.address, length, stream.handle.0)) }
    }

    /// Queues a copy of `count` rows of `width` bytes: from those of `source` that begin at `from`, so many bytes apart, to those here that begin at `to`. Rows do not overlap, and
    /// the two memories are not one.
    pub(crate) fn copy_rows_from_device(
        &self,
        (to, to_pitch): (usize, usize),
        (source, from, from_pitch): (&Memory, usize, usize),
        [width, count]: [usize; 2],
        stream: &Stream,
    ) -> Result<(), Error> {
        let span = |pitch: usize| count.checked_sub(1)?.checked_mul(pitch)?.checked_add(width);
        let apart = count <= 1 || width <= to_pitch.min(from_pitch);
        let too_long = || Error::Length { what: "rows of device memory", expected: self.bytes, got: usize::MAX };
        let (here, there) = span(to_pitch).zip(span(from_pitch)).filter(|_| apart).ok_or_else(too_long)?;
        self.spans(to, here)?;
        source.spans(from, there)?;
        let driver = stream.context.bind()?;
        let (to, from) = (self.address + to as u64, source.address + from as u64);
        if count <= 1 || (width == to_pitch && width == from_pitch) {
            // SAFETY: both sides span the rows, which have no gaps.
            return unsafe { cu!(driver, cuMemcpyDtoDAsync_v2(to, from, here, stream.handle.0)) };
        }
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: ptr::null(),
            srcDevice: from,
            srcArray: ptr::null_mut(),
            srcPitch: from_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: to,
            dstArray: ptr::null_mut(),
            dstPitch: to_pitch,
            WidthInBytes: width,
            Height: count,
        };
        // SAFETY: both sides span the rows with their gaps; the description is read before the call returns.
        unsafe { cu!(driver, cuMemcpy2DAsync_v2(&copy, stream.handle.0)) }
    }

    pub(crate) fn fill(&self, byte: u8, length: usize, stream: &Stream) -> Result<(), Error> {
        self.spans(0, length)?;
        // SAFETY: the memory spans the length.
        unsafe { cu!(stream.context.bind()?, cuMemsetD8Async(self.address, byte, length, stream.handle.0)) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let class = pool::class(self.bytes.next_multiple_of(WORDS));
        match class {
            Some(class) => {
                self.stream.pool.put(class, self.address).into_iter().for_each(|a| self.stream.give_to_driver(a))
            }
            None => self.stream.give_to_driver(self.address),
        }
    }
}

impl Stream {
    fn take_from_driver(&self, bytes: usize) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the stream is alive, the out pointer valid.
        unsafe { cu!(self.context.bind()?, cuMemAllocAsync(&mut address, bytes, self.handle.0)) }?;
        Ok(address)
    }

    fn give_to_driver(&self, address: u64) {
        // SAFETY: called once for an address that no memory has any more, in the order of the stream that it was allocated on.
        let _ = self.context.bind().map(|driver| unsafe { (driver.table.cuMemFreeAsync)(address, self.handle.0) });
    }

    /// Gives what is kept for allocations to the driver.
    pub(crate) fn empty_pool(&self) {
        self.pool.drain().for_each(|address| self.give_to_driver(address));
    }
}

/// Page-locked host memory. `event` is recorded after each queued copy; while `pending`, only the device may touch it.
pub(crate) struct Pinned {
    pub(super) pointer: Handle<u8>,
    pub(super) bytes: usize,
    event: Event,
    pending: std::sync::atomic::AtomicBool,
    order: std::sync::Mutex<()>,
    is_kept: bool,
}

impl Pinned {
    /// Zeroed.
    pub(crate) fn allocate(context: &'static Context, bytes: usize) -> Result<Self, Error> {
        let event = Event::create(context, false)?;
        let lock = || {
            let mut pointer = ptr::null_mut();
            // SAFETY: the out pointer is valid. Not write-combined, so the host reads it at full speed.
            unsafe { cu!(context.bind()?, cuMemHostAlloc(&mut pointer, bytes.max(1), CU_MEMHOSTALLOC_PORTABLE)) }?;
            Ok::<*mut u8, Error>(pointer.cast())
        };
        let pointer = lock().or_else(|error| match error.is_code(&[OUT_OF_MEMORY]) {
            true => {
                context.empty_spare();
                lock()
            }
            false => Err(error),
        })?;
        // SAFETY: the driver gave this many bytes.
        unsafe { ptr::write_bytes(pointer, 0, bytes) };
        let (pointer, order) = (Handle(pointer), Default::default());
        Ok(Self { pointer, bytes, event, pending: false.into(), order, is_kept: false })
    }

    /// Of what an earlier one of as many bytes left, if there was one, else zeroed; kept when it is dropped.
    pub(crate) fn allocate_kept(context: &'static Context, bytes: usize) -> Result<Self, Error> {
        let event = Event::create(context, false)?;
        let Some(Block { pointer, bytes }) = context.spare.take(bytes) else {
            let mut pinned = Self::allocate(context, bytes)?;
            pinned.is_kept = true;
            return Ok(pinned);
        };
        let mut pinned =
            Self { pointer, bytes, event, pending: false.into(), order: Default::default(), is_kept: true };
        if cfg!(debug_assertions) {
            pinned.bytes_mut().fill(POISON);
        }
        Ok(pinned)
    }

    /// Queues one copy of some of the first `length` bytes behind every earlier one, so that one event stands for all.
    pub(super) fn queue(
        &self,
        length: usize,
        stream: &Stream,
        copy: impl FnOnce(&Driver) -> Result<(), Error>,
    ) -> Result<(), Error> {
        use std::sync::atomic::Ordering::SeqCst;
        if length > self.bytes {
            return Err(Error::Length { what: "a pinned copy", expected: self.bytes, got: length });
        }
        if stream.is_capturing()? {
            return Err(Error::Capturing { call: "a copy between host and device" });
        }
        let _order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.pending.swap(true, SeqCst) {
            stream.wait(&self.event)?;
        }
        let queued = copy(stream.context.bind()?);
        // Without its event a copy would run unguarded: wait for it here instead.
        let recorded = self.event.record(stream).or_else(|_| stream.synchronize());
        queued.and(recorded)
    }

    pub(crate) fn length(&self) -> usize {
        self.bytes
    }

    pub(crate) fn settle(&self) {
        use std::sync::atomic::Ordering::SeqCst;
        if self.pending.load(SeqCst) {
            let _order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // A failure here is a context that is lost: no copy runs any more, and the next call reports it.
            let _ = self.event.synchronize();
            self.pending.store(false, SeqCst);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.settle();
        // SAFETY: allocated, initialised, and after `settle` no copy writes it; a new one that does needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.pointer.0, self.bytes) }
    }

    pub(crate) fn address_mut(&mut self) -> *mut u8 {
        self.pointer.0
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.settle();
        // SAFETY: as above, and `&mut self` excludes new copies while the slice is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.0, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.settle();
        let (context, block) = (*self.event.context, Block { pointer: Handle(self.pointer.0), bytes: self.bytes });
        let to_free = if self.is_kept { context.spare.put(block) } else { vec![block] };
        to_free.into_iter().for_each(|block| context.free_locked(block.pointer));
    }
}

impl Context {
    /// Whether the driver has locked the page of an address.
    pub(crate) fn has_locked(&'static self, address: *const u8) -> bool {
        let mut kind = 0u32;
        let (out, attribute) = (ptr::from_mut(&mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
        let Ok(driver) = self.bind() else { return false };
        // SAFETY: the attribute is as large as the number; what is at the address is not looked at.
        let code = unsafe { (driver.table.cuPointerGetAttribute)(out, attribute, address.addr() as u64) };
        code == 0 && kind == CUmemorytype::CU_MEMORYTYPE_HOST as u32
    }

    /// Gives page-locked memory that is kept to the system.
    pub(crate) fn empty_spare(&'static self) {
        self.spare.drain().into_iter().for_each(|block| self.free_locked(block.pointer));
    }

    /// Of memory that nobody has any more.
    fn free_locked(&'static self, pointer: Handle<u8>) {
        // SAFETY: freed once, and no copy is under way.
        let _ = self.bind().map(|driver| unsafe { (driver.table.cuMemFreeHost)(pointer.0.cast()) });
    }
}
