//! Linear algebra, on each place that this machine has. Cases are numbered as in the list of acceptance cases (G: products, F: factors).

mod by_plan;
mod cholesky;
mod device;
mod eigen;
mod emulated;
mod integers;
mod layouts;
mod long_sums;
mod lu;
mod matmul;
mod norms;
mod numbers;
mod page_locked;
mod places;
mod precision;
mod qr;
mod reference;
mod refine;
#[cfg(feature = "zarr")]
mod sharded;
mod split;
mod streamed;
mod stubbed;
mod svd;
mod transfers;
mod vectors;
mod views;

pub(crate) use places::GPU_ALONE;
