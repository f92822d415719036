//! Bits.

use super::Constants;
use tilewright_dims::{Merge, Set, Union};
use tilewright_expr::{Expr, Integer, World};

macro_rules! logical {
    ($($nppi:literal, $says:literal: $images:ident $constants:ident $op:tt;)*) => { $(
        #[doc = concat!("`", $nppi, "_8u_C1R` and the like: ", $says, ".")]
        pub fn $images<T: Integer, A: Merge<B>, B: Set>(src1: Expr<T, A>, src2: Expr<T, B>) -> Expr<T, Union<A, B>> {
            src1 $op src2
        }

        #[doc = concat!("`", $nppi, "C_8u_C1R` and the like: ", $says, ".")]
        pub fn $constants<T: Integer, S: Merge<K::Set>, K: Constants<T>>(src: Expr<T, S>, constants: K) -> Expr<T, Union<S, K::Set>> {
            src $op constants.expression()
        }
    )* };
}
logical! {
    "nppiAnd", "the bits that both have": and and_c &;
    "nppiOr", "the bits that either has": or or_c |;
    "nppiXor", "the bits that one has": xor xor_c ^;
}

/// `nppiNot_8u_C1R` and the like: all bits turned over.
pub fn not<T: Integer, S: Set>(src: Expr<T, S>) -> Expr<T, S> {
    !src
}

macro_rules! shifts {
    ($($nppi:literal, $says:literal: $name:ident $op:tt;)*) => { $(
        #[doc = concat!("`", $nppi, "_8u_C1R` and the like, of at most 32 bits: ", $says)]
        pub fn $name<T: Integer, S: Merge<K::Set>, K: Constants<u32>>(src: Expr<T, S>, counts: K) -> Expr<T, Union<S, K::Set>>
        where
            K::Set: World,
        {
            let counts = counts.expression().min(63u32).to::<i64>();
            (src.to::<i64>() $op counts).wrapping_to::<T>()
        }
    )* };
}
shifts! {
    "nppiLShiftC", "shifted to the left; what goes beyond is lost, by as many bits as there are, or more, everything.": l_shift_c <<;
    "nppiRShiftC", "shifted to the right; of signed numbers the sign stays, by as many bits as there are, or more, nothing else.": r_shift_c >>;
}
