//! Where arrays lie that are read and written tile by tile: memory, NPY files, and sharded Zarr (feature `zarr`).
//!
//! A [`Source`] gives any tile of a matrix, a [`Sink`] takes tiles in any order and from several threads. What a sink writes to disk
//! appears under its name when it is committed, whole and flushed, or never: a process that is killed, a full disk or a failing call
//! leaves what was there before. Sources never change what they read.

mod coverage;
mod element;
mod files;
mod memory;
mod npy;
mod pinned;
mod resident;
mod scratch;
mod source;
mod staged;
mod temporary;
mod tile;
mod transposition;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(test)]
mod faults;

pub use element::{Element, Stored};
pub use memory::{MemorySink, MemorySource};
pub use npy::{NpySink, NpySource, Order};
pub use pinned::{Locked, LockedSink, PinnedSink, PinnedSource, QueueCopy};
pub use resident::{DeviceSink, DeviceSource, ResidentSink};
pub use scratch::{FileScratch, MemoryScratch, Scratch};
pub use source::{ReadTyped, Sink, Source, WriteTyped, Written};
pub use staged::{read_staged, write_staged};
pub(crate) use temporary::replace;
pub use tile::{Extents, Tile};
#[cfg(feature = "zarr")]
pub use zarr::{Shards, ZarrSink, ZarrSource};
