//! Axes: which dimensions a tensor has, how long they are, and where their indices stand in memory.

use crate::error::Error;
use tilewright_dims::Dims;
use tilewright_expr::bind::{Axis, MAX_RANK, View};

/// Up to [`MAX_RANK`] axes in place.
#[derive(Clone, Copy)]
pub(crate) struct Axes {
    axes: [Axis; MAX_RANK],
    rank: usize,
}

impl Axes {
    /// The dimensions of `M`, each with the extent and the stride that `axis` gives for its position.
    pub(crate) fn of<M: Dims>(axis: impl Fn(usize) -> (i64, i64)) -> Axes {
        let mut axes = [Axis { dim: 0, extent: 1, stride: 0 }; MAX_RANK];
        for (i, (place, dim)) in axes.iter_mut().zip(M::IDS).enumerate() {
            let (extent, stride) = axis(i);
            *place = Axis { dim: *dim, extent, stride };
        }
        Axes { axes, rank: M::RANK }
    }

    /// The same axes without gaps, the last one fastest. What stands everywhere along an axis (stride 0) stays one element.
    pub(crate) fn packed(&self) -> Axes {
        let mut packed = *self;
        let mut stride = 1;
        for a in packed.as_mut_slice().iter_mut().rev().filter(|a| !repeats(a)) {
            a.stride = stride;
            stride *= a.extent.max(1);
        }
        packed
    }

    pub(crate) fn as_slice(&self) -> &[Axis] {
        &self.axes[..self.rank]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Axis] {
        &mut self.axes[..self.rank]
    }

    /// Extent and stride along a dimension.
    pub(crate) fn find(&self, dim: u64) -> Option<(i64, i64)> {
        self.as_slice().iter().find(|a| a.dim == dim).map(|a| (a.extent, a.stride))
    }

    pub(crate) fn extents(&self) -> Vec<usize> {
        self.as_slice().iter().map(|a| a.extent as usize).collect()
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.as_slice().iter().map(|a| a.extent as usize).product()
    }

    /// Elements from the lowest in memory to the one whose coordinates are all 0.
    pub(crate) fn origin(&self) -> usize {
        View::origin(self.as_slice()) as usize
    }

    /// Elements from the lowest in memory to the highest.
    pub(crate) fn reach(&self) -> usize {
        View::reach(self.as_slice()) as usize
    }

    /// Whether the elements are contiguous, the last axis fastest.
    pub(crate) fn is_dense(&self) -> bool {
        let mut stride = 1;
        self.as_slice().iter().rev().all(|a| {
            let fits = a.extent == 1 || a.stride == stride;
            stride *= a.extent;
            fits
        })
    }

    /// An axis along which there is one element again and again.
    pub(crate) fn repeated(&self) -> Option<&Axis> {
        self.as_slice().iter().find(|a| repeats(a))
    }
}

fn repeats(axis: &Axis) -> bool {
    axis.stride == 0 && axis.extent > 1
}

/// Calls `f` with the place of every element above the lowest, in layout order.
pub(crate) fn for_each_offset(axes: &[Axis], mut f: impl FnMut(usize)) {
    let (mut index, origin) = ([0i64; MAX_RANK], View::origin(axes));
    for _ in 0..axes.iter().map(|a| a.extent).product::<i64>() {
        f((origin + axes.iter().zip(&index).map(|(a, i)| a.stride * i).sum::<i64>()) as usize);
        for d in (0..axes.len()).rev() {
            index[d] += 1;
            if index[d] < axes[d].extent {
                break;
            }
            index[d] = 0;
        }
    }
}

pub(crate) fn names<L: Dims>() -> String {
    L::NAMES.join(", ")
}

/// Dense axes of these extents over `L`, and how many elements they have.
pub(crate) fn checked<L: Dims>(extents: &[usize]) -> Result<(Axes, usize), Error> {
    if extents.len() != L::RANK {
        return Err(Error::Rank { dims: names::<L>(), expected: L::RANK, got: extents.len() });
    }
    let product = extents.iter().try_fold(1usize, |p, e| p.checked_mul((*e).max(1)));
    let bytes = product.and_then(|p| p.checked_mul(16)).filter(|b| i64::try_from(*b).is_ok());
    if bytes.is_none() {
        return Err(Error::TooLarge { extents: extents.to_vec() });
    }
    let mut axes = [Axis { dim: 0, extent: 1, stride: 0 }; MAX_RANK];
    let (mut stride, mut len) = (1, 1);
    for ((axis, dim), extent) in axes.iter_mut().zip(L::IDS).zip(extents).rev() {
        *axis = Axis { dim: *dim, extent: *extent as i64, stride };
        stride *= (*extent as i64).max(1);
        len *= extent;
    }
    Ok((Axes { axes, rank: L::RANK }, len))
}
