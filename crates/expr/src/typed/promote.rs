//! Operands of different element types: cast to the type in which they meet, as PyTorch does. The casts are part of the kernel.

use super::expr::Expr;
use super::literal::Float;
use super::trace::with;
use crate::dtype::{Element, Scalar, Value};
use crate::graph::{Graph, NodeId};
use half::{bf16, f16};
use std::ops::Div;
use tilewright_dims::{Merge, Set, Union};

/// Element types that meet in a common one: the type-level twin of [`DType::promote`](crate::DType::promote).
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` and `{R}` have no common type",
    label = "`u16`, `u32` and `u64` meet floats and themselves alone",
    note = "say which type is meant: `.to::<i64>()` on both sides"
)]
pub trait Promote<R> {
    /// The common type.
    type Output: Value + Element;
}

/// What a type becomes beside one that has less say: the type-level twin of [`DType::adopt`](crate::DType::adopt).
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` and `{R}` have no common type",
    label = "`u16`, `u32` and `u64` meet floats and themselves alone",
    note = "say which type is meant: `.to::<i64>()` on both sides"
)]
pub trait Adopt<R> {
    /// The type.
    type Output: Value + Element;
}

macro_rules! promote {
    ($($T:ident: $($R:ident $O:ident),*;)*) => { $($(
        impl Promote<$R> for $T { type Output = $O; }
    )*)* };
}
promote! {
    bool: bool bool, u8 u8, i8 i8, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u8: bool u8, u8 u8, i8 i16, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i8: bool i8, u8 i16, i8 i8, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u16: u16 u16, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i16: bool i16, u8 i16, i8 i16, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u32: u32 u32, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i32: bool i32, u8 i32, i8 i32, i16 i32, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u64: u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i64: bool i64, u8 i64, i8 i64, i16 i64, i32 i64, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    f16: bool f16, u8 f16, i8 f16, u16 f16, i16 f16, u32 f16, i32 f16, u64 f16, i64 f16, f16 f16, bf16 f32, f32 f32, f64 f64;
    bf16: bool bf16, u8 bf16, i8 bf16, u16 bf16, i16 bf16, u32 bf16, i32 bf16, u64 bf16, i64 bf16, f16 f32, bf16 bf16, f32 f32, f64 f64;
    f32: bool f32, u8 f32, i8 f32, u16 f32, i16 f32, u32 f32, i32 f32, u64 f32, i64 f32, f16 f32, bf16 f32, f32 f32, f64 f64;
    f64: bool f64, u8 f64, i8 f64, u16 f64, i16 f64, u32 f64, i32 f64, u64 f64, i64 f64, f16 f64, bf16 f64, f32 f64, f64 f64;
}

impl<R> Adopt<R> for bool
where
    bool: Promote<R>,
{
    type Output = <bool as Promote<R>>::Output;
}

/// Types that adopt nothing (`itself`), or floats alone (`floats`).
macro_rules! adopt {
    (itself $T:ident: $($R:ident)*) => { $(impl Adopt<$R> for $T { type Output = $T; })* };
    (floats $T:ident) => {
        adopt!(itself $T: bool u8 i8 u16 i16 u32 i32 u64 i64);
        impl Adopt<f16> for $T { type Output = f16; }
        impl Adopt<bf16> for $T { type Output = bf16; }
        impl Adopt<f32> for $T { type Output = f32; }
        impl Adopt<f64> for $T { type Output = f64; }
    };
    (float $($T:ident)*) => { $(adopt!(itself $T: bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64);)* };
    (integer $($T:ident)*) => { $(adopt!(floats $T);)* };
}
adopt!(integer u8 i8 u16 i16 u32 i32 u64 i64);
adopt!(float f16 bf16 f32 f64);

/// Kinds of operands by their say; see [`Standing`](crate::Standing).
pub mod standing {
    /// A literal.
    #[derive(Clone, Copy, Debug)]
    pub struct Literal;
    /// An expression without dimensions.
    #[derive(Clone, Copy, Debug)]
    pub struct Single;
    /// An expression with dimensions.
    #[derive(Clone, Copy, Debug)]
    pub struct Dimensioned;
}
use standing::{Dimensioned, Literal, Single};

/// The common type of a `T` with the standing `Self` and an `R` with the standing `S`.
pub trait Beside<S, T, R> {
    /// The type.
    type Output: Value + Element;
}
macro_rules! beside {
    ($($A:ident equals $B:ident;)*) => { $(impl<T: Promote<R>, R> Beside<$B, T, R> for $A { type Output = T::Output; })* };
    ($($A:ident above $B:ident;)*) => { $(
        impl<T: Adopt<R>, R> Beside<$B, T, R> for $A { type Output = T::Output; }
        impl<T, R: Adopt<T>> Beside<$A, T, R> for $B { type Output = R::Output; }
    )* };
}
beside! {
    Single equals Single;
    Dimensioned equals Dimensioned;
}
beside! {
    Dimensioned above Single;
    Dimensioned above Literal;
    Single above Literal;
}

/// The standing of an expression over a set of dimensions.
pub trait Stands {
    /// [`standing::Single`] for none, else [`standing::Dimensioned`].
    type Standing;
}
impl Stands for () {
    type Standing = Single;
}
impl<D, S> Stands for (D, S) {
    type Standing = Dimensioned;
}

/// An operand that is promoted: an expression, or a literal, which counts by its category (`bool`, integer as `i64`, float as `f32`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand",
    label = "expected an expression or a number",
    note = "a tensor in an eager expression: `x.promote(y.expr())`"
)]
pub trait Promoted {
    /// Its element type; of a literal what it stands for.
    type Elem;
    /// Its dimensions.
    type Set: Set;
    /// Its standing.
    type Standing;
    /// Its node in the trace.
    fn promoted(self, graph: &mut Graph) -> NodeId;
}

impl<T, S: Set + Stands> Promoted for Expr<T, S> {
    type Elem = T;
    type Set = S;
    type Standing = S::Standing;
    fn promoted(self, graph: &mut Graph) -> NodeId {
        if graph.trace != self.trace {
            return graph.stale();
        }
        self.node
    }
}

macro_rules! literals {
    ($($t:ident as $of:ident),*) => { $(impl Promoted for $t {
        type Elem = $of;
        type Set = ();
        type Standing = Literal;
        fn promoted(self, graph: &mut Graph) -> NodeId {
            graph.constant(Scalar::of(self))
        }
    })* };
}
literals!(bool as bool, u8 as i64, i8 as i64, u16 as i64, i16 as i64, u32 as i64, i32 as i64, u64 as i64, i64 as i64);
literals!(f16 as f32, bf16 as f32, f32 as f32, f64 as f32);

/// The common type of an expression of `T` over `S` and the operand `R`.
pub type Common<T, S, R> =
    <<S as Stands>::Standing as Beside<<R as Promoted>::Standing, T, <R as Promoted>::Elem>>::Output;

/// The type of a true division of the two.
pub type Quotient<T, S, R> = <Common<T, S, R> as AsReal>::Real;

impl<T: Value + Element, S: Set + Stands> Expr<T, S> {
    /// Both operands in their common type, by PyTorch's rules: of two expressions with dimensions the table of
    /// [`DType::promote`](crate::DType::promote); beside one, an expression without dimensions or a literal changes the type only
    /// if its category outweighs the other's (`bool` < integer < float). Integers are cast by their low bits.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { X }
    /// trace(|a: In<u8, (X,)>, b: In<i8, (X,)>, k: In<f64, ()>| {
    ///     let (a, b) = a.promote(b); // both i16
    ///     let (sum, half) = (a + b).promote(0.5); // f32: a float beside integers
    ///     let (sum, k) = (sum * half).promote(k); // still f32: `k` has no dimensions
    ///     (sum + k).store::<(X,)>()
    /// });
    /// ```
    #[allow(clippy::type_complexity, reason = "the common type of both, twice")]
    pub fn promote<R: Promoted>(self, rhs: R) -> (Expr<Common<T, S, R>, S>, Expr<Common<T, S, R>, R::Set>)
    where
        S::Standing: Beside<R::Standing, T, R::Elem>,
    {
        let to = <Common<T, S, R> as Value>::DTYPE;
        let other = Expr::new(
            with(self.trace, |g| {
                let b = rhs.promoted(g);
                g.promoted_cast(b, to)
            }),
            self.trace,
        );
        (self.then(|g, a| g.promoted_cast(a, to)), other)
    }

    /// The values as floats: integers and `bool` become `f32`, floats stay. What PyTorch's float functions make of their argument:
    /// `x.real().exp()`.
    pub fn real(self) -> Expr<T::Real, S>
    where
        T: AsReal,
    {
        self.then(|g, a| g.cast(a, <T as Value>::DTYPE.real()))
    }

    /// The values in the format that scalar functions of floats take: `f32` for `f16`, `bf16`, integers and `bool`; `f32` and `f64` stay.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, extend::scalar_fn, f16, trace};
    /// # dims! { X }
    /// #[scalar_fn]
    /// fn half<T: tilewright_expr::extend::Float>(x: T) -> T {
    ///     x * 0.5
    /// }
    /// // In f32, stored as f16.
    /// trace(|x: In<f16, (X,)>| half::of(x.wide()).to::<f16>().store::<(X,)>());
    /// ```
    pub fn wide(self) -> Expr<T::Wide, S>
    where
        T: AsReal,
    {
        self.then(|g, a| g.cast(a, <T::Wide as Value>::DTYPE))
    }

    /// `self / rhs` of the promoted operands as floats, whatever they are: of two integers an `f32`.
    pub fn true_div<R: Promoted>(self, rhs: R) -> Expr<Quotient<T, S, R>, Union<S, R::Set>>
    where
        S::Standing: Beside<R::Standing, T, R::Elem>,
        Common<T, S, R>: AsReal,
        R::Set: Stands,
        S: Merge<R::Set>,
    {
        let (a, b) = self.promote(rhs);
        a.real().div(b.real())
    }
}

/// The type of a float function of such elements; see [`DType::real`](crate::DType::real).
pub trait AsReal: Value + Element {
    /// `f32` for integers and `bool`, else the type itself.
    type Real: Float;
    /// `f64` for itself, else `f32`.
    type Wide: Float;
}
macro_rules! reals {
    ($($t:ident $real:ident $wide:ident),*) => { $(impl AsReal for $t { type Real = $real; type Wide = $wide; })* };
}
reals!(bool f32 f32, u8 f32 f32, i8 f32 f32, u16 f32 f32, i16 f32 f32, u32 f32 f32, i32 f32 f32, u64 f32 f32, i64 f32 f32);
reals!(f16 f16 f32, bf16 bf16 f32, f32 f32 f32, f64 f64 f64);
