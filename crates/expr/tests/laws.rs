//! Laws that hold for every input.

use crate::naive::nearest;
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate, evaluate_every_way};
use proptest::prelude::*;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Place, View};
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::{Centres, DType, In, Rect, trace};

dims! { N, Y, X, C }

const YX: &[u64] = <(Y, X)>::IDS;

fn one(graph: &Graph, inputs: &[&Tensor]) -> Tensor {
    let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
    let layouts: Vec<Layout> = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    let (mut results, failed) = evaluate(graph, &stored, &layouts, true, 1).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(failed, None);
    results.remove(0)
}

/// The same values in another order of dimensions.
fn reordered(t: &Tensor, dims: &[u64]) -> Tensor {
    let at = |d: &u64| t.dims.iter().position(|e| e == d).expect("the same dimensions");
    let order: Vec<usize> = dims.iter().map(at).collect();
    let array = t.array::<f32>().permuted_axes(order);
    Tensor::of(dims, &array.as_standard_layout().into_owned())
}

fn size() -> impl Strategy<Value = i64> {
    1i64..24
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Storing under another order of dimensions stores the transpose; so does reading an operand under another order.
    #[test]
    fn projection_commutes_with_permutation(seed: u64, y in size(), x in size(), c in 1i64..5) {
        let mut rng = Rng::new(seed);
        let a = rng.tensor(DType::F32, <(Y, X, C)>::IDS, &[y, x, c]);
        let b = rng.tensor(DType::F32, <(X,)>::IDS, &[x]);
        let s = rng.tensor(DType::F32, <(Y, C)>::IDS, &[y, c]);
        let planar = trace(|a: In<f32, (Y, X, C)>, b: In<f32, (X,)>, s: In<f32, (Y, C)>| (a * b - s).store::<(C, Y, X)>());
        let packed = trace(|a: In<f32, (C, X, Y)>, b: In<f32, (X,)>, s: In<f32, (C, Y)>| (a * b - s).store::<(Y, X, C)>());
        let first = one(&planar.graph, &[&a, &b, &s]);
        let other = one(&packed.graph, &[&reordered(&a, <(C, X, Y)>::IDS), &b, &reordered(&s, <(C, Y)>::IDS)]);
        prop_assert!(first.same(&reordered(&other, <(C, Y, X)>::IDS)));
    }

    /// Padding, steps, order and alignment of memory change no bit (asserted within), and neither does the number of threads.
    #[test]
    fn layout_does_not_matter(seed: u64, n in 1i64..5, y in size(), x in size()) {
        let mut rng = Rng::new(seed);
        let picture = rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[y, x, 3]);
        let boxes: Vec<Rect> = (0..n).map(|_| rng.inside(y, x)).collect();
        let boxes = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
        let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
            let r = p.crop::<Y, X, _>(b).resize::<Y, X>(5, 7);
            ((r - 3.5).reverse::<C>().store::<(N, C, Y, X)>(), r.to::<u8>().store::<(X, N, Y, C)>())
        });
        evaluate_every_way(&t.graph, &[&picture, &boxes]);
    }

    /// Loops that are one run of memory are merged; padding keeps them apart. Same bits.
    #[test]
    fn merging_loops_changes_nothing(seed: u64, n in size(), y in size(), x in size()) {
        let mut rng = Rng::new(seed);
        let shape = [n, y, x];
        let (a, b) = (rng.tensor(DType::F32, <(N, Y, X)>::IDS, &shape), rng.tensor(DType::F32, <(N, Y, X)>::IDS, &shape));
        let t = trace(|a: In<f32, (N, Y, X)>, b: In<f32, (N, Y, X)>| (a / b + a).exp().store::<(N, Y, X)>());
        let loops = |pad: i64| {
            let layout = Layout { pad: vec![0, pad, pad], ..Layout::dense(3) };
            let stored = [Stored::new(&a, &layout), Stored::new(&b, &layout)];
            let views: Vec<View<'_>> = stored.iter().map(|s| s.view(Place::Device, true)).collect();
            let plan = Plan::host(&t.graph, &views, &views[..1]).unwrap_or_else(|e| panic!("{e}"));
            let (mut results, _) = evaluate(&t.graph, &stored, &[layout], true, 0).unwrap_or_else(|e| panic!("{e}"));
            (plan.world.len(), results.remove(0))
        };
        let ((merged, first), (apart, other)) = (loops(0), loops(1));
        prop_assert_eq!(merged, 1);
        // What has one index is a loop of its own nowhere.
        prop_assert_eq!(apart, shape.iter().filter(|n| **n > 1).count().max(1));
        prop_assert!(first.same(&other));
    }

    /// A crop of everything, resized to the size it has, is the picture.
    #[test]
    fn whole_crop_and_resize_to_the_same_size_is_identity(seed: u64, y in size(), x in size(), corner: bool) {
        let picture = Rng::new(seed).tensor(DType::U16, YX, &[y, x]);
        let whole = Tensor::boxes(&[], &[], &[Rect::new(0, 0, x as i32, y as i32)]);
        let centres = if corner { Centres::Corner } else { Centres::Half };
        let t = trace(|p: In<u16, (Y, X)>, b: In<Rect, ()>| {
            p.crop::<Y, X, _>(b).resize_with::<Y, X>(y as usize, x as usize, centres).to::<u16>().store::<(Y, X)>()
        });
        prop_assert!(one(&t.graph, &[&picture, &whole]).same(&picture));
    }

    /// A crop is the part of the picture inside the box; a crop of a crop is a crop by the sum of the corners.
    #[test]
    fn crops_compose(seed: u64, y in size(), x in size()) {
        let mut rng = Rng::new(seed);
        let picture = rng.tensor(DType::F32, YX, &[y, x]);
        let outer = rng.inside(y, x);
        let inner = rng.inside(outer.height.into(), outer.width.into());
        let sum = Rect::new(outer.x + inner.x, outer.y + inner.y, inner.width, inner.height);
        let boxes = |r: Rect| Tensor::boxes(&[], &[], &[r]);
        let twice = trace(|p: In<f32, (Y, X)>, a: In<Rect, ()>, b: In<Rect, ()>| {
            p.crop::<Y, X, _>(a).crop::<Y, X, _>(b).store::<(Y, X)>()
        });
        let once = trace(|p: In<f32, (Y, X)>, a: In<Rect, ()>| p.crop::<Y, X, _>(a).store::<(Y, X)>());
        let twice = one(&twice.graph, &[&picture, &boxes(outer), &boxes(inner)]);
        let once = one(&once.graph, &[&picture, &boxes(sum)]);
        prop_assert!(twice.same(&once), "{}", twice.difference(&once));
        let (r, all) = (sum, picture.array::<f32>());
        let part = all.slice_each_axis(|d| {
            let (from, n) = if d.axis.index() == 0 { (r.y, r.height) } else { (r.x, r.width) };
            ndarray::Slice::from(from as isize..(from + n) as isize)
        });
        prop_assert!(once.same(&Tensor::of(YX, &part.as_standard_layout().into_owned())));
    }

    /// Backwards twice is forwards, and an order that is undone is no order.
    #[test]
    fn reverse_and_reorder_undo_themselves(seed: u64, y in size(), x in 1i64..9) {
        let mut rng = Rng::new(seed);
        let a = rng.tensor(DType::I64, YX, &[y, x]);
        let mut order: Vec<i32> = (0..x as i32).collect();
        rng.shuffle(&mut order);
        let mut inverse = order.clone();
        order.iter().enumerate().for_each(|(i, o)| inverse[*o as usize] = i as i32);
        let t = trace(|a: In<i64, (Y, X)>| {
            a.reverse::<Y>().reorder::<X>(&order).reverse::<Y>().reorder::<X>(&inverse).store::<(Y, X)>()
        });
        prop_assert!(one(&t.graph, &[&a]).same(&a));
    }

    /// Interpolation stays between the smallest and the largest pixel, and keeps a constant picture.
    #[test]
    fn interpolation_stays_in_range(seed: u64, y in size(), x in size(), h in size(), w in size(), corner: bool) {
        let picture = Rng::new(seed).tensor(DType::U8, YX, &[y, x]);
        let centres = if corner { Centres::Corner } else { Centres::Half };
        let t = trace(|p: In<u8, (Y, X)>| p.resize_with::<Y, X>(h as usize, w as usize, centres).store::<(Y, X)>());
        let result = one(&t.graph, &[&picture]).array::<f32>();
        let all = picture.array::<u8>();
        let (low, high) = (f32::from(*all.iter().min().expect("pixels")), f32::from(*all.iter().max().expect("pixels")));
        prop_assert!(result.iter().all(|v| (low..=high).contains(v)));
    }

    /// The cast's own definition of rounding: a float to an integer and back is the nearest integer.
    #[test]
    fn casts_round_to_even(values in prop::collection::vec(-1e6f64..1e6, 1..40)) {
        let values: Vec<f64> = values.iter().flat_map(|v| [*v, (v * 2.0).round() / 2.0]).collect();
        let n = values.len() as i64;
        let a = Tensor::of(<(X,)>::IDS, &ndarray::Array1::from(values.clone()).into_dyn());
        let t = trace(|a: In<f64, (X,)>| a.to::<i32>().to::<f64>().store::<(X,)>());
        let result = one(&t.graph, &[&a]).array::<f64>();
        prop_assert_eq!(result.len() as i64, n);
        for (got, v) in result.iter().zip(&values) {
            prop_assert_eq!(*got, nearest(*v));
        }
    }
}
