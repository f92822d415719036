//! [`Config`]: how a kernel on a GPU goes about a convolution.

use super::depthwise::DepthwiseConfig;
use super::depthwise::plan::DepthwisePlan;
use super::ends::{Ends, Reading};
use super::error::ConvError;
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Problem};
use super::row_plan::{RowConfig, RowPlan};
use super::weight_plan::{WeightConfig, WeightPlan};
use tilewright_expr::collective::Sharing;

/// What configurations are held against where no GPU computes: an H200's.
const ELSEWHERE: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };

/// What configurations of each kernel are made by, for messages.
const ROWS: &str = "Config::rows";
const DEPTHWISE: &str = "Config::depthwise";
const WEIGHTS: &str = "Config::weights";
pub(super) const SUMS: &str = "Config::sums";

/// The configuration of a convolution's kernels.
///
/// One that does not fit is an error of the call, with the number that is wrong, and so is one of another pass's kernel: nothing is chosen in
/// its place. That holds where no kernel runs too: without images, and on the CPU, where it has to fit an H200.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    pub(super) asked: Asked,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    Auto,
    /// The first few of the choice are timed.
    Refined,
    Rows(RowConfig),
    Depthwise(DepthwiseConfig),
    Weights(WeightConfig),
    Sums(Sharing),
}

impl Config {
    /// The one that is chosen for the sizes and the device.
    pub fn auto() -> Config {
        Config { asked: Asked::Auto }
    }

    /// The fastest of three that are expected to be, of unlike tilings, timed once.
    ///
    /// The first call of its device, sizes, pass, element types and bias compiles three kernels at once and times them for some
    /// fifty milliseconds, or as long as 150 calls take, where these are longer: calls that follow one another and find nothing in the level-2 cache. The process remembers the fastest. It works on a stream of its own and in
    /// memory of its own, as much as operands and result have and four times that cache, which is given back at once: never on the stream or the data of the call. Expressions
    /// ([`conv2d_with`](super::conv2d_with), [`read`](super::read)) are left out of what is timed: images are then copied by as many threads. Where there is too little memory, the first choice is taken, as
    /// [`Config::auto`] does, and a warning goes to whoever listens through `tracing`; that too is remembered. What else fails is an error of
    /// the call, and nothing is remembered. Of the bias's gradient it is the plan's own configuration and the two nearest to it, for each
    /// layout; an expression takes what is found where that fits it.
    ///
    /// ```
    /// use tilewright_ops::conv::{Config, Conv2d};
    /// let params = Conv2d::new().padding(1).config(Config::refined());
    /// # let _ = params;
    /// ```
    pub fn refined() -> Config {
        Config { asked: Asked::Refined }
    }

    /// This one, for the forward pass and the input's gradient. What does not fit a problem is an error of the call,
    /// and so is the call of another pass.
    pub fn rows(config: RowConfig) -> Config {
        Config { asked: Asked::Rows(config) }
    }

    /// This one of the kernel in which lanes multiply, for the forward pass and the input's gradient of depthwise convolutions. What does not fit a problem is an error of the call, and so are the call of another pass and one with an expression before or behind it in the kernel.
    pub fn depthwise(config: DepthwiseConfig) -> Config {
        Config { asked: Asked::Depthwise(config) }
    }

    /// This one, for the weights' gradient. What does not fit a problem is an error of the call,
    /// and so is the call of another pass.
    pub fn weights(config: WeightConfig) -> Config {
        Config { asked: Asked::Weights(config) }
    }

    /// This one, for the bias's gradient, whose kernel is that of any sum over images, rows and columns. What does not fit the sizes is an
    /// error of the call, and so is the call of another pass. Which are legal, [`Plan::shares`](crate::Plan::shares) says of a fused sum over the
    /// same tensor.
    pub fn sums(config: Sharing) -> Config {
        Config { asked: Asked::Sums(config) }
    }

    /// Refuses a configuration of another pass's kernel.
    pub(super) fn check_kind(&self, pass: Pass) -> Result<(), ConvError> {
        let expected: &[_] = if pass == Pass::GradWeight { &[WEIGHTS] } else { &[ROWS, DEPTHWISE] };
        self.check_named(pass.name(), expected)
    }

    /// Refuses a configuration of another kernel than those of the names that they are made by, [`ROWS`], [`DEPTHWISE`], [`WEIGHTS`] or [`SUMS`];
    /// the error has the first.
    pub(super) fn check_named(&self, call: &'static str, expected: &[&'static str]) -> Result<(), ConvError> {
        let got = match self.asked {
            Asked::Auto | Asked::Refined => return Ok(()),
            Asked::Rows(_) => ROWS,
            Asked::Depthwise(_) => DEPTHWISE,
            Asked::Weights(_) => WEIGHTS,
            Asked::Sums(_) => SUMS,
        };
        if expected.contains(&got) { Ok(()) } else { Err(ConvError::ConfigKind { call, got, expected: expected[0] }) }
    }

    /// Refuses what does not fit a problem on such a multiprocessor, or on one of [`ELSEWHERE`], between these ends.
    pub(super) fn check(
        &self,
        (pass, problem): (Pass, &Problem),
        sm: Option<Multiprocessor>,
        ends: Ends,
    ) -> Result<(), ConvError> {
        let sm = sm.unwrap_or(ELSEWHERE);
        // A block of no image has one as good as.
        let problem = Problem { images: problem.images.max(1), ..*problem };
        match self.asked {
            Asked::Rows(config) => RowPlan::between(problem, pass, config, sm, ends).map(drop)?,
            Asked::Depthwise(config) => DepthwisePlan::between(problem, pass, config, sm, ends).map(drop)?,
            Asked::Weights(config) => WeightPlan::new(problem, config, sm, [Reading::Stored; 2]).map(drop)?,
            Asked::Auto | Asked::Refined | Asked::Sums(_) => {}
        }
        Ok(())
    }
}
