use std::{cell::Cell, fmt, marker::PhantomData};

use bytemuck::Pod;

use crate::blas::Layout;
use crate::{Device, Error, PinnedBuffer, PinnedBytes, PinnedBytesMut, PinnedRows, Stream, raw};

const OUT_OF_MEMORY: u32 = 2;
const ROUNDING: usize = 16;

/// Typed memory of a device, from the stream-ordered pool. It is given back, in stream order, when dropped: let the stream
/// wait for other streams that still use it.
///
/// Blocking copies run on the buffer's own stream: they see what was queued there before, not what other streams do.
pub struct DeviceBuffer<T: Pod> {
    /// `None` when there is nothing to allocate.
    memory: Option<raw::Memory>,
    stream: Stream,
    len: usize,
    element: PhantomData<T>,
}

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Bytes of device memory that this thread has asked for since it began, given back or not. A difference of two says what a piece
/// of work allocated.
pub fn bytes_allocated() -> u64 {
    ALLOCATED.get()
}

/// Bytes of `len` elements.
pub(crate) fn byte_count<T>(len: usize) -> Result<usize, Error> {
    const { assert!(size_of::<T>() > 0, "elements must have a size") };
    let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize - ROUNDING);
    bytes.ok_or(Error::TooLarge { elements: len, element_bytes: size_of::<T>() })
}

impl Stream {
    /// Room for `len` elements. What is inside is unspecified. Sizes are rounded up to 16 bytes, so that kernels may read
    /// whole 16-byte vectors.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, Error> {
        let requested = byte_count::<T>(len)?.next_multiple_of(ROUNDING);
        let memory = if requested == 0 { None } else { Some(self.allocate(requested)?) };
        Ok(DeviceBuffer { memory, stream: self.clone(), len, element: PhantomData })
    }

    fn allocate(&self, requested: usize) -> Result<raw::Memory, Error> {
        let memory =
            raw::Memory::allocate(self.raw.clone(), requested).map_err(|error| match self.device().memory_info() {
                Ok((free, total)) if error.is_code(&[OUT_OF_MEMORY]) => Error::OutOfMemory { requested, free, total },
                _ => error,
            })?;
        ALLOCATED.set(ALLOCATED.get() + requested as u64);
        Ok(memory)
    }

    /// Room for `len` elements, all bytes 0.
    pub fn alloc_zeroed<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, Error> {
        let buffer = self.alloc(len)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// A copy of `values` on the device. Returns when `values` has been read.
    pub fn upload<T: Pod>(&self, values: &[T]) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = self.alloc(values.len())?;
        buffer.copy_from_slice(values)?;
        Ok(buffer)
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address on the device, a multiple of 256; 0 when the buffer is empty.
    pub fn device_ptr(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.address)
    }

    /// Bytes allocated: those of the elements, rounded up to 16.
    pub fn allocated_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.bytes)
    }

    pub(crate) fn memory(&self) -> Option<&raw::Memory> {
        self.memory.as_ref()
    }

    /// The stream that the buffer came from and goes back on.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The device that the buffer is on.
    pub fn device(&self) -> Device {
        self.stream.device()
    }

    /// Sets every byte, those of the rounding included. Queued on the buffer's stream.
    pub fn fill_bytes(&self, byte: u8) -> Result<(), Error> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.fill(byte, memory.bytes, &self.stream.raw))
    }

    /// Copies all elements from the host. Returns when `values` has been read. Lengths must be equal.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<(), Error> {
        self.checked(values.len(), "elements copied to the device")?;
        let stream = self.stream.clone();
        self.copy_from_slice_at(&stream, 0, values)
    }

    /// Copies values from ordinary memory to the elements from `at` on, by `stream`. Returns when they have been read, which is when all that the stream
    /// had before is done.
    pub fn copy_from_slice_at(&mut self, stream: &Stream, at: usize, values: &[T]) -> Result<(), Error> {
        let part = self.part(at, values.len(), values.len(), "elements copied to the device")?;
        let Some(memory) = part else { return Ok(()) };
        self.check_copy(stream)?;
        memory.copy_from_host(at * size_of::<T>(), bytemuck::cast_slice(values), &stream.raw)
    }

    /// Copies all elements to the host and waits for them. Lengths must be equal.
    pub fn copy_to_slice(&self, values: &mut [T]) -> Result<(), Error> {
        self.checked(values.len(), "elements copied to the host")?;
        self.copy_to_slice_at(&self.stream, 0, values)
    }

    /// Copies the elements from `at` on to ordinary memory, by `stream`, and waits for them, and for all that the stream had before.
    pub fn copy_to_slice_at(&self, stream: &Stream, at: usize, values: &mut [T]) -> Result<(), Error> {
        let part = self.part(at, values.len(), values.len(), "elements copied to the host")?;
        let Some(memory) = part else { return Ok(()) };
        self.check_copy(stream)?;
        memory.copy_to_host(at * size_of::<T>(), bytemuck::cast_slice_mut(values), &stream.raw)
    }

    /// All elements, on the host.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let mut values = vec![T::zeroed(); self.len];
        self.copy_to_slice(&mut values)?;
        Ok(values)
    }

    /// Queues a copy of all elements from page-locked memory on `stream` and returns at once. Until it is done, writing to
    /// `source` waits. Lengths must be equal.
    pub fn copy_from_pinned(&mut self, stream: &Stream, source: &PinnedBuffer<T>) -> Result<(), Error> {
        self.checked(source.len(), "elements copied to the device")?;
        self.copy_from_pinned_start(stream, source, self.len)
    }

    /// As [`copy_from_pinned`](Self::copy_from_pinned), for the first `len` elements of both.
    pub fn copy_from_pinned_start(
        &mut self,
        stream: &Stream,
        source: &PinnedBuffer<T>,
        len: usize,
    ) -> Result<(), Error> {
        self.copy_from_pinned_at(stream, 0, source, len)
    }

    /// As [`copy_from_pinned`](Self::copy_from_pinned), for the first `len` elements of `source`, to those of the buffer from `at` on.
    pub fn copy_from_pinned_at(
        &mut self,
        stream: &Stream,
        at: usize,
        source: &PinnedBuffer<T>,
        len: usize,
    ) -> Result<(), Error> {
        let Some(memory) = self.part(at, len, source.len(), "elements copied to the device")? else { return Ok(()) };
        self.device().expect(&stream.device(), "the stream")?;
        let [at, bytes] = [at, len].map(|elements| elements * size_of::<T>());
        memory.copy_from_pinned(at, source.raw(), bytes, &stream.raw)
    }

    /// Queues a copy of all elements to page-locked memory on `stream` and returns at once. Until it is done, reading
    /// `target` waits. Lengths must be equal.
    pub fn copy_to_pinned(&self, stream: &Stream, target: &mut PinnedBuffer<T>) -> Result<(), Error> {
        self.checked(target.len(), "elements copied to the host")?;
        self.copy_to_pinned_at(stream, 0, target, self.len)
    }

    /// As [`copy_to_pinned`](Self::copy_to_pinned), for `len` elements from `at` on, to the first of `target`.
    pub fn copy_to_pinned_at(
        &self,
        stream: &Stream,
        at: usize,
        target: &mut PinnedBuffer<T>,
        len: usize,
    ) -> Result<(), Error> {
        let Some(memory) = self.part(at, len, target.len(), "elements copied to the host")? else { return Ok(()) };
        self.device().expect(&stream.device(), "the stream")?;
        let [at, bytes] = [at, len].map(|elements| elements * size_of::<T>());
        memory.copy_to_pinned(at, target.raw_mut(), bytes, &stream.raw)
    }

    /// Queues a copy of rows of page-locked memory on `stream`, to the elements from `at` on, without gaps, and returns at once. Until it is done,
    /// writing to that memory waits. Rows must not overlap: [`Error::Length`], as for those that are not there.
    pub fn copy_rows_from_pinned(
        &mut self,
        stream: &Stream,
        at: usize,
        source: PinnedBytes<'_>,
        rows: &PinnedRows,
    ) -> Result<(), Error> {
        let Some(memory) = self.for_rows(rows)? else { return Ok(()) };
        self.device().expect(&stream.device(), "the stream")?;
        memory.copy_rows_from_pinned(at.saturating_mul(size_of::<T>()), source.raw(), rows, &stream.raw)
    }

    /// The other way: reading that memory waits until it is done.
    pub fn copy_rows_to_pinned(
        &self,
        stream: &Stream,
        at: usize,
        target: &mut PinnedBytesMut<'_>,
        rows: &PinnedRows,
    ) -> Result<(), Error> {
        let Some(memory) = self.for_rows(rows)? else { return Ok(()) };
        self.device().expect(&stream.device(), "the stream")?;
        memory.copy_rows_to_pinned(at.saturating_mul(size_of::<T>()), target.raw_mut(), rows, &stream.raw)
    }

    /// Queues a copy of all elements of another buffer of the same device on `stream`. Lengths must be equal.
    pub fn copy_from_buffer(&mut self, stream: &Stream, source: &DeviceBuffer<T>) -> Result<(), Error> {
        let Some(memory) = self.checked(source.len(), "elements copied on the device")? else { return Ok(()) };
        self.device().expect(&stream.device(), "the stream")?;
        self.device().expect(&source.device(), "the source")?;
        let from = source.memory.as_ref();
        from.map_or(Ok(()), |from| memory.copy_from_device(from, self.len * size_of::<T>(), &stream.raw))
    }

    /// Queues a copy of a matrix in another buffer of the same device on `stream`, to where one of its size lies in this one. Columns are at most 2 GiB apart, which is the
    /// most that drivers take. [`Error::Matrix`] where sizes differ, or a matrix reaches beyond its buffer.
    pub fn copy_matrix_from(
        &mut self,
        stream: &Stream,
        to: Layout,
        (source, from): (&DeviceBuffer<T>, Layout),
    ) -> Result<(), Error> {
        let call = "a copy of a matrix on the device";
        for (what, expected, got) in [("rows", to.rows, from.rows), ("columns", to.columns, from.columns)] {
            if expected != got {
                return Err(Error::Matrix { call, what, expected, got });
            }
        }
        to.check(self.len)?;
        from.check(source.len)?;
        self.device().expect(&stream.device(), "the stream")?;
        self.device().expect(&source.device(), "the source")?;
        let (Some(memory), Some(other)) = (&self.memory, &source.memory) else { return Ok(()) };
        if to.rows == 0 || to.columns == 0 {
            return Ok(());
        }
        let bytes = |elements: usize| elements * size_of::<T>();
        let [here, there] = [to, from].map(|it| (bytes(it.offset), bytes(it.leading)));
        let rows = [bytes(to.rows), to.columns];
        memory.copy_rows_from_device(here, (other, there.0, there.1), rows, &stream.raw)
    }

    fn checked(&self, got: usize, what: &'static str) -> Result<Option<&raw::Memory>, Error> {
        if got == self.len { Ok(self.memory.as_ref()) } else { Err(Error::Length { what, expected: self.len, got }) }
    }

    /// The memory, where `len` elements from `at` on are there, and as many on the other side; nothing for nothing.
    fn part(&self, at: usize, len: usize, other: usize, what: &'static str) -> Result<Option<&raw::Memory>, Error> {
        let held = self.len.saturating_sub(at).min(other);
        match len <= held {
            true => Ok(self.memory.as_ref().filter(|_| len > 0)),
            false => Err(Error::Length { what, expected: held, got: len }),
        }
    }

    /// The memory; nothing for no rows.
    fn for_rows(&self, rows: &PinnedRows) -> Result<Option<&raw::Memory>, Error> {
        match (&self.memory, rows.bytes()) {
            (_, Some(0)) => Ok(None),
            (None, _) => Err(Error::Length { what: "rows of page-locked memory", expected: 0, got: rows.count }),
            (Some(memory), _) => Ok(Some(memory)),
        }
    }

    /// That a copy which is waited for can run on a stream: one of this device, which is not captured.
    fn check_copy(&self, stream: &Stream) -> Result<(), Error> {
        self.device().expect(&stream.device(), "the stream")?;
        let call = "a copy between host and device";
        if stream.raw.is_capturing()? { Err(Error::Capturing { call }) } else { Ok(()) }
    }
}

impl<T: Pod> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (element, address) = (std::any::type_name::<T>(), self.device_ptr());
        write!(f, "DeviceBuffer [{element}; {}] at {address:#x} of {:?}", self.len, self.device())
    }
}
