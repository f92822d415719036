//! Sources and sinks.

mod memory;
mod npy;
mod publication;
mod scratch;
mod staged;
mod truth;
#[cfg(feature = "zarr")]
mod zarr;

pub(crate) use publication::{child_full_disk, child_npy_writer, child_two_hundred_files};
