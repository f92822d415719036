#![doc = include_str!("../README.md")]

mod account;
mod arch;
pub mod argument;
pub mod blas;
mod buffer;
mod bytes;
mod cache;
mod compile;
mod device;
mod digest;
mod ending;
mod error;
mod folder;
mod graph;
mod include;
pub mod kernels;
mod libcuda;
mod libraries;
mod log;
mod module;
mod once;
mod pinned;
mod raw;
pub mod solver;
mod source;
mod stream;
mod temporary;
mod tensor_map;
pub mod toolkit;

pub use account::{Account, accounted};
pub use arch::Arch;
pub use argument::{Argument, Arguments, IntoArgument};
pub use buffer::{DeviceBuffer, bytes_allocated};
pub use bytes::{DeviceBytes, DeviceRoom};
pub use cache::{
    Bundle, BundleEntry, BundleStatistics, CacheEntry, CacheFolder, FolderStatistics, KernelCache, Origin, Packed,
    Pending, Statistics,
};
pub use compile::{Compiled, KernelResources, compile, compile_with_ptx};
pub use device::Device;
pub use error::Error;
pub use graph::Graph;
pub use kernels::Kernels;
pub use libcuda::{driver_version, required_symbols};
pub use module::{Function, LaunchConfig, Module};
pub use pinned::{PinnedBuffer, PinnedBytes, PinnedBytesMut, PinnedRows};
pub use source::{Key, Keys, Source, Target, TargetKind};
pub use stream::{Event, Stream};
pub use tensor_map::TensorMap;
