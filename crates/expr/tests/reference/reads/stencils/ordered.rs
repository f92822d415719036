//! Windows by order: medians, erosions, dilations and what is made of them, exactly.

use super::*;
use tilewright_expr::stencils::{Mask, Outside};

/// The middle one of an odd number, by sorting.
fn middle<T: Gray>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.real().total_cmp(&b.real()));
    values[values.len() / 2]
}

fn medians<T: Gray + Number + tilewright_expr::Element>() {
    let mut rng = Rng::new(<T as Value>::DTYPE as u64 + 60);
    for (size, shape) in [(1, [2, 2]), (3, [5, 7]), (5, [4, 6]), (7, [3, 8]), (3, [1, 1])] {
        // Every border around the smallest window, one around others.
        let all = borders(T::pixel(60)).into_iter();
        let first = if size == 3 { 0 } else { (size + <T as Value>::DTYPE as usize) % 5 };
        for border in all.skip(first).take(if size == 3 { 5 } else { 1 }) {
            // Few different values, so that many are equal.
            let (p, tensor) = picture::<T>(&mut rng, <(Y, X)>::IDS, &shape, if size == 3 { 9 } else { 127 });
            let t = trace(|p: In<T, (Y, X)>| p.median::<Y, X>(size, border).store::<(Y, X)>());
            let expected = tabulate(&shape, |i| middle(window(&p, (size, size), (size / 2, size / 2), i, border)));
            check(&t.graph, &[&tensor], &expected);
        }
    }
}

#[test]
fn medians_of_every_type() {
    every_number!(medians);
}

/// Networks that sort every order of zeros and ones sort everything: all 512 of 3 x 3, one picture.
#[test]
fn every_order_of_nine() {
    let all = tabulate(&[512, 3, 3], |i| (i[0] >> (3 * i[1] + i[2]) & 1) as u8);
    let tensor = Tensor::of(<(N, Y, X)>::IDS, &all);
    let t = trace(|p: In<u8, (N, Y, X)>| {
        p.median::<Y, X>(3, Border::Constant(0)).at::<Y, _>(1).at::<X, _>(1).store::<(N,)>()
    });
    check(&t.graph, &[&tensor], &tabulate(&[512], |i| u8::from(i[0].count_ones() > 4)));
}

/// A NaN anywhere in the window makes the result NaN.
#[test]
fn numbers_that_are_none() {
    let mut values = tabulate(&[9, 9], |i| (i[0] * 5 + i[1] * 3 % 7) as f32);
    values[[4, 4].as_slice()] = f32::NAN;
    let tensor = Tensor::of(<(Y, X)>::IDS, &values);
    for size in [3usize, 5, 7] {
        let t = trace(|p: In<f32, (Y, X)>| {
            let mask = Mask::rectangle(size, size);
            let changed = p.median::<Y, X>(size, Border::Replicate).is_nan();
            let eroded = p.erode::<Y, X>(&mask, Outside::Ignored).is_nan();
            ((changed & eroded).store::<(Y, X)>(), (changed | eroded).store::<(Y, X)>())
        });
        let near = |i: usize| i.abs_diff(4) <= size / 2;
        let expected = tabulate(&[9, 9], |i| near(i[0]) && near(i[1]));
        for result in evaluate_every_way(&t.graph, &[&tensor]) {
            super::super::super::same(&result, &expected);
        }
    }
}

/// The smallest (largest) pixel under a mask by its definition.
fn extreme<T: Gray>(p: &ArrayD<T>, mask: &Reference, largest: bool, outside: Outside<T>) -> ArrayD<T> {
    let (h, w) = mask.size;
    let shape: Vec<i64> = p.shape().iter().map(|n| *n as i64).collect();
    let end = f64::INFINITY * if largest { -1.0 } else { 1.0 };
    tabulate(&shape, |at| {
        let taken = |inside: &dyn Fn(i64, i64) -> Option<T>| {
            let mut best: Option<T> = None;
            for (i, j) in (0..h).flat_map(|i| (0..w).map(move |j| (i, j))).filter(|(i, j)| mask.taken[i * w + j]) {
                let place =
                    (at[0] as i64 + i as i64 - mask.anchor.0 as i64, at[1] as i64 + j as i64 - mask.anchor.1 as i64);
                let Some(value) = inside(place.0, place.1) else { continue };
                let better =
                    best.is_none_or(|b| if largest { value.real() > b.real() } else { value.real() < b.real() });
                best = if better { Some(value) } else { best };
            }
            best
        };
        match outside {
            Outside::Border(border) => taken(&|y, x| Some(pixel(p, (y, x), border))).expect("a mask has pixels"),
            Outside::Ignored => taken(&|y, x| {
                let inside = (0..shape[0]).contains(&y) && (0..shape[1]).contains(&x);
                inside.then(|| p[[y as usize, x as usize].as_slice()])
            })
            .unwrap_or(T::end(end)),
        }
    })
}

struct Reference {
    mask: Mask,
    size: (usize, usize),
    anchor: (usize, usize),
    taken: Vec<bool>,
}

fn reference(mask: Mask, (h, w): (usize, usize), taken: impl Fn(usize, usize) -> bool) -> Reference {
    let all = (0..h).flat_map(|y| (0..w).map(move |x| (y, x)));
    Reference { size: (h, w), anchor: (h / 2, w / 2), taken: all.map(|(y, x)| taken(y, x)).collect(), mask }
}

fn masks() -> Vec<Reference> {
    let odd = [[true, false], [false, true], [true, true]];
    let mut anchored = reference(Mask::from(odd).anchored(2, 0), (3, 2), |y, x| odd[y][x]);
    anchored.anchor = (2, 0);
    let away = Mask::from_fn(1, 5, |_, x| x == 0);
    vec![
        reference(Mask::rectangle(3, 4), (3, 4), |_, _| true),
        reference(Mask::rectangle(33, 2), (33, 2), |_, _| true),
        reference(Mask::cross(5, 3), (5, 3), |y, x| y == 2 || x == 1),
        reference(Mask::ellipse(5, 5), (5, 5), |y, x| [0, 2, 2, 2, 0][y] >= x.abs_diff(2)),
        anchored,
        reference(away, (1, 5), |_, x| x == 0),
    ]
}

fn erosions<T: Gray + Number + tilewright_expr::Element>() {
    let mut rng = Rng::new(<T as Value>::DTYPE as u64 + 80);
    let outsides = borders(T::pixel(40)).into_iter().map(Outside::from).chain([Outside::Ignored]);
    for (k, outside) in outsides.enumerate() {
        let shape = SIZES[k % SIZES.len()];
        let (p, tensor) = picture::<T>(&mut rng, <(Y, X)>::IDS, &shape, 100);
        for mask in masks() {
            let t = trace(|p: In<T, (Y, X)>| {
                (
                    p.erode::<Y, X>(&mask.mask, outside).store::<(Y, X)>(),
                    p.dilate::<Y, X>(&mask.mask, outside).store::<(Y, X)>(),
                )
            });
            let results = evaluate_every_way(&t.graph, &[&tensor]);
            for (result, largest) in results.iter().zip([false, true]) {
                let expected = extreme(&p, &mask, largest, outside);
                super::super::super::same(result, &expected);
            }
        }
    }
}

#[test]
fn erosions_and_dilations_of_every_type() {
    every_number!(erosions);
}

#[test]
fn what_is_made_of_them() {
    let mut rng = Rng::new(90);
    let (p, tensor) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[6, 9], 256);
    for mask in masks() {
        for outside in [Outside::Ignored, Border::Wrap.into(), Border::Constant(100).into()] {
            let m = &mask.mask;
            let t = trace(|p: In<u8, (Y, X)>| {
                let gradient = p.morphological_gradient::<Y, X>(m, outside).store::<(Y, X)>();
                let top_hat = p.top_hat::<Y, X>(m, outside).store::<(Y, X)>();
                let black_hat = p.black_hat::<Y, X>(m, outside).store::<(Y, X)>();
                (
                    (p.open::<Y, X>(m, outside).store::<(Y, X)>(), p.close::<Y, X>(m, outside).store::<(Y, X)>()),
                    (gradient, top_hat, black_hat),
                )
            });
            let (low, high) = (extreme(&p, &mask, false, outside), extreme(&p, &mask, true, outside));
            let (open, close) = (extreme(&low, &mask, true, outside), extreme(&high, &mask, false, outside));
            let less =
                |a: &ArrayD<u8>, b: &ArrayD<u8>| ndarray::Zip::from(a).and(b).map_collect(|a, b| a.saturating_sub(*b));
            let expected = [less(&high, &low), less(&p, &open), less(&close, &p)];
            let expected = [open, close].into_iter().chain(expected);
            for (result, expected) in evaluate_every_way(&t.graph, &[&tensor]).iter().zip(expected) {
                super::super::super::same(result, &expected);
            }
        }
    }
}
