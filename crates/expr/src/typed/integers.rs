//! Functions of integers.

use super::expr::{Arg, Expr};
use super::literal::Integer;
use super::numbers::pairs;
use crate::dtype::DType;
use crate::graph::Unary;
use tilewright_dims::{Merge, Set, Union};

impl<T, S: Set> Expr<T, S> {
    pairs! { Integer:
        /// `self + rhs`, or the end of the range that it lies beyond.
        saturating_add;
        /// `self - rhs`, or the end of the range that it lies beyond.
        saturating_sub;
        /// `self * rhs`, or the end of the range that it lies beyond. Of 64-bit integers a division is needed.
        saturating_mul;
    }

    /// How many bits are 1.
    pub fn count_ones(self) -> Expr<u32, S>
    where
        T: Integer,
    {
        self.then(|g, a| {
            let count = g.unary(Unary::CountOnes, a);
            g.cast(count, DType::U32)
        })
    }

    /// How many bits stand above the highest 1; all of them, of 0.
    pub fn leading_zeros(self) -> Expr<u32, S>
    where
        T: Integer,
    {
        self.then(|g, a| {
            let count = g.unary(Unary::LeadingZeros, a);
            g.cast(count, DType::U32)
        })
    }

    /// How many bits stand below the lowest 1; all of them, of 0.
    pub fn trailing_zeros(self) -> Expr<u32, S>
    where
        T: Integer,
    {
        self.then(|g, a| {
            let count = g.trailing_zeros(a);
            g.cast(count, DType::U32)
        })
    }
}
