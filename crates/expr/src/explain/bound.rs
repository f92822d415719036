//! What a call binds: operands and results, with what the kernel does with their memory.

use super::{elements, is_dense};
use crate::bind::{Place, View};
use crate::dtype::DType;
use crate::graph::Graph;
use crate::plan::Slot;

/// A dimension of an operand's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisSize {
    /// The dimension.
    pub dim: &'static str,
    /// Its length.
    pub extent: i64,
    /// Elements from one index to the next.
    pub stride: i64,
}

/// An operand or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Type of each component.
    pub dtype: DType,
    /// Components of an element.
    pub components: u8,
    /// Its dimensions, outermost first.
    pub axes: Vec<AxisSize>,
    /// Whether its elements are contiguous, the last dimension fastest.
    pub dense: bool,
    /// Alignment in bytes that the kernel counts on.
    pub alignment: u32,
    /// In device memory, or in host memory and sent with the launch.
    pub place: Place,
    /// Bytes that single accesses move, narrowest first: several where a run does not end with a vector. Empty if nothing of it is
    /// accessed.
    pub access_bytes: Vec<u32>,
    /// Bytes read or written, each once: of an operand not more than what is read at other coordinates covers, counted for each
    /// such read.
    pub bytes: u64,
}

impl Bound {
    /// What is bound to elements of so many components; nothing of it accessed yet.
    pub(super) fn new(graph: &Graph, view: &View<'_>, (dtype, components): (DType, u8)) -> Bound {
        let axis = |a: &crate::bind::Axis| AxisSize { dim: graph.dim_name(a.dim), extent: a.extent, stride: a.stride };
        Bound {
            dtype,
            components,
            axes: view.axes.iter().map(axis).collect(),
            dense: is_dense(view.axes),
            alignment: view.alignment.min(16),
            place: view.place,
            access_bytes: Vec::new(),
            bytes: elements(view.axes) * dtype.size() as u64 * u64::from(components),
        }
    }

    /// A section accesses it in this way.
    pub(super) fn accessed(&mut self, slot: &Slot, widths: &[u32]) {
        self.alignment = self.alignment.min(slot.alignment);
        self.access_bytes.extend(widths);
        self.access_bytes.sort_unstable();
        self.access_bytes.dedup();
    }
}
