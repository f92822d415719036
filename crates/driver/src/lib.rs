#![doc = include_str!("../README.md")]

mod arch;
mod buffer;
mod cache;
mod compile;
mod device;
mod error;
mod folder;
mod graph;
mod libcuda;
mod log;
mod module;
mod pinned;
mod raw;
mod source;
mod stream;
pub mod toolkit;

pub use arch::Arch;
pub use buffer::DeviceBuffer;
pub use cache::{Bundle, KernelCache, Origin};
pub use compile::{Compiled, KernelResources, compile};
pub use device::Device;
pub use error::Error;
pub use graph::Graph;
pub use libcuda::{driver_version, required_symbols};
pub use module::{Function, LaunchConfig, Module};
pub use pinned::PinnedBuffer;
pub use source::{Key, Source, TargetKind};
pub use stream::{Event, Stream};
