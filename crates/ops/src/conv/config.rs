//! [`Config`]: how a kernel on a GPU goes about a convolution.

use super::row_plan::RowConfig;
use super::weight_plan::WeightConfig;

/// The configuration of a convolution's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) rows: Option<RowConfig>,
    pub(crate) weights: Option<WeightConfig>,
    /// Whether the first few of the choice are timed.
    pub(crate) refined: bool,
}

impl Config {
    /// The one that is chosen for the sizes and the device.
    pub fn auto() -> Config {
        Config { rows: None, weights: None, refined: false }
    }

    /// The fastest of the three that are expected to be, timed once.
    ///
    /// The first call of its device, sizes, pass, element types and bias compiles three kernels at once and times them for some
    /// milliseconds; the process remembers the fastest. It works on a stream of its own and in memory of its own, as much as operands and
    /// result have and twice the level-2 cache, which is given back at once: never on the stream or the data of the call. Expressions
    /// ([`conv2d_with`](super::conv2d_with), [`read`](super::read)) are left out of what is timed: images are then copied by as many threads. Where there is too little memory, the first choice is taken, as
    /// [`Config::auto`] does, and a warning goes to whoever listens through `tracing`; that too is remembered.
    ///
    /// ```
    /// use tilewright_ops::conv::{Config, Conv2d};
    /// let params = Conv2d::new().padding(1).config(Config::refined());
    /// # let _ = params;
    /// ```
    pub fn refined() -> Config {
        Config { refined: true, ..Config::auto() }
    }

    /// This one, for the forward pass and the input's gradient. What does not fit a problem is an error of the call.
    pub fn rows(config: RowConfig) -> Config {
        Config { rows: Some(config), ..Config::auto() }
    }

    /// This one, for the weights' gradient. What does not fit a problem is an error of the call.
    pub fn weights(config: WeightConfig) -> Config {
        Config { weights: Some(config), ..Config::auto() }
    }
}
