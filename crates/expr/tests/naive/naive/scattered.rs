//! Outputs whose places are computed: value after value, in the order of the world's points.

use super::{Naive, Number, Place, binary};
use crate::tensor::Tensor;
use tilewright_expr::scatter::{Initial, Partial};

impl Naive<'_> {
    /// What a result is whose places hold `held` before, if that is what they keep.
    pub(super) fn scattered(&mut self, number: usize, partial: &Partial, shape: &[i64]) -> Tensor {
        let graph = self.graph;
        let out = &graph.outputs[number];
        let dtype = graph.node(out.node).dtype;
        let count = shape.iter().product::<i64>() as usize;
        let first = match partial.initial {
            Initial::Filled(value) => value.bits,
            Initial::Held(_) => self.held,
        };
        let mut bits = vec![if count == 0 { 0 } else { Number::of(dtype, first).bits(dtype) }; count];
        let mut points: Vec<Place> = vec![Place::new()];
        for (dim, size) in &partial.world {
            let n = self.size(*size, &[], false) as i64;
            let along = |p: Place| (0..n).map(move |c| p.iter().copied().chain([(*dim, c)]).collect::<Place>());
            points = points.into_iter().flat_map(along).collect();
        }
        for point in points {
            if partial.condition.is_some_and(|c| self.value(c, &point, false).int() == 0) {
                continue;
            }
            let mut place = Some(0);
            for (dim, n) in out.dims.iter().zip(shape) {
                let computed = partial.places.iter().find(|p| p.dim == *dim);
                let at = match computed {
                    Some(computed) => self.value(computed.coord, &point, false).int() as i64,
                    None => point.iter().find(|(d, _)| d == dim).expect("a kept dimension").1,
                };
                place = place.filter(|_| (0..*n).contains(&at)).map(|place| place * n + at);
            }
            let Some(place) = place else { continue };
            let value = self.value(out.node, &point, false);
            let place = &mut bits[place as usize];
            *place = match partial.collision.operation() {
                Some(op) => binary(op, Number::of(dtype, *place), value, dtype).bits(dtype),
                None => value.bits(dtype),
            };
        }
        Tensor { dtype, components: 1, dims: partial.shown.to_vec(), shape: shape.to_vec(), bits }
    }
}
