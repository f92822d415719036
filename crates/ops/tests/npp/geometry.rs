//! Parts, sizes, mirrors.

use super::{COLUMNS, ROWS, bytes, image};
use tilewright_dims::dims;
use tilewright_expr::{In, Rect};
use tilewright_ops::npp::*;
use tilewright_ops::{Error, Tensor, fuse};

dims! { N }

/// Where sample `i` of `to` lies among `from` pixels, by docs/notes/npp.md.
fn place(i: usize, from: usize, to: usize) -> f64 {
    let place = i as f64 * from as f64 / to as f64;
    if to > from { (place - 0.25).max(0.0) } else { place }
}

/// One row of a ramp, resized.
fn ramp(from: usize, to: usize, mode: NppiInterpolationMode) -> Result<Vec<f32>, Error> {
    let x = Tensor::<f32, (Y, X)>::from_vec([1, from], (0..from).map(|i| i as f32).collect())?;
    let lines = fuse(move |a: ImageC1<f32>| resize(a, NppiSize { width: to, height: 1 }, mode).store::<(Y, X)>());
    lines.call(&x)?.to_vec()
}

/// What NPP itself printed.
#[test]
fn measured_places() -> Result<(), Error> {
    assert_eq!(ramp(60, 64, NPPI_INTER_LINEAR)?[..4], [0.0, 0.6875, 1.625, 2.5625]);
    assert_eq!(ramp(120, 48, NPPI_INTER_NN)?[..6], [0.0, 3.0, 5.0, 8.0, 10.0, 13.0]);
    assert_eq!(ramp(120, 48, NPPI_INTER_LINEAR)?[..4], [0.0, 2.5, 5.0, 7.5]);
    Ok(())
}

#[test]
fn resizes_of_a_batch() -> Result<(), Error> {
    let a = bytes(1);
    // Shrunk, grown, one of each, as it is.
    let boxes = [Rect::new(0, 0, 7, 5), Rect::new(1, 2, 3, 2), Rect::new(2, 0, 5, 1), Rect::new(3, 1, 4, 3)];
    let rects = Tensor::<Rect, (N,)>::from_vec([4], boxes.to_vec())?;
    let (width, height) = (4, 3);
    let lines = fuse(move |a: Image<u8>, rects: In<Rect, (N,)>| {
        let (parts, size) = (roi_batch(a, rects), NppiSize { width, height });
        (
            resize_real(parts, size, NPPI_INTER_LINEAR).store::<(N, Y, X, C)>(),
            resize(parts, size, NPPI_INTER_LINEAR).store::<(N, Y, X, C)>(),
            resize(parts, size, NPPI_INTER_NN).store::<(N, Y, X, C)>(),
        )
    });
    let (real, linear, nearest) = lines.call(&image(&a)?, &rects)?;
    let (real, linear, nearest) = (real.to_vec()?, linear.to_vec()?, nearest.to_vec()?);
    for i in 0..real.len() {
        let (n, y, x, c) = (i / 36, i / 12 % 3, i / 3 % 4, i % 3);
        let r = boxes[n];
        let (w, h) = (r.width as usize, r.height as usize);
        let pixel = |v: usize, u: usize| {
            let (v, u) = (v.min(h - 1) + r.y as usize, u.min(w - 1) + r.x as usize);
            f64::from(a[(v * COLUMNS + u) * 3 + c])
        };
        let (v, u) = (place(y, h, height), place(x, w, width));
        let (v1, u1) = (v as usize, u as usize);
        let (fv, fu) = (v - v.floor(), u - u.floor());
        let row = |v: usize| pixel(v, u1) * (1.0 - fu) + pixel(v, u1 + 1) * fu;
        let exact = row(v1) * (1.0 - fv) + row(v1 + 1) * fv;
        assert!((f64::from(real[i]) - exact).abs() < 1e-3, "box {n}, ({y}, {x}, {c}): {} for {exact}", real[i]);
        assert_eq!(linear[i], real[i].round_ties_even() as u8);
        // In units of a quarter of a pixel of the result.
        let nearest_of =
            |i: usize, from: usize, to: usize| (4 * i * from + 2 * to - if to > from { to } else { 0 }) / (4 * to);
        assert_eq!(f64::from(nearest[i]), pixel(nearest_of(y, h, height), nearest_of(x, w, width)), "box {n}");
    }
    Ok(())
}

#[test]
fn means_of_what_is_covered() -> Result<(), Error> {
    // 7 pixels on 2: 3 of them and half of the fourth.
    let got = ramp(7, 2, NPPI_INTER_SUPER)?;
    let expected = [(0.0 + 1.0 + 2.0 + 1.5) / 3.5, (1.5 + 4.0 + 5.0 + 6.0) / 3.5];
    assert!(got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-6), "{got:?}");
    Ok(())
}

#[test]
fn parts_and_mirrors() -> Result<(), Error> {
    let a = bytes(2);
    let x = image(&a)?;
    let of = |rows: usize, columns: usize, place: &dyn Fn(usize, usize) -> (usize, usize)| -> Vec<u8> {
        let pixel = |i: usize| {
            let (y, x) = place(i / columns, i % columns);
            a[(y * COLUMNS + x) * 3..][..3].to_vec()
        };
        (0..rows * columns).flat_map(pixel).collect()
    };
    let lines = fuse(|a: Image<u8>| {
        (
            mirror(a, NPP_HORIZONTAL_AXIS).store::<(Y, X, C)>(),
            mirror(a, NPP_VERTICAL_AXIS).store::<(Y, X, C)>(),
            mirror(a, NPP_BOTH_AXIS).store::<(Y, X, C)>(),
        )
    });
    let (horizontal, vertical, both) = lines.call(&x)?;
    assert_eq!(horizontal.to_vec()?, of(ROWS, COLUMNS, &|y, x| (ROWS - 1 - y, x)));
    assert_eq!(vertical.to_vec()?, of(ROWS, COLUMNS, &|y, x| (y, COLUMNS - 1 - x)));
    assert_eq!(both.to_vec()?, of(ROWS, COLUMNS, &|y, x| (ROWS - 1 - y, COLUMNS - 1 - x)));
    let part = fuse(|a: Image<u8>| roi(a, NppiRect::new(2, 1, 4, 3)).store::<(Y, X, C)>());
    assert_eq!(part.call(&x)?.to_vec()?, of(3, 4, &|y, x| (y + 1, x + 2)));
    let turned = fuse(|a: Image<u8>| transpose(a).store::<(Y, X, C)>());
    assert_eq!(turned.call(&x)?.to_vec()?, of(COLUMNS, ROWS, &|y, x| (x, y)));

    for (rect, dim) in [(NppiRect::new(4, 0, 4, 2), "`X`"), (NppiRect::new(0, -1, 4, 2), "`Y`")] {
        let lines = fuse(move |a: Image<u8>| roi(a, rect).store::<(Y, X, C)>());
        let message = lines.call(&x).map_err(|e| e.to_string());
        assert!(message.as_ref().is_err_and(|m| m.contains(dim)), "{message:?}");
    }
    for size in [NppiSize { width: 0, height: 3 }, NppiSize { width: 3, height: 1 << 31 }] {
        let lines = fuse(move |a: Image<u8>| resize(a, size, NPPI_INTER_LINEAR).store::<(Y, X, C)>());
        let message = lines.call(&x).map_err(|e| e.to_string());
        assert!(message.as_ref().is_err_and(|m| m.contains("size")), "{message:?}");
    }
    Ok(())
}
