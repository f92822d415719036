//! Parts of a tensor along one dimension.

use crate::axis::{Axis, Layout};
use crate::dim::Dim;
use crate::id::{Compare, Equal, Greater, Less};
use core::fmt;

/// A slice that does not begin or end where it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceError {
    /// The dimension's name.
    pub dim: &'static str,
    /// Where it was to begin.
    pub start: i32,
    /// How long it was to be.
    pub len: i32,
    /// It begins at a multiple of this.
    pub unit: i32,
    /// The extent that it has to lie in.
    pub extent: i32,
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SliceError { dim, start, len, unit, extent } = self;
        write!(
            f,
            "a slice of {dim} from {start}, {len} long: it has to begin at a multiple of {unit} and lie within 0..{extent}"
        )
    }
}

impl core::error::Error for SliceError {}

/// The layout with `STEPS` steps of the outermost axis of `D`, that which does not wrap.
#[diagnostic::on_unimplemented(
    message = "the layout has no outermost axis of `{D}` that could be cut",
    label = "needs an axis of `{D}` that does not wrap",
    note = "a slice shortens the coarsest axis of a dimension, such as `K/8: 4`; one written with `%` wraps and stays whole"
)]
pub trait Cut<D, const STEPS: i32>: Layout {
    /// The shorter layout.
    type Out: Layout;
    /// The axis: its unit and its length.
    #[doc(hidden)]
    const AXIS: (i32, i32);

    /// The offset of the slice that begins at `start`.
    #[doc(hidden)]
    fn start(start: D) -> Result<usize, SliceError>
    where
        D: Dim,
    {
        let (unit, size) = Self::AXIS;
        let at = start.get();
        if STEPS < 1 || at < 0 || at % unit != 0 || at / unit > size - STEPS {
            let (len, extent) = (STEPS.saturating_mul(unit), unit * size);
            return Err(SliceError { dim: D::NAME, start: at, len, unit, extent });
        }
        Ok(Self::offset((start, ())) as usize)
    }
}

impl<D, const STEPS: i32, H: Dim, const F: i32, const N: i32, const S: i32, T> Cut<D, STEPS>
    for (Axis<H, F, N, S, true>, T)
where
    Self: Layout,
    T: Cut<D, STEPS>,
    (Axis<H, F, N, S, true>, T::Out): Layout,
{
    type Out = (Axis<H, F, N, S, true>, T::Out);
    const AXIS: (i32, i32) = T::AXIS;
}

impl<D: Dim, const STEPS: i32, H: Dim, const F: i32, const N: i32, const S: i32, T> Cut<D, STEPS>
    for (Axis<H, F, N, S, false>, T)
where
    Self: Layout,
    H::Id: Compare<D::Id>,
    Self: CutBy<<H::Id as Compare<D::Id>>::Out, D, STEPS>,
{
    type Out = <Self as CutBy<<H::Id as Compare<D::Id>>::Out, D, STEPS>>::Out;
    const AXIS: (i32, i32) = <Self as CutBy<<H::Id as Compare<D::Id>>::Out, D, STEPS>>::AXIS;
}

/// [`Cut`] of a layout whose first axis does not wrap, and whose dimension compares with `D` as `O`.
pub trait CutBy<O, D, const STEPS: i32> {
    type Out: Layout;
    const AXIS: (i32, i32);
}

impl<D, const STEPS: i32, H, const F: i32, const N: i32, const S: i32, T> CutBy<Equal, D, STEPS>
    for (Axis<H, F, N, S, false>, T)
where
    (Axis<H, F, STEPS, S, false>, T): Layout,
{
    type Out = (Axis<H, F, STEPS, S, false>, T);
    const AXIS: (i32, i32) = (F, N);
}

macro_rules! another_dimension {
    ($($order:ident)*) => { $(
        impl<D, const STEPS: i32, H, const F: i32, const N: i32, const S: i32, T> CutBy<$order, D, STEPS>
            for (Axis<H, F, N, S, false>, T)
        where
            T: Cut<D, STEPS>,
            (Axis<H, F, N, S, false>, T::Out): Layout,
        {
            type Out = (Axis<H, F, N, S, false>, T::Out);
            const AXIS: (i32, i32) = T::AXIS;
        }
    )* };
}

another_dimension!(Less Greater);
