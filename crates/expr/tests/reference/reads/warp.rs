//! Remap, affine and perspective warps.

use super::*;
use tilewright_expr::{Affine, Edge, Perspective};

/// The picture `at` (`h` x `w`) at the place (`v`, `u`).
fn place(at: impl Fn(i64, i64) -> f64, (h, w): (i64, i64), (v, u): (f64, f64), filter: Filter, edge: Edge<u8>) -> f64 {
    let border = match edge {
        Edge::Border(border) => border,
        Edge::Cut(_) => Border::Replicate,
    };
    let outside = match edge {
        Edge::Cut(value) | Edge::Border(Border::Constant(value)) => f64::from(value),
        Edge::Border(_) => f64::NAN,
    };
    if matches!(edge, Edge::Cut(_)) && !(0.0 <= u && u < w as f64 && 0.0 <= v && v < h as f64) {
        return outside;
    }
    let pixel = |y: i64, x: i64| match (brought(y, h, border), brought(x, w, border)) {
        (Some(y), Some(x)) => at(y, x),
        _ => outside,
    };
    between(|y| between(|x| pixel(y, x), u, filter), v, filter)
}

fn edges() -> Vec<Edge<u8>> {
    borders(77u8).into_iter().map(Edge::Border).chain([Edge::Cut(0), Edge::Cut(9)]).collect()
}

/// Multiples of 1/64, so that places are exact: what is cut and what is nearest hangs on nothing that is rounded.
fn fine(rng: &mut Rng, low: i64, high: i64) -> f32 {
    rng.range(low * 64, high * 64) as f32 / 64.0
}

#[test]
fn affine_maps_of_a_batch() {
    let mut rng = Rng::new(1);
    let (h, w, n, c) = (9, 13, 4, 2);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[h, w, c], 256);
    let maps: Vec<f32> =
        (0..n * 6).map(|i| if i % 3 == 2 { fine(&mut rng, -6, 12) } else { fine(&mut rng, -2, 2) }).collect();
    let list = Tensor::maps(<(N,)>::IDS, &[n], 6, &maps);
    for filter in FILTERS {
        for edge in edges() {
            let t = trace(|p: In<u8, (Y, X, C)>, m: In<Affine, (N,)>| {
                p.warp_affine::<Y, X, _>(m, 7, 8, filter, edge).store::<(N, C, Y, X)>()
            });
            let expected = tabulate(&[n, c, 7, 8], |i| {
                let m = |k: usize| f64::from(maps[i[0] * 6 + k]);
                let (y, x) = (i[2] as f64, i[3] as f64);
                let (u, v) = (m(0) * x + m(1) * y + m(2), m(3) * x + m(4) * y + m(5));
                place(|y, x| p[[y as usize, x as usize, i[1]].as_slice()].real(), (h, w), (v, u), filter, edge)
            });
            near::<f32>(
                &evaluate_every_way(&t.graph, &[&pic, &list])[0],
                &expected,
                2e-3,
                &format!("{filter:?} {edge:?}"),
            );
        }
    }
}

#[test]
fn perspective_maps() {
    let mut rng = Rng::new(2);
    let (h, w) = (17, 12);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let map = [0.9, 0.2, -1.5, -0.1, 1.3, 0.7, 0.013, -0.02, 1.1f32];
    let one = Tensor::maps(&[], &[], 9, &map);
    for filter in [Filter::Linear, Filter::Cubic, Filter::Lanczos4] {
        for edge in [Edge::Border(Border::Reflect), Edge::Border(Border::Constant(50)), Edge::Border(Border::Wrap)] {
            let t = trace(|p: In<u8, (Y, X)>, m: In<Perspective, ()>| {
                p.warp_perspective::<Y, X, _>(m, 11, 10, filter, edge).store::<(Y, X)>()
            });
            let expected = tabulate(&[11, 10], |i| {
                let m = |k: usize| f64::from(map[k]);
                let row = |k: usize| m(k) * i[1] as f64 + m(k + 1) * i[0] as f64 + m(k + 2);
                let at = |y: i64, x: i64| p[[y as usize, x as usize].as_slice()].real();
                place(at, (h, w), (row(3) / row(6), row(0) / row(6)), filter, edge)
            });
            near::<f32>(
                &evaluate_every_way(&t.graph, &[&pic, &one])[0],
                &expected,
                2e-2,
                &format!("{filter:?} {edge:?}"),
            );
        }
    }
}

/// Places from two operands, far outside too.
#[test]
fn remap_by_operands() {
    let mut rng = Rng::new(3);
    let (h, w) = (6, 5);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let mut places = |n: i64| ArrayD::from_shape_simple_fn(vec![8, 9], || fine(&mut rng, -3 * n, 4 * n));
    let (rows, columns) = (places(h), places(w));
    let maps = [&rows, &columns].map(|m| Tensor::of(<(Y, X)>::IDS, m));
    for filter in FILTERS {
        for edge in edges() {
            let t = trace(|p: In<u8, (Y, X)>, v: In<f32, (Y, X)>, u: In<f32, (Y, X)>| {
                p.remap::<Y, X, _, _>(v, u, filter, edge).store::<(Y, X)>()
            });
            let expected = tabulate(&[8, 9], |i| {
                let at = |y: i64, x: i64| p[[y as usize, x as usize].as_slice()].real();
                place(at, (h, w), (rows[i].into(), columns[i].into()), filter, edge)
            });
            let result = &evaluate_every_way(&t.graph, &[&pic, &maps[0], &maps[1]])[0];
            near::<f32>(result, &expected, 2e-3, &format!("{filter:?} {edge:?}"));
        }
    }
}

/// Infinite places are far outside, and a NaN is far before the first pixel.
#[test]
fn places_that_are_no_numbers() {
    let (p, pic) = picture::<f32>(&mut Rng::new(4), <(Y, X)>::IDS, &[3, 4], 100);
    let places = ArrayD::from_shape_vec(vec![4], vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38]).expect("four");
    let list = Tensor::of(<(K,)>::IDS, &places);
    for filter in FILTERS {
        let t = trace(|p: In<f32, (Y, X)>, u: In<f32, (K,)>| {
            (
                p.remap::<Y, X, _, _>(1.0, u, filter, Border::Constant(7.5)).store::<(K,)>(),
                p.remap::<Y, X, _, _>(u, 1.0, filter, Edge::Cut(-2.0)).store::<(K,)>(),
                p.remap::<Y, X, _, _>(1.0, u, filter, Border::Replicate).store::<(K,)>(),
            )
        });
        let results = evaluate_every_way(&t.graph, &[&pic, &list]);
        let constant = |v: f64| tabulate(&[4], |_| v);
        near::<f32>(&results[0], &constant(7.5), 1e-5, "constant");
        near::<f32>(&results[1], &constant(-2.0), 0.0, "cut");
        let ends = tabulate(&[4], |i| f64::from(p[[1, [0, 3, 0, 3][i[0]]].as_slice()]));
        near::<f32>(&results[2], &ends, 1e-4, "replicate");
    }
    let maps: Vec<f32> = [f32::NAN; 6].into_iter().chain([0.0, 0.0, f32::INFINITY, 0.0, 0.0, 0.0]).collect();
    let t = trace(|p: In<f32, (Y, X)>, m: In<Affine, (N,)>| {
        p.warp_affine::<Y, X, _>(m, 2, 2, Filter::Linear, Edge::Cut(-1.0)).store::<(N, Y, X)>()
    });
    let result = &evaluate_every_way(&t.graph, &[&pic, &Tensor::maps(<(N,)>::IDS, &[2], 6, &maps)])[0];
    near::<f32>(result, &tabulate(&[2, 2, 2], |_| -1.0), 0.0, "maps");
    // A perspective map that takes everything to infinity.
    let t = trace(|p: In<f32, (Y, X)>, m: In<Perspective, ()>| {
        p.warp_perspective::<Y, X, _>(m, 2, 2, Filter::Cubic, Edge::Cut(-1.0)).store::<(Y, X)>()
    });
    let result = &evaluate_every_way(&t.graph, &[&pic, &Tensor::maps(&[], &[], 9, &[0.0; 9])])[0];
    near::<f32>(result, &tabulate(&[2, 2], |_| -1.0), 0.0, "nowhere");
}

/// A warp of a resize of a crop is made of the same parts.
#[test]
fn a_warp_of_a_resize_of_a_crop() {
    let mut rng = Rng::new(5);
    let (h, w, n) = (15, 17, 3);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let boxes = rects(&mut rng, n, (h, w));
    let map = [0.75, -0.5, 2.0, 0.25, 1.0, -1.5f32];
    let inputs = [&pic, &Tensor::boxes(<(N,)>::IDS, &[n], &boxes), &Tensor::maps(&[], &[], 6, &map)];
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>, m: In<Affine, ()>| {
        let small = p.crop::<Y, X, _>(b).resize::<Y, X>(8, 6);
        small.warp_affine::<Y, X, _>(m, 5, 7, Filter::Linear, Border::Constant(3.0)).store::<(N, Y, X)>()
    });
    let expected = tabulate(&[n, 5, 7], |i| {
        let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
        let small = |y: i64, x: i64| crop_pixel(at, boxes[i[0]], (y as usize, x as usize), (8, 6), Centres::Half);
        let m = |k: usize| f64::from(map[k]);
        let row = |k: usize| m(k) * i[2] as f64 + m(k + 1) * i[1] as f64 + m(k + 2);
        place(small, (8, 6), (row(3), row(0)), Filter::Linear, Edge::Border(Border::Constant(3)))
    });
    near::<f32>(&evaluate_every_way(&t.graph, &inputs)[0], &expected, 1e-3, "all three");
}

#[test]
fn maps_are_turned_around() {
    let affine = [1.5, -0.25, 3.0, 0.5, 2.0, -7.0];
    let back = Affine::inverse_of(affine).expect("it has an inverse").0.map(f64::from);
    let apply = |m: &[f64], x: f64, y: f64| (m[0] * x + m[1] * y + m[2], m[3] * x + m[4] * y + m[5]);
    let perspective = [1.5, -0.25, 3.0, 0.5, 2.0, -7.0, 0.01, -0.03, 0.8];
    let there_and_back = Perspective::inverse_of(perspective).expect("it has an inverse").0.map(f64::from);
    for (x, y) in [(0.0, 0.0), (10.0, -3.0), (4.5, 100.0)] {
        let (u, v) = apply(&affine, x, y);
        let (x1, y1) = apply(&back, u, v);
        assert!((x1 - x).abs() < 1e-4 && (y1 - y).abs() < 1e-4, "{x1} {y1}");
        let divided = |m: &[f64], x: f64, y: f64| {
            let (u, v) = apply(m, x, y);
            let w = m[6] * x + m[7] * y + m[8];
            (u / w, v / w)
        };
        let (u, v) = divided(&perspective, x, y);
        let (x1, y1) = divided(&there_and_back, u, v);
        assert!((x1 - x).abs() < 1e-3 && (y1 - y).abs() < 1e-3, "{x1} {y1}");
    }
    assert_eq!(Affine::inverse_of([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]), Some(Affine::IDENTITY));
    for singular in [[1.0, 2.0, 0.0, 2.0, 4.0, 1.0], [f64::NAN; 6], [0.0; 6], [1e-60, 0.0, 0.0, 0.0, 1e-60, 0.0]] {
        assert_eq!(Affine::inverse_of(singular), None, "{singular:?}");
    }
    for singular in [[1.0; 9], [f64::NAN; 9], [0.0; 9]] {
        assert_eq!(Perspective::inverse_of(singular), None, "{singular:?}");
    }
}
