//! Which dimensions of a plane are its rows, its columns, and its channels.

use crate::typed::Per;
use tilewright_dims::{Dim, Dims, Set};

/// The dimensions of one plane: `(Y, X)` (rows, columns), or with one or two dimensions of a batch in front, `(N, Y, X)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the dimensions of a plane",
    label = "expected rows and columns, with up to two dimensions of a batch in front",
    note = "write `(Y, X)`, or `(N, Y, X)` for a batch"
)]
pub trait Picture: Dims {
    /// Its rows.
    type Rows: Dim;
    /// Its columns.
    type Columns: Dim;
    /// The others.
    type Batch: Set;
}

/// The dimensions of a plane whose pixels are several values: those of a plane, and the values' own: `(H, W, U)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the dimensions of an interleaved plane",
    label = "expected rows, columns and channels, with up to two dimensions of a batch in front",
    note = "write `(H, W, U)`, or `(N, H, W, U)` for a batch"
)]
pub trait Interleaved: Dims {
    /// The plane of one channel.
    type Plane: Picture;
    /// The channels.
    type Channel: Dim;
}

macro_rules! pictures {
    ($(($($N:ident)*) $batch:ty;)*) => { $(
        impl<$($N: Dim,)* Y: Dim, X: Dim> Picture for ($($N,)* Y, X)
        where
            Self: Dims,
            $batch: Set,
        {
            type Rows = Y;
            type Columns = X;
            type Batch = $batch;
        }

        impl<$($N: Dim,)* Y: Dim, X: Dim, C: Dim> Interleaved for ($($N,)* Y, X, C)
        where
            Self: Dims,
            ($($N,)* Y, X): Picture,
        {
            type Plane = ($($N,)* Y, X);
            type Channel = C;
        }
    )* };
}
pictures! {
    () ();
    (N) Per<N>;
}

impl<M: Dim, N: Dim, Y: Dim, X: Dim> Picture for (M, N, Y, X)
where
    Self: Dims,
    (M, N): Dims,
{
    type Rows = Y;
    type Columns = X;
    type Batch = <(M, N) as Dims>::Set;
}

impl<M: Dim, N: Dim, Y: Dim, X: Dim, C: Dim> Interleaved for (M, N, Y, X, C)
where
    Self: Dims,
    (M, N, Y, X): Picture,
{
    type Plane = (M, N, Y, X);
    type Channel = C;
}

/// The dimensions of a tuple, as a set.
pub(crate) type SetOf<L> = <L as Dims>::Set;
