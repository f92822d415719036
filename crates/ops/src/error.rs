//! Errors of tensors and calls.

/// What can go wrong with a tensor or a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The expression does not fit its operands.
    #[error(transparent)]
    Expr(#[from] tilewright_expr::Error),
    /// The GPU, its driver or its compiler.
    #[error(transparent)]
    Driver(#[from] tilewright_driver::Error),
    /// A tensor's elements do not fit its extents.
    #[error("a tensor over ({dims}) of extents {extents:?} has {expected} elements, got {got}")]
    Length {
        /// The dimensions.
        dims: String,
        /// Their sizes.
        extents: Vec<usize>,
        /// Product of the sizes.
        expected: usize,
        /// Elements given.
        got: usize,
    },
    /// The number of sizes is not the number of dimensions.
    #[error("a tensor over ({dims}) needs {expected} extents, got {got}")]
    Rank {
        /// The dimensions.
        dims: String,
        /// How many there are.
        expected: usize,
        /// Extents given.
        got: usize,
    },
    /// The sizes multiply to more elements than memory can hold.
    #[error("a tensor of extents {extents:?} has more elements than memory can address; use smaller extents")]
    TooLarge {
        /// The sizes.
        extents: Vec<usize>,
    },
    /// A range outside a dimension.
    #[error("{start}..{end} reaches outside dimension `{dim}`, which is {extent} long")]
    Range {
        /// The dimension.
        dim: &'static str,
        /// First index.
        start: usize,
        /// One past the last.
        end: usize,
        /// The size.
        extent: usize,
    },
    /// Operands or results are on different devices.
    #[error("operand {operand} is on {got}, others are on {expected}; move it: `.to(&device)`")]
    Devices {
        /// The operand's number.
        operand: usize,
        /// Where it is.
        got: String,
        /// Where the others are.
        expected: String,
    },
    /// A host operand is too large to travel with a launch.
    #[error(
        "operand {operand} has {bytes} bytes in host memory; up to {limit} travel with the launch. Move it: `.to(&device)`"
    )]
    HostOperand {
        /// The operand's number.
        operand: usize,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The memory of a result is shared with another tensor.
    #[error(
        "output {output} shares its memory with another tensor (a clone or a view); results need memory of their own"
    )]
    Shared {
        /// The output's number.
        output: usize,
    },
    /// Bytes that are not a value of the element type.
    #[error("device memory holds a byte that is no `{element}` (only 0 and 1 are)")]
    Bits {
        /// The element type.
        element: &'static str,
    },
}
