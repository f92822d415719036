use super::{Element, Extents, Locked, LockedSink, ResidentSink, Stored, Tile};
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::At;
use tilewright_driver::DeviceBytes;

/// A matrix whose tiles can be read, by several threads at once.
pub trait Source: Send + Sync {
    /// Rows and columns.
    fn extents(&self) -> Extents;

    /// The type of its elements.
    fn element(&self) -> Element;

    /// The smallest tile that is read without reading more than it: a row of a file in C order, a chunk of a Zarr array.
    fn grain(&self) -> Extents {
        Extents::new(1, 1)
    }

    /// Reads a tile, row by row and without gaps, in the machine's order of bytes. [`Error::Shape`] for a tile outside or a buffer of
    /// another size; [`Error::Io`] and [`Error::Corrupt`] name the file. After an error the buffer's content is unspecified.
    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error>;

    /// Where it lies in page-locked memory, if it does: a GPU copies from there without anybody in between.
    fn locked(&self) -> Option<Locked<'_>> {
        None
    }

    /// Its memory, if it lies on a GPU, row by row and without gaps: what computes there reads it where it is.
    fn resident(&self) -> Option<DeviceBytes<'_>> {
        None
    }

    /// Where it lies, as decisions about it have it: in page-locked memory if it is [`locked`](Self::locked), in ordinary memory otherwise.
    fn at(&self) -> At {
        if self.locked().is_some() { At::Pinned } else { At::Pageable }
    }

    /// Says that a tile will be read soon; where that means nothing it does nothing. A hint that fails is [`Error::Io`], and ends a stream: the system
    /// refuses none of a file that can be read.
    fn prefetch(&self, _tile: &Tile) -> Result<(), Error> {
        Ok(())
    }

    /// Says that a tile will not be read again soon, so that nobody needs to keep it. The same errors.
    fn release(&self, _tile: &Tile) -> Result<(), Error> {
        Ok(())
    }
}

/// A matrix whose tiles are written once each, in any order and by several threads at once.
pub trait Sink: Send + Sync {
    /// Rows and columns.
    fn extents(&self) -> Extents;

    /// The type of its elements.
    fn element(&self) -> Element;

    /// Tiles that are multiples of this, at multiples of it, are written at once.
    fn grain(&self) -> Extents {
        Extents::new(1, 1)
    }

    /// Says whose host memory it may take for parts of grains, which it gathers until these are whole. It takes a grain's now: [`Error::Budget`] where there
    /// is not so much. Where it gathers nothing this does nothing.
    fn gather_within(&self, _host: &Budget) -> Result<(), Error> {
        Ok(())
    }

    /// Says that a row's elements are packed bits, so many, before it is committed. A format that can tells those who read it; elsewhere this does nothing.
    /// [`Error::Shape`] where a row has fewer bits, or over 255 more; [`Error::Io`].
    fn holds_bits(&self, _columns: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Writes a tile, which lies row by row and without gaps, in the machine's order of bytes. The same errors as
    /// [`Source::read_tile`], and [`Error::StorageFull`]. A tile that was written can be written again.
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error>;

    /// Itself, if it lies in page-locked memory: a GPU copies there without anybody in between.
    fn locked(&self) -> Option<&dyn LockedSink> {
        None
    }

    /// Itself, if it lies on a GPU: what computes there writes it where it is.
    fn resident(&self) -> Option<&dyn ResidentSink> {
        None
    }

    /// Itself, if what was written can be read before it is committed.
    fn written(&self) -> Option<&dyn Written> {
        None
    }

    /// Where it lies: as [`Source::at`].
    fn at(&self) -> At {
        if self.locked().is_some() { At::Pinned } else { At::Pageable }
    }

    /// Makes what was written the result, if all of it was: [`Error::Incomplete`] otherwise. A sink that is dropped instead leaves
    /// what was there before.
    fn commit(self: Box<Self>) -> Result<(), Error>;
}

/// A sink whose tiles can be read before they are committed.
pub trait Written: Sync {
    /// Reads a tile as [`Source::read_tile`] does; what of it was not written yet is unspecified.
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error>;
}

/// Reads typed tiles.
pub trait ReadTyped: Source {
    /// Reads a tile; [`Error::ElementType`] when the elements are of another type.
    fn read<T: Stored>(&self, tile: &Tile, out: &mut [T]) -> Result<(), Error> {
        expect::<T>("read", self.element())?;
        T::fill(out, &mut |bytes| self.read_tile(tile, bytes))
    }
}

impl<S: Source + ?Sized> ReadTyped for S {}

/// Writes typed tiles.
pub trait WriteTyped: Sink {
    /// Writes a tile; [`Error::ElementType`] when the elements are of another type.
    fn write<T: Stored>(&self, tile: &Tile, data: &[T]) -> Result<(), Error> {
        expect::<T>("write", self.element())?;
        self.write_tile(tile, T::bytes(data))
    }
}

impl<S: Sink + ?Sized> WriteTyped for S {}

fn expect<T: Stored>(operation: &'static str, element: Element) -> Result<(), Error> {
    match element == T::ELEMENT {
        true => Ok(()),
        false => Err(Error::ElementType { operation, expected: element.name(), got: T::ELEMENT.name() }),
    }
}
