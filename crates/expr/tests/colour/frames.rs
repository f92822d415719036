//! Frames read: every format, every siting, even and odd sizes.

use super::{C, H, N, P, Shade, U, W, X, Y, close, picture, refusal, results, tabulate, yuv};
use crate::random::Rng;
use crate::tensor::Tensor;
use ndarray::ArrayD;
use tilewright_dims::Dims;
use tilewright_expr::colour::*;
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, trace};

const SIZES: [(usize, usize); 5] = [(1, 1), (4, 6), (5, 7), (2, 33), (3, 1)];
const SITINGS: [ChromaSiting; 4] =
    [ChromaSiting::Replicate, ChromaSiting::Centre, ChromaSiting::Left, ChromaSiting::TopLeft];

/// The value at pixel `x` of `n` samples, the first of which lies at `first`, each next one two pixels on.
fn along(sample: impl Fn(usize) -> f64, n: usize, x: usize, first: Option<f64>) -> f64 {
    let Some(first) = first else { return sample(x / 2) };
    let place = (x as f64 - first) / 2.0;
    let (low, share) = (place.floor(), place - place.floor());
    let at = |i: f64| sample(i.clamp(0.0, (n - 1) as f64) as usize);
    (1.0 - share) * at(low) + share * at(low + 1.0)
}

/// Where the first sample of rows and of columns lies.
fn first(siting: ChromaSiting) -> [Option<f64>; 2] {
    match siting {
        ChromaSiting::Replicate => [None, None],
        ChromaSiting::Centre => [Some(0.5), Some(0.5)],
        ChromaSiting::Left => [Some(0.5), Some(0.0)],
        ChromaSiting::TopLeft => [Some(0.0), Some(0.0)],
    }
}

/// Chroma at a pixel of planes of half the size in the directions that `halved` names.
fn chroma(
    sample: impl Fn(usize, usize) -> f64,
    (n, m): (usize, usize),
    (y, x): (usize, usize),
    halved: [bool; 2],
    siting: ChromaSiting,
) -> f64 {
    let [rows, columns] = first(siting);
    let row = |h: usize| if halved[1] { along(|w| sample(h, w), m, x, columns) } else { sample(h, x) };
    if halved[0] { along(row, n, y, rows) } else { row(y) }
}

/// A format with luma and interleaved chroma: in which directions chroma is halved, where U and V are, the bits below values.
struct SemiPlanar {
    halved: [bool; 2],
    order: [usize; 2],
    shift: u32,
    depth: Depth,
    /// Dimensions of chroma.
    dims: &'static [u64],
}

fn semi_planar<T: Shade + Into<u32>>(f: &SemiPlanar, graph: &dyn Fn(ChromaSiting, bool, YuvSpec) -> Graph) {
    let spec = YuvSpec::limited(Standard::Bt709, f.depth);
    let most = if T::DTYPE.size() == 1 { 255.0 } else { 65535.0 };
    for (y, x) in SIZES {
        let mut rng = Rng::new((y * 100 + x) as u64);
        let half = |n: usize, halved: bool| if halved { n.div_ceil(2) } else { n };
        let (h, w) = (half(y, f.halved[0]), half(x, f.halved[1]));
        let (luma, luma_tensor) = picture::<T>(&mut rng, <(Y, X)>::IDS, &[y, x], most);
        let (both, both_tensor) = picture::<T>(&mut rng, f.dims, &[h, w, 2], most);
        for (siting, low) in SITINGS.into_iter().map(|s| (s, false)).chain([(ChromaSiting::Replicate, true)]) {
            let value = |v: T| f64::from(Into::<u32>::into(v) >> if low { 0 } else { f.shift });
            let expected = |y: usize, x: usize| {
                let at = |i: usize| chroma(|r, c| value(both[[r, c, f.order[i]]]), (h, w), (y, x), f.halved, siting);
                [value(luma[[y, x]]), at(0), at(1)]
            };
            let got = results(&graph(siting, low, spec), &[&luma_tensor, &both_tensor]);
            close::<f32>(&got[0], &tabulate(&[3, y, x], |i| expected(i[1], i[2])[i[0]]), 1e-7 * most);
            let rgb = tabulate(&[y, x, 3], |i| yuv::rgb(expected(i[0], i[1]), spec)[i[2]]);
            close::<f32>(&got[1], &rgb, 2e-6 * most);
        }
    }
}

macro_rules! semi_planar {
    ($t:ty, $function:ident, $K:ty, $halved:expr, $order:expr, $shift:expr, $depth:expr) => {
        let format =
            SemiPlanar { halved: $halved, order: $order, shift: $shift, depth: $depth, dims: <$K as Dims>::IDS };
        semi_planar::<$t>(&format, &|siting, low, spec| {
            trace(|luma: In<$t, (Y, X)>, both: In<$t, $K>| {
                let frame = $function::<(Y, X), $K>(luma, both).siting(siting);
                let frame = if low { frame.low_bits() } else { frame };
                (frame.yuv::<C>().store::<(C, Y, X)>(), frame.rgb::<C>(spec).store::<(Y, X, C)>())
            })
            .graph
        });
    };
}

#[test]
fn luma_and_interleaved_chroma_of_bytes() {
    semi_planar!(u8, nv12, (H, W, U), [true, true], [0, 1], 0, Depth::Bits8);
    semi_planar!(u8, nv21, (H, W, U), [true, true], [1, 0], 0, Depth::Bits8);
    semi_planar!(u8, nv12, (Y, W, U), [false, true], [0, 1], 0, Depth::Bits8);
    semi_planar!(u8, nv21, (Y, X, U), [false, false], [1, 0], 0, Depth::Bits8);
}

#[test]
fn luma_and_interleaved_chroma_in_high_bits() {
    semi_planar!(u16, p010, (H, W, U), [true, true], [0, 1], 6, Depth::Bits10);
    semi_planar!(u16, p010, (Y, W, U), [false, true], [0, 1], 6, Depth::Bits10);
    semi_planar!(u16, p012, (H, W, U), [true, true], [0, 1], 4, Depth::Bits12);
    semi_planar!(u16, p016, (H, W, U), [true, true], [0, 1], 0, Depth::Bits16);
    semi_planar!(u16, p016, (Y, W, U), [false, true], [0, 1], 0, Depth::Bits16);
}

#[test]
fn three_planes() {
    for (y, x) in SIZES {
        let mut rng = Rng::new((y * 100 + x) as u64);
        let (h, w) = (y.div_ceil(2), x.div_ceil(2));
        let (a, at) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[y, x], 255.0);
        let (b, bt) = picture::<u8>(&mut rng, <(H, W)>::IDS, &[h, w], 255.0);
        let (c, ct) = picture::<u8>(&mut rng, <(H, W)>::IDS, &[h, w], 255.0);
        let plain = trace(|y: In<u8, (Y, X)>, u: In<u8, (H, W)>, v: In<u8, (H, W)>| {
            let (a, b) = (i420::<(Y, X), (H, W)>(y, u, v), yv12::<(Y, X), (H, W)>(y, u, v));
            (a.yuv::<C>().store::<(C, Y, X)>(), b.yuv::<C>().store::<(C, Y, X)>(), a.luma().store::<(Y, X)>())
        });
        let got = results(&plain.graph, &[&at, &bt, &ct]);
        let expected = |planes: [&ArrayD<u8>; 2]| {
            tabulate(&[3, y, x], |i| match i[0] {
                0 => f64::from(a[[i[1], i[2]]]),
                c => f64::from(planes[c - 1][[i[1] / 2, i[2] / 2]]),
            })
        };
        close::<f32>(&got[0], &expected([&b, &c]), 0.0);
        close::<f32>(&got[1], &expected([&c, &b]), 0.0);
        close::<f32>(&got[2], &a.mapv(f64::from), 0.0);
    }
    // Deep values in the low bits, 4:4:4.
    let mut rng = Rng::new(31);
    let planes = [(); 3].map(|()| picture::<u16>(&mut rng, <(Y, X)>::IDS, &[5, 7], 4095.0));
    let graph = trace(|y: In<u16, (Y, X)>, u: In<u16, (Y, X)>, v: In<u16, (Y, X)>| {
        planar::<(Y, X), (Y, X), _, _, _>(Depth::Bits12, y, u, v).yuv::<C>().store::<(Y, X, C)>()
    })
    .graph;
    let got = results(&graph, &[&planes[0].1, &planes[1].1, &planes[2].1]);
    close::<f32>(&got[0], &tabulate(&[5, 7, 3], |i| f64::from(planes[i[2]].0[[i[0], i[1]]])), 0.0);
}

fn packed<T: Shade + Into<u32>>(places: [usize; 4], shift: u32, graph: &dyn Fn(ChromaSiting) -> Graph) {
    let [first, second, u, v] = places;
    let most = if T::DTYPE.size() == 1 { 255.0 } else { 65535.0 };
    for (y, w) in [(1, 1), (5, 3), (2, 17)] {
        let mut rng = Rng::new((y * 100 + w) as u64);
        let (a, t) = picture::<T>(&mut rng, <(Y, W, P)>::IDS, &[y, w, 4], most);
        for siting in [ChromaSiting::Replicate, ChromaSiting::Left, ChromaSiting::Centre] {
            let value = |v: T| f64::from(Into::<u32>::into(v) >> shift);
            let expected = tabulate(&[y, 2 * w, 3], |i| {
                let at = |place| chroma(|r, c| value(a[[r, c, place]]), (y, w), (i[0], i[1]), [false, true], siting);
                match i[2] {
                    0 => value(a[[i[0], i[1] / 2, if i[1] % 2 == 0 { first } else { second }]]),
                    1 => at(u),
                    _ => at(v),
                }
            });
            close::<f32>(&results(&graph(siting), &[&t])[0], &expected, 1e-7 * most);
        }
    }
}

macro_rules! packed {
    ($t:ty, $function:ident, $places:expr, $shift:expr) => {
        packed::<$t>($places, $shift, &|siting| {
            trace(|words: In<$t, (Y, W, P)>| {
                $function::<(Y, X), (Y, W, P)>(words).siting(siting).yuv::<C>().store::<(Y, X, C)>()
            })
            .graph
        });
    };
}

#[test]
fn packed_pairs() {
    packed!(u8, yuyv, [0, 2, 1, 3], 0);
    packed!(u8, yvyu, [0, 2, 3, 1], 0);
    packed!(u8, uyvy, [1, 3, 0, 2], 0);
    packed!(u8, vyuy, [1, 3, 2, 0], 0);
    packed!(u16, y210, [0, 2, 1, 3], 6);
    packed!(u16, y212, [0, 2, 1, 3], 4);
    packed!(u16, y216, [0, 2, 1, 3], 0);
}

#[test]
fn packed_pixels() {
    let mut rng = Rng::new(32);
    let (a, at) = picture::<u8>(&mut rng, <(Y, X, P)>::IDS, &[5, 7, 4], 255.0);
    let (b, bt) = picture::<u16>(&mut rng, <(Y, X, P)>::IDS, &[5, 7, 4], 65535.0);
    let graph = trace(|a: In<u8, (Y, X, P)>, b: In<u16, (Y, X, P)>| {
        let (a, b) = (ayuv::<(Y, X, P)>(a), y416::<(Y, X, P)>(b));
        (a.yuv::<C>().store::<(C, Y, X)>(), b.yuv::<C>().store::<(C, Y, X)>())
    })
    .graph;
    let got = results(&graph, &[&at, &bt]);
    close::<f32>(&got[0], &tabulate(&[3, 5, 7], |i| f64::from(a[[i[1], i[2], [2, 1, 0][i[0]]]])), 0.0);
    close::<f32>(&got[1], &tabulate(&[3, 5, 7], |i| f64::from(b[[i[1], i[2], [1, 0, 2][i[0]]]])), 0.0);
}

#[test]
fn batches() {
    let mut rng = Rng::new(33);
    let (a, at) = picture::<u8>(&mut rng, <(N, Y, X)>::IDS, &[3, 4, 5], 255.0);
    let (b, bt) = picture::<u8>(&mut rng, <(N, H, W, U)>::IDS, &[3, 2, 3, 2], 255.0);
    let graph = trace(|luma: In<u8, (N, Y, X)>, both: In<u8, (N, H, W, U)>| {
        nv12::<(N, Y, X), (N, H, W, U)>(luma, both).yuv::<C>().store::<(N, C, Y, X)>()
    })
    .graph;
    let expected = tabulate(&[3, 3, 4, 5], |i| match i[1] {
        0 => f64::from(a[[i[0], i[2], i[3]]]),
        c => f64::from(b[[i[0], i[2] / 2, i[3] / 2, c - 1]]),
    });
    close::<f32>(&results(&graph, &[&at, &bt])[0], &expected, 0.0);
}

/// A frame goes on like any picture: cropped, resized, scaled.
#[test]
fn frames_compose() {
    use tilewright_expr::Rect;
    let mut rng = Rng::new(34);
    let (a, at) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[11, 13], 255.0);
    let (b, bt) = picture::<u8>(&mut rng, <(H, W, U)>::IDS, &[6, 7, 2], 255.0);
    let rect = Rect::new(3, 2, 8, 6);
    let boxes = Tensor::boxes(<(N,)>::IDS, &[1], &[rect]);
    let spec = YuvSpec::full(Standard::Bt601, Depth::Bits8);
    let graph = trace(|luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>, boxes: In<Rect, (N,)>| {
        let rgb = nv12::<(Y, X), (H, W, U)>(luma, both).rgb::<C>(spec);
        (rgb.crop::<Y, X, _>(boxes).resize::<Y, X>(3, 4) / 255.0).store::<(N, C, Y, X)>()
    })
    .graph;
    // Half the size: each pixel is the mean of four.
    let pixel = |y: usize, x: usize| {
        let yuv = [a[[y, x]], b[[y / 2, x / 2, 0]], b[[y / 2, x / 2, 1]]].map(f64::from);
        yuv::rgb(yuv, spec)
    };
    let expected = tabulate(&[1, 3, 3, 4], |i| {
        let (y, x) = (2 + 2 * i[2], 3 + 2 * i[3]);
        let sum: f64 = [(0, 0), (0, 1), (1, 0), (1, 1)].iter().map(|(p, q)| pixel(y + p, x + q)[i[1]]).sum();
        sum / 4.0 / 255.0
    });
    close::<f32>(&results(&graph, &[&at, &bt, &boxes])[0], &expected, 1e-6);
}

#[test]
fn what_is_refused() {
    let spec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
    let of = |y: usize, x: usize, h: usize, w: usize, u: usize| {
        let graph = trace(|luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>| {
            nv12::<(Y, X), (H, W, U)>(luma, both).rgb::<C>(spec).store::<(Y, X, C)>()
        })
        .graph;
        let mut rng = Rng::new(35);
        let (_, at) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[y, x], 255.0);
        let (_, bt) = picture::<u8>(&mut rng, <(H, W, U)>::IDS, &[h, w, u], 255.0);
        refusal(&graph, &[&at, &bt])
    };
    assert_eq!(of(5, 7, 3, 4, 2), "it is accepted");
    assert_eq!(
        of(5, 7, 2, 4, 2),
        "dimension `H` is 3 long in (`Y` of operand 0 + 1) / 2 and 2 long in operand 1; operands that share a dimension must agree"
    );
    assert!(
        of(5, 7, 3, 7, 2).starts_with("dimension `W` is 4 long in (`X` of operand 0 + 1) / 2 and 7 long in operand 1")
    );
    assert!(of(5, 7, 3, 4, 3).starts_with("dimension `U` is 3 long in operand 1 and 2 long in the expression"));

    let graph = trace(|luma: In<u16, (Y, X)>, both: In<u16, (H, W, U)>| {
        p010::<(Y, X), (H, W, U)>(luma, both).rgb::<C>(spec).store::<(Y, X, C)>()
    })
    .graph;
    assert_eq!(
        graph.check().expect_err("10 bits are not 8").to_string(),
        "the frame has 10-bit values, the YUV specification is for 8-bit; set its `depth` to that of the frame"
    );
}
