//! OpenCV's names: each function against a plain loop over scalars.

mod golden;
mod opponent;
mod refused;

use crate::support::Random;
use tilewright_expr::colour::Space;
use tilewright_expr::{Affine, Border, Expr, In, Perspective, Rect};
use tilewright_ops::opencv::*;
use tilewright_ops::{Error, Tensor, fuse};

const ROWS: usize = 7;
const COLUMNS: usize = 9;
const COUNT: usize = ROWS * COLUMNS * 3;

fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    // Zeros and the largest value are among them, and often equal.
    (0..COUNT).map(|_| [0, 255, random.below(256) as u8, random.below(256) as u8][random.below(4) as usize]).collect()
}

fn floats(seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..COUNT).map(|_| random.below(1 << 20) as f32 / 4096.0 - 100.0).collect()
}

fn picture<T: tilewright_ops::Item>(values: &[T]) -> Result<Tensor<T, (Y, X, C)>, Error> {
    Tensor::from_vec([ROWS, COLUMNS, 3], values.to_vec())
}

fn gray<T: tilewright_ops::Item>(values: &[T]) -> Result<Tensor<T, (Y, X)>, Error> {
    Tensor::from_vec([ROWS, COLUMNS], values[..ROWS * COLUMNS].to_vec())
}

/// To the nearest byte, halves to even.
fn byte(value: f32) -> u8 {
    value.round_ties_even().clamp(0.0, 255.0) as u8
}

fn each<T>(f: impl Fn(usize) -> T) -> Vec<T> {
    (0..COUNT).map(f).collect()
}

#[test]
fn arithmetic_of_bytes() -> Result<(), Error> {
    let (a, b) = (bytes(1), bytes(2));
    let (x, y) = (picture(&a)?, picture(&b)?);
    let pairs = fuse(|a: Mat<u8>, b: Mat<u8>| {
        (add(a, b).store::<(Y, X, C)>(), subtract(a, b).store::<(Y, X, C)>(), absdiff(a, b).store::<(C, Y, X)>())
    });
    let (sums, differences, _) = pairs.call(&x, &y)?;
    assert_eq!(sums.to_vec()?, each(|i| a[i].saturating_add(b[i])));
    assert_eq!(differences.to_vec()?, each(|i| a[i].saturating_sub(b[i])));
    let pairs = fuse(|a: Mat<u8>, b: Mat<u8>| {
        let (least, most) = (min(a, b), max(a, b));
        (
            multiply(a, b).store::<(Y, X, C)>(),
            divide(a, b).store::<(Y, X, C)>(),
            absdiff(a, b).store::<(Y, X, C)>(),
            subtract(most, least).store::<(Y, X, C)>(),
        )
    });
    let (products, quotients, distances, ranges) = pairs.call(&x, &y)?;
    assert_eq!(products.to_vec()?, each(|i| a[i].saturating_mul(b[i])));
    let quotient = |i: usize| if b[i] == 0 { 0 } else { byte(f32::from(a[i]) / f32::from(b[i])) };
    assert_eq!(quotients.to_vec()?, each(quotient));
    assert_eq!(distances.to_vec()?, each(|i| a[i].abs_diff(b[i])));
    assert_eq!(ranges.to_vec()?, distances.to_vec()?);
    Ok(())
}

#[test]
fn scalars() -> Result<(), Error> {
    let (a, b) = (bytes(3), bytes(4));
    let (x, y) = (picture(&a)?, picture(&b)?);
    let of = |i: usize| f32::from(a[i]);
    let scalars = fuse(|a: Mat<u8>, b: Mat<u8>| {
        (
            add(a, [10.5, -3.0, 300.0]).store::<(Y, X, C)>(),
            multiply(a, 1.7).store::<(Y, X, C)>(),
            divide(a, [2.0, 0.0, 0.3]).store::<(Y, X, C)>(),
            add_weighted(a, 0.7, b, 0.4, -5.5).store::<(Y, X, C)>(),
        )
    });
    let (sums, products, quotients, weighted) = scalars.call(&x, &y)?;
    assert_eq!(sums.to_vec()?, each(|i| byte(of(i) + [10.0, -3.0, 300.0][i % 3])));
    assert_eq!(products.to_vec()?, each(|i| byte(of(i) * 1.7)));
    assert_eq!(quotients.to_vec()?, each(|i| if i % 3 == 1 { 0 } else { byte(of(i) / [2.0, 0.0, 0.3][i % 3]) }));
    assert_eq!(weighted.to_vec()?, each(|i| byte(of(i).mul_add(0.7, f32::from(b[i]).mul_add(0.4, -5.5)))));
    Ok(())
}

/// Every line rounds, also where a multiplication and an addition are one kernel; a conversion is one multiply-add.
#[test]
fn arithmetic_of_floats() -> Result<(), Error> {
    let (a, b) = (floats(5), floats(6));
    let (x, y) = (picture(&a)?, picture(&b)?);
    let lines = fuse(|a: Mat<f32>, b: Mat<f32>| {
        (
            subtract(multiply(a, 1.1), b).store::<(Y, X, C)>(),
            divide(a, b).store::<(Y, X, C)>(),
            convert_to::<u8, _, _>(a, 1.5, 2.0).store::<(Y, X, C)>(),
            sqrt(absdiff(a, b)).store::<(Y, X, C)>(),
        )
    });
    let (chain, quotients, converted, roots) = lines.call(&x, &y)?;
    assert_eq!(chain.to_vec()?, each(|i| a[i] * 1.1 - b[i]));
    assert!(each(|i| a[i].mul_add(1.1, -b[i])) != chain.to_vec()?, "rounding once would show");
    assert_eq!(quotients.to_vec()?, each(|i| a[i] / b[i]));
    assert_eq!(converted.to_vec()?, each(|i| byte(a[i].mul_add(1.5, 2.0))));
    assert_eq!(roots.to_vec()?, each(|i| (a[i] - b[i]).abs().sqrt()));

    let whole: Vec<i32> = a.iter().map(|v| (v * 3e7) as i32).collect();
    let wide = fuse(|a: Mat<i32>| {
        (
            add(a, a).store::<(Y, X, C)>(),
            divide(a, 7.0).store::<(Y, X, C)>(),
            convert_to::<f32, _, _>(a, 0.1, -1.0).store::<(Y, X, C)>(),
        )
    });
    let (sums, quotients, converted) = wide.call(&picture(&whole)?)?;
    assert_eq!(sums.to_vec()?, each(|i| whole[i].saturating_add(whole[i])));
    assert_eq!(quotients.to_vec()?, each(|i| (f64::from(whole[i]) / 7.0).round_ties_even() as i32));
    assert_eq!(converted.to_vec()?, each(|i| f64::from(whole[i]).mul_add(0.1, -1.0) as f32));
    Ok(())
}

#[test]
fn bits_and_comparisons() -> Result<(), Error> {
    let (a, b) = (bytes(7), bytes(8));
    let (x, y) = (picture(&a)?, picture(&b)?);
    let bits = fuse(|a: Mat<u8>, b: Mat<u8>| {
        (
            bitwise_and(a, b).store::<(Y, X, C)>(),
            bitwise_or(a, b).store::<(Y, X, C)>(),
            bitwise_xor(a, bitwise_not(b)).store::<(Y, X, C)>(),
            in_range(a, [10.0, 0.0, 99.5], 200.0).store::<(Y, X)>(),
        )
    });
    let (and, or, xor, inside) = bits.call(&x, &y)?;
    assert_eq!(and.to_vec()?, each(|i| a[i] & b[i]));
    assert_eq!(or.to_vec()?, each(|i| a[i] | b[i]));
    assert_eq!(xor.to_vec()?, each(|i| a[i] ^ !b[i]));
    let all = |p: &[u8]| p.iter().zip([10.0, 0.0, 99.5]).all(|(v, low)| f32::from(*v) >= low && *v <= 200);
    assert_eq!(inside.to_vec()?, a.chunks(3).map(|p| if all(p) { 255 } else { 0 }).collect::<Vec<u8>>());

    type Holds = fn(&u8, &u8) -> bool;
    let ways: [(CmpType, Holds); 6] =
        [(CMP_EQ, u8::eq), (CMP_GT, u8::gt), (CMP_GE, u8::ge), (CMP_LT, u8::lt), (CMP_LE, u8::le), (CMP_NE, u8::ne)];
    for (how, holds) in ways {
        let compared = fuse(move |a: Mat<u8>, b: Mat<u8>| compare(a, b, how).store::<(Y, X, C)>());
        assert_eq!(compared.call(&x, &y)?.to_vec()?, each(|i| if holds(&a[i], &b[i]) { 255 } else { 0 }), "{how:?}");
    }
    let table: Vec<f32> = (0..256).map(|i| i as f32 * 0.37 - 9.0).collect();
    let looked_up = fuse(|a: Mat<u8>, table: Table<f32>| lut(a, table).store::<(Y, X, C)>());
    let entries = looked_up.call(&x, &Tensor::<f32, (L,)>::from_vec([256], table.clone())?)?;
    assert_eq!(entries.to_vec()?, each(|i| table[usize::from(a[i])]));
    Ok(())
}

#[test]
fn thresholds() -> Result<(), Error> {
    let (a, f) = (bytes(9), floats(10));
    let (x, y) = (picture(&a)?, picture(&f)?);
    let kinds = [THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO, THRESH_TOZERO_INV];
    for how in kinds {
        for level in [-1.5, 99.7, 300.0] {
            let cut = fuse(move |a: Mat<u8>, f: Mat<f32>| {
                (
                    threshold(a, level, 200.6, how).store::<(Y, X, C)>(),
                    threshold(f, level, 200.6, how).store::<(Y, X, C)>(),
                )
            });
            let (of_bytes, of_floats) = cut.call(&x, &y)?;
            let choose = |value: f64, level: f64, most: f64| match (how, value > level) {
                (THRESH_BINARY, true) | (THRESH_BINARY_INV, false) => most,
                (THRESH_TRUNC, true) => level,
                (THRESH_TRUNC | THRESH_TOZERO_INV, false) | (THRESH_TOZERO, true) => value,
                _ => 0.0,
            };
            let of_byte = |i: usize| choose(f64::from(a[i]), level.floor(), 201.0) as u8;
            assert_eq!(of_bytes.to_vec()?, each(of_byte), "{how:?} at {level}");
            let single = f64::from(level as f32);
            let of_float = |i: usize| choose(f64::from(f[i]), single, 200.6) as f32;
            assert_eq!(of_floats.to_vec()?, each(of_float), "{how:?} at {level}");
        }
    }
    Ok(())
}

#[test]
fn channels() -> Result<(), Error> {
    let a = bytes(11);
    let x = picture(&a)?;
    let colours = fuse(|a: Mat<u8>| {
        (
            cvt_color(a, COLOR_BGR2RGB).store::<(Y, X, C)>(),
            cvt_color_to_gray(a, Space::Bgr).store::<(Y, X)>(),
            copy_channel(a, 1).store::<(Y, X)>(),
        )
    });
    let (swapped, gray, second) = colours.call(&x)?;
    // Results of one kernel agree about the number of channels.
    let merged = fuse(|a: Mat<u8>| {
        let [first, _, third] = split::<3, _, _>(a);
        merge([third, first]).store::<(Y, X, C)>()
    });
    let pairs = merged.call(&x)?;
    let opaque = fuse(|a: Mat<u8>| {
        let [_, _, third] = split::<3, _, _>(a);
        cvt_color(cvt_color_from_gray(third, Space::Bgr), COLOR_BGR2BGRA).store::<(Y, X, C)>()
    });
    let four = opaque.call(&x)?;
    assert_eq!(second.to_vec()?, a.chunks(3).map(|p| p[1]).collect::<Vec<_>>());
    assert_eq!(swapped.to_vec()?, each(|i| a[i / 3 * 3 + 2 - i % 3]));
    let luma = |p: &[u8]| {
        let [b, g, r] = [0, 1, 2].map(|i| f32::from(p[i]));
        byte(b.mul_add(0.114, g.mul_add(0.587, r * 0.299)))
    };
    assert_eq!(gray.to_vec()?, a.chunks(3).map(luma).collect::<Vec<_>>());
    assert_eq!(pairs.to_vec()?, a.chunks(3).flat_map(|p| [p[2], p[0]]).collect::<Vec<_>>());
    assert_eq!(four.to_vec()?, a.chunks(3).flat_map(|p| [p[2], p[2], p[2], 255]).collect::<Vec<_>>());
    Ok(())
}

/// The picture whose pixel (`y`, `x`) is that at `place(y, x)`.
fn moved(a: &[u8], rows: usize, columns: usize, place: impl Fn(usize, usize) -> (usize, usize)) -> Vec<u8> {
    let pixel = |i: usize| {
        let (y, x) = place(i / columns, i % columns);
        a[(y * COLUMNS + x) * 3..][..3].to_vec()
    };
    (0..rows * columns).flat_map(pixel).collect()
}

#[test]
fn pixels_at_other_places() -> Result<(), Error> {
    let a = bytes(12);
    let x = picture(&a)?;
    let (last_y, last_x) = (ROWS - 1, COLUMNS - 1);
    type Move = (fn(Mat<u8>) -> Mat<u8>, usize, usize, fn(usize, usize) -> (usize, usize));
    let moves: [Move; 10] = [
        (|a| crop(a, Rect::new(2, 1, 5, 4)), 4, 5, |y, x| (y + 1, x + 2)),
        (|a| flip(a, 0), ROWS, COLUMNS, |y, x| (ROWS - 1 - y, x)),
        (|a| flip(a, 1), ROWS, COLUMNS, |y, x| (y, COLUMNS - 1 - x)),
        (|a| flip(a, -1), ROWS, COLUMNS, |y, x| (ROWS - 1 - y, COLUMNS - 1 - x)),
        (|a| rotate(a, ROTATE_90_CLOCKWISE), COLUMNS, ROWS, |y, x| (ROWS - 1 - x, y)),
        (|a| rotate(a, ROTATE_180), ROWS, COLUMNS, |y, x| (ROWS - 1 - y, COLUMNS - 1 - x)),
        (|a| rotate(a, ROTATE_90_COUNTERCLOCKWISE), COLUMNS, ROWS, |y, x| (x, COLUMNS - 1 - y)),
        (transpose, COLUMNS, ROWS, |y, x| (x, y)),
        (|a| resize(a, Size(4, 10), INTER_NEAREST), 10, 4, |y, x| (y * ROWS / 10, x * COLUMNS / 4)),
        (
            |a| copy_make_border(a, 1, 2, 3, 0, Border::Replicate),
            ROWS + 3,
            COLUMNS + 3,
            |y, x| (y.saturating_sub(1).min(ROWS - 1), x.saturating_sub(3)),
        ),
    ];
    for (i, (f, rows, columns, place)) in moves.into_iter().enumerate() {
        let result = fuse(move |a: Mat<u8>| f(a).store::<(Y, X, C)>()).call(&x)?;
        assert_eq!(result.extents(), [rows, columns, 3], "move {i}");
        assert_eq!(result.to_vec()?, moved(&a, rows, columns, place), "move {i}");
    }

    let warps = fuse(|a: Mat<u8>, m: In<Affine, ()>, p: In<Perspective, ()>, at: MatC1<f32>| {
        let (size, zero) = (Size(COLUMNS, ROWS), Border::Constant(0));
        (
            warp_affine(a, m, size, INTER_LINEAR, zero).store::<(Y, X, C)>(),
            warp_perspective(a, p, size, INTER_AREA, zero).store::<(Y, X, C)>(),
            remap(a, at, at, INTER_NEAREST, zero).store::<(Y, X, C)>(),
        )
    });
    // Half a pixel to the right: the mean of two neighbours; twice as large by `w`; the diagonal.
    let m = Affine([1.0, 0.0, 0.5, 0.0, 1.0, 0.0]);
    let p = Perspective([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]);
    let places: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i % ROWS) as f32).collect();
    let (halved, small, diagonal) = warps.call(&x, m, p, &gray(&places)?)?;
    let (halved, small) = (halved.to_vec()?, small.to_vec()?);
    for y in 0..=last_y {
        for x in 0..last_x {
            for c in 0..3 {
                let at = |y: usize, x: usize| f32::from(a[(y * COLUMNS + x) * 3 + c]);
                let i = (y * COLUMNS + x) * 3 + c;
                assert_eq!(halved[i], byte((at(y, x) + at(y, x + 1)) / 2.0), "{y} {x} {c}");
                let (v, u) = (y / 2, x / 2);
                if y % 2 == 0 {
                    let expected = if x % 2 == 0 { at(v, u) } else { (at(v, u) + at(v, u + 1)) / 2.0 };
                    assert_eq!(small[i], byte(expected), "{y} {x} {c}");
                }
            }
        }
    }
    assert_eq!(diagonal.to_vec()?, moved(&a, ROWS, COLUMNS, |y, x| [(y * COLUMNS + x) % ROWS; 2].into()));
    Ok(())
}

#[test]
fn statistics() -> Result<(), Error> {
    let a = bytes(13);
    let totals = fuse(|a: Mat<u8>| {
        let (mean, deviation) = mean_std_dev(a);
        (sum(a).store::<(C,)>(), mean.store::<(C,)>(), deviation.store::<(C,)>())
    });
    let (sums, means, deviations) = totals.call(&picture(&a)?)?;
    let (sums, means, deviations) = (sums.to_vec()?, means.to_vec()?, deviations.to_vec()?);
    let n = (ROWS * COLUMNS) as f64;
    for c in 0..3 {
        let of = |f: &dyn Fn(f64) -> f64| a.iter().skip(c).step_by(3).map(|v| f(f64::from(*v))).sum::<f64>();
        let mean = of(&|v| v) / n;
        assert_eq!((sums[c], means[c]), (mean * n, mean));
        let variance = of(&|v| (v - mean) * (v - mean)) / n;
        assert!((deviations[c] - variance.sqrt()).abs() < 1e-9, "{} {}", deviations[c], variance.sqrt());
    }

    // The largest value stands twice: the first in the order of rows counts.
    let mut f = floats(14)[..ROWS * COLUMNS].to_vec();
    (f[23], f[40], f[17]) = (1e6, 1e6, -1e6);
    let x = gray(&f)?;
    let both = |e: Extreme<f32>| (e.0.store::<()>(), e.1[0].store::<()>(), e.1[1].store::<()>());
    let least = fuse(|a: MatC1<f32>| both(min_max_loc(a)[0])).call(&x)?;
    assert_eq!((least.0.to_vec()?, least.1.to_vec()?, least.2.to_vec()?), (vec![-1e6], vec![17 % 9], vec![17 / 9]));
    let most = fuse(|a: MatC1<f32>| both(min_max_loc(a)[1])).call(&x)?;
    assert_eq!((most.0.to_vec()?, most.1.to_vec()?, most.2.to_vec()?), (vec![1e6], vec![23 % 9], vec![23 / 9]));

    let scaled = fuse(|a: MatC1<f32>| normalize(a, 1.0, -3.0).store::<(Y, X)>()).call(&x)?.to_vec()?;
    for (v, scaled) in f.iter().zip(scaled) {
        assert!((f64::from(scaled) - ((f64::from(*v) + 1e6) / 2e6 * 4.0 - 3.0)).abs() < 1e-6, "{v}: {scaled}");
    }

    let b = &a[..ROWS * COLUMNS];
    let rows: Vec<Vec<u8>> = b.chunks(COLUMNS).map(<[u8]>::to_vec).collect();
    let columns: Vec<Vec<u8>> = (0..COLUMNS).map(|x| rows.iter().map(|r| r[x]).collect()).collect();
    for how in [REDUCE_SUM, REDUCE_AVG, REDUCE_MAX, REDUCE_MIN] {
        let one = |values: &Vec<u8>| {
            let sum: f64 = values.iter().map(|v| f64::from(*v)).sum();
            match how {
                REDUCE_SUM => sum as f32,
                REDUCE_AVG => (sum / values.len() as f64) as f32,
                REDUCE_MAX => values.iter().max().map_or(0.0, |v| f32::from(*v)),
                REDUCE_MIN => values.iter().min().map_or(0.0, |v| f32::from(*v)),
            }
        };
        let to_row = fuse(move |a: MatC1<u8>| reduce_to_row::<f32, _>(a, how).store::<(X,)>());
        let to_column = fuse(move |a: MatC1<u8>| reduce_to_column::<f32, _>(a, how).store::<(Y,)>());
        assert_eq!(to_row.call(&gray(b)?)?.to_vec()?, columns.iter().map(one).collect::<Vec<_>>(), "{how:?}");
        assert_eq!(to_column.call(&gray(b)?)?.to_vec()?, rows.iter().map(one).collect::<Vec<_>>(), "{how:?}");
    }
    Ok(())
}

/// A chain of lines takes a batch as it takes a picture: with one dimension more.
#[test]
fn a_batch() -> Result<(), Error> {
    tilewright_dims::dims! { N }
    let a = [bytes(15), bytes(16)].concat();
    let x = Tensor::<u8, (N, Y, X, C)>::from_vec([2, ROWS, COLUMNS, 3], a.clone())?;
    let lines = fuse(|a: In<u8, (N, Y, X, C)>| {
        let b = convert_to::<f32, _, _>(cvt_color(a, COLOR_BGR2RGB), 1.0 / 255.0, 0.0);
        let c: Expr<f32, _> = divide(subtract(b, [0.5, 0.25, 0.125]), [0.5, 2.0, 4.0]);
        c.store::<(N, Y, X, C)>()
    });
    let expected = |(i, _): (usize, &u8)| {
        let value = f32::from(a[i / 3 * 3 + 2 - i % 3]).mul_add(1.0 / 255.0, 0.0);
        (value - [0.5, 0.25, 0.125][i % 3]) / [0.5, 2.0, 4.0][i % 3]
    };
    assert_eq!(lines.call(&x)?.to_vec()?, a.iter().enumerate().map(expected).collect::<Vec<f32>>());
    Ok(())
}
