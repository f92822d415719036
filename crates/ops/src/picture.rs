//! What faces with other libraries' names share: rows, columns and channels.

use tilewright_dims::{Merge, Present, Set, Union, Without, dims};
use tilewright_expr::{Expr, Float, In, World, constant};

dims! {
    /// Rows.
    Y,
    /// Columns.
    X,
    /// Channels.
    C
}

/// Sets of dimensions that have rows and columns, whatever else they have: the bound of functions over any picture.
pub trait Picture: World + Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>> {}
impl<S: World + Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>> Picture for S {}

/// A picture of several channels.
pub type Mat<T> = In<T, (Y, X, C)>;

/// A picture of one channel.
pub type MatC1<T> = In<T, (Y, X)>;

/// `a * b`, rounded before anything is added to it: a multiply-add of -0, which changes no product.
pub(crate) fn product<R: Float, S: Set + Merge<B>, B: Set>(a: Expr<R, S>, b: Expr<R, B>) -> Expr<R, Union<S, B>>
where
    Union<S, B>: Merge<(), Out = Union<S, B>>,
{
    a.mul_add(b, constant(-0.0f32).to::<R>())
}
