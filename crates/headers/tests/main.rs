//! The host model: kernels compiled by the system's C++ compiler, run on the CPU, compared with the truth.

mod barriers;
mod conversion;
mod errors;
mod far;
mod fixture;
mod headers;
mod intrinsics;
mod layout;
mod map;
mod parameters;
mod sanitizers;
mod signature;
mod tensor_map;
mod transpose;
mod warp;
