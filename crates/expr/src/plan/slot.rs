//! What the kernel knows of loops and operands.

use crate::bind::{Axis, Place};
use crate::dtype::DType;
use crate::graph::DimId;

/// What the plan knows of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The size itself.
    Exact(i64),
    /// A power of two that divides it (1: nothing is known).
    MultipleOf(u32),
}

impl Extent {
    /// Whether `n` divides every size of this class.
    pub fn divides(self, n: u32) -> bool {
        match self {
            Extent::Exact(e) => e % i64::from(n) == 0,
            Extent::MultipleOf(m) => m % n == 0,
        }
    }
}

/// One loop of the iteration space.
#[derive(Clone, Copy, Debug)]
pub struct WorldDim {
    /// The dimension.
    pub dim: DimId,
    /// Its length in this call.
    pub extent: i64,
    /// What the kernel knows of it.
    pub class: Extent,
}

impl WorldDim {
    /// Whether its coordinates need 64 bits.
    pub fn wide(&self) -> bool {
        self.extent > i64::from(i32::MAX)
    }
}

/// One axis of a bound operand, with what the kernel knows of it.
#[derive(Clone, Copy, Debug)]
pub struct SlotAxis {
    /// The axis.
    pub axis: Axis,
    /// Whether the kernel knows the extent.
    pub exact_extent: bool,
    /// Whether the kernel knows the stride.
    pub exact_stride: bool,
}

/// A bound operand or output.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Type of each component.
    pub dtype: DType,
    /// Components of an element.
    pub components: u8,
    /// Its axes in layout order.
    pub axes: Vec<SlotAxis>,
    /// Where its memory is.
    pub place: Place,
    /// Alignment in bytes of any point whose coordinates are 0 along inner and register axes of known stride: at most 16.
    pub alignment: u32,
    /// Alignment in bytes of the element whose coordinates are all 0: at most 16.
    pub(crate) bound: u32,
}

impl Slot {
    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.dtype.size() * usize::from(self.components)
    }

    /// Its dimensions in layout order.
    pub fn dims(&self) -> Vec<DimId> {
        self.axes.iter().map(|a| a.axis.dim).collect()
    }

    /// Whether a stride that the kernel does not know needs 64 bits.
    pub fn wide_strides(&self) -> bool {
        self.axes.iter().any(|a| !a.exact_stride && i32::try_from(a.axis.stride).is_err())
    }

    /// Whether the kernel knows how many elements it has.
    pub fn exact_len(&self) -> Option<i64> {
        self.axes.iter().map(|a| a.exact_extent.then_some(a.axis.extent)).product()
    }

    /// Elements from the lowest that it reaches to the one whose coordinates are all 0.
    pub(crate) fn origin(&self) -> i64 {
        if self.axes.iter().any(|a| a.axis.extent == 0) {
            return 0;
        }
        self.axes.iter().map(|a| (a.axis.extent - 1) * (-a.axis.stride).max(0)).sum()
    }

    pub(crate) fn stride(&self, dim: DimId) -> Option<i64> {
        self.axes.iter().find(|a| a.axis.dim == dim).map(|a| a.axis.stride)
    }
}
