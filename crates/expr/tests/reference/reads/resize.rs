//! Resizes against loops over the written formula in f64.

use super::*;
use tilewright_expr::Sampling;

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

/// A convention of one's own: the outermost samples on the outermost pixels, which are exact there.
#[test]
fn places_of_ones_own() {
    let (p, tensor) = picture::<u8>(&mut Rng::new(5), <(Y, X)>::IDS, &[5, 9], 256);
    let at = |y: f64, x: f64| {
        let ((v, u), row) =
            ((y as usize, x as usize), |v: usize, u: usize| f64::from(p[[v.min(4), u.min(8)].as_slice()]));
        let line = |v: usize| row(v, u) * (1.0 - x.fract()) + row(v, u + 1) * x.fract();
        line(v) * (1.0 - y.fract()) + line(v + 1) * y.fract()
    };
    let t = trace(|p: In<u8, (Y, X)>| {
        p.resize_at::<Y, X>(17, 5, Filter::Linear, |i, from, to| i * ((from - 1.0) / (to - 1.0))).store::<(Y, X)>()
    });
    let expected = tabulate(&[17, 5], |i| at(i[0] as f64 / 4.0, i[1] as f64 * 2.0) as f32);
    check(&t.graph, &[&tensor], &expected);
}

/// The sample `i` of `to`, of pixels `at` in `0..from`.
fn sample(
    at: impl Fn(usize) -> f64,
    i: usize,
    (from, to): (i64, usize),
    Sampling { filter, centres }: Sampling,
) -> f64 {
    let (from_wide, to_wide, i) = (i128::from(from), to as i128, i as i128);
    if filter == Filter::Nearest {
        let pixel = match centres {
            Centres::Half => (2 * i + 1) * from_wide / (2 * to_wide),
            Centres::Corner => i * from_wide / to_wide,
        };
        return at(pixel as usize);
    }
    let scale = from as f64 / to as f64;
    if filter == Filter::Area {
        let (low, high) = (i as f64 * scale, (i + 1) as f64 * scale);
        let covered = |p: i64| ((p + 1) as f64).min(high) - (p as f64).max(low);
        let weighed = |p: i64| at(p as usize) * covered(p).max(0.0);
        return (0..from).map(weighed).sum::<f64>() / scale;
    }
    let s = match centres {
        Centres::Half => (i as f64 + 0.5) * scale - 0.5,
        Centres::Corner => i as f64 * scale,
    };
    between(|p| at(p.clamp(0, from - 1) as usize), s, filter)
}

fn samplings() -> Vec<Sampling> {
    let both = |f: &Filter| [f.at(Centres::Half), f.at(Centres::Corner)];
    FILTERS.iter().flat_map(both).chain([Filter::Area.into()]).collect()
}

/// The pixel (`y`, `x`) of a picture of `from` pixels resampled to `to`.
pub(super) fn resampled(
    at: impl Fn(usize, usize) -> f64,
    (y, x): (usize, usize),
    from: (i64, i64),
    to: (usize, usize),
    sampling: Sampling,
) -> f64 {
    sample(|r| sample(|c| at(r, c), x, (from.1, to.1), sampling), y, (from.0, to.0), sampling)
}

fn filtered<T: Number + Sampled + Gray>(largest: i64, tolerance: f64)
where
    T::Real: tilewright_expr::Element + Into<f64>,
{
    let sizes = [((1, 1), (4, 3)), ((1, 6), (5, 1)), ((7, 13), (7, 13)), ((9, 5), (21, 33)), ((29, 37), (7, 3))];
    for (i, ((h, w), (th, tw))) in sizes.into_iter().enumerate() {
        let (p, tensor) = picture::<T>(&mut Rng::new(i as u64), <(Y, X)>::IDS, &[h, w], largest);
        for sampling in samplings() {
            let t = trace(|p: In<T, (Y, X)>| p.resize_with::<Y, X>(th, tw, sampling).store::<(Y, X)>());
            let at = |y: usize, x: usize| p[[y, x].as_slice()].real();
            let expected =
                tabulate(&[th as i64, tw as i64], |i| resampled(at, (i[0], i[1]), (h, w), (th, tw), sampling));
            let result = &evaluate_every_way(&t.graph, &[&tensor])[0];
            let limit = if sampling.filter == Filter::Nearest { 0.0 } else { tolerance * largest as f64 };
            near::<T::Real>(result, &expected, limit, &format!("{sampling:?} of {h}x{w} to {th}x{tw}"));
        }
    }
}

#[test]
fn every_filter() {
    filtered::<u8>(256, 2e-5);
    filtered::<f32>(1000, 2e-5);
    filtered::<i32>(1 << 31, 1e-13);
    filtered::<f64>(1 << 20, 1e-13);
}

/// The nearest pixel is that of exact arithmetic, at sizes where the ratio in `f32` or `f64` is not.
#[test]
fn nearest_is_exact() {
    for (from, to) in [(49i64, 7usize), (7, 49), (1, 49), (1000, 999), (999, 1000), (3, 100_003), (100_003, 3)] {
        let values = ArrayD::from_shape_fn(vec![from as usize], |i| i[0] as i32);
        let tensor = Tensor::of(<(X,)>::IDS, &values);
        for centres in [Centres::Half, Centres::Corner] {
            let t = trace(|p: In<i32, (X,)>| p.repeat::<Y>(1).resize_nearest::<Y, X>(1, to, centres).store::<(Y, X)>());
            let sampling = Filter::Nearest.at(centres);
            let expected = tabulate(&[1, to as i64], |i| sample(|p| p as f64, i[1], (from, to), sampling) as i32);
            check(&t.graph, &[&tensor], &expected);
        }
    }
}

#[test]
fn nearest_of_masks() {
    let (p, tensor) = array::<bool>(&mut Rng::new(3), <(Y, X)>::IDS, &[9, 14]);
    let t = trace(|p: In<bool, (Y, X)>| p.resize_nearest::<Y, X>(31, 5, Centres::Half).store::<(Y, X)>());
    let expected = tabulate(&[31, 5], |i| p[[(2 * i[0] + 1) * 9 / 62, (2 * i[1] + 1) * 14 / 10].as_slice()]);
    check(&t.graph, &[&tensor], &expected);
}

#[test]
fn every_filter_of_boxes() {
    let mut rng = Rng::new(12);
    let (h, w, n, c) = (23, 31, 5, 3);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[h, w, c], 256);
    let mut boxes = rects(&mut rng, n, (h, w));
    boxes[1] = Rect::new(30, 22, 1, 1);
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    for sampling in samplings() {
        let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
            p.crop::<Y, X, _>(b).resize_with::<Y, X>(6, 7, sampling).store::<(N, C, Y, X)>()
        });
        let expected = tabulate(&[n, c, 6, 7], |i| {
            let r = boxes[i[0]];
            let at = |y: usize, x: usize| f64::from(p[[y + r.y as usize, x + r.x as usize, i[1]].as_slice()]);
            resampled(at, (i[2], i[3]), (r.height.into(), r.width.into()), (6, 7), sampling)
        });
        near::<f32>(&evaluate_every_way(&t.graph, &[&pic, &tensor])[0], &expected, 5e-3, &format!("{sampling:?}"));
    }
}

/// Sizes that follow from the picture's: of an operand, and of boxes that agree.
#[test]
fn by_factors() {
    let mut rng = Rng::new(13);
    // 5 * 0.5 and 7 * 0.5 are rounded to even, 3 * 0.1 to at least 1.
    for ((h, w), (fy, fx), (th, tw)) in
        [((5, 7), (0.5, 0.5), (2, 4)), ((3, 9), (0.1, 2.3), (1, 21)), ((4, 6), (1.0, 1.75), (4, 10))]
    {
        let (p, tensor) = picture::<f32>(&mut rng, <(Y, X)>::IDS, &[h, w], 100);
        let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
        let sampling = Sampling::from(Filter::Cubic);
        let t = trace(|p: In<f32, (Y, X)>| p.resize_by::<Y, X>((fy, fx), Filter::Cubic).store::<(Y, X)>());
        let expected = tabulate(&[th as i64, tw as i64], |i| resampled(at, (i[0], i[1]), (h, w), (th, tw), sampling));
        near::<f32>(&evaluate_every_way(&t.graph, &[&tensor])[0], &expected, 2e-3, "by factors");

        let boxes = Tensor::boxes(<(N,)>::IDS, &[2], &[Rect::new(1, 0, 2, 3), Rect::new(0, 0, 2, 3)]);
        let t = trace(|p: In<f32, (Y, X)>, b: In<Rect, (N,)>| {
            p.crop::<Y, X, _>(b).resize_by::<Y, X>((1.5, 2.0), Filter::Linear).store::<(N, Y, X)>()
        });
        let expected = tabulate(&[2, 4, 4], |i| {
            resampled(|y, x| at(y, x + 1 - i[0]), (i[1], i[2]), (3, 2), (4, 4), Sampling::default())
        });
        near::<f32>(&evaluate_every_way(&t.graph, &[&tensor, &boxes])[0], &expected, 2e-3, "boxes by factors");
    }
}
