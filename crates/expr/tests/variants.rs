//! How many kernels a graph has for all the layouts that its operands come in: as many as docs/notes/variants.md lists.

use crate::random::Rng;
use std::collections::{HashMap, HashSet};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::{In, trace};

dims! { Y, X }

/// A view into an allocation that begins at a multiple of 256 bytes.
#[derive(Clone)]
struct Seen {
    axes: Vec<Axis>,
    /// Elements before that of the coordinates 0.
    start: i64,
}

impl Seen {
    fn dense(dims: &[u64], shape: &[i64]) -> Seen {
        Seen { axes: dense(dims, shape), start: 0 }
    }

    /// A view of these sizes: part of something larger, backwards, in steps, with other gaps, transposed, or one row or column
    /// again and again.
    fn random(rng: &mut Rng, dims: &[u64], shape: &[i64]) -> Seen {
        let steps: Vec<i64> = shape.iter().map(|_| rng.pick(&[1, 1, 1, 2, 3, 7])).collect();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if rng.chance(0.3) {
            rng.shuffle(&mut order);
        }
        let (mut stride, mut start, mut axes) = (1, 0, dense(dims, shape));
        for i in order.into_iter().rev() {
            let whole = shape[i] * steps[i] + rng.pick(&[0, 0, 1, 2, 3, 4, 8, 100]);
            (axes[i].stride, start) = (stride * steps[i], start + stride * rng.pick(&[0, 0, 1, 2, 3, 4]));
            stride *= whole + 4;
            if rng.chance(0.15) {
                start += axes[i].stride * (shape[i] - 1);
                axes[i].stride = -axes[i].stride;
            } else if rng.chance(0.1) {
                axes[i].stride = 0;
            }
        }
        Seen { axes, start }
    }

    fn view(&self, size: i64) -> View<'_> {
        let alignment = 1u32 << (256 | (self.start * size)).trailing_zeros();
        View { axes: &self.axes, place: Place::Device, alignment, boxes: None }
    }
}

/// The kernels of a graph, and the text of each.
#[derive(Default)]
struct Kernels(HashMap<Vec<u64>, String>);

impl Kernels {
    fn add(&mut self, graph: &Graph, views: &[View<'_>], out: View<'_>) {
        let plan = Plan::new(graph, views, &[out]).unwrap_or_else(|e| panic!("{e}"));
        self.0.entry(plan.key()).or_insert_with(|| emit(graph, &plan).unwrap_or_else(|e| panic!("{e}")).source);
    }

    /// How many there are; no two have the same text.
    fn count(&self) -> usize {
        let texts: HashSet<&String> = self.0.values().collect();
        assert_eq!(texts.len(), self.0.len(), "keys tell apart what is one kernel");
        self.0.len()
    }
}

/// Lines that begin anywhere and are of any length: whole vectors, vectors and a rest, single elements; of bytes words too.
#[test]
fn lines() {
    let mut rng = Rng::new(5);
    let floats = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a * 2.0 + b).store::<(X,)>()).graph;
    let bytes = trace(|a: In<u8, (X,)>, b: In<u8, (X,)>| (a + b).store::<(X,)>()).graph;
    for (graph, size, expected) in [(&floats, 4, 3), (&bytes, 1, 4)] {
        let mut kernels = Kernels::default();
        for _ in 0..500 {
            let shape = [rng.range(16, 1 << 20)];
            let line = |rng: &mut Rng| Seen { start: rng.range(0, 40), ..Seen::dense(<(X,)>::IDS, &shape) };
            let [a, b] =
                [(); 2].map(|()| if rng.chance(0.5) { Seen::dense(<(X,)>::IDS, &shape) } else { line(&mut rng) });
            kernels.add(graph, &[a.view(size), b.view(size)], Seen::dense(<(X,)>::IDS, &shape).view(size));
        }
        assert_eq!(kernels.count(), expected);
    }
}

/// Results into views that begin anywhere: one kernel more, and one with words.
#[test]
fn results_anywhere() {
    let mut rng = Rng::new(6);
    let graph = trace(|a: In<f32, (X,)>| (a * 2.0).store::<(X,)>()).graph;
    let mut kernels = Kernels::default();
    for _ in 0..300 {
        let shape = [rng.range(16, 1 << 20)];
        let [a, out] = [(); 2].map(|()| Seen { start: rng.range(0, 9), ..Seen::dense(<(X,)>::IDS, &shape) });
        kernels.add(&graph, &[a.view(4)], out.view(4));
    }
    assert_eq!(kernels.count(), 4);
}

/// Any sizes, strides, signs and alignments of two operands: neither sizes nor strides tell kernels apart.
#[test]
fn a_random_walk() {
    let mut rng = Rng::new(7);
    let same = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a + b).store::<(Y, X)>()).graph;
    let cast = trace(|a: In<u8, (Y, X)>, b: In<f32, (Y, X)>| (a.to::<f32>() + b).store::<(Y, X)>()).graph;
    let row = trace(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a + b).store::<(Y, X)>()).graph;
    for (name, graph, sizes, most) in
        [("same", &same, [4, 4], 56), ("cast", &cast, [1, 4], 60), ("row", &row, [4, 4], 36)]
    {
        let mut kernels = Kernels::default();
        for _ in 0..3000 {
            let shape = [rng.range(16, 3000), rng.range(16, 3000)];
            let operand = |rng: &mut Rng, dims: &[u64]| {
                let shape = &shape[2 - dims.len()..];
                if rng.chance(0.3) { Seen::dense(dims, shape) } else { Seen::random(rng, dims, shape) }
            };
            let dims: Vec<Vec<u64>> = graph
                .operands
                .iter()
                .map(|o| <(Y, X)>::IDS.iter().copied().filter(|d| o.dims.contains(d)).collect())
                .collect();
            let (a, b) = (operand(&mut rng, &dims[0]), operand(&mut rng, &dims[1]));
            let out = Seen::dense(<(Y, X)>::IDS, &shape);
            kernels.add(graph, &[a.view(sizes[0]), b.view(sizes[1])], out.view(4));
        }
        let count = kernels.count();
        assert!(count <= most, "{name}: {count} kernels");
    }
}
