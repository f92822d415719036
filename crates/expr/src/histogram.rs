//! Histograms: how often each value occurs.

use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reduce::Reduction;

impl Graph {
    /// How many values of `source` (integers) along `dims` are each of `0..bins`, over the new dimension `bin`.
    pub fn histogram(&mut self, source: NodeId, dims: &[DimId], bin: DimId, bins: i64) -> NodeId {
        // The cast saturates, at values that are no index.
        let value = self.cast(source, DType::I32);
        let index = self.index(bin);
        let index = self.repeat(index, bin, bins);
        let found = self.rounded(Binary::Eq, value, index);
        let found = self.cast(found, DType::I64);
        let counts = self.reduce_all(Reduction::Sum, found, dims);
        self.called("histogram", &[source], counts)
    }
}
