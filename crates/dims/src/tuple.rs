//! Tuples of dimensions, as layouts are written: `(N, C, Y, X)`, outermost first.

use crate::difference::{Absent, Found, NoDim, Without};
use crate::dim::Dim;
use crate::set::{Merge, Set, Union};

/// A tuple of zero to eight different dimensions, outermost first. A single one is written `(N,)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of dimensions",
    label = "expected a tuple of dimensions, outermost first",
    note = "write `(N, Y, X)`; a single dimension is `(N,)`, none is `()`, eight are the most"
)]
pub trait Dims: Copy + 'static {
    /// Its dimensions as a set, whatever their order in the tuple.
    type Set: Set;
    /// How many there are.
    const RANK: usize;
    /// Their names, outermost first.
    const NAMES: &'static [&'static str];
    /// Their ids, outermost first.
    const IDS: &'static [u64];
}

/// One dimension, or a tuple of several: what an operation goes over, as in `.sum::<K>()` and `.sum::<(Y, X)>()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no dimensions",
    label = "expected a dimension, or a tuple of dimensions",
    note = "write one dimension `Y`, or several `(Y, X)`"
)]
pub trait Over: 'static {
    /// The dimensions as a set.
    type Set: Set;
    /// Their names, in the order in which they are written.
    const NAMES: &'static [&'static str];
    /// Their ids, in that order.
    const IDS: &'static [u64];
}

impl<D: Dim> Over for D {
    type Set = (D, ());
    const NAMES: &'static [&'static str] = &[D::NAME];
    const IDS: &'static [u64] = &[D::ID];
}

/// Marker: [`NoDim`] only. Holds for the first dimension that a tuple names twice.
#[diagnostic::on_unimplemented(
    message = "the dimension `{Self}` is named twice in one tuple",
    label = "`{Self}` appears twice",
    note = "each dimension has one place: name it once, or declare a second dimension with `dims!`"
)]
pub trait NamedOnce {}

impl NamedOnce for NoDim {}

/// Adds the dimensions of the list `L` to a set, and tells the first that was there already. Total.
pub trait Insert<L>: Set {
    type Out: Set;
    type Twice;
}

impl<S: Set> Insert<()> for S {
    type Out = S;
    type Twice = NoDim;
}

impl<S, H: Dim, T> Insert<(H, T)> for S
where
    S: Merge<(H, ())> + Without<H>,
    Union<S, (H, ())>: Insert<T>,
    S::Was: FirstTwice<H, <Union<S, (H, ())> as Insert<T>>::Twice>,
{
    type Out = <Union<S, (H, ())> as Insert<T>>::Out;
    type Twice = <S::Was as FirstTwice<H, <Union<S, (H, ())> as Insert<T>>::Twice>>::Out;
}

/// `H` if it was found, else `Later`.
pub trait FirstTwice<H, Later> {
    type Out;
}

impl<H, Later> FirstTwice<H, Later> for Found {
    type Out = H;
}

impl<H, Later> FirstTwice<H, Later> for Absent {
    type Out = Later;
}

macro_rules! tuple {
    ($($D:ident)*) => {
        impl<$($D: Dim),*> Dims for ($($D,)*)
        where
            (): Insert<tuple!(@list $($D)*), Twice: NamedOnce>,
        {
            type Set = <() as Insert<tuple!(@list $($D)*)>>::Out;
            const RANK: usize = <Self as Dims>::NAMES.len();
            const NAMES: &'static [&'static str] = &[$($D::NAME),*];
            const IDS: &'static [u64] = &[$($D::ID),*];
        }

        impl<$($D: Dim),*> Over for ($($D,)*)
        where
            ($($D,)*): Dims,
        {
            type Set = <($($D,)*) as Dims>::Set;
            const NAMES: &'static [&'static str] = <($($D,)*) as Dims>::NAMES;
            const IDS: &'static [u64] = <($($D,)*) as Dims>::IDS;
        }
    };
    (@list $D:ident $($rest:ident)*) => { ($D, tuple!(@list $($rest)*)) };
    (@list) => { () };
}

tuple!();
tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);
