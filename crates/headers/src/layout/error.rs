//! What can be wrong with a layout.

use thiserror::Error;

/// What is wrong with a layout, or with coordinates in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A size, a fold or a stride out of its range.
    #[error("axis {axis}: its {what} is {got}, at least {least} is needed")]
    Number {
        /// The axis as it is written.
        axis: String,
        /// Size, fold or stride.
        what: &'static str,
        /// What it is.
        got: i64,
        /// The least that is allowed.
        least: i64,
    },
    /// Two axes count the same dimension in the same unit.
    #[error("two axes are `{axis}`: fold one of them, as in `K/8` and `K%8`")]
    Twice {
        /// Dimension and fold.
        axis: String,
    },
    /// A fold does not begin where the next finer one ends.
    #[error(
        "`{coarse}` counts {dim} in units of {fold}, but `{fine}` ends at {end}: make the finer axis {needed} steps long, \
         or the coarser fold {end}"
    )]
    Unequal {
        /// The dimension.
        dim: String,
        /// The coarser axis.
        coarse: String,
        /// The finer axis.
        fine: String,
        /// The coarser fold.
        fold: i32,
        /// Fold times size of the finer axis.
        end: i64,
        /// The size that would fit; 0 if none does.
        needed: i32,
    },
    /// An axis below another of its dimension does not wrap.
    #[error("`{axis}` is finer than another axis of its dimension: write it with `%`, as in `K%8` or `K/8%4`")]
    Unwrapped {
        /// The axis as it is written.
        axis: String,
    },
    /// More elements than offsets can count.
    #[error("the layout spans more than 2^63 - 1 elements: make a size or a stride smaller")]
    TooLarge,
    /// More elements than a kernel's offsets can count.
    #[error("the layout spans {elements} elements, kernels count {limit} at most: make a size or a stride smaller")]
    TooLargeForKernels {
        /// Elements that it spans.
        elements: i64,
        /// The most that a kernel addresses.
        limit: i64,
    },
    /// A map gives a dimension that has no axis as long as what it gives.
    #[error("the map gives {size} values along `{dim}`, and the layout has no axis `{dim}: {size}` for them")]
    NoAxis {
        /// The dimension.
        dim: String,
        /// How many values.
        size: i32,
    },
    /// A checkerboard whose rows do not divide into two halves.
    #[error("`{map}` has {ranks} ranks: an even number is needed")]
    OddRanks {
        /// The map as it is written.
        map: String,
        /// Its number of ranks.
        ranks: i32,
    },
    /// A slice that does not begin or end where it could.
    #[error(
        "a slice of {dim} from {start}, {steps} steps long: it has to begin at a multiple of {unit} and lie within 0..{extent}"
    )]
    Slice {
        /// The dimension.
        dim: String,
        /// Where it was to begin.
        start: i64,
        /// Steps of the coarsest axis.
        steps: i32,
        /// What it begins at a multiple of; 0 if no axis of the dimension can be cut.
        unit: i32,
        /// The extent.
        extent: i64,
    },
    /// Vectors that do not divide an axis.
    #[error(
        "`{axis}` does not divide into vectors of {elements}: its {what} is {got}; choose a divisor, or pad the stride"
    )]
    Vectors {
        /// The axis as it is written.
        axis: String,
        /// Elements of a vector.
        elements: i32,
        /// Size or stride.
        what: &'static str,
        /// What it is.
        got: i64,
    },
    /// A coordinate outside the layout.
    #[error("{dim}({value}) lies outside 0..{extent}")]
    Outside {
        /// The dimension.
        dim: String,
        /// The coordinate.
        value: i64,
        /// The extent.
        extent: i64,
    },
    /// No coordinate lies along a dimension of the layout.
    #[error("the layout has the dimensions {has}, and none of {got}")]
    NoneShared {
        /// The layout's dimensions.
        has: String,
        /// Those of the coordinates.
        got: String,
    },
    /// Text that is no layout.
    #[error("column {column}: {message}")]
    Syntax {
        /// Where, counted from 1, in characters.
        column: usize,
        /// What was expected, and what is there.
        message: String,
    },
}
