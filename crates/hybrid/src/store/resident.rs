//! Matrices in the memory of a GPU, as sources and sinks: what computes there reads and writes them where they lie, and everybody else gets copies.

use bytemuck::Pod;
use tilewright_driver::{DeviceBuffer, DeviceBytes, DeviceRoom};

use super::{Element, Extents, Sink, Source, Stored, Tile, Written, coverage::Coverage};
use crate::Error;
use crate::dispatch::At;

/// A sink in the memory of a GPU.
pub trait ResidentSink: Sync {
    /// The memory, which begins with the matrix, row by row and without gaps.
    fn room(&self) -> DeviceRoom<'_>;

    /// What a kernel wrote to a tile is there.
    fn landed(&self, tile: &Tile);
}

/// A matrix on a GPU to read, row by row. Fused expressions that are computed on that GPU read it where it is; copies come to the host for others.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSource<'a> {
    bytes: DeviceBytes<'a>,
    extents: Extents,
    element: Element,
}

impl<'a> DeviceSource<'a> {
    /// The elements of a buffer. [`Error::Shape`] if these are not `rows * columns`.
    pub fn new<T: Stored + Pod>(buffer: &'a DeviceBuffer<T>, extents: Extents) -> Result<Self, Error> {
        Self::of_bytes(buffer.device_bytes(), T::ELEMENT, extents)
    }

    /// The same of memory whose elements nobody has typed. [`Error::Shape`] if it has not so many bytes.
    pub fn of_bytes(bytes: DeviceBytes<'a>, element: Element, extents: Extents) -> Result<Self, Error> {
        check("read", bytes, element, extents)?;
        Ok(DeviceSource { bytes, extents, element })
    }
}

impl Source for DeviceSource<'_> {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        self.element
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        read(self.bytes, (self.extents, self.element), tile, out)
    }

    fn resident(&self) -> Option<DeviceBytes<'_>> {
        Some(self.bytes)
    }

    fn at(&self) -> At {
        At::Gpu
    }
}

/// A matrix on a GPU to write, row by row: what [`DeviceSource`] is to read. What it is before the commit is unspecified.
pub struct DeviceSink<'a> {
    room: DeviceRoom<'a>,
    extents: Extents,
    element: Element,
    coverage: Coverage,
}

impl<'a> DeviceSink<'a> {
    /// The elements of a buffer. [`Error::Shape`] if these are not `rows * columns`.
    pub fn new<T: Stored + Pod>(buffer: &'a mut DeviceBuffer<T>, extents: Extents) -> Result<Self, Error> {
        Self::of_room(buffer.device_room(), T::ELEMENT, extents)
    }

    /// The same of memory whose elements nobody has typed. [`Error::Shape`] if it has not so many bytes.
    pub fn of_room(room: DeviceRoom<'a>, element: Element, extents: Extents) -> Result<Self, Error> {
        check("write", room.bytes(), element, extents)?;
        Ok(DeviceSink { room, extents, element, coverage: Coverage::default() })
    }
}

impl Sink for DeviceSink<'_> {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn element(&self) -> Element {
        self.element
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        for (number, (at, bytes)) in runs(self.extents, self.element, tile).enumerate() {
            self.room.copy_from_slice_at(at, &data[number * bytes..][..bytes])?;
        }
        self.coverage.add(tile);
        Ok(())
    }

    fn resident(&self) -> Option<&dyn ResidentSink> {
        Some(self)
    }

    fn written(&self) -> Option<&dyn Written> {
        Some(self)
    }

    fn at(&self) -> At {
        At::Gpu
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        match self.coverage.hole(self.extents) {
            Some((row, column)) => Err(Error::Incomplete { what: "a matrix on a GPU".into(), row, column }),
            None => Ok(()),
        }
    }
}

impl ResidentSink for DeviceSink<'_> {
    fn room(&self) -> DeviceRoom<'_> {
        self.room
    }

    fn landed(&self, tile: &Tile) {
        self.coverage.add(tile);
    }
}

impl Written for DeviceSink<'_> {
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        read(self.room.bytes(), (self.extents, self.element), tile, out)
    }
}

fn check(operation: &'static str, bytes: DeviceBytes<'_>, element: Element, extents: Extents) -> Result<(), Error> {
    let (expected, got, what) = (extents.byte_count(element)?, bytes.len(), "bytes of the memory on the GPU");
    if got == expected { Ok(()) } else { Err(Error::Shape { operation, what, expected, got }) }
}

/// A copy of a tile. Of `bool` every byte but 0 is true, as in kernels.
fn read(
    bytes: DeviceBytes<'_>,
    (extents, element): (Extents, Element),
    tile: &Tile,
    out: &mut [u8],
) -> Result<(), Error> {
    tile.check("read", extents, element, out.len())?;
    for (number, (at, length)) in runs(extents, element, tile).enumerate() {
        bytes.copy_to_slice_at(at, &mut out[number * length..][..length])?;
    }
    if element == Element::Bool {
        out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Ok(())
}

/// Where the parts of a tile begin that lie without gaps, and how long each is: whole rows are one.
fn runs(extents: Extents, element: Element, tile: &Tile) -> impl Iterator<Item = (usize, usize)> {
    let (pitch, width) = (extents.columns * element.bytes(), tile.columns.len() * element.bytes());
    let first = tile.columns.start * element.bytes();
    let together = if width == pitch { tile.rows.len().max(1) } else { 1 };
    let rows = if width == 0 { 0..0 } else { tile.rows.clone() };
    rows.step_by(together).map(move |row| (row * pitch + first, width * together))
}
