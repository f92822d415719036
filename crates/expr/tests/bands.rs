//! Short rows, several of which the host computes at once: lengths around those of words, vectors and blocks, rows that want the
//! same lines, bytes that lie close together or far apart, up to the last one of a picture.

use crate::naive::Naive;
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_dims::{Dims, dims};
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Border, Centres, DType, Filter, In, Rect, coordinate, trace};

dims! { N, Y, X, C }

/// Compares every result with the definition, for operands and results in memory of these layouts.
fn check_as(name: &str, graph: &Graph, inputs: &[Tensor], layouts: &[Layout], shapes: &[Vec<i64>]) {
    let (of_inputs, of_results) = layouts.split_at(inputs.len());
    let stored: Vec<Stored> = inputs.iter().zip(of_inputs).map(|(t, layout)| Stored::new(t, layout)).collect();
    let (results, failed) = evaluate(graph, &stored, of_results, true, 1).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(failed, None, "{name}");
    let expected = Naive::new(graph, inputs, None).outputs(shapes);
    for (i, (got, expected)) in results.iter().zip(&expected).enumerate() {
        assert!(got.same(expected), "{name}, result {i}: {}", got.difference(expected));
    }
}

fn check(name: &str, graph: &Graph, inputs: &[Tensor], shapes: &[Vec<i64>]) {
    let ranks = inputs.iter().map(|t| t.dims.len()).chain(shapes.iter().map(Vec::len));
    let dense: Vec<Layout> = ranks.clone().map(Layout::dense).collect();
    check_as(name, graph, inputs, &dense, shapes);
    let mut rng = Rng::new(name.len() as u64);
    for _ in 0..2 {
        let random: Vec<Layout> = ranks.clone().map(|rank| Layout::random(&mut rng, rank)).collect();
        check_as(&format!("{name}, {random:?}"), graph, inputs, &random, shapes);
    }
}

#[test]
fn widths_and_heights() {
    let mut rng = Rng::new(21);
    let sizes =
        [(2, 64), (3, 65), (17, 71), (40, 100), (5, 512), (9, 1024), (4, 1025), (300, 66), (600, 7), (2, 1), (90, 80)];
    for (height, width) in sizes {
        let picture = rng.tensor(DType::F32, <(Y, X)>::IDS, &[height, width]);
        let of_rows = rng.tensor(DType::F32, <(Y,)>::IDS, &[height]);
        let of_columns = rng.tensor(DType::F32, <(X,)>::IDS, &[width]);
        let t = trace(|p: In<f32, (Y, X)>, y: In<f32, (Y,)>, x: In<f32, (X,)>| {
            let mixed = (p * y + x).max(y - x) / (y * y + 1.0);
            let low = mixed.lt(y).select(mixed * 2.0, p);
            (
                low.store::<(Y, X)>(),
                (y * 3.0).store::<(Y,)>(),
                (mixed.to::<i32>() + coordinate::<Y>()).store::<(X, Y)>(),
            )
        });
        let shapes = [vec![height, width], vec![height], vec![width, height]];
        check(&format!("{height} x {width}"), &t.graph, &[picture, of_rows, of_columns], &shapes);
    }
}

#[test]
fn crops_up_to_the_last_byte() {
    let mut rng = Rng::new(22);
    let (high, wide) = (41, 230);
    let picture = rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[high, wide, 3]);
    let mut boxes: Vec<Rect> = (0..3).map(|_| rng.inside(high, wide)).collect();
    boxes.extend([Rect::new(wide as i32 - 1, 0, 1, 41), Rect::new(0, 0, 230, 41), Rect::new(225, 30, 5, 11)]);
    let boxes = Tensor::boxes(<(N,)>::IDS, &[6], &boxes);
    for (height, width) in [(19, 64), (50, 90), (3, 200), (33, 16), (7, 260)] {
        let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
            let pixel = p.crop::<Y, X, _>(b).resize::<Y, X>(height, width).reverse::<C>();
            ((pixel * 0.3 - 1.0) / 3.2).store::<(N, C, Y, X)>()
        });
        let shape = vec![6, 3, height as i64, width as i64];
        check(&format!("crops to {height} x {width}"), &t.graph, &[picture.clone(), boxes.clone()], &[shape]);
    }
}

#[test]
fn bytes_near_and_far() {
    let mut rng = Rng::new(23);
    for dtype in [DType::U8, DType::I8, DType::U16, DType::F64] {
        let line = rng.tensor(dtype, <(Y, X)>::IDS, &[6, 700]);
        for (from, width, spread) in [(0, 70, 1), (600, 100, 3), (3, 129, 20), (0, 80, 650), (690, 64, 9), (699, 96, 0)]
        {
            let places: Vec<i64> = (0..width).map(|_| (from + rng.range(0, spread + 1)).min(699)).collect();
            let bits = places.iter().map(|place| *place as u64).collect();
            let dims = <(X,)>::IDS.to_vec();
            let places = Tensor { dtype: DType::I32, components: 1, dims, shape: vec![width], bits };
            let name = format!("{dtype}: {width} of {spread} from {from}");
            macro_rules! gathered {
                ($t:ty) => {
                    trace(|p: In<$t, (Y, X)>, i: In<i32, (X,)>| {
                        let first = i.max(0).min(699);
                        p.at::<X, _>(first).store::<(Y, X)>()
                    })
                    .graph
                };
            }
            let graph = match dtype {
                DType::U8 => gathered!(u8),
                DType::I8 => gathered!(i8),
                DType::U16 => gathered!(u16),
                _ => gathered!(f64),
            };
            check(&name, &graph, &[line.clone(), places], &[vec![6, width]]);
        }
    }
}

#[test]
fn rows_that_want_the_same_lines() {
    let mut rng = Rng::new(24);
    let picture = rng.tensor(DType::U8, <(Y, X)>::IDS, &[23, 90]);
    let inputs = std::slice::from_ref(&picture);
    for height in [1, 5, 23, 24, 70, 290] {
        let shapes = [vec![height as i64, 100]];
        for filter in [Filter::Linear, Filter::Cubic, Filter::Lanczos4] {
            let of = |p: In<u8, (Y, X)>| p.resize_with::<Y, X>(height, 100, filter).store::<(Y, X)>();
            check(&format!("{filter:?} to {height}"), &trace(of).graph, inputs, &shapes);
            let of = |p: In<u8, (Y, X)>| p.resize_with::<Y, X>(height, 100, filter).reverse::<Y>().store::<(Y, X)>();
            check(&format!("{filter:?} to {height}, upwards"), &trace(of).graph, inputs, &shapes);
        }
        let t = trace(|p: In<u8, (Y, X)>| p.resize_nearest::<Y, X>(height, 100, Centres::Half).store::<(Y, X)>());
        check(&format!("nearest to {height}"), &t.graph, inputs, &shapes);
        let t = trace(|p: In<u8, (Y, X)>| {
            let blurred = p.gaussian_blur::<Y, X>((5, 3), (0.0, 0.0), Border::Replicate);
            blurred.resize::<Y, X>(height, 100).store::<(Y, X)>()
        });
        check(&format!("blurred, to {height}"), &t.graph, inputs, &shapes);
        let t = trace(|p: In<u8, (Y, X)>| {
            let small = p.resize::<Y, X>(9, 70);
            (small.resize::<Y, X>(height, 100) - p.resize::<Y, X>(height, 100)).store::<(Y, X)>()
        });
        check(&format!("twice, to {height}"), &t.graph, inputs, &shapes);
    }
}

/// Refuses what no operand holds.
#[scalar_fn(cuda = "unsigned short small(unsigned short x, unsigned short y) { return x * 3 + y; }")]
fn small(x: u16, y: u16) -> u16 {
    assert!(x < 500 && (x == 0) == (y == 0), "{x} and {y} are no values of the operands");
    x * 3 + y
}

#[test]
fn functions_see_values_alone() {
    let mut rng = Rng::new(25);
    for (height, width) in [(30, 65), (9, 64), (12, 127)] {
        let mut picture = rng.tensor(DType::U16, <(Y, X)>::IDS, &[height, width]);
        picture.bits.iter_mut().for_each(|b| *b = *b % 499 + 1);
        let mut of_rows = rng.tensor(DType::U16, <(Y,)>::IDS, &[height]);
        of_rows.bits.iter_mut().for_each(|b| *b = *b % 499 + 1);
        let t = trace(|p: In<u16, (Y, X)>, y: In<u16, (Y,)>| {
            let (own, other) = (small::of(p, y), small::of(p, p));
            (own.to::<f32>() * 0.5 - other.to::<f32>()).store::<(Y, X)>()
        });
        check(&format!("{height} x {width}"), &t.graph, &[picture, of_rows], &[vec![height, width]]);
    }
}
