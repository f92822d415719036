#![doc = include_str!("../README.md")]

mod device;
mod eager;
mod error;
mod feed;
mod fused;
mod kernel;
mod raw;
mod signature;
mod tensor;

pub use device::{Device, Gpu};
pub use eager::Evaluate;
pub use error::Error;
pub use feed::{Feeds, Operand, Results, Target, Targets};
pub use fused::{Fused, fuse};
pub use kernel::Built;
pub use tensor::{Item, Tensor};
