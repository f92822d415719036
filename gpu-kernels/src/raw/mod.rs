//! All unsafe code: memory of a device, shared memory and instructions of a GPU, and their stand-ins on the CPU.

#[cfg(all(feature = "by-hand", target_arch = "nvptx64"))]
mod by_hand;
#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(target_arch = "nvptx64")]
mod entries;
pub mod matrix;
pub mod memory;
#[cfg(all(feature = "simulator", not(target_arch = "nvptx64")))]
pub mod simulator;
pub mod word;
