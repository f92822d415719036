//! The bodies of the kernels: functions of a [`Block`](crate::Block), a file a kernel.

pub mod fill;
pub mod map;
pub mod product;
pub mod product_bf16;
pub mod saxpy;
pub mod sum;
pub mod transpose;
