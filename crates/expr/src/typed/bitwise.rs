//! `&`, `|`, `^`, `!`, `<<`, `>>`.

use super::expr::{Arg, Expr, IntoExpr};
use super::literal::{Bitwise, Integer};
use super::marks::SameElement;
use super::operators::operators;
use crate::dtype::Scalar;
use crate::graph::{Binary, Unary};
use tilewright_dims::{Merge, Set, Union};

/// The complement: every bit of an integer, "not" of `bool`.
impl<T: Bitwise, S: Set> std::ops::Not for Expr<T, S> {
    type Output = Self;
    fn not(self) -> Self {
        self.then(|g, a| g.unary(Unary::Not, a))
    }
}

// A shift goes by as many bits as the low bits of the right side say: `x << 8` of a `u8` is `x`. Of signed integers `>>` keeps
// the sign.
operators! {
    BitAnd bitand: And of Bitwise, [bool u8 i8 u16 i16 u32 i32 u64 i64];
    BitOr bitor: Or of Bitwise, [bool u8 i8 u16 i16 u32 i32 u64 i64];
    BitXor bitxor: Xor of Bitwise, [bool u8 i8 u16 i16 u32 i32 u64 i64];
    Shl shl: Shl of Integer, [u8 i8 u16 i16 u32 i32 u64 i64];
    Shr shr: Shr of Integer, [u8 i8 u16 i16 u32 i32 u64 i64];
}
