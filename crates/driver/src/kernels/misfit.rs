//! Why memory does not fit a parameter of a kernel in Rust.

/// Why memory does not fit a parameter of a kernel in Rust.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Another number of elements than the sizes make.
    #[error("over [{over}] it has {expected} elements, got {got}; give memory of that length, or other sizes")]
    Length {
        /// Its dimensions with their sizes.
        over: String,
        /// The product of the sizes.
        expected: u128,
        /// Elements given.
        got: usize,
    },
    /// Memory of another GPU.
    #[error("it is on GPU {got}, the kernel on GPU {expected}; allocate it on a stream of that one")]
    Place {
        /// Where the kernel is.
        expected: usize,
        /// Where the memory is.
        got: usize,
    },
    /// Rows so long that places in a tile do not fit 32 bits.
    #[error(
        "over [{over}] a tile of {rows} rows spans {got} elements, the limit is {limit}; split the rows, which have at most {} elements",
        limit / rows
    )]
    Span {
        /// Its dimensions with their sizes.
        over: String,
        /// Rows that a block sees.
        rows: i64,
        /// Elements from the tile's first to its last.
        got: i64,
        /// The most.
        limit: i64,
    },
}
