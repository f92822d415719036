//! From one element type to another.

use super::expr::Expr;
use super::literal::Integer;
use super::trace::with;
use crate::dtype::{Element, Value};
use tilewright_dims::Set;

impl<T: Value + Element, S: Set> Expr<T, S> {
    /// Converts to `U`, saturating: floats to integers round half to even, everything clamps to the range, NaN gives 0; to
    /// `bool`, `!= 0`. Floats to floats are rounded once, half to even, and beyond the range become infinite; integers to `f16`
    /// and `bf16` are rounded to `f32` and then to the type.
    pub fn to<U: Value>(self) -> Expr<U, S> {
        Expr::new(with(self.trace, |g| g.cast(self.node, U::DTYPE)), self.trace)
    }

    /// Converts to the integer `U` toward zero, clamped to its range; NaN gives 0. Rust's `as` of a float.
    pub fn trunc_to<U: Integer>(self) -> Expr<U, S> {
        self.then(|g, a| g.trunc_cast(a, <U as Value>::DTYPE))
    }

    /// Converts to the integer `U` as Rust's `as` does: of integers the low bits stay, so that -1 becomes the largest `u8`;
    /// floats go toward zero and are clamped, NaN gives 0.
    pub fn wrapping_to<U: Integer>(self) -> Expr<U, S> {
        self.then(|g, a| g.wrapping_cast(a, <U as Value>::DTYPE))
    }
}
