//! Arithmetic and comparison.

use super::expr::{Arg, Expr, IntoExpr, Union3};
use super::literal::{Float, Number};
use super::marks::SameElement;
use crate::dtype::{Scalar, Value};
use crate::graph::{Binary, Unary};
use half::{bf16, f16};
use tilewright_dims::{Merge, Set, Union};

/// An operator between expressions of one type, and between an expression and a literal of each of some types.
macro_rules! operators {
    ($($Trait:ident $method:ident: $op:ident of $Bound:ident, $types:tt;)*) => { $(
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
        operators!(@literals $Trait $method $op $types);
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
pub(super) use operators;

// `x % y` is exact and has the sign of `x`, as in Rust; for integers `x / 0` and `x % 0` are 0, and `MIN / -1` wraps.
operators! {
    Add add: Add of Number, [u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64];
    Sub sub: Sub of Number, [u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64];
    Mul mul: Mul of Number, [u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64];
    Div div: Div of Number, [u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64];
    Rem rem: Rem of Number, [u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64];
}

impl<T: Number, S: Set> std::ops::Neg for Expr<T, S> {
    type Output = Self;
    fn neg(self) -> Self {
        self.then(|g, a| g.unary(Unary::Neg, a))
    }
}

macro_rules! binary_methods {
    ($($(#[$meta:meta])* $name:ident: $op:ident -> $out:ty;)*) => { $(
        $(#[$meta])*
        #[allow(clippy::should_implement_trait, reason = "comparisons of expressions are expressions")]
        pub fn $name<R: Arg<T>>(self, rhs: R) -> Expr<$out, Union<S, R::Set>>
        where
            T: Value,
            S: Merge<R::Set>,
        {
            self.then(|g, a| {
                let b = rhs.node(g);
                g.binary(Binary::$op, a, b)
            })
        }
    )* };
}

/// Bounds on the element type stand at each method, so that a mistake meets their messages.
impl<T, S: Set> Expr<T, S> {
    binary_methods! {
        /// The smaller value; NaN if either is, and `-0 < +0`. Of `bool`, "and": `false < true`.
        min: Min -> T;
        /// The larger value; NaN if either is, and `-0 < +0`. Of `bool`, "or".
        max: Max -> T;
        /// Whether `self < rhs`.
        lt: Lt -> bool;
        /// Whether `self <= rhs`.
        le: Le -> bool;
        /// Whether `self > rhs`.
        gt: Gt -> bool;
        /// Whether `self >= rhs`.
        ge: Ge -> bool;
        /// Whether `self == rhs`.
        eq: Eq -> bool;
        /// Whether `self != rhs`.
        ne: Ne -> bool;
    }

    /// `self` limited to `low..=high`.
    pub fn clamp<L: Arg<T>, H: Arg<T>>(self, low: L, high: H) -> Expr<T, Union3<S, L::Set, H::Set>>
    where
        T: Value,
        S: Merge<L::Set>,
        Union<S, L::Set>: Merge<H::Set>,
    {
        self.max(low).min(high)
    }

    /// The absolute value; of the smallest integer, itself.
    pub fn abs(self) -> Self
    where
        T: Number,
    {
        self.then(|g, a| g.unary(Unary::Abs, a))
    }
}

impl<T, S: Set> Expr<T, S> {
    /// The square root, rounded correctly.
    pub fn sqrt(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.unary(Unary::Sqrt, a))
    }

    /// The largest integer not above.
    pub fn floor(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.unary(Unary::Floor, a))
    }

    /// The smallest integer not below.
    pub fn ceil(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.unary(Unary::Ceil, a))
    }

    /// The integer part.
    pub fn trunc(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.unary(Unary::Trunc, a))
    }

    /// The nearest integer, halves to even.
    pub fn round(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.unary(Unary::Round, a))
    }

    /// `self * b + c`, rounded once. (`a * b + c` becomes this by itself.)
    pub fn mul_add<B: Arg<T>, C: Arg<T>>(self, b: B, c: C) -> Expr<T, Union3<S, B::Set, C::Set>>
    where
        T: Float,
        S: Merge<B::Set>,
        Union<S, B::Set>: Merge<C::Set>,
    {
        self.then(|g, a| {
            let (b, c) = (b.node(g), c.node(g));
            g.fma(a, b, c)
        })
    }
}
