//! Rows that take over what the row before them computed, on the host: upwards and downwards, over several strips of columns,
//! with taps that meet at the picture's edge.

use crate::emitted::check_all;
use crate::naive::Naive;
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::{Border, Centres, DType, Expr, Filter, In, Rect, Sampled, trace};

dims! { N, Y, X, C }

/// Longer than a block of the evaluator.
const WIDE: usize = 1100;

fn check(name: &str, graph: &Graph, inputs: &[Tensor], shape: &[i64]) {
    let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
    let layouts = [Layout::dense(shape.len())];
    let (results, failed) = evaluate(graph, &stored, &layouts, true, 1).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(failed, None, "{name}");
    let expected = Naive::new(graph, inputs, None).outputs(&[shape.to_vec()]);
    assert!(results[0].same(&expected[0]), "{name}: {}", results[0].difference(&expected[0]));
}

#[test]
fn taps_of_a_resize() {
    let mut rng = Rng::new(7);
    let picture = rng.tensor(DType::U8, <(Y, X)>::IDS, &[9, 40]);
    for (filter, height) in [(Filter::Linear, 23), (Filter::Linear, 4), (Filter::Cubic, 15), (Filter::Lanczos4, 12)] {
        let shape = [height as i64, WIDE as i64];
        let t = trace(|p: In<u8, (Y, X)>| p.resize_with::<Y, X>(height, WIDE, filter).store::<(Y, X)>());
        check(&format!("{filter:?} to {height}"), &t.graph, std::slice::from_ref(&picture), &shape);
        let t = trace(|p: In<u8, (Y, X)>| p.resize_with::<Y, X>(height, WIDE, filter).reverse::<Y>().store::<(Y, X)>());
        check(&format!("{filter:?} to {height}, upwards"), &t.graph, std::slice::from_ref(&picture), &shape);
    }
}

#[test]
fn rows_that_are_repeated() {
    let picture = Rng::new(8).tensor(DType::F32, <(Y, X)>::IDS, &[5, 17]);
    let t = trace(|p: In<f32, (Y, X)>| p.resize_nearest::<Y, X>(13, 90, Centres::Half).store::<(Y, X)>());
    check("nearest", &t.graph, &[picture], &[13, 90]);
}

#[test]
fn crops_of_a_batch() {
    let mut rng = Rng::new(9);
    let picture = rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[31, 37, 3]);
    let boxes: Vec<Rect> = (0..5).map(|_| rng.inside(31, 37)).collect();
    let boxes = Tensor::boxes(<(N,)>::IDS, &[5], &boxes);
    let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
        let pixel = p.crop::<Y, X, _>(b).resize::<Y, X>(14, 70).reverse::<C>();
        (pixel / 255.0 - 0.5).store::<(N, C, Y, X)>()
    });
    check("crops", &t.graph, &[picture, boxes], &[5, 3, 14, 70]);
}

fn at_corners<T: Sampled>(picture: In<T, (Y, X, C)>) -> Expr<T::Real, <(Y, X, C) as Dims>::Set> {
    picture.resize_at::<Y, X>(3, 8, Filter::Linear, |i, from, to| i * from / to)
}

/// As kernels: the channels of a pixel are words that begin anywhere, and a row takes over what the row before it made of them.
#[test]
fn taps_of_many_channels() {
    let mut rng = Rng::new(11);
    let mut cases = Vec::new();
    for (dtype, channels) in [(DType::U16, 5), (DType::U8, 8), (DType::U16, 4)] {
        let graph = match dtype {
            DType::U8 => trace(|p: In<u8, (Y, X, C)>| at_corners(p).store::<(Y, X, C)>()).graph,
            _ => trace(|p: In<u16, (Y, X, C)>| at_corners(p).store::<(Y, X, C)>()).graph,
        };
        let tensor = rng.tensor(dtype, <(Y, X, C)>::IDS, &[4, 6, channels]);
        // A line of odd bytes.
        let layout = Layout { pad: vec![0, 1, 0], alignment: dtype.size(), ..Layout::dense(3) };
        let operands = vec![Operand { tensor, layout, place: Place::Device }];
        let case = Case { graph, operands, outputs: vec![Layout::dense(3)], known: true };
        cases.push((format!("{channels} channels of {dtype}"), case));
    }
    check_all("taps::taps_of_many_channels", cases.into_iter());
}

/// As kernels: windows of computed length, of pictures whose memory runs along either dimension or from plane to plane.
#[test]
fn windows_by_area() {
    let mut rng = Rng::new(12);
    let mut cases = Vec::new();
    let mut add = |graph: Graph, shape: [i64; 3], pad: [i64; 3]| {
        let spec = graph.operands[0].clone();
        let tensor = rng.tensor(spec.dtype, &spec.dims, &shape);
        let layout = Layout { pad: pad.into(), alignment: 2, ..Layout::dense(3) };
        let name = format!("{} {shape:?} {pad:?}", spec.dtype);
        let operands = vec![Operand { tensor, layout, place: Place::Device }];
        cases.push((name, Case { graph, operands, outputs: vec![Layout::dense(3)], known: true }));
    };
    macro_rules! smaller {
        ($t:ty, $first:ident $second:ident $third:ident, $shape:expr) => {
            for pad in [[0, 0, 0], [1, 0, 0], [0, 3, 0]] {
                let of = |p: In<$t, ($first, $second, $third)>| {
                    p.resize_with::<Y, X>(3, 4, Filter::Area).store::<(C, Y, X)>()
                };
                add(trace(of).graph, $shape, pad);
            }
        };
    }
    smaller!(u8, Y X C, [11, 26, 3]);
    smaller!(u16, X Y C, [26, 11, 3]);
    smaller!(u8, C Y X, [3, 11, 26]);
    smaller!(u8, X C Y, [26, 2, 11]);
    check_all("taps::windows_by_area", cases.into_iter());
}

/// Neighbouring rows, each a tap of its own, inside a sum that is a loop.
#[test]
fn taps_within_loops() {
    let mut rng = Rng::new(10);
    let picture = rng.tensor(DType::F32, <(Y, X, C)>::IDS, &[12, 70, 20]);
    let t = trace(|p: In<f32, (Y, X, C)>| {
        let across = p.sum::<C>();
        let (above, below) = (across.slice::<Y>(0, 11), across.slice::<Y>(1, 11));
        (above * 0.25 + below).store::<(Y, X)>()
    });
    check("sums", &t.graph, &[picture], &[11, 70]);
}

/// Rows that are known only as far as others are from them: nothing is computed with them, so nobody knows which they are.
#[test]
fn rows_that_are_read_beside() {
    let picture = Rng::new(11).tensor(DType::F32, <(Y, X)>::IDS, &[12, 70]);
    for border in [Border::Reflect, Border::Reflect101, Border::Wrap] {
        let t = trace(|p: In<f32, (Y, X)>| {
            let beside = p.correlate::<Y, X>([[1.0f32], [0.0], [3.0]], Border::Replicate);
            beside.slice::<Y>(1, 9).pad::<Y>(3, 2, border).store::<(Y, X)>()
        });
        check(&format!("{border:?}"), &t.graph, std::slice::from_ref(&picture), &[14, 70]);
    }
}

/// Of four pixels of a window at once only the first can be the window's first.
#[test]
fn one_first_pixel() {
    let graph = trace(|p: In<u8, (Y, X, C)>| p.resize_with::<Y, X>(3, 4, Filter::Area).store::<(C, Y, X)>()).graph;
    let (picture, result) = (dense(<(Y, X, C)>::IDS, &[31, 67, 3]), dense(<(C, Y, X)>::IDS, &[3, 3, 4]));
    let view = |axes| View { axes, place: Place::Device, alignment: 256, boxes: None };
    let plan = Plan::new(&graph, &[view(&picture)], &[view(&result)]).unwrap_or_else(|e| panic!("{e}"));
    let text = emit(&graph, &plan).unwrap_or_else(|e| panic!("{e}")).source;
    // The row, the first of four, and those that are left over.
    assert_eq!(text.matches(" == 0;").count(), 3, "{text}");
}

/// A picture whose size is part of the expression, of so few points that each thread has one; and a larger one, with two.
#[test]
fn as_many_threads_as_there_are_points() {
    let plan = |height: usize, width: usize| {
        let graph = trace(|p: In<u8, (Y, X, C)>| p.resize::<Y, X>(height, width).store::<(C, Y, X)>()).graph;
        let picture = dense(<(Y, X, C)>::IDS, &[33, 61, 3]);
        let result = dense(<(C, Y, X)>::IDS, &[3, height as i64, width as i64]);
        let view = |axes| View { axes, place: Place::Device, alignment: 256, boxes: None };
        Plan::new(&graph, &[view(&picture)], &[view(&result)]).unwrap_or_else(|e| panic!("{e}"))
    };
    let (small, large) = (plan(112, 160), plan(720, 1280));
    assert_eq!((small.lanes, small.block), (1, [64, 4]), "160 columns are five warps, and not eight");
    assert_eq!((large.lanes, large.block), (2, [256, 1]));
}
