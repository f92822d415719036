//! [`Config`]: how a kernel on a GPU goes about a convolution.

use super::row_plan::RowConfig;
use super::weight_plan::WeightConfig;

/// The configuration of a convolution's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) rows: Option<RowConfig>,
    pub(crate) weights: Option<WeightConfig>,
}

impl Config {
    /// The one that is chosen for the sizes and the device.
    pub fn auto() -> Config {
        Config { rows: None, weights: None }
    }

    /// This one, for the forward pass and the input's gradient. What does not fit a problem is an error of the call.
    pub fn rows(config: RowConfig) -> Config {
        Config { rows: Some(config), weights: None }
    }

    /// This one, for the weights' gradient. What does not fit a problem is an error of the call.
    pub fn weights(config: WeightConfig) -> Config {
        Config { rows: None, weights: Some(config) }
    }
}
