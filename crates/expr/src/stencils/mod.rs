//! Stencils: each point is computed from a window of points around it.
//!
//! Taps are reads of one expression at shifted coordinates ([`Graph::shifted`](crate::graph::Graph::shifted)). What comes apart
//! into two passes is nested: the inner pass along the rows' pixels, the outer one, which reads it at shifted rows, along the
//! columns'. Taps are taken from the first row to the last, within a row from left to right, and added up by a chain of fused
//! multiply-adds; the graph says so, and every way to compute it keeps to it.

mod boxes;
mod correlate;
mod derivatives;
mod gaussian;
mod kernel;
mod mask;
mod median;
mod morphology;
mod separable;
mod sorting;
mod taps;

pub use kernel::Kernel;
pub use mask::Mask;
pub use morphology::Outside;
pub use taps::Taps;

use crate::error::Error;
use crate::graph::{DimId, Graph};

/// Longest window along a dimension whose taps are written one by one.
const LONGEST: usize = 31;

impl Graph {
    /// Whether the taps of a window of `size` along `dim` can be written one by one, and `anchor` is one of them; else the trace
    /// has failed.
    fn window(&mut self, dim: DimId, size: usize, anchor: usize) -> bool {
        if !(1..=LONGEST).contains(&size) {
            self.refuse_window(dim, size, "from 1 to 31 taps are written one by one; `.correlate_by` has no limit");
            return false;
        }
        self.anchored(dim, size, anchor)
    }

    /// Whether `anchor` lies in a window of `size` along `dim`; else the trace has failed.
    fn anchored(&mut self, dim: DimId, size: usize, anchor: usize) -> bool {
        if anchor >= size {
            let dim = self.dim_name(dim);
            self.fail(Error::Anchor { dim, anchor, size });
        }
        anchor < size
    }

    fn refuse_window(&mut self, dim: DimId, size: usize, expected: &'static str) {
        let dim = self.dim_name(dim);
        self.fail(Error::Window { dim, size, expected });
    }
}

/// From the anchor to tap `tap`.
fn step(tap: usize, anchor: usize) -> i32 {
    tap as i32 - anchor as i32
}
