//! Layouts that are types: which element stands where, known when the program is compiled.

use crate::dim::Dim;
use crate::fold::{floor_div, floor_mod};
use crate::set::{Both, Merge, Point, Set, Union};
use core::fmt;
use core::marker::PhantomData;

/// One axis of memory: `(coordinate along D) / FOLD`, modulo `SIZE` if `WRAP`, in steps of `STRIDE` elements. Division and
/// remainder round down, so that negative coordinates of a halo go where they belong.
pub struct Axis<D, const FOLD: i32, const SIZE: i32, const STRIDE: i32, const WRAP: bool>(PhantomData<D>);

/// What is known of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisInfo {
    /// The dimension's name.
    pub name: &'static str,
    /// The dimension's id.
    pub id: u64,
    /// Units of the dimension that make one step.
    pub fold: i32,
    /// Number of steps.
    pub size: i32,
    /// Elements from one step to the next.
    pub stride: i32,
    /// Whether a coarser axis of the same dimension goes on where this one ends.
    pub wraps: bool,
}

impl AxisInfo {
    /// `size` units of `fold` of a dimension, over and over: what a derived dimension reads of it.
    pub const fn wrapping<D: Dim>(fold: i32, size: i32) -> AxisInfo {
        AxisInfo { name: D::NAME, id: D::ID, fold, size, stride: 0, wraps: true }
    }
}

/// As in a declaration, without the stride.
impl fmt::Display for AxisInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.fold != 1 {
            write!(f, "/{}", self.fold)?;
        }
        let separator = if self.wraps { "%" } else { ": " };
        write!(f, "{separator}{}", self.size)
    }
}

/// An axis and those that follow it.
#[doc(hidden)]
pub struct Link {
    pub axis: AxisInfo,
    pub next: Option<&'static Link>,
}

/// A list of axes, outermost first: nested pairs of [`Axis`], `()` at the end. Write it with [`tensor!`](crate::tensor).
pub trait Layout: Copy + 'static {
    /// The dimensions, whatever their order in memory.
    type Set: Set;
    /// Number of axes.
    const RANK: usize;
    /// Number of elements that have coordinates: the product of the sizes.
    const LEN: i32;
    /// Number of elements from the first to the last one.
    const STORAGE: i32;
    #[doc(hidden)]
    const LINKS: Option<&'static Link>;
    /// Whether two coordinates share an element, so that the layout is for reading only.
    const OVERLAPS: bool = overlaps(Self::LINKS);
    #[doc(hidden)]
    const READS: Option<&'static Reads> = None;
    #[doc(hidden)]
    const SOUND: () = assert_sound(Self::LINKS, Self::READS);
    /// Where the element at these coordinates is. Dimensions that the layout lacks are ignored, missing ones are zero.
    fn offset(coords: impl Point) -> i32;
    /// How far the element at `origin + moved` is from that at `origin`. What depends on the sum alone is computed from the sum.
    #[inline(always)]
    fn delta(origin: impl Point, moved: impl Point) -> i32 {
        Self::offset(Both(origin, moved)) - Self::offset(origin)
    }
    /// The length along the dimension with this id; zero where the layout lacks it.
    fn extent_of(id: u64) -> i32;
    /// Coordinates of the element number `index`, counted along the last axis first.
    fn coords(index: i32) -> Self::Set;

    /// The axes, outermost first.
    fn axes() -> impl Iterator<Item = AxisInfo> {
        let mut link = Self::LINKS;
        core::iter::from_fn(move || {
            let this = link?;
            link = this.next;
            Some(this.axis)
        })
    }

    /// The first coordinate that lies outside: its dimension, its value, and the extent.
    fn outside(coords: impl Point) -> Option<(&'static str, i32, i32)> {
        Self::Set::first_outside(coords, Self::extent_of)
    }

    /// The maps that coordinates go through before the axes, as they are written.
    #[doc(hidden)]
    fn write_maps(_: &mut dyn fmt::Write) -> fmt::Result {
        Ok(())
    }
}

impl Layout for () {
    type Set = ();
    const RANK: usize = 0;
    const LEN: i32 = 1;
    const STORAGE: i32 = 1;
    const LINKS: Option<&'static Link> = None;
    #[inline(always)]
    fn offset(_: impl Point) -> i32 {
        0
    }
    #[inline(always)]
    fn extent_of(_: u64) -> i32 {
        0
    }
    #[inline(always)]
    fn coords(_: i32) {}
}

impl<D: Dim, const F: i32, const N: i32, const S: i32, const W: bool> Axis<D, F, N, S, W> {
    pub(crate) const INFO: AxisInfo = AxisInfo { name: D::NAME, id: D::ID, fold: F, size: N, stride: S, wraps: W };
}

impl<D, const F: i32, const N: i32, const S: i32, const W: bool> Clone for Axis<D, F, N, S, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D, const F: i32, const N: i32, const S: i32, const W: bool> Copy for Axis<D, F, N, S, W> {}

impl<D: Dim, const F: i32, const N: i32, const S: i32, const W: bool, T: Layout> Layout for (Axis<D, F, N, S, W>, T)
where
    (D, ()): Merge<T::Set>,
{
    type Set = Union<(D, ()), T::Set>;
    const RANK: usize = 1 + T::RANK;
    const LEN: i32 = match T::LEN.checked_mul(N) {
        Some(len) => len,
        None => panic!("the tensor has more than 2^31 - 1 elements: make a size smaller"),
    };
    const STORAGE: i32 = match (N - 1).checked_mul(S) {
        Some(reach) if reach <= i32::MAX - T::STORAGE => reach + T::STORAGE,
        _ => panic!("the tensor spans more than 2^31 - 1 elements: make a size or a stride smaller"),
    };
    const LINKS: Option<&'static Link> = Some(&Link { axis: Axis::<D, F, N, S, W>::INFO, next: T::LINKS });
    #[inline(always)]
    fn offset(coords: impl Point) -> i32 {
        steps_of(const { Axis::<D, F, N, S, W>::INFO }, coords.value::<D>()) * S + T::offset(coords)
    }
    #[inline(always)]
    fn delta(origin: impl Point, moved: impl Point) -> i32 {
        let (from, by) = (origin.value::<D>(), moved.value::<D>());
        let axis = const { Axis::<D, F, N, S, W>::INFO };
        let steps = if const { F == 1 && !W } { by } else { steps_of(axis, from + by) - steps_of(axis, from) };
        steps * S + T::delta(origin, moved)
    }
    #[inline(always)]
    fn extent_of(id: u64) -> i32 {
        let own = if D::ID == id { F * N } else { 0 };
        own.max(T::extent_of(id))
    }
    #[inline(always)]
    fn coords(index: i32) -> Self::Set {
        (D::new(index / T::LEN % N * F), ()).combine(T::coords(index % T::LEN), |a, b| a + b)
    }
}

/// Steps along an axis that is known when this is compiled: a coordinate in units of its fold, modulo its size if it wraps.
#[inline(always)]
pub(crate) fn steps_of(axis: AxisInfo, at: i32) -> i32 {
    let steps = floor_div(at, axis.fold);
    if axis.wraps { floor_mod(steps, axis.size) } else { steps }
}

/// What a map in front of a layout reads and hides, and what those behind it do.
#[doc(hidden)]
pub struct Reads {
    pub inputs: &'static [AxisInfo],
    pub hides: &'static [AxisInfo],
    pub next: Option<&'static Reads>,
}

/// Axis number `n`, and behind the axes what maps read: that is spoken for as if it were an axis.
const fn nth(mut links: Option<&'static Link>, mut reads: Option<&'static Reads>, mut n: usize) -> Option<AxisInfo> {
    while let Some(this) = links {
        if n == 0 {
            return Some(this.axis);
        }
        n -= 1;
        links = this.next;
    }
    while let Some(this) = reads {
        if n < this.inputs.len() {
            return Some(this.inputs[n]);
        }
        n -= this.inputs.len();
        reads = this.next;
    }
    None
}

/// Every rule that a declaration can break.
const fn assert_sound(links: Option<&'static Link>, reads: Option<&'static Reads>) {
    let mut i = 0;
    while let Some(a) = nth(links, reads, i) {
        assert!(a.size > 0, "a size is 0 or negative: an axis has at least one step");
        assert!(a.fold > 0, "a fold is 0 or negative: `K/8` counts in units of 8");
        assert!(a.stride >= 0, "a stride is negative");
        assert!(a.fold.checked_mul(a.size).is_some(), "an extent exceeds 2^31 - 1: make a size or a fold smaller");
        let (mut twins, mut finer, mut coarser) = (0, 0, i32::MAX);
        let mut finer_end = 0;
        let mut j = 0;
        while let Some(b) = nth(links, reads, j) {
            if a.id == b.id {
                twins += (a.fold == b.fold) as i32;
                if b.fold < a.fold && b.fold > finer {
                    finer = b.fold;
                    finer_end = b.fold * b.size;
                }
                if b.fold > a.fold && b.fold < coarser {
                    coarser = b.fold;
                }
            }
            j += 1;
        }
        assert!(
            twins == 1,
            "two axes are the same fold of the same dimension: fold one of them, as in `K/8` and `K%8`"
        );
        assert!(
            finer == 0 || finer_end == a.fold,
            "the folds of a dimension do not fit: where `K%8` ends, `K/8` has to begin (fold times size is the next fold)"
        );
        assert!(
            a.wraps || coarser == i32::MAX,
            "an axis is finer than another of its dimension but does not wrap: write `K%8` or `K/8%4`, not `K: 8`"
        );
        i += 1;
    }
    assert_axes_of_hidden(links, reads);
}

/// A dimension that only a map gives has the axis that the map fills.
const fn assert_axes_of_hidden(links: Option<&'static Link>, mut reads: Option<&'static Reads>) {
    while let Some(this) = reads {
        let mut i = 0;
        while i < this.hides.len() {
            let (hidden, mut link, mut fits) = (this.hides[i], links, false);
            while let Some(that) = link {
                let a = &that.axis;
                fits |= a.id == hidden.id && a.fold == hidden.fold && a.size == hidden.size;
                link = that.next;
            }
            assert!(fits, "the layout needs an axis for the derived dimension, as long as what the map gives");
            i += 1;
        }
        reads = this.next;
    }
}

/// Whether two coordinates share an element: by ascending stride, each axis must step beyond what those before it reach.
const fn overlaps(links: Option<&'static Link>) -> bool {
    let (mut reach, mut last) = (0i64, -1i64);
    loop {
        let (mut next, mut size, mut count) = (i64::MAX, 0, 0);
        let mut link = links;
        while let Some(this) = link {
            let stride = this.axis.stride as i64;
            if this.axis.size > 1 && stride > last && stride <= next {
                count = if stride == next { count + 1 } else { 1 };
                (next, size) = (stride, this.axis.size);
            }
            link = this.next;
        }
        match count {
            0 => return false,
            1 if next > reach => reach += next * (size as i64 - 1),
            _ => return true,
        }
        last = next;
    }
}
