//! Windows whose weights are products of a column's and a row's.

use super::step;
use super::taps::Taps;
use crate::graph::{DimId, Graph, NodeId};
use crate::reads::Border;

impl Graph {
    /// `source` weighted along `dim_x` by `row`, and what that gives along `dim_y` by `column`, in its floating-point type.
    pub fn separable(
        &mut self,
        source: NodeId,
        (dim_y, column): (DimId, &Taps),
        (dim_x, row): (DimId, &Taps),
        border: Border<NodeId>,
    ) -> NodeId {
        let sizes = [(dim_y, column), (dim_x, row)];
        if !sizes.iter().all(|(dim, taps)| self.window(*dim, taps.weights().len(), taps.anchor())) {
            return source;
        }
        let (picture, border) = self.in_real(source, border);
        let rows = self.line(picture, dim_x, row, border);
        // Rows that lie outside altogether are made of the border's constant.
        let outside = border.map(|v| self.weighted(&vec![v; row.weights().len()], row.weights()));
        let sums = self.line(rows, dim_y, column, outside);
        self.called("separable", &[source], sums)
    }

    /// One pass.
    fn line(&mut self, source: NodeId, dim: DimId, taps: &Taps, border: Border<NodeId>) -> NodeId {
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for (tap, weight) in taps.weights().iter().enumerate().filter(|(_, w)| **w != 0.0) {
            values.push(self.shifted(source, &[(dim, step(tap, taps.anchor()))], border));
            weights.push(*weight);
        }
        self.weighted_taps(source, &values, &weights)
    }
}
