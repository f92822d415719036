//! Bit matrices against elements that are looked at one by one.

mod gpu;
mod kernels;
mod matrix;
mod products;
mod relations;
mod streamed;
mod truth;
