//! Memory of a device whatever its elements are: for who has buffers of several types in one list.

use std::fmt;

use bytemuck::Pod;

use crate::{Device, DeviceBuffer, Error, Stream, raw};

/// A buffer's bytes, to be read by copies and by kernels.
#[derive(Clone, Copy)]
pub struct DeviceBytes<'a> {
    memory: Option<&'a raw::Memory>,
    stream: &'a Stream,
    len: usize,
}

/// A buffer's bytes, to be written by copies and by kernels. Copies of this are the same memory: who has several orders what is done with them.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRoom<'a>(DeviceBytes<'a>);

impl<T: Pod> DeviceBuffer<T> {
    /// Its bytes, to be read.
    pub fn device_bytes(&self) -> DeviceBytes<'_> {
        DeviceBytes { memory: self.memory(), stream: self.stream(), len: self.len() * size_of::<T>() }
    }

    /// Its bytes, to be written.
    pub fn device_room(&mut self) -> DeviceRoom<'_> {
        DeviceRoom(self.device_bytes())
    }
}

impl<'a> DeviceBytes<'a> {
    /// How many.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address on the device; 0 where there are none.
    pub fn device_ptr(&self) -> u64 {
        self.memory.map_or(0, |memory| memory.address)
    }

    /// The stream that the buffer came from. Copies run there: they see what was queued there before.
    pub fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// The device that they are on.
    pub fn device(&self) -> Device {
        self.stream.device()
    }

    /// Copies the bytes from one on to ordinary memory, and waits for them. [`Error::Length`] for more than there are.
    pub fn copy_to_slice_at(&self, at: usize, values: &mut [u8]) -> Result<(), Error> {
        match self.part(at, values.len(), "bytes copied to the host")? {
            Some(memory) => memory.copy_to_host(at, values, &self.stream.raw),
            None => Ok(()),
        }
    }

    /// The memory, where so many bytes from one on are there; nothing for nothing.
    fn part(&self, at: usize, len: usize, what: &'static str) -> Result<Option<&'a raw::Memory>, Error> {
        let held = self.len.saturating_sub(at);
        if len > held {
            return Err(Error::Length { what, expected: held, got: len });
        }
        if self.stream.raw.is_capturing()? {
            return Err(Error::Capturing { call: "a copy between host and device" });
        }
        Ok(self.memory.filter(|_| len > 0))
    }
}

impl<'a> DeviceRoom<'a> {
    /// The same, to be read.
    pub fn bytes(&self) -> DeviceBytes<'a> {
        self.0
    }

    /// Copies from ordinary memory to the bytes from one on. Returns when they have been read. [`Error::Length`] for more than there are.
    pub fn copy_from_slice_at(&self, at: usize, values: &[u8]) -> Result<(), Error> {
        match self.0.part(at, values.len(), "bytes copied to the device")? {
            Some(memory) => memory.copy_from_host(at, values, &self.0.stream.raw),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for DeviceBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceBytes [{}] at {:#x} of {:?}", self.len, self.device_ptr(), self.device())
    }
}
