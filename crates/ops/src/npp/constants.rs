//! What NPP takes as constants.

use super::C;
use tilewright_dims::Set;
use tilewright_expr::colour::per_channel;
use tilewright_expr::{Expr, Number, Per, constant};

/// Constants of `T`: a number for all channels, an array of one for each, or an expression, of one for each picture, say.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no constant of `{T}`",
    label = "expected a `{T}`, an array `[{T}; channels]`, or an expression of `{T}`"
)]
pub trait Constants<T> {
    /// Their dimensions.
    type Set: Set;
    /// They, as an expression.
    fn expression(self) -> Expr<T, Self::Set>;
}

impl<T: Number> Constants<T> for T {
    type Set = ();
    fn expression(self) -> Expr<T, ()> {
        constant(self)
    }
}

impl<T: Number, const N: usize> Constants<T> for [T; N] {
    type Set = Per<C>;
    fn expression(self) -> Expr<T, Per<C>> {
        per_channel::<C, T, N>(self)
    }
}

impl<T: Number, S: Set> Constants<T> for Expr<T, S> {
    type Set = S;
    fn expression(self) -> Expr<T, S> {
        self
    }
}
