//! Colour spaces against the textbook's formulas, by sectors.

use super::{C, K, Shade, X, Y, close, picture, results, tabulate};
use crate::random::Rng;
use crate::tensor::Tensor;
use ndarray::ArrayD;
use tilewright_dims::Dims;
use tilewright_expr::colour::{self, Depth, Space};
use tilewright_expr::{In, trace};

const RGB: [Space; 4] = [Space::Rgb, Space::Bgr, Space::Rgba, Space::Bgra];
const OTHERS: [Space; 4] = [Space::Hsv, Space::Hls, Space::Xyz, Space::YCrCb];

/// Hue in degrees, by which channel is largest.
fn hue([r, g, b]: [f64; 3]) -> f64 {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high == low {
        return 0.0;
    }
    let sector = match high {
        h if h == r => (g - b) / (high - low),
        h if h == g => 2.0 + (b - r) / (high - low),
        _ => 4.0 + (r - g) / (high - low),
    };
    (sector * 60.0).rem_euclid(360.0)
}

/// A pixel of unit range in another space, hue in turns.
fn formula(rgb: [f64; 3], to: Space) -> [f64; 3] {
    let [r, g, b] = rgb;
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    match to {
        Space::Hsv => [hue(rgb) / 360.0, if high == 0.0 { 0.0 } else { (high - low) / high }, high],
        Space::Hls => {
            let l = (high + low) / 2.0;
            let s = if high == low { 0.0 } else { (high - low) / (1.0 - (2.0 * l - 1.0).abs()) };
            [hue(rgb) / 360.0, l, s]
        }
        Space::Xyz => [
            0.412453 * r + 0.357580 * g + 0.180423 * b,
            0.212671 * r + 0.715160 * g + 0.072169 * b,
            0.019334 * r + 0.119193 * g + 0.950227 * b,
        ],
        Space::YCrCb => {
            let y = 0.299 * r + 0.587 * g + 0.114 * b;
            [y, (r - y) * 0.713, (b - y) * 0.564]
        }
        _ => rgb,
    }
}

/// From a space of the second list: textbook's sectors.
fn back([a, b, c]: [f64; 3], from: Space) -> [f64; 3] {
    let sectors = |chroma: f64, low: f64| {
        let h = a.rem_euclid(1.0) * 6.0;
        let x = chroma * (1.0 - ((h % 2.0) - 1.0).abs());
        let [r, g, b] = match h as usize {
            0 => [chroma, x, 0.0],
            1 => [x, chroma, 0.0],
            2 => [0.0, chroma, x],
            3 => [0.0, x, chroma],
            4 => [x, 0.0, chroma],
            _ => [chroma, 0.0, x],
        };
        [r + low, g + low, b + low]
    };
    match from {
        Space::Hsv => sectors(b * c, c - b * c),
        Space::Hls => {
            let chroma = (1.0 - (2.0 * b - 1.0).abs()) * c;
            sectors(chroma, b - chroma / 2.0)
        }
        Space::Xyz => [
            3.240479 * a - 1.53715 * b - 0.498535 * c,
            -0.969256 * a + 1.875991 * b + 0.041556 * c,
            0.055648 * a - 0.204043 * b + 1.057311 * c,
        ],
        Space::YCrCb => [a + 1.403 * b, a - 0.714 * b - 0.344 * c, a + 1.773 * c],
        _ => [a, b, c],
    }
}

/// What a channel is divided by to have unit range, and what is subtracted before: codes of `T`.
fn coding<T: Shade>(space: Space, channel: usize) -> (f64, f64) {
    let (white, turn) = match T::DTYPE.size() {
        1 => (255.0, 180.0),
        2 => (65535.0, 65536.0),
        _ => (1.0, 360.0),
    };
    match (space, channel) {
        (Space::Hsv | Space::Hls, 0) => (turn, 0.0),
        (Space::YCrCb, 1 | 2) => (white, if white == 1.0 { 0.5 } else { (white + 1.0) / 2.0 }),
        _ => (white, 0.0),
    }
}

fn white<T: Shade>() -> f64 {
    coding::<T>(Space::Rgb, 0).0
}

/// A pixel of unit range as codes of `T`.
fn encode<T: Shade>(v: [f64; 3], space: Space) -> [f64; 3] {
    let one = |i: usize| {
        let (scale, offset) = coding::<T>(space, i);
        let code = v[i] * scale + offset;
        let hue = matches!(space, Space::Hsv | Space::Hls) && i == 0;
        match T::DTYPE.is_float() {
            true => code,
            false if hue => code,
            false => code.clamp(0.0, white::<T>()),
        }
    };
    [one(0), one(1), one(2)]
}

fn decode<T: Shade>(v: [f64; 3], space: Space) -> [f64; 3] {
    let one = |i: usize| {
        let (scale, offset) = coding::<T>(space, i);
        (v[i] - offset) / scale
    };
    [one(0), one(1), one(2)]
}

/// Compares where a hue of a turn is one of 0.
fn close_turns<T: Shade>(result: &Tensor, expected: &ArrayD<f64>, space: Space, tolerance: f64) {
    let mut nearest = expected.clone();
    let got = result.array::<T>();
    if matches!(space, Space::Hsv | Space::Hls) {
        let turn = coding::<T>(space, 0).0;
        for (i, e) in nearest.indexed_iter_mut().filter(|(i, _)| i[2] == 0) {
            *e += ((got[&i].real() - *e) / turn).round() * turn;
        }
    }
    close::<T>(result, &nearest, tolerance);
}

/// Random pixels, grey ones, primary ones among them.
fn pixels<T: Shade>(rng: &mut Rng) -> (ArrayD<T>, Tensor) {
    let (mut a, _) = picture::<T>(rng, <(Y, X, C)>::IDS, &[9, 31, 3], white::<T>());
    for x in 0..31 {
        for c in 0..3 {
            a[[0, x, c]] = a[[0, x, 0]];
            a[[1, x, c]] = T::shade(if x >> c & 1 == 1 { white::<T>() } else { 0.0 });
        }
        a[[2, x, 1]] = a[[2, x, 2]];
        a[[3, x, 0]] = a[[3, x, 1]];
    }
    let tensor = Tensor::of(<(Y, X, C)>::IDS, &a);
    (a, tensor)
}

fn through<T: Shade + colour::Shade>(tolerance: f64) {
    let mut rng = Rng::new(11);
    let (a, t) = pixels::<T>(&mut rng);
    for to in OTHERS {
        let graph = trace(|x: In<T, (Y, X, C)>| x.convert::<C>(Space::Rgb, to).store::<(Y, X, C)>()).graph;
        let pixel = |i: &[usize]| [0, 1, 2].map(|c| a[[i[0], i[1], c]].real() / white::<T>());
        let expected = tabulate(&[9, 31, 3], |i| encode::<T>(formula(pixel(i), to), to)[i[2]]);
        let converted = &results(&graph, &[&t])[0];
        close_turns::<T>(converted, &expected, to, tolerance * coding::<T>(to, 0).0.max(white::<T>()));

        let values = converted.array::<T>();
        let graph = trace(|x: In<T, (Y, X, C)>| x.convert::<C>(to, Space::Bgr).store::<(Y, X, C)>()).graph;
        let pixel = |i: &[usize]| decode::<T>([0, 1, 2].map(|c| values[[i[0], i[1], c]].real()), to);
        let expected = tabulate(&[9, 31, 3], |i| encode::<T>(back(pixel(i), to), Space::Rgb)[2 - i[2]]);
        close::<T>(&results(&graph, &[converted])[0], &expected, tolerance * white::<T>());
    }
}

#[test]
fn other_spaces_of_floats() {
    through::<f32>(3e-6);
    through::<f64>(1e-12);
}

#[test]
fn other_spaces_of_integers() {
    through::<u8>(1e-4);
    through::<u16>(1e-6);
}

#[test]
fn there_and_back() {
    let (a, t) = pixels::<f32>(&mut Rng::new(12));
    for space in OTHERS {
        let there = |x: In<f32, (Y, X, C)>| {
            x.convert::<C>(Space::Rgb, space).convert::<C>(space, Space::Rgb).store::<(Y, X, C)>()
        };
        // The matrices of OpenCV are inverses to three places (differences), five (XYZ).
        let tolerance = if space == Space::YCrCb { 2e-3 } else { 2e-5 };
        close::<f32>(&results(&trace(there).graph, &[&t])[0], &a.mapv(f64::from), tolerance);
    }
}

#[test]
fn orders_and_alpha_are_copies() {
    let mut rng = Rng::new(13);
    for from in RGB {
        let n = from.channels();
        let (a, t) = picture::<u16>(&mut rng, <(Y, X, C)>::IDS, &[3, 10, n], 65535.0);
        for to in RGB {
            let graph = trace(|x: In<u16, (Y, X, C)>| x.convert::<C>(from, to).store::<(Y, C, X)>()).graph;
            let swap = [Space::Bgr, Space::Bgra].contains(&from) != [Space::Bgr, Space::Bgra].contains(&to);
            let expected = tabulate(&[3, to.channels(), 10], |i| match i[1] {
                3 if n == 4 => f64::from(a[[i[0], i[2], 3]]),
                3 => 65535.0,
                c => f64::from(a[[i[0], i[2], if swap { 2 - c } else { c }]]),
            });
            close::<u16>(&results(&graph, &[&t])[0], &expected, 0.0);
        }
    }
    let (a, t) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[3, 10, 3], 255.0);
    let (m, mt) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[3, 10], 255.0);
    let graph =
        trace(|x: In<u8, (Y, X, C)>, mask: In<u8, (Y, X)>| x.with_alpha::<C, _>(mask).store::<(Y, X, C)>()).graph;
    let expected = tabulate(&[3, 10, 4], |i| match i[2] {
        3 => f64::from(m[[i[0], i[1]]]),
        c => f64::from(a[[i[0], i[1], c]]),
    });
    close::<u8>(&results(&graph, &[&t, &mt])[0], &expected, 0.0);
    let graph = trace(|x: In<u8, (Y, X, C)>| x.add_alpha::<C>().drop_alpha::<C>().store::<(Y, X, C)>()).graph;
    close::<u8>(&results(&graph, &[&t])[0], &a.mapv(f64::from), 0.0);
}

fn grey<T: Shade + colour::Shade>(tolerance: f64) {
    let mut rng = Rng::new(14);
    let (a, t) = picture::<T>(&mut rng, <(Y, X, C)>::IDS, &[7, 33, 4], white::<T>());
    let graph = trace(|x: In<T, (Y, X, C)>| x.gray::<C>(Space::Bgra).store::<(Y, X)>()).graph;
    let luma = |i: &[usize], [r, g, b]: [usize; 3]| {
        let v = |c| a[[i[0], i[1], c]].real();
        0.299 * v(r) + 0.587 * v(g) + 0.114 * v(b)
    };
    let expected = tabulate(&[7, 33], |i| luma(i, [2, 1, 0]));
    close::<T>(&results(&graph, &[&t])[0], &expected, tolerance);

    let graph =
        trace(|x: In<T, (Y, X, C)>| x.gray::<C>(Space::Bgra).colour::<K>(Space::Rgba).store::<(Y, X, K)>()).graph;
    let expected = tabulate(&[7, 33, 4], |i| if i[2] == 3 { white::<T>() } else { luma(i, [2, 1, 0]) });
    close::<T>(&results(&graph, &[&t])[0], &expected, tolerance);
}

#[test]
fn grey_pictures() {
    grey::<u8>(1e-4);
    grey::<u16>(1e-2);
    grey::<f32>(1e-6);
    grey::<f64>(1e-12);
    // The value of the reference's note on rounding: floats are not rounded.
    let t = Tensor::of(<(X, C)>::IDS, &ArrayD::from_shape_vec(vec![1, 3], vec![10f32, 20.0, 30.0]).expect("a pixel"));
    let graph = trace(|x: In<f32, (X, C)>| x.gray::<C>(Space::Rgb).store::<(X,)>()).graph;
    close::<f32>(&results(&graph, &[&t])[0], &tabulate(&[1], |_| 18.15), 2e-6);
}

#[test]
fn depths() {
    let codes = [Depth::Bits8, Depth::Bits10, Depth::Bits12, Depth::Bits16];
    let mut rng = Rng::new(15);
    for from in codes {
        let (a, t) = picture::<u16>(&mut rng, <(Y, X)>::IDS, &[5, 40], from.max());
        for to in codes {
            let graph = trace(|x: In<u16, (Y, X)>| x.scale::<u16>(from, to).store::<(Y, X)>()).graph;
            let expected = a.mapv(|v| f64::from(v) * to.max() / from.max());
            close::<u16>(&results(&graph, &[&t])[0], &expected, 8e-3);
        }
        let graph = trace(|x: In<u16, (Y, X)>| x.scale::<f32>(from, Depth::Unit).store::<(Y, X)>()).graph;
        close::<f32>(&results(&graph, &[&t])[0], &a.mapv(|v| f64::from(v) / from.max()), 6e-8);
        // Outside of the range: integers saturate, floats do not.
        let values = [-0.5f32, 0.0, 0.25, 1.0, 1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        let t = Tensor::of(<(X,)>::IDS, &ArrayD::from_shape_vec(vec![8], values.to_vec()).expect("as many"));
        let graph = trace(|x: In<f32, (X,)>| {
            (x.scale::<u16>(Depth::Unit, from).store::<(X,)>(), x.scale::<f32>(Depth::Unit, from).store::<(X,)>())
        })
        .graph;
        let max = from.max();
        let got = results(&graph, &[&t]);
        let expected = [0.0, 0.0, 0.25 * max, max, max, max, 0.0, 0.0];
        close::<u16>(&got[0], &tabulate(&[8], |i| expected[i[0]]), 0.0);
        assert_eq!(f64::from(got[1].array::<f32>()[[4]]), 1.5 * max);
        assert_eq!(f64::from(got[1].array::<f32>()[[0]]), -0.5 * max);
    }
    // Every byte there and back, exactly.
    let all = Tensor::of(<(X,)>::IDS, &ArrayD::from_shape_fn(vec![256], |i| i[0] as u8));
    let graph = trace(|x: In<u8, (X,)>| {
        let wide = x.scale::<u16>(Depth::Bits8, Depth::Bits16);
        (wide.store::<(X,)>(), wide.scale::<u8>(Depth::Bits16, Depth::Bits8).store::<(X,)>())
    })
    .graph;
    let got = results(&graph, &[&all]);
    close::<u16>(&got[0], &tabulate(&[256], |i| 257.0 * i[0] as f64), -0.5);
    assert!(got[1].same(&all));
}
