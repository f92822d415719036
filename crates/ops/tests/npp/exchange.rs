//! Conversions, channels, copies, fills, colours.

use super::{COLUMNS, COUNT, ROWS, bytes, each, floats, image, integers};
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::npp::*;
use tilewright_ops::{Error, Tensor, fuse};

#[test]
fn conversions() -> Result<(), Error> {
    let (a, f, wide): (_, _, Vec<i32>) = (bytes(1), floats(2), integers(3, i64::from(i32::MIN), i64::from(i32::MAX)));
    let widened = fuse(|a: Image<u8>| convert::<f32, _, _>(a).store::<(Y, X, C)>()).call(&image(&a)?)?;
    assert_eq!(widened.to_vec()?, each(|i| f32::from(a[i])));
    type Rounds = fn(f64) -> f64;
    let modes: [(NppRoundMode, Rounds); 3] =
        [(NPP_RND_NEAR, f64::round_ties_even), (NPP_RND_FINANCIAL, f64::round), (NPP_RND_ZERO, f64::trunc)];
    for (mode, rounds) in modes {
        for scale in [-2, 0, 1, 9] {
            let lines = fuse(move |f: Image<f32>, w: Image<i32>| {
                (
                    convert_sfs::<u8, _, _>(f, mode, scale).store::<(Y, X, C)>(),
                    convert_sfs::<i16, _, _>(f, mode, scale).store::<(Y, X, C)>(),
                    convert_sfs::<u16, _, _>(w, mode, scale).store::<(Y, X, C)>(),
                    convert_rounded::<u8, _, _>(f, mode).store::<(Y, X, C)>(),
                )
            });
            let (bytes, shorts, words, plain) = lines.call(&image(&f)?, &image(&wide)?)?;
            let of = |v: f64, scale: i32| rounds(v * 2f64.powi(-scale));
            assert_eq!(bytes.to_vec()?, each(|i| of(f64::from(f[i]), scale) as u8), "{mode:?} by {scale}");
            assert_eq!(shorts.to_vec()?, each(|i| of(f64::from(f[i]), scale) as i16), "{mode:?} by {scale}");
            assert_eq!(words.to_vec()?, each(|i| of(f64::from(wide[i]), scale) as u16), "{mode:?} by {scale}");
            assert_eq!(plain.to_vec()?, each(|i| of(f64::from(f[i]), 0) as u8), "{mode:?}");
        }
    }
    Ok(())
}

#[test]
fn channels_and_fills() -> Result<(), Error> {
    let a = bytes(4);
    let x = image(&a)?;
    let lines = fuse(|a: Image<u8>| {
        let [first, _, third] = copy_to_planes::<3, _, _>(a);
        (
            swap_channels(a, [2, 0, 1]).store::<(Y, X, C)>(),
            copy_from_planes([third, first, first]).store::<(Y, X, C)>(),
            dup::<3, _, _>(third).store::<(Y, X, C)>(),
            set([1u8, 2, 3], NppiSize { width: COLUMNS, height: ROWS }).store::<(Y, X, C)>(),
        )
    });
    let (swapped, planes, thirds, filled) = lines.call(&x)?;
    let at = |order: [usize; 3]| each(|i| a[i / 3 * 3 + order[i % 3]]);
    assert_eq!(swapped.to_vec()?, at([2, 0, 1]));
    assert_eq!(planes.to_vec()?, at([2, 0, 0]));
    assert_eq!(thirds.to_vec()?, at([2, 2, 2]));
    assert_eq!(filled.to_vec()?, each(|i| i as u8 % 3 + 1));
    // `C4C3R`: the fourth channel is left out.
    let four = fuse(|a: Image<u8>| swap_channels(swap_channels(a, [0, 1, 2, 0]), [3, 2, 1]).store::<(Y, X, C)>());
    assert_eq!(four.call(&x)?.to_vec()?, at([0, 2, 1]));

    let fill = fuse(|| set(2.5f32, NppiSize { width: 3, height: 2 }).store::<(Y, X)>());
    let fill = fill.call()?;
    assert_eq!((fill.extents().to_vec(), fill.to_vec()?), (vec![2, 3], vec![2.5; 6]));
    let message =
        fuse(|a: Image<u8>| swap_channels(a, [0, 1, 3]).store::<(Y, X, C)>()).call(&x).map_err(|e| e.to_string());
    assert!(message.as_ref().is_err_and(|m| m.contains("`C`") && m.contains('3')), "{message:?}");
    Ok(())
}

#[test]
fn borders() -> Result<(), Error> {
    let a = bytes(5);
    let x = image(&a)?;
    // Around, at two sides, and wider than the image itself.
    for (size, top, left) in [((12, 9), 2, 3), ((7, 5), 0, 0), ((40, 31), 17, 20)] {
        let (width, height) = size;
        let size = NppiSize { width, height };
        let lines = fuse(move |a: Image<u8>| {
            (
                copy_replicate_border(a, size, top, left).store::<(Y, X, C)>(),
                copy_wrap_border(a, size, top, left).store::<(Y, X, C)>(),
                copy_const_border(a, size, top, left, 9).store::<(Y, X, C)>(),
                copy_const_border_channels(a, size, top, left, [1, 2, 3]).store::<(Y, X, C)>(),
            )
        });
        let (replicated, wrapped, constant, coloured) = lines.call(&x)?;
        let place = |i: usize| {
            let (y, x) = (i / 3 / width, i / 3 % width);
            (y as i64 - top as i64, x as i64 - left as i64, i % 3)
        };
        let pixel = |y: i64, x: i64, c: usize| a[(y as usize * COLUMNS + x as usize) * 3 + c];
        let (rows, columns) = (ROWS as i64, COLUMNS as i64);
        let all = |f: &dyn Fn(i64, i64, usize) -> u8| -> Vec<u8> {
            (0..width * height * 3).map(place).map(|(y, x, c)| f(y, x, c)).collect()
        };
        let inside = |y: i64, x: i64| (0..rows).contains(&y) && (0..columns).contains(&x);
        assert_eq!(replicated.to_vec()?, all(&|y, x, c| pixel(y.clamp(0, rows - 1), x.clamp(0, columns - 1), c)));
        assert_eq!(wrapped.to_vec()?, all(&|y, x, c| pixel(y.rem_euclid(rows), x.rem_euclid(columns), c)));
        assert_eq!(constant.to_vec()?, all(&|y, x, c| if inside(y, x) { pixel(y, x, c) } else { 9 }));
        assert_eq!(coloured.to_vec()?, all(&|y, x, c| if inside(y, x) { pixel(y, x, c) } else { c as u8 + 1 }));
    }
    Ok(())
}

#[test]
fn colours() -> Result<(), Error> {
    let a = bytes(6);
    let twist = [[0.299, 0.587, 0.114, 0.5], [-0.1, 0.0, 1.1, 128.0], [1.0, 1.0, 1.0, -20.0]];
    let lines = fuse(move |a: Image<u8>| {
        (
            color_twist(a, twist).store::<(Y, X, C)>(),
            color_twist(convert::<f32, _, _>(a), twist).store::<(Y, X, C)>(),
            color_to_gray(a, [0.25, 0.5, 0.25]).store::<(Y, X)>(),
            rgb_to_gray(a).store::<(Y, X)>(),
        )
    });
    let (twisted, real, gray, luma) = lines.call(&image(&a)?)?;
    let pixel = |i: usize| [0, 1, 2].map(|c| f64::from(a[i / 3 * 3 + c]));
    let of = |i: usize| {
        let ([x, y, z], [p, q, r, s]) = (pixel(i), twist[i % 3].map(f64::from));
        x * p + y * q + z * r + s
    };
    let near = |got: u8, exact: f64| (f64::from(got) - exact.clamp(0.0, 255.0)).abs() <= 0.5 + 1e-4;
    let cut = |got: u8, exact: f64| (0.0..1.0).contains(&(exact.clamp(0.0, 255.0) - f64::from(got) + 1e-4));
    let (twisted, real) = (twisted.to_vec()?, real.to_vec()?);
    for i in 0..COUNT {
        assert!(
            cut(twisted[i], of(i)) && (f64::from(real[i]) - of(i)).abs() < 1e-4,
            "{} {} {}",
            twisted[i],
            real[i],
            of(i)
        );
    }
    for (i, (gray, luma)) in gray.to_vec()?.into_iter().zip(luma.to_vec()?).enumerate() {
        let [r, g, b] = pixel(i * 3);
        assert_eq!(gray, ((r + 2.0 * g + b) / 4.0 + 0.5).floor() as u8);
        assert!(near(luma, 0.299 * r + 0.587 * g + 0.114 * b), "{luma}");
    }
    Ok(())
}

/// A batch is one more dimension, and so are constants for each picture of it.
#[test]
fn a_batch() -> Result<(), Error> {
    dims! { N }
    let a = [bytes(7), bytes(8)].concat();
    let x = Tensor::<u8, (N, Y, X, C)>::from_vec([2, ROWS, COLUMNS, 3], a.clone())?;
    let scales = Tensor::<f32, (N,)>::from_vec([2], vec![0.5, 3.0])?;
    let lines = fuse(|a: In<u8, (N, Y, X, C)>, scales: In<f32, (N,)>| {
        let b = mul_c(convert::<f32, _, _>(swap_channels(a, [2, 1, 0])), scales);
        sub_c(b, [1.0, 2.0, 3.0]).store::<(N, C, Y, X)>()
    });
    let got = lines.call(&x, &scales)?.to_vec()?;
    for (i, got) in got.into_iter().enumerate() {
        let (n, c, pixel) = (i / COUNT, i % COUNT / (ROWS * COLUMNS), i % (ROWS * COLUMNS));
        let value = f32::from(a[n * COUNT + pixel * 3 + 2 - c]);
        assert_eq!(got, value * [0.5, 3.0][n] - [1.0, 2.0, 3.0][c]);
    }
    Ok(())
}
