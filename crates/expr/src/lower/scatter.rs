//! Stores whose place is computed, or which do not always happen.

use super::{Lower, Point, find};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, DimId};
use crate::program::Val;
use crate::scatter::{Partial, Place, range};

impl Lower<'_> {
    /// The coordinate of a result along one of its dimensions; `None` if the point has none.
    pub(super) fn place(&mut self, output: usize, dim: DimId, point: &Point) -> Option<Val> {
        match self.graph.partial(output).and_then(|p| p.place(dim)) {
            Some(place) => Some(self.value(place.coord, point)),
            None => find(point, dim),
        }
    }

    /// Whether anything is stored at a point: where every computed coordinate lies inside, and the condition holds. `None` if it
    /// always is.
    pub(super) fn condition(&mut self, partial: &Partial, point: &Point) -> Option<Val> {
        let mut all: Vec<Val> = partial.condition.map(|c| self.value(c, point)).into_iter().collect();
        for place in &partial.places {
            all.extend(self.inside(place, point));
        }
        let all = all.into_iter().reduce(|a, b| self.program.binary(Binary::And, a, b))?;
        let always = self.program.constant(all).is_some_and(|s| s.bits == 1);
        (!always).then_some(all)
    }

    /// The comparisons of a computed coordinate with its bounds; none with those that its type keeps.
    fn inside(&mut self, place: &Place, point: &Point) -> Vec<Val> {
        let coord = self.value(place.coord, point);
        let (low, high) = range(self.graph, place.coord).unwrap_or((i64::MIN, i64::MAX));
        let mut bounds = Vec::new();
        if low < 0 {
            let zero = self.program.constant_of(Scalar::of(0i32));
            bounds.push(self.program.binary(Binary::Ge, coord, zero));
        }
        if high >= place.extent {
            let extent = self.program.constant_of(Scalar::of(place.extent as i32));
            bounds.push(self.program.binary(Binary::Lt, coord, extent));
        }
        debug_assert!(bounds.iter().all(|v| self.program.dtype(*v) == DType::Bool));
        bounds
    }
}
