//! Sources and sinks.

mod format;
mod interrupted;
mod memory;
mod npy;
mod publication;
mod scratch;
mod staged;
mod truth;
#[cfg(feature = "zarr")]
mod zarr;

pub(crate) use interrupted::{child_full_disk, child_writer};
pub(crate) use publication::child_two_hundred_files;
