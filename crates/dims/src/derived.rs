//! Derived dimensions: coordinates that a layout computes from others before it looks at its axes.

use crate::axis::{AxisInfo, Layout, Link, Reads};
use crate::difference::Minus;
use crate::dim::Dim;
use crate::fold::{floor_div, floor_mod};
use crate::set::{Merge, Point, Set, Union};
use core::fmt;
use core::marker::PhantomData;

/// A map from coordinates to coordinates, such as a swizzle or the place of a lane in a fragment. A layout that goes through
/// it ([`Through`]) adds what it derives to the coordinates that it is asked for; maps compose, the first one first.
///
/// [`Checkerboard`] and [`Index`] are such maps. One of your own:
///
/// ```
/// use tilewright_dims::{AxisInfo, Derive, Dim, Point, dims, tensor};
/// dims! { LANE, I, K }
///
/// /// The four lanes of a quad sit side by side, the eight quads below one another.
/// #[derive(Clone, Copy)]
/// struct Quads;
/// impl Derive for Quads {
///     type From = (LANE, ());
///     type To = tilewright_dims::Union<(I, ()), (K, ())>;
///     type Shown = Self::To;
///     const INPUTS: &'static [AxisInfo] = &[AxisInfo::wrapping::<LANE>(1, 32)];
///     const ONE_TO_ONE: bool = true;
///     fn derive(from: impl Point) -> Self::To {
///         let lane = from.value::<LANE>().rem_euclid(32);
///         tilewright_dims::Merge::combine((I::new(lane / 4), ()), (K::new(lane % 4), ()), |a, b| a + b)
///     }
///     fn shown(to: impl Point) -> Self::To {
///         tilewright_dims::Set::project(to)
///     }
///     fn write(f: &mut dyn core::fmt::Write) -> core::fmt::Result {
///         f.write_str("Quads")
///     }
/// }
///
/// tensor!(A: f32, [I: 16, K: 8] via Quads);
/// assert_eq!(A::offset(LANE(13)), A::offset(I(3) + K(1)));
/// assert_eq!(A::offset(LANE(13) + I(8) + K(4)), 11 * 8 + 5);
/// ```
pub trait Derive: Copy + 'static {
    /// The dimensions that it reads.
    type From: Set;
    /// The dimensions that it gives.
    type To: Set;
    /// What stands for `To` in the coordinates of the tensor's elements: `To` itself, or, where it is [hidden](Self::HIDES), `From`.
    type Shown: Set;
    /// How much of each dimension of `From` it reads; it repeats beyond. The layout's axes of that dimension begin and end where
    /// this does, as if it were one of them.
    const INPUTS: &'static [AxisInfo];
    /// The dimensions of `To` that nobody names from outside, each with the axis that it has in the layout.
    const HIDES: &'static [AxisInfo] = &[];
    /// Whether different points of `From` give different points of `To`, so that the layout may be written through.
    const ONE_TO_ONE: bool;
    /// The coordinates derived from a point; what it lacks is zero.
    fn derive(from: impl Point) -> Self::To;
    /// The other way, for those who enumerate elements.
    fn shown(to: impl Point) -> Self::Shown;
    /// How it is written behind `via`.
    fn write(f: &mut dyn fmt::Write) -> fmt::Result;
}

/// The layout `L` behind the map `M`. Written `[..] via M`.
pub struct Through<M, L>(PhantomData<(M, L)>);

impl<M, L> Clone for Through<M, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, L> Copy for Through<M, L> {}

const fn hidden(hides: &[AxisInfo], id: u64) -> bool {
    let mut i = 0;
    while i < hides.len() {
        if hides[i].id == id {
            return true;
        }
        i += 1;
    }
    false
}

/// A point together with what was derived from it.
#[derive(Clone, Copy)]
struct Seen<P, M: Derive>(P, M::To);

impl<P: Point, M: Derive> Point for Seen<P, M> {
    #[inline(always)]
    fn value<D: Dim>(self) -> i32 {
        let given = if const { hidden(M::HIDES, D::ID) } { 0 } else { self.0.value::<D>() };
        given + self.1.value::<D>()
    }
    #[inline(always)]
    fn value_of(self, id: u64) -> i32 {
        let given = if hidden(M::HIDES, id) { 0 } else { self.0.value_of(id) };
        given + self.1.value_of(id)
    }
}

/// An element's coordinates with those that a map gives taken out, and what stands for them put in.
#[derive(Clone, Copy)]
struct Named<P, M: Derive>(P, M::Shown);

impl<P: Point, M: Derive> Point for Named<P, M> {
    #[inline(always)]
    fn value<D: Dim>(self) -> i32 {
        let own = if M::To::contains::<D>() { 0 } else { self.0.value::<D>() };
        own + self.1.value::<D>()
    }
    fn value_of(self, id: u64) -> i32 {
        let mut given = false;
        M::To::for_each(&mut |other, _| given |= other == id);
        (if given { 0 } else { self.0.value_of(id) }) + self.1.value_of(id)
    }
}

/// The set of a layout `L` behind `M`: what `L` has but `M` gives, and what `M` reads and shows.
type Visible<M, L> =
    Union<Union<<<L as Layout>::Set as Minus<<M as Derive>::To>>::Out, <M as Derive>::Shown>, <M as Derive>::From>;

impl<M: Derive, L: Layout> Layout for Through<M, L>
where
    L::Set: Minus<M::To>,
    <L::Set as Minus<M::To>>::Out: Merge<M::Shown>,
    Union<<L::Set as Minus<M::To>>::Out, M::Shown>: Merge<M::From>,
{
    type Set = Visible<M, L>;
    const RANK: usize = L::RANK;
    const LEN: i32 = L::LEN;
    const STORAGE: i32 = L::STORAGE;
    const LINKS: Option<&'static Link> = L::LINKS;
    const OVERLAPS: bool = L::OVERLAPS || !M::ONE_TO_ONE;
    const READS: Option<&'static Reads> = Some(&Reads { inputs: M::INPUTS, hides: M::HIDES, next: L::READS });
    #[inline(always)]
    fn offset(coords: impl Point) -> i32 {
        L::offset(Seen::<_, M>(coords, M::derive(coords)))
    }
    #[inline(always)]
    fn extent_of(id: u64) -> i32 {
        let mut most = L::extent_of(id);
        for input in M::INPUTS {
            if input.id == id {
                most = most.max(input.fold * input.size);
            }
        }
        most
    }
    #[inline(always)]
    fn coords(index: i32) -> Self::Set {
        let inner = L::coords(index);
        Self::Set::project(Named::<_, M>(inner, M::shown(inner)))
    }
    fn write_maps(f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str(" via ")?;
        M::write(f)?;
        L::write_maps(f)
    }
}

/// A swizzle that spares shared memory bank conflicts: a grid of `2 * PAIRS` cells, pairs of two colours each, in which every other
/// row of `RANKS` cells has its colours exchanged. `P % PAIRS` is the pair, `C / FOLD % 2` the colour, `O` the cell:
/// `(2 * pair + colour) ^ (pair / (RANKS / 2) % 2)`. Written `checkerboard(RANKS: P % PAIRS, C / FOLD % 2 -> O)`.
///
/// With 8 ranks and cells of 16 bytes, eight consecutive pairs of one colour lie in eight different groups of banks.
///
/// ```
/// tilewright_dims::dims! { I, K, CELL }
/// tilewright_dims::tensor!(S: u8, [K/16: 4, I/16: 8, CELL: 32] via checkerboard(8: I%16, K/8%2 -> CELL));
/// assert_eq!(S::offset(I(37) + K(24)), 2 * 32 + 256 + 10);
/// assert_eq!((S::extent::<I>(), S::extent::<K>(), S::LEN), (I(128), K(64), 1024));
/// ```
pub struct Checkerboard<P, const PAIRS: i32, C, const FOLD: i32, O, const RANKS: i32>(PhantomData<(P, C, O)>);

impl<P, const PAIRS: i32, C, const FOLD: i32, O, const RANKS: i32> Clone for Checkerboard<P, PAIRS, C, FOLD, O, RANKS> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, const PAIRS: i32, C, const FOLD: i32, O, const RANKS: i32> Copy for Checkerboard<P, PAIRS, C, FOLD, O, RANKS> {}

impl<P: Dim, const PAIRS: i32, C: Dim, const FOLD: i32, O: Dim, const RANKS: i32> Derive
    for Checkerboard<P, PAIRS, C, FOLD, O, RANKS>
where
    (P, ()): Merge<(C, ())>,
{
    type From = Union<(P, ()), (C, ())>;
    type To = (O, ());
    type Shown = Self::From;
    const INPUTS: &'static [AxisInfo] = {
        assert!(
            PAIRS > 0 && FOLD > 0 && RANKS > 1 && RANKS % 2 == 0,
            "a checkerboard has pairs, and an even number of ranks"
        );
        &[AxisInfo::wrapping::<P>(1, PAIRS), AxisInfo::wrapping::<C>(FOLD, 2)]
    };
    const HIDES: &'static [AxisInfo] = &[AxisInfo::wrapping::<O>(1, 2 * PAIRS)];
    const ONE_TO_ONE: bool = true;
    #[inline(always)]
    fn derive(from: impl Point) -> (O, ()) {
        let pair = floor_mod(from.value::<P>(), PAIRS);
        let colour = floor_div(from.value::<C>(), FOLD) & 1;
        (O::new((2 * pair + colour) ^ (pair / (RANKS / 2) % 2)), ())
    }
    #[inline(always)]
    fn shown(to: impl Point) -> Self::Shown {
        let cell = to.value::<O>();
        let colour = (cell & 1) ^ (cell / RANKS % 2);
        (P::new(cell / 2), ()).combine((C::new(colour * FOLD), ()), |a, b| a + b)
    }
    fn write(f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "checkerboard({RANKS}: {}%{PAIRS}, {}", P::NAME, C::NAME)?;
        if FOLD != 1 {
            write!(f, "/{FOLD}")?;
        }
        write!(f, "%2 -> {})", O::NAME)
    }
}

/// A compound index: a number along `D`, such as a lane's, taken apart into coordinates as the elements of `L` are counted.
/// Written `index(D -> [axes])`.
///
/// ```
/// tilewright_dims::dims! { LANE, I, K }
/// // The sixteen rows of a tile, then the same rows eight columns further.
/// tilewright_dims::tensor!(A: u8, [I: 16, K: 16] via index(LANE -> [K/8: 2, I: 16]));
/// assert_eq!(A::offset(LANE(21)), A::offset(I(5) + K(8)));
/// ```
pub struct Index<D, L>(PhantomData<(D, L)>);

impl<D, L> Clone for Index<D, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, L> Copy for Index<D, L> {}

impl<D: Dim, L: Layout> Derive for Index<D, L> {
    type From = (D, ());
    type To = L::Set;
    type Shown = L::Set;
    const INPUTS: &'static [AxisInfo] = &[AxisInfo::wrapping::<D>(1, L::LEN)];
    const ONE_TO_ONE: bool = true;
    #[inline(always)]
    fn derive(from: impl Point) -> L::Set {
        L::coords(floor_mod(from.value::<D>(), const { if L::LEN > 0 { L::LEN } else { 1 } }))
    }
    #[inline(always)]
    fn shown(to: impl Point) -> L::Set {
        L::Set::project(to)
    }
    fn write(f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "index({} -> [", D::NAME)?;
        let mut separator = "";
        for axis in L::axes() {
            write!(f, "{separator}{axis}")?;
            separator = ", ";
        }
        f.write_str("])")
    }
}
