//! A tensor's memory in vectors of several elements.

use crate::axis::{Axis, AxisInfo, Layout, Link, steps_of};
use crate::dim::Dim;
use crate::set::{Merge, Point, Union};
use core::marker::PhantomData;

/// The layout `L` counted in vectors of `V` elements: the contiguous axis has a `V`-th of the steps, the others a `V`-th of
/// the stride. See [`View::vectors`](crate::View::vectors).
pub struct Vectors<L, const V: usize>(PhantomData<L>);

impl<L, const V: usize> Clone for Vectors<L, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L, const V: usize> Copy for Vectors<L, V> {}

impl<const V: usize> Layout for Vectors<(), V> {
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

/// An axis counted in vectors.
const fn shortened(axis: AxisInfo, v: i32) -> AxisInfo {
    match axis.stride {
        1 => AxisInfo { fold: axis.fold * v, size: axis.size / v, ..axis },
        _ => AxisInfo { stride: axis.stride / v, ..axis },
    }
}

impl<D: Dim, const F: i32, const N: i32, const S: i32, const W: bool, T, const V: usize> Layout
    for Vectors<(Axis<D, F, N, S, W>, T), V>
where
    Vectors<T, V>: Layout,
    (D, ()): Merge<<Vectors<T, V> as Layout>::Set>,
{
    type Set = Union<(D, ()), <Vectors<T, V> as Layout>::Set>;
    const RANK: usize = 1 + <Vectors<T, V>>::RANK;
    const LEN: i32 = shortened(Axis::<D, F, N, S, W>::INFO, V as i32).size * <Vectors<T, V>>::LEN;
    const STORAGE: i32 = {
        let axis = shortened(Axis::<D, F, N, S, W>::INFO, V as i32);
        (axis.size - 1) * axis.stride + <Vectors<T, V>>::STORAGE
    };
    const LINKS: Option<&'static Link> =
        Some(&Link { axis: shortened(Axis::<D, F, N, S, W>::INFO, V as i32), next: <Vectors<T, V>>::LINKS });
    #[inline(always)]
    fn offset(coords: impl Point) -> i32 {
        let axis = const { shortened(Axis::<D, F, N, S, W>::INFO, V as i32) };
        steps_of(axis, coords.value::<D>()) * axis.stride + <Vectors<T, V>>::offset(coords)
    }
    #[inline(always)]
    fn extent_of(id: u64) -> i32 {
        let own = if D::ID == id { F * N } else { 0 };
        own.max(<Vectors<T, V>>::extent_of(id))
    }
    #[inline(always)]
    fn coords(index: i32) -> Self::Set {
        let (axis, rest) = (const { shortened(Axis::<D, F, N, S, W>::INFO, V as i32) }, <Vectors<T, V>>::LEN);
        (D::new(index / rest % axis.size * axis.fold), ()).combine(<Vectors<T, V>>::coords(index % rest), |a, b| a + b)
    }
}

/// Refuses vectors that the contiguous axis or a stride does not divide into.
pub(crate) const fn assert_divides(links: Option<&'static Link>, v: usize) {
    assert!(v > 0 && v <= i32::MAX as usize, "a vector has at least one element");
    let v = v as i32;
    let (mut link, mut contiguous) = (links, false);
    while let Some(this) = link {
        let a = &this.axis;
        if a.stride == 1 {
            contiguous = true;
            assert!(
                a.size % v == 0,
                "the innermost axis does not divide into vectors of this length: choose a divisor of its size"
            );
        } else {
            assert!(
                a.size == 1 || a.stride % v == 0,
                "a stride does not divide by the vectors' length: pad it to a multiple, as in `I: 4 => 40`"
            );
        }
        link = this.next;
    }
    assert!(contiguous || v == 1, "no axis is contiguous, so that there are no vectors along it");
}
