//! Bit matrices against elements that are looked at one by one.

mod gpu;
mod kernels;
mod matrix;
mod placed;
mod products;
mod recorded;
mod relations;
mod stored;
mod streamed;
mod truth;

pub(crate) use recorded::child_on_a_stub;
