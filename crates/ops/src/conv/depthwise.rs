//! Depthwise convolutions with small windows, in which lanes multiply with fused multiply-adds: tensor cores would multiply a group of one channel
//! with seven zeros for each weight.

mod candidates;
mod estimate;
pub(super) mod kernel;
pub(super) mod plan;

pub use candidates::depthwise_estimates;
pub(super) use candidates::preferred;
pub use kernel::depthwise_kernel;
pub use plan::DepthwiseConfig;
