//! Views: the same memory, seen otherwise. None of them copies an element.

use super::axes::{Axes, checked};
use super::{Item, Memory, Tensor};
use crate::error::Error;
use std::marker::PhantomData;
use tilewright_dims::{Dim, Dims, First, Minus, NoDim, Present, Without};

/// Holds when nothing is left over: the list names every dimension of the tensor.
#[diagnostic::on_unimplemented(
    message = "the list lacks dimension `{Self}`",
    label = "the tensor has `{Self}`",
    note = "add `{Self}` to the list, with its size"
)]
pub trait AllNamed {}
impl AllNamed for NoDim {}

impl<T: Item, L: Dims> Tensor<T, L> {
    /// The part `start..start + len` along `D`: a view of the same memory.
    pub fn narrow<D: Dim>(&self, start: usize, len: usize) -> Result<Self, Error>
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        let extent = self.extent::<D>();
        let end = start.saturating_add(len);
        if end > extent {
            return Err(Error::Range { dim: D::NAME, start, end, extent });
        }
        // A part without elements begins nowhere.
        Ok(self.along::<D>(if len == 0 { 0 } else { start }, |stride| (len as i64, stride)))
    }

    /// The indices along `D` in reverse order: a view of the same memory.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_ops::Tensor;
    /// dims! { Y, X }
    /// let x = Tensor::<i32, (Y, X)>::from_vec([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(x.reverse::<X>().to_vec()?, [3, 2, 1, 6, 5, 4]);
    /// assert_eq!(x.step_by::<X>(2)?.to_vec()?, [1, 3, 4, 6]);
    /// assert_eq!(x.permute::<(X, Y)>().to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    pub fn reverse<D: Dim>(&self) -> Self
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        let extent = self.extent::<D>();
        self.along::<D>(extent.saturating_sub(1), |stride| (extent as i64, -stride))
    }

    /// Every `step`-th index along `D`, from the first on: a view of the same memory. `step` is 1 at least.
    pub fn step_by<D: Dim>(&self, step: usize) -> Result<Self, Error>
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        let extent = self.extent::<D>();
        if step == 0 {
            return Err(Error::Step { dim: D::NAME });
        }
        let step_within = step.min(extent.max(1)) as i64;
        Ok(self.along::<D>(0, |stride| (extent.div_ceil(step) as i64, stride * step_within)))
    }

    /// The same elements in the order of the tuple `M`, which has the same dimensions: a view of the same memory.
    pub fn permute<M: Dims<Set = L::Set>>(&self) -> Tensor<T, M> {
        self.seen(Axes::of::<M>(|i| self.axes.find(M::IDS[i]).unwrap_or((1, 0))))
    }

    /// The tensor over the dimensions of the tuple `M`, of these extents: along dimensions that it lacks, and along those that
    /// are 1 long, its elements are repeated. A view of the same memory.
    ///
    /// Expressions need none of this: an operand without a dimension does not vary along it, and costs less.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_ops::Tensor;
    /// dims! { Y, X }
    /// let row = Tensor::<i32, (X,)>::from_vec([2], vec![1, 2])?;
    /// assert_eq!(row.broadcast::<(Y, X), 2>([3, 2])?.to_vec()?, [1, 2, 1, 2, 1, 2]);
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    pub fn broadcast<M: Dims, const R: usize>(&self, extents: [usize; R]) -> Result<Tensor<T, M>, Error>
    where
        L::Set: Minus<M::Set, Out: First<Out: AllNamed>>,
    {
        checked::<M>(&extents)?;
        for (dim, (id, expected)) in M::NAMES.iter().zip(M::IDS.iter().zip(extents)) {
            match self.axes.find(*id) {
                Some((got, _)) if got != 1 && got as usize != expected => {
                    return Err(Error::Broadcast { dim, got: got as usize, expected });
                }
                _ => {}
            }
        }
        Ok(self.seen(Axes::of::<M>(|i| repeated(self.axes.find(M::IDS[i]), extents[i]))))
    }

    /// The view in which `D` has the extent and the stride that `axis` makes of its stride, from index `start` on.
    fn along<D: Dim>(&self, start: usize, axis: impl Fn(i64) -> (i64, i64)) -> Self {
        let mut view = self.clone();
        for a in view.axes.as_mut_slice().iter_mut().filter(|a| a.dim == D::ID) {
            view.start = (view.start as i64 + start as i64 * a.stride) as usize;
            (a.extent, a.stride) = axis(a.stride);
        }
        view
    }

    /// The same memory under other axes, which stay inside.
    pub(super) fn seen<M: Dims>(&self, axes: Axes) -> Tensor<T, M> {
        Tensor { memory: self.memory.clone(), axes, start: self.start, _layout: PhantomData }
    }

    /// The same tensor with the dimensions of `M` in place of its own, position by position; `M` has as many.
    pub(crate) fn renamed<M: Dims>(self) -> Tensor<T, M> {
        let own = self.axes;
        let axes = Axes::of::<M>(|i| own.as_slice().get(i).map_or((1, 0), |a| (a.extent, a.stride)));
        Tensor { memory: self.memory, axes, start: self.start, _layout: PhantomData }
    }

    /// The same memory from element `start` on, under other dimensions: extent and stride of each. `None` if they reach
    /// beyond it.
    pub(crate) fn viewed<M: Dims>(&self, start: i64, axes: impl Fn(u64) -> (i64, i64)) -> Option<Tensor<T, M>> {
        let axes = Axes::of::<M>(|i| axes(M::IDS[i]));
        let len = match &self.memory {
            Memory::Host(m) => m.len(),
            Memory::Gpu(m) => m.bytes.len() / size_of::<T>(),
        };
        let start = usize::try_from(self.start as i64 + start).ok()?;
        let lowest = start.checked_sub(axes.origin())?;
        let inside = axes.reach() <= len.saturating_sub(lowest);
        inside.then(|| Tensor { memory: self.memory.clone(), axes, start, _layout: PhantomData })
    }
}

/// An axis of `extent` elements: one that is there (extent and stride) and as long, or one element again and again.
pub(super) fn repeated(axis: Option<(i64, i64)>, extent: usize) -> (i64, i64) {
    match axis {
        Some((n, stride)) if n == extent as i64 => (n, stride),
        _ => (extent as i64, 0),
    }
}
