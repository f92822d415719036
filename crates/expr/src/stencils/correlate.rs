//! Windows weighted by a full kernel: literal weights, and weights that are an expression.

use super::kernel::Kernel;
use super::step;
use crate::graph::{Binary, DimId, Graph, NodeId, Note};
use crate::reads::{Border, sampled};
use crate::reduce::Reduction;

impl Graph {
    /// `source` and what lies around it in the floating-point type that pixels of it are interpolated in.
    pub(super) fn in_real(&mut self, source: NodeId, border: Border<NodeId>) -> (NodeId, Border<NodeId>) {
        let real = sampled(self.node(source).dtype);
        (self.cast(source, real), border.map(|outside| self.cast(outside, real)))
    }

    /// The sum of the pixels in a window around each pixel of `source`, times the kernel's weights, in its floating-point type.
    pub fn correlate(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        kernel: &Kernel,
        border: Border<NodeId>,
    ) -> NodeId {
        let ((height, width), (y, x)) = (kernel.size(), kernel.anchor());
        if !self.window(dim_y, height, y) || !self.window(dim_x, width, x) {
            return source;
        }
        let (picture, border) = self.in_real(source, border);
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for ((row, column), weight) in kernel.taps() {
            let by = [(dim_y, step(row, y)), (dim_x, step(column, x))];
            values.push(self.shifted(picture, &by, border));
            weights.push(weight);
        }
        let sum = self.weighted_taps(picture, &values, &weights);
        self.called("correlate", &[source], sum)
    }

    /// The sum of `values` times `weights`, over the dimensions of `picture` also where there are none.
    pub(super) fn weighted_taps(&mut self, picture: NodeId, values: &[NodeId], weights: &[f64]) -> NodeId {
        if !values.is_empty() {
            return self.weighted(values, weights);
        }
        let (zero, shape) = (self.number(self.node(picture).dtype, 0.0), self.node(picture).shape.to_vec());
        self.at(zero, &[], &shape)
    }

    /// As [`Graph::correlate`], with weights of the result's type that vary along `window`, the kernel's rows and columns: a
    /// loop, or as many statements where the kernel's size is known and small. A weight of 0 is a weight like others. Without an
    /// `anchor` it is in the middle.
    pub fn correlate_by(
        &mut self,
        source: NodeId,
        (dim_y, dim_x): (DimId, DimId),
        weights: NodeId,
        (rows, columns): (DimId, DimId),
        anchor: Option<(usize, usize)>,
        border: Border<NodeId>,
    ) -> NodeId {
        let (picture, border) = self.in_real(source, border);
        let anchor_y = self.window_anchor(weights, rows, anchor.map(|a| a.0));
        let anchor_x = self.window_anchor(weights, columns, anchor.map(|a| a.1));
        let (y, x) = (self.tap_place(dim_y, rows, anchor_y), self.tap_place(dim_x, columns, anchor_x));
        let value = self.at_border(picture, &[(dim_y, y), (dim_x, x)], &[], border);
        let product = self.rounded(Binary::Mul, weights, value);
        let sum = self.reduce_all(Reduction::Sum, product, &[rows, columns]);
        self.called("correlate", &[source, weights], sum)
    }

    /// The tap along `window` that belongs to the point itself; one that is given has to lie inside.
    fn window_anchor(&mut self, weights: NodeId, window: DimId, anchor: Option<usize>) -> NodeId {
        let size = self.needed(weights, window, 1);
        if let Some(anchor) = anchor {
            let anchor = i32::try_from(anchor).unwrap_or(i32::MAX);
            self.note(Note::Order(window, size, anchor, anchor));
            return self.int(anchor);
        }
        let (extent, two) = (self.extent(size), self.int(2));
        self.binary(Binary::Div, extent, two)
    }

    /// Where along `dim` the taps along `window` lie.
    pub(super) fn tap_place(&mut self, dim: DimId, window: DimId, anchor: NodeId) -> NodeId {
        let (index, tap) = (self.index(dim), self.index(window));
        let place = self.binary(Binary::Add, index, tap);
        self.binary(Binary::Sub, place, anchor)
    }
}
