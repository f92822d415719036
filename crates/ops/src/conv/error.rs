//! What a convolution refuses.

use super::problem::GROUP_WIDTHS;
use crate::error::Error;

/// The names of a convolution's dimensions, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    pub(crate) n: &'static str,
    pub(crate) h: &'static str,
    pub(crate) w: &'static str,
    pub(crate) c: &'static str,
    pub(crate) k: &'static str,
    pub(crate) r: &'static str,
    pub(crate) s: &'static str,
}

impl Names {
    /// Those of the documentation, where nobody gave others.
    pub(crate) const ROLES: Names = Names { n: "N", h: "H", w: "W", c: "C", k: "K", r: "R", s: "S" };
}

/// What was made in the workspace of a call. Where memory was short for it, the error says so.
pub(super) fn of_workspace<T>(call: &'static str, made: Result<T, Error>) -> Result<T, Error> {
    made.map_err(|error| match error {
        Error::Driver(tilewright_driver::Error::OutOfMemory { requested, free, total }) => {
            ConvError::Workspace { call, requested, free, total }.into()
        }
        other => other,
    })
}

/// Why a convolution cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvError {
    /// Groups of a width that there are no kernels for.
    #[error(
        "the weights are {got} long along `{dim}`, which is the width of a group; groups of {GROUP_WIDTHS:?} channels are computed (1 is \
         depthwise). Fill groups up with zeros to the next of these"
    )]
    GroupWidth {
        /// The dimension of the channels of a group.
        dim: &'static str,
        /// Their number.
        got: usize,
    },
    /// The input has other channels than the weights.
    #[error(
        "the input is {got} long along `{}`, the weights are {expected} long along `{}`; a group has as many channels in the result as \
         in the input, so both have to be the same", .dims[0], .dims[1]
    )]
    Channels {
        /// The dimensions of the input's and of the result's channels.
        dims: [&'static str; 2],
        /// Channels of the input.
        got: usize,
        /// Channels of the result.
        expected: usize,
    },
    /// Channels that are no whole number of groups.
    #[error(
        "{channels} channels along `{dim}` are no whole number of groups of {group_width}; give weights that are narrower along `{dim}`, \
         or more channels: {}", .channels.max(&1).checked_next_multiple_of(*.group_width).unwrap_or(*.group_width)
    )]
    Groups {
        /// The dimension of the input's channels.
        dim: &'static str,
        /// Their number.
        channels: usize,
        /// Channels of a group.
        group_width: usize,
    },
    /// A kernel of a size that is not computed.
    #[error(
        "a kernel is {got} long along `{dim}`; 1 to 7 taps are computed. Larger kernels are several smaller ones, added"
    )]
    Kernel {
        /// The dimension of the taps.
        dim: &'static str,
        /// Their number.
        got: usize,
    },
    /// More padding than is computed.
    #[error("{got} rows or columns of padding along `{dim}`; up to 7 are computed. Pad the input before")]
    Padding {
        /// The dimension.
        dim: &'static str,
        /// Rows or columns on one side.
        got: usize,
    },
    /// A stride or a dilation that is not computed.
    #[error(
        "a {what} of {got} along `{dim}`; 1 and 2 are computed. A stride of 4 is one of 2 of which every second place is kept"
    )]
    Step {
        /// Stride or dilation.
        what: &'static str,
        /// The dimension.
        dim: &'static str,
        /// The step.
        got: usize,
    },
    /// No place of the input, or none where the kernel fits.
    #[error(
        "the input is {extent} long along `{dim}`, with padding {}; the kernel reaches over {reach}: no place of a result is left. At \
         least 1 element and {} of padding are needed", .padding[0] + .padding[1] + .extent, .reach.saturating_sub((*.extent).max(1))
    )]
    Empty {
        /// The dimension.
        dim: &'static str,
        /// The input's size.
        extent: usize,
        /// Padding before and behind.
        padding: [usize; 2],
        /// From the kernel's first tap to its last.
        reach: usize,
    },
    /// A tensor of other sizes than the rest says.
    #[error("{what} is {got} long along `{dim}`, expected {expected}; kernel, padding, stride and dilation make it so")]
    Extent {
        /// Which tensor.
        what: &'static str,
        /// The dimension.
        dim: &'static str,
        /// Its size.
        got: usize,
        /// What fits.
        expected: usize,
    },
    /// More elements than 32-bit offsets reach.
    #[error("{what} has {got} elements, the limit is {limit}; cut it along rows, or along groups of channels")]
    Span {
        /// What is too large.
        what: String,
        /// Its elements.
        got: u128,
        /// The limit.
        limit: usize,
    },
    /// Too little memory of the device for what a call needs besides its operands and its result.
    #[error(
        "{call}: no device memory for {requested} bytes of workspace, {free} of {total} are free; `{call}_workspace` says how many bytes a \
         call takes. Free tensors, give operands that lie dense, or cut the images into parts"
    )]
    Workspace {
        /// The function.
        call: &'static str,
        /// Bytes that were asked for.
        requested: usize,
        /// Bytes that were free.
        free: usize,
        /// Bytes of the device.
        total: usize,
    },
    /// A configuration of another pass's kernel.
    #[error(
        "`{call}` takes `{expected}`, got `{got}`; give each function the parameters with its own, or `Config::auto()`"
    )]
    ConfigKind {
        /// The function.
        call: &'static str,
        /// What was given.
        got: &'static str,
        /// What fits.
        expected: &'static str,
    },
    /// A configuration that does not fit.
    #[error(transparent)]
    Config(#[from] super::config_error::ConfigError),
}
