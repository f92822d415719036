//! [`Config`]: how a kernel on a GPU goes about a convolution.

use super::row_plan::RowConfig;

/// The configuration of a convolution's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config(pub(crate) Option<RowConfig>);

impl Config {
    /// The one that is chosen for the sizes and the device.
    pub fn auto() -> Config {
        Config(None)
    }

    /// This one, for the forward pass and the input's gradient. What does not fit a problem is an error of the call.
    pub fn rows(config: RowConfig) -> Config {
        Config(Some(config))
    }
}
