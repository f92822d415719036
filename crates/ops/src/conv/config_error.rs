//! Why a configuration does not fit a problem.

use thiserror::Error;

/// Why a configuration does not fit a problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A number outside its range, or one that does not divide what it has to.
    #[error("conv2d configuration: `{field}` is {got}, {rule}")]
    Field {
        /// Which number.
        field: &'static str,
        /// What it is.
        got: usize,
        /// What it may be.
        rule: String,
    },
    /// What the depthwise kernel is not made for.
    #[error("conv2d configuration: `Config::depthwise` {0}; the row kernel serves there, `Config::rows`")]
    Depthwise(String),
    /// What the copy engine cannot read so.
    #[error("conv2d configuration: {0}")]
    Map(tilewright_headers::tensor_map::TensorMapError),
    /// More of something than a block can have.
    #[error("conv2d configuration: a block needs {got} {what}, at most {limit} are there; choose fewer {remedy}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How many.
        got: usize,
        /// The most.
        limit: usize,
        /// What to choose fewer of.
        remedy: &'static str,
    },
}

pub(crate) fn field(
    field: &'static str,
    got: usize,
    fits: bool,
    rule: impl FnOnce() -> String,
) -> Result<(), ConfigError> {
    if fits { Ok(()) } else { Err(ConfigError::Field { field, got, rule: rule() }) }
}

pub(crate) fn at_most(what: &'static str, got: usize, limit: usize, remedy: &'static str) -> Result<(), ConfigError> {
    if got <= limit { Ok(()) } else { Err(ConfigError::TooMuch { what, got, limit, remedy }) }
}

impl From<tilewright_headers::tensor_map::TensorMapError> for ConfigError {
    fn from(cause: tilewright_headers::tensor_map::TensorMapError) -> ConfigError {
        ConfigError::Map(cause)
    }
}
