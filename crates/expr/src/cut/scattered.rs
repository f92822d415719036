//! Values that go to computed places, in bands: results are whole, and the values of all bands meet in them, in any order.

use super::Uncut;
use crate::graph::{Binary, DimId, Graph, NodeId};

impl Graph {
    /// Whether what is computed along a dimension goes to computed places of the results, instead of being one of theirs; [`Uncut`] where results lack it, or
    /// differ in that.
    pub(super) fn is_scattered(&self, dim: DimId) -> Result<bool, Uncut> {
        let mut scattered = None;
        for (result, joined) in self.results().iter().enumerate() {
            if joined.along == Some(dim) {
                return Err(Uncut::Joined { result });
            }
            let output = joined.outputs.start;
            let (partial, is_computed_along) = (self.partial(output), self.loops_of(output).contains(&dim));
            let has_it = if partial.is_some() { is_computed_along } else { joined.dims.contains(&dim) };
            if !has_it {
                return Err(Uncut::Lacking { result });
            }
            let here = partial.is_some_and(|partial| !partial.keeps(dim));
            if *scattered.get_or_insert(here) != here {
                return Err(Uncut::Scattered { result: if here { result } else { 0 } });
            }
        }
        Ok(scattered.unwrap_or(false))
    }

    /// Has only values of the band scattered, where windows along the dimension have more.
    pub(super) fn scatter_within(&mut self, dim: DimId, band: [NodeId; 2]) {
        let within = self.is_within(dim, band, 0);
        let mut partials = std::mem::take(&mut self.partials);
        for partial in partials.values_mut() {
            let condition = partial.condition.map_or(within, |stored| self.binary(Binary::And, stored, within));
            partial.condition = Some(condition);
        }
        self.partials = partials;
    }
}
