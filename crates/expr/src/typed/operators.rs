//! Arithmetic, comparison, selection, casts.

use super::expr::{Arg, Expr, IntoExpr, Union3};
use super::literal::{Float, Number};
use super::marks::{Condition, SameElement};
use super::trace::with;
use crate::dtype::{Element, Scalar, Value};
use crate::graph::{Binary, Unary};
use half::{bf16, f16};
use tilewright_dims::{Merge, Set, Union};

macro_rules! arithmetic {
    ($($Trait:ident $method:ident;)*) => { $(
        impl<T, S: Set, R: IntoExpr> std::ops::$Trait<R> for Expr<T, S>
        where
            R::Elem: SameElement<T> + Number,
            S: Merge<R::Set>,
        {
            type Output = Expr<T, Union<S, R::Set>>;
            fn $method(self, rhs: R) -> Self::Output {
                let rhs = rhs.into_expr();
                self.then(|g, a| {
                    let b = rhs.node(g);
                    g.binary(Binary::$Trait, a, b)
                })
            }
        }
        arithmetic!(@literal $Trait $method; u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64);
    )* };
    (@literal $Trait:ident $method:ident; $($t:ty)*) => { $(
        impl<S: Set> std::ops::$Trait<$t> for Expr<$t, S> {
            type Output = Self;
            fn $method(self, rhs: $t) -> Self {
                self.then(|g, a| {
                    let b = g.constant(Scalar::of(rhs));
                    g.binary(Binary::$Trait, a, b)
                })
            }
        }
        impl<S: Set> std::ops::$Trait<Expr<$t, S>> for $t {
            type Output = Expr<$t, S>;
            fn $method(self, rhs: Expr<$t, S>) -> Expr<$t, S> {
                rhs.then(|g, b| {
                    let a = g.constant(Scalar::of(self));
                    g.binary(Binary::$Trait, a, b)
                })
            }
        }
    )* };
}
arithmetic! { Add add; Sub sub; Mul mul; Div div; }

impl<T: Number, S: Set> std::ops::Neg for Expr<T, S> {
    type Output = Self;
    fn neg(self) -> Self {
        self.then(|g, a| g.unary(Unary::Neg, a))
    }
}

impl<S: Set> std::ops::Not for Expr<bool, S> {
    type Output = Self;
    fn not(self) -> Self {
        self.then(|g, a| g.unary(Unary::Not, a))
    }
}

macro_rules! logic {
    ($($Trait:ident $method:ident $op:ident;)*) => { $(
        impl<S: Set + Merge<R>, R: Set> std::ops::$Trait<Expr<bool, R>> for Expr<bool, S> {
            type Output = Expr<bool, Union<S, R>>;
            fn $method(self, rhs: Expr<bool, R>) -> Self::Output {
                self.then(|g, a| {
                    let b = rhs.node(g);
                    g.binary(Binary::$op, a, b)
                })
            }
        }
    )* };
}
logic! { BitAnd bitand And; BitOr bitor Or; BitXor bitxor Xor; }

macro_rules! binary_methods {
    ($($(#[$meta:meta])* $name:ident: $op:ident -> $out:ty;)*) => { $(
        $(#[$meta])*
        #[allow(clippy::should_implement_trait, reason = "comparisons of expressions are expressions")]
        pub fn $name<R: Arg<T>>(self, rhs: R) -> Expr<$out, Union<S, R::Set>>
        where
            T: Number,
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
        /// The smaller value; NaN if either is, and `-0 < +0`.
        min: Min -> T;
        /// The larger value; NaN if either is, and `-0 < +0`.
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
        T: Number,
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

    /// `e` to the power of `self`, within 1 unit in the last place; the same bits on host and device.
    pub fn exp(self) -> Self
    where
        T: Float,
    {
        self.then(|g, a| g.exp(a))
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

impl<C, S: Set> Expr<C, S> {
    /// `yes` where this holds, else `no`.
    pub fn select<T: Value, A: IntoExpr<Elem = T>, B: Arg<T>>(self, yes: A, no: B) -> Expr<T, Union3<S, A::Set, B::Set>>
    where
        C: Condition,
        S: Merge<A::Set>,
        Union<S, A::Set>: Merge<B::Set>,
    {
        let yes = yes.into_expr();
        self.then(|g, c| {
            let (a, b) = (yes.node(g), no.node(g));
            g.select(c, a, b)
        })
    }
}

impl<T: Value + Element, S: Set> Expr<T, S> {
    /// Converts to `U`, saturating: floats to integers round half to even, everything clamps to the range, NaN gives 0; to
    /// `bool`, `!= 0`.
    pub fn to<U: Value>(self) -> Expr<U, S> {
        Expr::new(with(self.trace, |g| g.cast(self.node, U::DTYPE)), self.trace)
    }
}
