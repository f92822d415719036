//! Sharded arrays of Zarr version 3: a folder with a text that describes the array and one file for each shard.
//!
//! A shard holds many chunks, each with a checksum (crc32c), and an index of them with one of its own: a flipped bit or a missing end
//! is noticed when the chunk is read, and the error names it. Tiles are written in any order and by several threads at once: parts of shards are
//! gathered in host memory until these are whole. Any tile can be read, and no more than the chunks that it touches is.
//!
//! Files are read and written by our own calls, since the library's store takes the lengths in an index as they stand, flushes
//! nothing, and writes in place.

mod folder;
mod gathered;
mod indices;
mod inner;
mod metadata;
mod sink;
mod source;
mod storage;

#[cfg(test)]
mod faults;

pub use metadata::Shards;
pub use sink::ZarrSink;
pub use source::ZarrSource;
