//! The smallest and the largest value of a window, and what is made of them.

use super::mask::Mask;
use super::step;
use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reads::Border;
use crate::reduce::Reduction;

/// What lies outside of a picture when the smallest or the largest value of a window is taken. A [`Border`] alone is meant as
/// [`Outside::Border`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outside<T> {
    /// Nothing: pixels inside are compared with one another. Of a window that has none inside the result is the end of the
    /// type's range (infinity) that no value goes beyond. OpenCV's default.
    #[default]
    Ignored,
    /// What a border gives.
    Border(Border<T>),
}

impl<T> From<Border<T>> for Outside<T> {
    fn from(border: Border<T>) -> Self {
        Outside::Border(border)
    }
}

impl<T> Outside<T> {
    /// The same with another constant.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outside<U> {
        match self {
            Outside::Ignored => Outside::Ignored,
            Outside::Border(border) => Outside::Border(border.map(f)),
        }
    }
}

impl Graph {
    /// The smallest value of `source` under the mask laid around each pixel; NaN if one is.
    pub fn erode(&mut self, source: NodeId, dims: (DimId, DimId), mask: &Mask, outside: Outside<NodeId>) -> NodeId {
        let eroded = self.extreme(Reduction::Min, source, dims, mask, outside);
        self.called("erode", &[source], eroded)
    }

    /// The largest value of `source` under the mask laid around each pixel; NaN if one is. The mask is not turned.
    pub fn dilate(&mut self, source: NodeId, dims: (DimId, DimId), mask: &Mask, outside: Outside<NodeId>) -> NodeId {
        let dilated = self.extreme(Reduction::Max, source, dims, mask, outside);
        self.called("dilate", &[source], dilated)
    }

    fn extreme(
        &mut self,
        reduction: Reduction,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        mask: &Mask,
        outside: Outside<NodeId>,
    ) -> NodeId {
        let border = match outside {
            Outside::Ignored => {
                let identity = reduction.identity(self.node(source).dtype);
                Border::Constant(self.constant(identity))
            }
            Outside::Border(border) => border,
        };
        let ((height, width), (y, x)) = (mask.size(), mask.anchor());
        if mask.is_rectangle() {
            if !self.long_window(dim_y, height, y) || !self.long_window(dim_x, width, x) {
                return source;
            }
            let rows = self.run(reduction, source, (dim_x, width, x), border);
            return self.run(reduction, rows, (dim_y, height, y), border);
        }
        if !self.window(dim_y, height, y) || !self.window(dim_x, width, x) {
            return source;
        }
        let taps = mask.taps().map(|(row, column)| [(dim_y, step(row, y)), (dim_x, step(column, x))]);
        let values: Vec<NodeId> = taps.map(|by| self.shifted(source, &by, border)).collect();
        let extreme = values.into_iter().reduce(|a, b| self.binary(reduction.operation(), a, b));
        extreme.unwrap_or_else(|| {
            self.fail(Error::EmptyMask { height, width });
            source
        })
    }

    /// `a - b`, of integers at the end of the range where it lies beyond.
    pub(crate) fn saturating_difference(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if self.node(a).dtype.is_float() { self.rounded(Binary::Sub, a, b) } else { self.saturating_sub(a, b) }
    }
}
