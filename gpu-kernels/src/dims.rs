//! The dimensions of these kernels.

use tilewright_dims::{dims, folds};

dims! {
    /// Elements of a row; rows of a product and of its left factor.
    I,
    /// Columns of a product; partial sums.
    J,
    /// What a product sums over.
    K,
    /// Samples: rows of a map.
    N,
    /// Channels: columns of a map.
    C,
    /// Rows of a picture.
    Y,
    /// Columns of a picture.
    X,
}

folds! {
    /// Rows of a block of threads that transposes.
    pub Y8 = Y / 8,
    /// Columns of a block of threads that transposes.
    pub X8 = X / 8,
    /// Columns that a row of threads covers.
    pub C32 = C / 32,
    /// Rows that a block of threads covers.
    pub N8 = N / 8,
}
