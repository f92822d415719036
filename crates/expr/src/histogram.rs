//! Histograms: how often each value occurs, or what weights its occurrences have.
//!
//! As a value among others, a bin is the sum of what compares equal to it: it may be read, normalised, scanned like any other. Where
//! it is stored as it stands, it is scattered instead: its source is read once, and each value goes to its bin.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reduce::Reduction;
use crate::scatter::{Collision, Initial, Scattering};

impl Graph {
    /// How many values of `source` (integers) along `dims` are each of `0..bins`, over the new dimension `bin`.
    pub fn histogram(&mut self, source: NodeId, dims: &[DimId], bin: DimId, bins: i64) -> NodeId {
        let one = self.constant(Scalar::of(1i64));
        let counts = self.binned((source, one), dims, (bin, bins));
        self.called("histogram", &[source], counts)
    }

    /// The sums of `weights` (integers) at which `source` (integers) along `dims` is each of `0..bins`, over the new dimension
    /// `bin`.
    pub fn weighted_histogram(
        &mut self,
        (source, weights): (NodeId, NodeId),
        dims: &[DimId],
        (bin, bins): (DimId, i64),
    ) -> NodeId {
        let weight = self.cast(weights, DType::I64);
        let sums = self.binned((source, weight), dims, (bin, bins));
        self.called("weighted_histogram", &[source, weights], sums)
    }

    fn binned(&mut self, (source, weight): (NodeId, NodeId), dims: &[DimId], (bin, bins): (DimId, i64)) -> NodeId {
        if !self.legal(bin, bins, 1) {
            return weight;
        }
        // The cast saturates, at values that are no index.
        let value = self.cast(source, DType::I32);
        let index = self.index(bin);
        let index = self.repeat(index, bin, bins);
        let found = self.rounded(Binary::Eq, value, index);
        let zero = self.constant(Scalar::of(0i64));
        let found = self.select(found, weight, zero);
        let sums = self.reduce_all(Reduction::Sum, found, dims);
        let places = vec![(bin, value, bins)];
        let initial = Initial::Filled(Scalar::of(0i64));
        self.without_journal();
        self.histograms.insert(sums, Scattering { value: weight, places, collision: Collision::Sum, initial });
        sums
    }
}
