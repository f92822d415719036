//! `&`, `|`, `^`, `!`, `<<`, `>>`.

use super::expr::{Arg, Expr, IntoExpr};
use super::literal::{Bitwise, Integer};
use super::marks::SameElement;
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

macro_rules! bitwise {
    ($($Trait:ident $method:ident $op:ident $Bound:ident $types:tt;)*) => { $(
        impl<T, S: Set, R: IntoExpr> std::ops::$Trait<R> for Expr<T, S>
        where
            R::Elem: SameElement<T> + $Bound,
            S: Merge<R::Set>,
        {
            type Output = Expr<T, Union<S, R::Set>>;
            fn $method(self, rhs: R) -> Self::Output {
                let rhs = rhs.into_expr();
                self.then(|g, a| {
                    let b = rhs.node(g);
                    g.binary(Binary::$op, a, b)
                })
            }
        }
        bitwise!(@literals $Trait $method $op $types);
    )* };
    (@literals $Trait:ident $method:ident $op:ident [$($t:ty)*]) => { $(
        impl<S: Set> std::ops::$Trait<$t> for Expr<$t, S> {
            type Output = Self;
            fn $method(self, rhs: $t) -> Self {
                self.then(|g, a| {
                    let b = g.constant(Scalar::of(rhs));
                    g.binary(Binary::$op, a, b)
                })
            }
        }
        impl<S: Set> std::ops::$Trait<Expr<$t, S>> for $t {
            type Output = Expr<$t, S>;
            fn $method(self, rhs: Expr<$t, S>) -> Expr<$t, S> {
                rhs.then(|g, b| {
                    let a = g.constant(Scalar::of(self));
                    g.binary(Binary::$op, a, b)
                })
            }
        }
    )* };
}
// A shift goes by as many bits as the low bits of the right side say: `x << 8` of a `u8` is `x`. Of signed integers `>>` keeps
// the sign.
bitwise! {
    BitAnd bitand And Bitwise [bool u8 i8 u16 i16 u32 i32 u64 i64];
    BitOr bitor Or Bitwise [bool u8 i8 u16 i16 u32 i32 u64 i64];
    BitXor bitxor Xor Bitwise [bool u8 i8 u16 i16 u32 i32 u64 i64];
    Shl shl Shl Integer [u8 i8 u16 i16 u32 i32 u64 i64];
    Shr shr Shr Integer [u8 i8 u16 i16 u32 i32 u64 i64];
}
