//! Windows whose values all count the same: sums, means, extremes.

use super::{LONGEST, step};
use crate::graph::{Binary, DimId, Graph, NodeId, Size};
use crate::reads::Border;
use crate::reduce::Reduction;

/// A window along one dimension: its size, and the tap that belongs to the point itself.
pub(super) type Window = (DimId, usize, usize);

impl Graph {
    /// The sum of the window of `height` x `width` around each pixel, in the floating-point type of `source`.
    pub fn box_sum(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, usize),
        (dim_x, width): (DimId, usize),
        border: Border<NodeId>,
    ) -> NodeId {
        let sizes = [(dim_y, height), (dim_x, width)];
        if !sizes.iter().all(|(dim, size)| self.long_window(*dim, *size, size / 2)) {
            return source;
        }
        let (picture, border) = self.in_real(source, border);
        let rows = self.run(Reduction::Sum, picture, (dim_x, width, width / 2), border);
        let outside = border.map(|v| self.run_of_one(v, width));
        let sum = self.run(Reduction::Sum, rows, (dim_y, height, height / 2), outside);
        self.called("box sum", &[source], sum)
    }

    /// [`Graph::box_sum`], divided by the number of pixels in the window.
    pub fn box_filter(
        &mut self,
        source: NodeId,
        (dim_y, height): (DimId, usize),
        (dim_x, width): (DimId, usize),
        border: Border<NodeId>,
    ) -> NodeId {
        let sum = self.box_sum(source, (dim_y, height), (dim_x, width), border);
        let count = self.number(self.node(sum).dtype, height as f64 * width as f64);
        let mean = self.rounded(Binary::Div, sum, count);
        self.called("box filter", &[source], mean)
    }

    /// Whether a window can be `size` long along `dim` where a long one is a loop, and `anchor` lies inside; else the trace has
    /// failed.
    pub(super) fn long_window(&mut self, dim: DimId, size: usize, anchor: usize) -> bool {
        if size == 0 || i32::try_from(size).is_err() {
            self.refuse_window(dim, size, "a window has from 1 to 2147483647 pixels");
            return false;
        }
        self.anchored(dim, size, anchor)
    }

    /// All values of a window along one dimension as one, from the first to the last. A long window is a loop.
    pub(super) fn run(
        &mut self,
        reduction: Reduction,
        source: NodeId,
        (dim, size, anchor): Window,
        border: Border<NodeId>,
    ) -> NodeId {
        if size > LONGEST {
            let window = window_of(dim);
            self.name_dim(window, "window");
            let anchor = self.int(step(anchor, 0));
            let place = self.tap_place(dim, window, anchor);
            let value = self.at_border(source, &[(dim, place)], &[], border);
            return self.reduce_to(reduction, value, window, Size::Const(size as i64));
        }
        let mut all = self.shifted(source, &[(dim, step(0, anchor))], border);
        for tap in 1..size {
            let value = self.shifted(source, &[(dim, step(tap, anchor))], border);
            all = self.rounded(reduction.operation(), all, value);
        }
        all
    }

    /// The sum of `count` times `value`, added up one after the other as the values of a window are.
    fn run_of_one(&mut self, value: NodeId, count: usize) -> NodeId {
        if count > LONGEST {
            return self.reduce_to(Reduction::Sum, value, window_of(0), Size::Const(count as i64));
        }
        (1..count).fold(value, |sum, _| self.rounded(Binary::Add, sum, value))
    }
}

/// The dimension of a loop over a window along `dim`: an id that no declared dimension has but by a chance of 2^-64.
fn window_of(dim: DimId) -> DimId {
    dim.rotate_left(17) ^ 0xd1b5_4a32_d192_ed03
}
