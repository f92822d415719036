//! Functions of every number.

use super::expr::{Arg, Expr};
use super::literal::Number;
use crate::graph::Binary;
use tilewright_dims::{Merge, Set, Union};

/// Methods of two values of one type, which the graph has functions of the same names for.
macro_rules! pairs {
    ($Bound:ident: $($(#[$meta:meta])* $name:ident;)*) => { $(
        $(#[$meta])*
        pub fn $name<R: Arg<T>>(self, rhs: R) -> Expr<T, Union<S, R::Set>>
        where
            T: $Bound,
            S: Merge<R::Set>,
        {
            self.then(|g, a| {
                let b = rhs.node(g);
                g.$name(a, b)
            })
        }
    )* };
}
pub(super) use pairs;

impl<T, S: Set> Expr<T, S> {
    pairs! { Number:
        /// `|self - rhs|`. Of signed integers the largest one where the difference lies beyond it; of floats the difference is
        /// rounded once.
        abs_diff;
        /// What is left of `self` after as many times `rhs` as [`Expr::div_euclid`] says: never negative. Integers: Rust's
        /// `rem_euclid`, and 0 where `rhs` is 0. Floats: `self % rhs`, exact, and `|rhs|` more where that is negative, rounded.
        rem_euclid;
        /// The quotient for which what is left is not negative. Integers: Rust's `div_euclid`, and 0 where `rhs` is 0; `MIN / -1`
        /// wraps. Floats: the rounded quotient without its fraction, one further from what is left where that is negative.
        div_euclid;
    }

    /// The sign: -1, 0 or 1 of integers; of floats -1 or 1, zeros included, and NaN of NaN, as in Rust.
    pub fn signum(self) -> Self
    where
        T: Number,
    {
        self.then(|g, a| g.signum(a))
    }

    /// Whether the value is negative: of floats -0 is, and NaN is not.
    pub fn sign_bit(self) -> Expr<bool, S>
    where
        T: Number,
    {
        self.then(|g, a| g.sign_bit(a))
    }

    /// `self * self`.
    pub fn square(self) -> Self
    where
        T: Number,
    {
        self.then(|g, a| g.binary(Binary::Mul, a, a))
    }

    /// `(self * self) * self`.
    pub fn cube(self) -> Self
    where
        T: Number,
    {
        self.then(|g, a| {
            let square = g.binary(Binary::Mul, a, a);
            g.binary(Binary::Mul, square, a)
        })
    }

    /// `self` to the power of `n`; integers wrap. The product of `x`, `x^2`, `x^4`, .. that the bits of `n` name, the lowest
    /// first, each square and each product rounded: `x^6` is `x^2 * (x^2 * x^2)`. 1 where `n` is 0.
    pub fn pow(self, n: u32) -> Self
    where
        T: Number,
    {
        self.then(|g, a| g.power(a, n))
    }
}
