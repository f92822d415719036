//! Tests of tensors and calls; those of a GPU are skipped, by name, where there is none.

mod ahead;
mod allocations;
mod broadcasting;
mod calls;
mod conv;
mod eager;
mod empty;
mod errors;
mod explain;
mod faces;
mod frame;
mod gpu;
mod gpu_kernels;
mod large;
mod launches;
mod manifest;
mod npp;
mod opencv;
mod operations;
mod overlap;
mod patterns;
mod reductions;
mod scalar_fn;
mod scans;
mod scatter;
mod sections;
mod single_precision;
mod special;
#[path = "../../driver/tests/stub.rs"]
mod stub;
mod stubbed;
mod support;
mod table;
mod user_kernel;
mod variants;
mod views;
