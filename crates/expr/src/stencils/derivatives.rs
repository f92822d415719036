//! Derivatives of pictures: Sobel, Scharr, Laplacian.

use super::LONGEST;
use super::kernel::Kernel;
use super::taps::Taps;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId};
use crate::reads::Border;

impl Taps {
    /// The difference of neighbours `order` times over, smoothed by sums of neighbours up to `size` taps: OpenCV's
    /// `getDerivKernels`. A `size` of 1 means 3 taps for a derivative, and 1 where `order` is 0. `order` is below `size`, `size`
    /// odd.
    pub fn sobel(order: usize, size: usize) -> Taps {
        let size = if size == 1 && order > 0 { 3 } else { size };
        let mut weights = vec![1.0];
        for step in 1..size {
            let sign = if step <= order { -1.0 } else { 1.0 };
            let shifted = weights.iter().copied().chain([0.0]);
            let other = [0.0].into_iter().chain(weights.iter().copied());
            weights = shifted.zip(other).map(|(next, here): (f64, f64)| sign * next + here).collect();
        }
        weights.into()
    }
}

impl Kernel {
    /// The sum of the second derivatives along rows and columns, by [`Taps::sobel`]; for a `size` of 1 the four neighbours less
    /// four times the pixel. OpenCV's.
    pub fn laplacian(size: usize) -> Kernel {
        if size == 1 {
            return Kernel::from([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]);
        }
        let (smooth, second) = (Taps::sobel(0, size), Taps::sobel(2, size));
        let (s, d) = (smooth.weights(), second.weights());
        Kernel::from_fn(size, size, |y, x| {
            let (y, x) = (y as usize, x as usize);
            s[y] * d[x] + d[y] * s[x]
        })
    }
}

impl Graph {
    /// The derivative of orders `orders` (along `dim_y`, along `dim_x`), by [`Taps::sobel`].
    pub fn sobel(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        orders: (usize, usize),
        size: usize,
        border: Border<NodeId>,
    ) -> NodeId {
        let longest = size.max(if size == 1 { 3 } else { 1 });
        let fits = |order: usize| order < longest;
        if size.is_multiple_of(2) || size > LONGEST || orders == (0, 0) || !fits(orders.0) || !fits(orders.1) {
            self.fail(Error::Derivative { y: orders.0, x: orders.1, size });
            return source;
        }
        let (column, row) = (Taps::sobel(orders.0, size), Taps::sobel(orders.1, size));
        let derivative = self.separable(source, (dim_y, &column), (dim_x, &row), border);
        self.called("sobel", &[source], derivative)
    }

    /// The first derivative along one dimension, smoothed along the other by 3, 10, 3.
    pub fn scharr(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        orders: (usize, usize),
        border: Border<NodeId>,
    ) -> NodeId {
        if !matches!(orders, (0, 1) | (1, 0)) {
            self.fail(Error::Derivative { y: orders.0, x: orders.1, size: 3 });
            return source;
        }
        let taps = |order: usize| Taps::from(if order == 0 { [3.0, 10.0, 3.0] } else { [-1.0, 0.0, 1.0] });
        let derivative = self.separable(source, (dim_y, &taps(orders.0)), (dim_x, &taps(orders.1)), border);
        self.called("scharr", &[source], derivative)
    }

    /// The sum of the second derivatives, by [`Kernel::laplacian`].
    pub fn laplacian(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        size: usize,
        border: Border<NodeId>,
    ) -> NodeId {
        if size.is_multiple_of(2) || size > LONGEST {
            self.refuse_window(dim_y, size, "a Laplacian has an odd size from 1 to 31");
            return source;
        }
        let sum = self.correlate(source, (dim_y, dim_x), &Kernel::laplacian(size), border);
        self.called("laplacian", &[source], sum)
    }
}
