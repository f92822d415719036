//! Crop and bilinear resize against loops over the written formula in f64.

use super::{C, K, N, X, Y, array, check, tabulate};
use crate::random::Rng;
use crate::tensor::{Tensor, evaluate_every_way};
use ndarray::ArrayD;
use tilewright_dims::Dims;
use tilewright_expr::{Centres, In, Number, Rect, Sampled, Value, trace};

/// Neighbours and weight of index `i` of `to`, in `from` pixels.
fn tap(i: usize, from: i64, to: usize, centres: Centres) -> (usize, usize, f64) {
    let scale = from as f64 / to as f64;
    let s = match centres {
        Centres::Half => ((i as f64 + 0.5) * scale - 0.5).max(0.0),
        Centres::Corner => i as f64 * scale,
    };
    let last = from as usize - 1;
    let first = (s.floor() as usize).min(last);
    (first, (first + 1).min(last), s - s.floor())
}

/// The pixel (`y`, `x`) of the picture `at`, of `from` pixels, resampled to `to`.
fn bilinear(
    at: impl Fn(usize, usize) -> f64,
    (y, x): (usize, usize),
    from: (i64, i64),
    to: (usize, usize),
    centres: Centres,
) -> f64 {
    let ((y0, y1, fy), (x0, x1, fx)) = (tap(y, from.0, to.0, centres), tap(x, from.1, to.1, centres));
    let row = |y| at(y, x0) + fx * (at(y, x1) - at(y, x0));
    row(y0) + fy * (row(y1) - row(y0))
}

fn close<T: Value + Into<f64>>(result: &Tensor, expected: &ArrayD<f64>, tolerance: f64) {
    let got = result.array::<T>();
    assert_eq!(got.shape(), expected.shape());
    for (i, e) in expected.indexed_iter() {
        let g: f64 = got[&i].into();
        let limit = tolerance * (1.0 + e.abs());
        assert!((g - e).abs() <= limit, "{i:?}: got {g}, the formula gives {e}");
    }
}

/// A picture without special values, which make every neighbour of theirs special.
fn picture<T: Gray>(rng: &mut Rng, dims: &[u64], shape: &[i64], largest: i64) -> (ArrayD<T>, Tensor) {
    let count = shape.iter().map(|n| *n as usize).collect::<Vec<_>>();
    let values = ArrayD::from_shape_simple_fn(count, || T::pixel(rng.range(0, largest)));
    let tensor = Tensor::of(dims, &values);
    (values, tensor)
}

/// A type of pixels, from and to the numbers of the reference.
trait Gray: Value {
    fn pixel(v: i64) -> Self;
    fn real(self) -> f64;
}
macro_rules! pixels {
    ($($t:ty),*) => { $(impl Gray for $t {
        fn pixel(v: i64) -> Self { v as $t }
        fn real(self) -> f64 { self as f64 }
    })* };
}
pixels!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

fn resized<T: Number + Sampled + Gray>(largest: i64, tolerance: f64)
where
    T::Real: tilewright_expr::Element + Into<f64>,
{
    let sizes = [
        ((1, 1), (1, 1)),
        ((1, 1), (3, 5)),
        ((7, 13), (1, 1)),
        ((7, 13), (7, 13)),
        ((9, 16), (31, 11)),
        ((37, 5), (8, 29)),
    ];
    for (i, ((h, w), (th, tw))) in sizes.into_iter().enumerate() {
        let mut rng = Rng::new(i as u64);
        let (p, tensor) = picture::<T>(&mut rng, <(Y, X)>::IDS, &[h, w], largest);
        for centres in [Centres::Half, Centres::Corner] {
            let t = trace(|p: In<T, (Y, X)>| p.resize_with::<Y, X>(th, tw, centres).store::<(Y, X)>());
            let at = |y: usize, x: usize| p[[y, x].as_slice()].real();
            let expected = tabulate(&[th as i64, tw as i64], |i| bilinear(at, (i[0], i[1]), (h, w), (th, tw), centres));
            close::<T::Real>(&evaluate_every_way(&t.graph, &[&tensor])[0], &expected, tolerance);
        }
    }
}

#[test]
fn resize_of_every_type() {
    resized::<u8>(256, 1e-5);
    resized::<i8>(128, 1e-5);
    resized::<u16>(1 << 16, 1e-4);
    resized::<i16>(1 << 15, 1e-4);
    resized::<f32>(1000, 1e-4);
    resized::<u32>(1 << 32, 1e-7);
    resized::<i32>(1 << 31, 1e-7);
    resized::<u64>(1 << 40, 1e-7);
    resized::<i64>(1 << 40, 1e-7);
    resized::<f64>(1 << 20, 1e-9);
}

/// Weights that are exact in f32 give the formula's values exactly.
#[test]
fn exact_weights() {
    let (p, tensor) = picture::<u8>(&mut Rng::new(3), <(Y, X)>::IDS, &[8, 16], 256);
    for centres in [Centres::Half, Centres::Corner] {
        let t = trace(|p: In<u8, (Y, X)>| p.resize_with::<Y, X>(32, 8, centres).store::<(Y, X)>());
        let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
        let expected = tabulate(&[32, 8], |i| bilinear(at, (i[0], i[1]), (8, 16), (32, 8), centres) as f32);
        check(&t.graph, &[&tensor], &expected);
    }
}

fn rects(rng: &mut Rng, n: i64, (h, w): (i64, i64)) -> Vec<Rect> {
    let mut boxes: Vec<Rect> = (0..n).map(|_| rng.inside(h, w)).collect();
    if let Some(whole) = boxes.get_mut(0) {
        *whole = Rect::new(0, 0, w as i32, h as i32);
    }
    boxes
}

/// The pixel (`y`, `x`) of what a box shows, resampled.
fn crop_pixel(
    at: impl Fn(usize, usize) -> f64,
    r: Rect,
    i: (usize, usize),
    to: (usize, usize),
    centres: Centres,
) -> f64 {
    bilinear(|y, x| at(y + r.y as usize, x + r.x as usize), i, (r.height.into(), r.width.into()), to, centres)
}

#[test]
fn resize_of_a_crop() {
    let mut rng = Rng::new(4);
    let (h, w, c, n) = (23, 31, 3, 7);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[h, w, c], 256);
    let boxes = rects(&mut rng, n, (h, w));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    for centres in [Centres::Half, Centres::Corner] {
        let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
            p.crop::<Y, X, _>(b).resize_with::<Y, X>(9, 6, centres).reverse::<C>().store::<(N, C, Y, X)>()
        });
        let expected = tabulate(&[n, c, 9, 6], |i| {
            let at = |y: usize, x: usize| f64::from(p[[y, x, 2 - i[1]].as_slice()]);
            crop_pixel(at, boxes[i[0]], (i[2], i[3]), (9, 6), centres)
        });
        close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &tensor])[0], &expected, 1e-5);
    }
}

/// One box for all, a box per picture, boxes over two dimensions, a box per channel.
#[test]
fn boxes_over_other_dimensions() {
    let mut rng = Rng::new(5);
    let (h, w, n, k) = (11, 17, 3, 4);
    let (p, pic) = picture::<i16>(&mut rng, <(N, Y, X)>::IDS, &[n, h, w], 1000);
    let boxes = rects(&mut rng, n * k, (h, w));
    let at = |n: usize| {
        let p = &p;
        move |y: usize, x: usize| f64::from(p[[n, y, x].as_slice()])
    };
    let none = Tensor::boxes(&[], &[], &boxes[3..4]);
    let t =
        trace(|p: In<i16, (N, Y, X)>, b: In<Rect, ()>| p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(N, Y, X)>());
    let expected = tabulate(&[n, 5, 4], |i| crop_pixel(at(i[0]), boxes[3], (i[1], i[2]), (5, 4), Centres::Half));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &none])[0], &expected, 1e-4);

    let each = Tensor::boxes(<(N,)>::IDS, &[n], &boxes[..n as usize]);
    let t = trace(|p: In<i16, (N, Y, X)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(Y, X, N)>()
    });
    let expected = tabulate(&[5, 4, n], |i| crop_pixel(at(i[2]), boxes[i[2]], (i[0], i[1]), (5, 4), Centres::Half));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &each])[0], &expected, 1e-4);

    let both = Tensor::boxes(<(N, K)>::IDS, &[n, k], &boxes);
    let t = trace(|p: In<i16, (N, Y, X)>, b: In<Rect, (N, K)>| {
        p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(K, N, Y, X)>()
    });
    let expected = tabulate(&[k, n, 5, 4], |i| {
        crop_pixel(at(i[1]), boxes[i[1] * k as usize + i[0]], (i[2], i[3]), (5, 4), Centres::Half)
    });
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &both])[0], &expected, 1e-4);
}

/// Boxes of one size need no resize: the pixels themselves.
#[test]
fn crop_alone() {
    let mut rng = Rng::new(6);
    let (h, w, n) = (19, 23, 5);
    let (p, pic) = array::<f64>(&mut rng, <(Y, X)>::IDS, &[h, w]);
    let boxes: Vec<Rect> =
        (0..n).map(|_| Rect::new(rng.range(0, w - 6) as i32, rng.range(0, h - 3) as i32, 7, 4)).collect();
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let t = trace(|p: In<f64, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).store::<(N, Y, X)>());
    let expected = tabulate(&[n, 4, 7], |i| {
        let r = boxes[i[0]];
        p[[i[1] + r.y as usize, i[2] + r.x as usize].as_slice()]
    });
    check(&t.graph, &[&pic, &tensor], &expected);
}

#[test]
fn crop_of_a_crop() {
    let mut rng = Rng::new(7);
    let (h, w, n) = (29, 31, 6);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let outer = rects(&mut rng, n, (h, w));
    let inner: Vec<Rect> = outer.iter().map(|r| rng.inside(r.height.into(), r.width.into())).collect();
    let t = trace(|p: In<u8, (Y, X)>, a: In<Rect, (N,)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(a).crop::<Y, X, _>(b).resize::<Y, X>(6, 5).store::<(N, Y, X)>()
    });
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let expected = tabulate(&[n, 6, 5], |i| {
        let (a, b) = (outer[i[0]], inner[i[0]]);
        crop_pixel(at, Rect::new(a.x + b.x, a.y + b.y, b.width, b.height), (i[1], i[2]), (6, 5), Centres::Half)
    });
    let list = |boxes: &[Rect]| Tensor::boxes(<(N,)>::IDS, &[n], boxes);
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &list(&outer), &list(&inner)])[0], &expected, 1e-5);
}

#[test]
fn crop_of_a_resize_and_resize_of_a_resize() {
    let mut rng = Rng::new(8);
    let (h, w, n) = (13, 9, 4);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let boxes = rects(&mut rng, n, (21, 18));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| {
        p.resize::<Y, X>(21, 18).crop::<Y, X, _>(b).resize_with::<Y, X>(7, 3, Centres::Corner).store::<(N, Y, X)>()
    });
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let between = |y: usize, x: usize| bilinear(at, (y, x), (h, w), (21, 18), Centres::Half);
    let expected = tabulate(&[n, 7, 3], |i| crop_pixel(between, boxes[i[0]], (i[1], i[2]), (7, 3), Centres::Corner));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &tensor])[0], &expected, 1e-5);
}

/// Once cropped, the batch may be turned around, reordered or renamed: each picture keeps its own size.
#[test]
fn the_batch_of_a_crop_is_a_dimension_like_any_other() {
    let mut rng = Rng::new(9);
    let (h, w, n) = (23, 31, 4);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let boxes = rects(&mut rng, n, (h, w));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let expected =
        |of: [usize; 4]| tabulate(&[n, 6, 5], |i| crop_pixel(at, boxes[of[i[0]]], (i[1], i[2]), (6, 5), Centres::Half));
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| {
        let crops = p.crop::<Y, X, _>(b);
        (
            crops.reverse::<N>().resize::<Y, X>(6, 5).store::<(N, Y, X)>(),
            crops.rename::<N, K>().resize::<Y, X>(6, 5).store::<(K, Y, X)>(),
            crops.reorder::<N>(&[1, 3, 0, 0]).resize::<Y, X>(6, 5).store::<(N, Y, X)>(),
        )
    });
    // A world over N and K at once would be a batch of batches: one result at a time.
    for (i, of) in [[3, 2, 1, 0], [0, 1, 2, 3], [1, 3, 0, 0]].into_iter().enumerate() {
        let mut graph = t.graph.clone();
        graph.outputs = vec![graph.outputs[i].clone()];
        close::<f32>(&evaluate_every_way(&graph, &[&pic, &tensor])[0], &expected(of), 1e-5);
    }
}
