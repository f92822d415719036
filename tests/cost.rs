//! What typed dimensions cost over arithmetic by hand: instructions, registers, time to compile.

pub mod cubin;
pub mod kernels;
pub mod offsets;
