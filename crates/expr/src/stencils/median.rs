//! The middle value of a window.

use super::step;
use crate::graph::{DimId, Graph, NodeId};
use crate::reads::Border;

impl Graph {
    /// The middle one of the `size` x `size` values around each pixel: exact, in the type of `source`.
    ///
    /// Columns are sorted first, an expression for each rank, which neighbours share; then, at each rank, the columns' values.
    /// After that value (`i`, `j`) of the square is at least as large as `(i + 1) (j + 1)` of the values, itself included, and at
    /// most as large as `(size - i) (size - j)`: where one of these is more than half, it is not the middle one unless it equals
    /// it, as many are left out at each end, and a network finds the middle one of the others.
    pub fn median(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        size: usize,
        border: Border<NodeId>,
    ) -> NodeId {
        if !matches!(size, 1 | 3 | 5 | 7) {
            self.refuse_window(dim_y, size, "a median has the size 1, 3, 5 or 7");
            return source;
        }
        let anchor = size / 2;
        let along = |g: &mut Graph, values: NodeId, dim: DimId| {
            let mut line: Vec<NodeId> =
                (0..size).map(|tap| g.shifted(values, &[(dim, step(tap, anchor))], border)).collect();
            g.sort(&mut line);
            line
        };
        let most = (size * size).div_ceil(2);
        let mut candidates = Vec::new();
        for (i, rank) in along(self, source, dim_y).into_iter().enumerate() {
            for (j, value) in along(self, rank, dim_x).into_iter().enumerate() {
                if (i + 1) * (j + 1) <= most && (size - i) * (size - j) <= most {
                    candidates.push(value);
                }
            }
        }
        let middle = self.middle(candidates);
        self.called("median", &[source], middle)
    }
}
