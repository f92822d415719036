#![doc = include_str!("../README.md")]

mod ahead;
pub mod conv;
mod device;
mod eager;
mod entry;
mod error;
mod feed;
mod frame;
mod fused;
mod interface;
mod kernel;
mod launches;
mod manifest;
pub mod npp;
pub mod opencv;
mod picture;
mod prefetch;
mod raw;
mod signature;
mod tensor;
mod user_kernel;

pub use ahead::Plan;
pub use device::{Device, Gpu};
pub use eager::Evaluate;
pub use error::Error;
pub use feed::{Feeds, Operand, Results, Target, Targets};
pub use frame::{ThreePlanes, TwoPlanes};
pub use fused::{Fused, fuse};
pub use interface::{Interface, Misfit};
pub use kernel::Built;
pub use launches::{Known, LaunchKind, LaunchRecord, record};
pub use manifest::Manifest;
pub use prefetch::Prefetch;
pub use tensor::{AllNamed, Item, Tensor, broadcast_shapes};
pub use tilewright_expr::explain::Explanation;
pub use user_kernel::{Kernel, KernelSource, Sides};
