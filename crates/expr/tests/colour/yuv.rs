//! The standards' matrices, and the two changes.

use super::{C, X, Y, close, picture, results, tabulate};
use crate::random::Rng;
use tilewright_dims::Dims;
use tilewright_expr::colour::{Depth, Range, Standard, YuvMatrix, YuvSpec};
use tilewright_expr::{In, trace};

pub(super) const STANDARDS: [Standard; 3] = [Standard::Bt601, Standard::Bt709, Standard::Bt2020];
pub(super) const RANGES: [Range; 2] = [Range::Full, Range::Limited];
const DEPTHS: [Depth; 5] = [Depth::Bits8, Depth::Bits10, Depth::Bits12, Depth::Bits16, Depth::Unit];

pub(super) fn all() -> impl Iterator<Item = YuvSpec> {
    let of = |standard| RANGES.into_iter().map(move |range| (standard, range));
    let with = |(standard, range)| DEPTHS.into_iter().map(move |depth| YuvSpec { standard, range, depth });
    STANDARDS.into_iter().flat_map(of).flat_map(with)
}

pub(super) fn apply(m: &YuvMatrix, v: [f64; 3]) -> [f64; 3] {
    let row = |i: usize| (0..3).map(|k| m.rows[i][k] * (v[k] - m.before[k])).sum::<f64>() + m.after[i];
    [row(0), row(1), row(2)]
}

/// Kr and Kb, luma offset and span, chroma centre and span, maximum: from the standards' tables, by hand.
fn constants(spec: YuvSpec) -> ([f64; 2], [f64; 2], [f64; 2], f64) {
    let k = match spec.standard {
        Standard::Bt601 => [0.299, 0.114],
        Standard::Bt709 => [0.2126, 0.0722],
        Standard::Bt2020 => [0.2627, 0.0593],
    };
    let (luma, chroma, max) = match (spec.depth, spec.range) {
        (Depth::Bits8, Range::Limited) => ([16.0, 219.0], [128.0, 224.0], 255.0),
        (Depth::Bits10, Range::Limited) => ([64.0, 876.0], [512.0, 896.0], 1023.0),
        (Depth::Bits12, Range::Limited) => ([256.0, 3504.0], [2048.0, 3584.0], 4095.0),
        (Depth::Bits16, Range::Limited) => ([4096.0, 56064.0], [32768.0, 57344.0], 65535.0),
        (Depth::Unit, Range::Limited) => ([16.0 / 255.0, 219.0 / 255.0], [128.0 / 255.0, 224.0 / 255.0], 1.0),
        (Depth::Bits8, Range::Full) => ([0.0, 255.0], [128.0, 255.0], 255.0),
        (Depth::Bits10, Range::Full) => ([0.0, 1023.0], [512.0, 1023.0], 1023.0),
        (Depth::Bits12, Range::Full) => ([0.0, 4095.0], [2048.0, 4095.0], 4095.0),
        (Depth::Bits16, Range::Full) => ([0.0, 65535.0], [32768.0, 65535.0], 65535.0),
        (Depth::Unit, Range::Full) => ([0.0, 1.0], [128.0 / 255.0, 1.0], 1.0),
    };
    (k, luma, chroma, max)
}

/// The definition: Y' = Kr R + Kg G + Kb B, Pb = (B - Y') / (2 (1 - Kb)), Pr alike, of unit range, then quantised.
pub(super) fn yuv([r, g, b]: [f64; 3], spec: YuvSpec) -> [f64; 3] {
    let ([kr, kb], luma, chroma, max) = constants(spec);
    let (r, g, b) = (r / max, g / max, b / max);
    let y = kr * r + (1.0 - kr - kb) * g + kb * b;
    let (pb, pr) = ((b - y) / (2.0 * (1.0 - kb)), (r - y) / (2.0 * (1.0 - kr)));
    [luma[0] + luma[1] * y, chroma[0] + chroma[1] * pb, chroma[0] + chroma[1] * pr]
}

/// The definition solved for red, green, blue.
pub(super) fn rgb([y, u, v]: [f64; 3], spec: YuvSpec) -> [f64; 3] {
    let ([kr, kb], luma, chroma, max) = constants(spec);
    let (y, pb, pr) = ((y - luma[0]) / luma[1], (u - chroma[0]) / chroma[1], (v - chroma[0]) / chroma[1]);
    let (r, b) = (y + 2.0 * (1.0 - kr) * pr, y + 2.0 * (1.0 - kb) * pb);
    let g = (y - kr * r - kb * b) / (1.0 - kr - kb);
    [r * max, g * max, b * max]
}

#[test]
fn published_coefficients() {
    // Of 8 bits, limited range: luma, V to red, U to green, V to green, U to blue.
    let published = [
        (Standard::Bt601, [1.16438353, 1.59602666, -0.391762286, -0.812967658, 2.01723194]),
        (Standard::Bt709, [1.16438353, 1.79274106, -0.213248581, -0.532909274, 2.11240172]),
        (Standard::Bt2020, [1.16438353, 1.6786741, -0.187326089, -0.650424302, 2.14177227]),
    ];
    for (standard, expected) in published {
        let m = YuvSpec::limited(standard, Depth::Bits8).to_rgb().rows;
        for (got, e) in [m[0][0], m[0][2], m[1][1], m[1][2], m[2][1]].into_iter().zip(expected) {
            assert!((got - e).abs() < 3e-7, "{standard:?}: {got}, published is {e}");
        }
        assert_eq!([m[0][0], m[0][1], m[2][2]], [m[1][0], 0.0, 0.0]);
    }
    // BT.709 at 8 bits in integers of 1024ths, as hardware manuals print it.
    let m = YuvSpec::limited(Standard::Bt709, Depth::Bits8).to_yuv();
    let thousandths = m.rows.map(|row| row.map(|v| (v * 1000.0).round()));
    assert_eq!(thousandths, [[183.0, 614.0, 62.0], [-101.0, -339.0, 439.0], [439.0, -399.0, -40.0]]);
    assert_eq!(m.after, [16.0, 128.0, 128.0]);
}

#[test]
fn matrices_are_the_definition_and_inverses() {
    let mut rng = Rng::new(21);
    for spec in all() {
        let max = spec.depth.max();
        for _ in 0..20 {
            let colour = [(); 3].map(|()| rng.unit() * max);
            let (there, e) = (apply(&spec.to_yuv(), colour), yuv(colour, spec));
            let (back, b) = (apply(&spec.to_rgb(), there), rgb(there, spec));
            for i in 0..3 {
                assert!((there[i] - e[i]).abs() < 1e-12 * max, "{spec:?}");
                assert!(
                    (back[i] - colour[i]).abs() < 1e-12 * max && (b[i] - colour[i]).abs() < 1e-12 * max,
                    "{spec:?}"
                );
            }
        }
    }
}

#[test]
fn black_white_and_colours_of_bars() {
    for (depth, scale) in [(Depth::Bits8, 1.0), (Depth::Bits10, 4.0), (Depth::Bits12, 16.0), (Depth::Bits16, 256.0)] {
        for standard in STANDARDS {
            let spec = YuvSpec::limited(standard, depth);
            let levels = |c: [f64; 3]| apply(&spec.to_yuv(), c.map(|v| v * depth.max())).map(|v| v / scale);
            let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(near(levels([0.0; 3]), [16.0, 128.0, 128.0]) && near(levels([1.0; 3]), [235.0, 128.0, 128.0]));
            assert!(
                (levels([0.0, 0.0, 1.0])[1] - 240.0).abs() < 1e-9 && (levels([1.0, 1.0, 0.0])[1] - 16.0).abs() < 1e-9
            );
            assert!(
                (levels([1.0, 0.0, 0.0])[2] - 240.0).abs() < 1e-9 && (levels([0.0, 1.0, 1.0])[2] - 16.0).abs() < 1e-9
            );
        }
    }
}

#[test]
fn pictures_there_and_back() {
    let mut rng = Rng::new(22);
    for spec in all() {
        let max = spec.depth.max();
        let (a, t) = picture::<f32>(&mut rng, <(Y, X, C)>::IDS, &[5, 9, 3], max);
        let graph = trace(|x: In<f32, (Y, X, C)>| {
            (x.rgb_to_yuv::<C>(spec).store::<(C, Y, X)>(), x.yuv_to_rgb::<C>(spec).store::<(Y, X, C)>())
        })
        .graph;
        let pixel = |y: usize, x: usize| [0, 1, 2].map(|c| f64::from(a[[y, x, c]]));
        let got = results(&graph, &[&t]);
        let tolerance = 1e-6 * max;
        close::<f32>(&got[0], &tabulate(&[3, 5, 9], |i| yuv(pixel(i[1], i[2]), spec)[i[0]]), tolerance);
        close::<f32>(&got[1], &tabulate(&[5, 9, 3], |i| rgb(pixel(i[0], i[1]), spec)[i[2]]), tolerance);
    }
}

#[test]
fn grey_stays_grey() {
    let grey = ndarray::ArrayD::from_shape_fn(vec![256, 3], |i| if i[1] == 0 { i[0] as u8 } else { 128 });
    let t = crate::tensor::Tensor::of(<(X, C)>::IDS, &grey);
    for standard in STANDARDS {
        let spec = YuvSpec::full(standard, Depth::Bits8);
        let graph = trace(|x: In<u8, (X, C)>| x.yuv_to_rgb::<C>(spec).store::<(X, C)>()).graph;
        close::<f32>(&results(&graph, &[&t])[0], &tabulate(&[256, 3], |i| i[0] as f64), 0.0);
    }
}
