//! Identities of dimensions, and a total order on them that trait resolution can evaluate.
//!
//! The order compares ids by their base-4 digits, *least* significant first: names such as `Y` and `X` in one module
//! differ in the low bits of FNV-1a and agree in the high ones, so that a comparison mostly ends at the first digit.

/// The 64-bit FNV-1a hash of a text (Fowler, Noll and Vo): the identity of a dimension, from its path.
pub const fn fnv1a(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The base-4 digit of `id` at `place`; place 0 is the least significant.
#[doc(hidden)]
pub const fn digit(id: u64, place: u32) -> u8 {
    ((id >> (2 * place)) & 3) as u8
}

/// One base-4 digit of an id, as a type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Digit<const VALUE: u8>;

/// The left id comes before the right one.
#[doc(hidden)]
#[derive(Debug)]
pub struct Less;

/// Both ids are the same.
#[doc(hidden)]
#[derive(Debug)]
pub struct Equal;

/// The left id comes after the right one.
#[doc(hidden)]
#[derive(Debug)]
pub struct Greater;

/// Compares two type-level ids: [`Less`], [`Equal`] or [`Greater`]. Total on ids of equal length.
#[doc(hidden)]
pub trait Compare<R> {
    /// The outcome.
    type Out;
}

impl Compare<()> for () {
    type Out = Equal;
}

macro_rules! equal_digits {
    ($($digit:literal)*) => { $(
        impl<L: Compare<R>, R> Compare<(Digit<$digit>, R)> for (Digit<$digit>, L) {
            type Out = L::Out;
        }
    )* };
}

macro_rules! unequal_digits {
    ($($small:literal < $large:literal),*) => { $(
        impl<L, R> Compare<(Digit<$large>, R)> for (Digit<$small>, L) {
            type Out = Less;
        }
        impl<L, R> Compare<(Digit<$small>, R)> for (Digit<$large>, L) {
            type Out = Greater;
        }
    )* };
}

equal_digits!(0 1 2 3);
unequal_digits!(0 < 1, 0 < 2, 0 < 3, 1 < 2, 1 < 3, 2 < 3);

/// The 32 base-4 digits of a `u64` constant as nested pairs of [`Digit`], least significant first.
#[doc(hidden)]
#[macro_export]
macro_rules! id_digits {
    ($id:expr) => {
        $crate::id_digits!(@ $id; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $id:expr; $place:literal $($rest:literal)*) => {
        ($crate::Digit<{ $crate::digit($id, $place) }>, $crate::id_digits!(@ $id; $($rest)*))
    };
    (@ $id:expr;) => { () };
}
