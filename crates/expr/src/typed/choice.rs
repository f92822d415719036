//! Selection by a condition.

use super::expr::{Arg, Expr, IntoExpr, Union3, constant};
use super::marks::Condition;
use crate::dtype::Value;
use half::{bf16, f16};
use tilewright_dims::{Merge, Set, Union};

/// What a selection takes where its condition holds: an expression, a reference to a tensor, or a literal, which says the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an expression",
    label = "expected an expression, a reference to a tensor, or a literal",
    note = "write the type of a literal: `1.0f32`, `7u8`"
)]
pub trait Choice {
    /// Its element type.
    type Elem;
    /// Its dimensions.
    type Set: Set;
    /// The expression.
    fn choice(self) -> Expr<Self::Elem, Self::Set>;
}

impl<E: IntoExpr> Choice for E {
    type Elem = E::Elem;
    type Set = E::Set;
    fn choice(self) -> Expr<E::Elem, E::Set> {
        self.into_expr()
    }
}

macro_rules! literals {
    ($($t:ty),*) => { $(impl Choice for $t {
        type Elem = $t;
        type Set = ();
        fn choice(self) -> Expr<$t, ()> {
            constant(self)
        }
    })* };
}
literals!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);

impl<C, S: Set> Expr<C, S> {
    /// `yes` where this holds, else `no`. Either may be a literal.
    pub fn select<T: Value, A: Choice<Elem = T>, B: Arg<T>>(self, yes: A, no: B) -> Expr<T, Union3<S, A::Set, B::Set>>
    where
        C: Condition,
        S: Merge<A::Set>,
        Union<S, A::Set>: Merge<B::Set>,
    {
        let yes = yes.choice();
        self.then(|g, c| {
            let (a, b) = (yes.node(g), no.node(g));
            g.select(c, a, b)
        })
    }
}
