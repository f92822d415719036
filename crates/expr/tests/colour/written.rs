//! Frames written: every format against loops, and back.

use super::{C, H, P, Shade, U, W, X, Y, close, picture, results, tabulate, yuv};
use crate::random::Rng;
use crate::tensor::Tensor;
use ndarray::ArrayD;
use tilewright_dims::Dims;
use tilewright_expr::colour::*;
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, trace};

const SIZES: [(usize, usize); 4] = [(1, 1), (4, 6), (5, 7), (2, 33)];

/// Luma of a pixel and chroma of a sample of a random picture.
struct Truth {
    rgb: ArrayD<f32>,
    spec: YuvSpec,
    subsampling: Subsampling,
}

impl Truth {
    fn pixel(&self, y: usize, x: usize) -> [f64; 3] {
        [0, 1, 2].map(|c| f64::from(self.rgb[[y, x, c]]))
    }

    fn code(&self, rgb: [f64; 3], row: usize) -> f64 {
        yuv::yuv(rgb, self.spec)[row].clamp(0.0, self.spec.depth.max())
    }

    fn luma(&self, y: usize, x: usize) -> f64 {
        self.code(self.pixel(y, x), 0)
    }

    /// `row` 1: U, 2: V; of pixels `step` apart in each direction.
    fn chroma(&self, (h, w): (usize, usize), step: [usize; 2], row: usize) -> f64 {
        let shape = self.rgb.shape();
        let mut sum = [0.0; 3];
        for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (p, q) = if self.subsampling == Subsampling::First { (0, 0) } else { (p, q) };
            let y = (h * step[0] + p.min(step[0] - 1)).min(shape[0] - 1);
            let x = (w * step[1] + q.min(step[1] - 1)).min(shape[1] - 1);
            let pixel = self.pixel(y, x);
            (0..3).for_each(|c| sum[c] += pixel[c] / 4.0);
        }
        self.code(sum, row)
    }
}

/// The results of each output alone: as yet an output that lacks dimensions of another makes a product of their loops.
fn each(graph: &Graph, inputs: &[&Tensor]) -> Vec<Tensor> {
    let alone = |i: usize| {
        let mut one = graph.clone();
        one.outputs = vec![graph.outputs[i].clone()];
        results(&one, inputs).remove(0)
    };
    (0..graph.outputs.len()).map(alone).collect()
}

/// Codes in the high bits: the low ones are 0.
fn unshifted<T: Shade + Into<u32>>(tensor: &Tensor, shift: u32) -> Tensor {
    let values = tensor.array::<T>().mapv(|v| {
        let code: u32 = v.into();
        assert_eq!(code & ((1 << shift) - 1), 0, "low bits of {code:#x}");
        f64::from(code >> shift)
    });
    Tensor::of(&tensor.dims, &values.mapv(|v| v as u16))
}

fn truth(rng: &mut Rng, y: usize, x: usize, spec: YuvSpec, subsampling: Subsampling) -> (Truth, Tensor) {
    let (rgb, t) = picture::<f32>(rng, <(Y, X, C)>::IDS, &[y, x, 3], spec.depth.max());
    (Truth { rgb, spec, subsampling }, t)
}

/// A format: pixels of a chroma sample in each direction, rows of the matrix in order, bits below values.
struct SemiPlanar {
    step: [usize; 2],
    rows: [usize; 2],
    shift: u32,
    depth: Depth,
}

fn semi_planar<T: Shade + Into<u32>>(f: &SemiPlanar, graph: &dyn Fn(YuvSpec, Subsampling) -> Graph) {
    for ((y, x), subsampling) in SIZES.into_iter().zip([Subsampling::Mean, Subsampling::First].into_iter().cycle()) {
        for (standard, range) in [(Standard::Bt709, Range::Limited), (Standard::Bt601, Range::Full)] {
            let mut rng = Rng::new((y * 100 + x) as u64);
            let spec = YuvSpec { standard, range, depth: f.depth };
            let (truth, t) = truth(&mut rng, y, x, spec, subsampling);
            let got = each(&graph(spec, subsampling), &[&t]);
            let (h, w) = (y.div_ceil(f.step[0]), x.div_ceil(f.step[1]));
            let luma = tabulate(&[y, x], |i| truth.luma(i[0], i[1]));
            let both = tabulate(&[h, w, 2], |i| truth.chroma((i[0], i[1]), f.step, f.rows[i[2]]));
            close::<u16>(&unshifted::<T>(&got[0], f.shift), &luma, 1e-2);
            close::<u16>(&unshifted::<T>(&got[1], f.shift), &both, 1e-2);
        }
    }
}

macro_rules! semi_planar {
    ($t:ty, $method:ident, $K:ty, $step:expr, $rows:expr, $shift:expr, $depth:expr) => {
        let format = SemiPlanar { step: $step, rows: $rows, shift: $shift, depth: $depth };
        semi_planar::<$t>(&format, &|spec, subsampling| {
            trace(|rgb: In<f32, (Y, X, C)>| {
                let (luma, both) = rgb.to_yuv::<C, (Y, X)>(spec).subsampling(subsampling).$method::<$K>();
                (luma.store::<(Y, X)>(), both.store::<$K>())
            })
            .graph
        });
    };
}

#[test]
fn luma_and_interleaved_chroma() {
    semi_planar!(u8, nv12, (H, W, U), [2, 2], [1, 2], 0, Depth::Bits8);
    semi_planar!(u8, nv21, (H, W, U), [2, 2], [2, 1], 0, Depth::Bits8);
    semi_planar!(u8, nv12, (Y, W, U), [1, 2], [1, 2], 0, Depth::Bits8);
    semi_planar!(u8, nv12, (Y, X, U), [1, 1], [1, 2], 0, Depth::Bits8);
    semi_planar!(u16, p010, (H, W, U), [2, 2], [1, 2], 6, Depth::Bits10);
    semi_planar!(u16, p010, (Y, W, U), [1, 2], [1, 2], 6, Depth::Bits10);
    semi_planar!(u16, p012, (H, W, U), [2, 2], [1, 2], 4, Depth::Bits12);
    semi_planar!(u16, p016, (Y, W, U), [1, 2], [1, 2], 0, Depth::Bits16);
}

#[test]
fn three_planes() {
    for (y, x) in SIZES {
        let mut rng = Rng::new((y * 100 + x) as u64);
        let spec = YuvSpec::limited(Standard::Bt601, Depth::Bits8);
        let (truth, t) = truth(&mut rng, y, x, spec, Subsampling::Mean);
        let graph = trace(|rgb: In<f32, (Y, X, C)>| {
            let (luma, u, v) = rgb.to_yuv::<C, (Y, X)>(spec).i420::<(H, W)>();
            (luma.store::<(Y, X)>(), u.store::<(H, W)>(), v.store::<(H, W)>())
        })
        .graph;
        let got = each(&graph, &[&t]);
        close::<u8>(&got[0], &tabulate(&[y, x], |i| truth.luma(i[0], i[1])), 1e-3);
        for row in [1, 2] {
            let plane = tabulate(&[y.div_ceil(2), x.div_ceil(2)], |i| truth.chroma((i[0], i[1]), [2, 2], row));
            close::<u8>(&got[row], &plane, 1e-3);
        }
    }
}

#[test]
fn deep_planes_in_low_bits() {
    let mut rng = Rng::new(41);
    let spec = YuvSpec::full(Standard::Bt2020, Depth::Bits10);
    let (truth, t) = truth(&mut rng, 5, 6, spec, Subsampling::Mean);
    let graph = trace(|rgb: In<f32, (Y, X, C)>| {
        let (luma, u, _) = rgb.to_yuv::<C, (Y, X)>(spec).planar::<(Y, W), u16>();
        let (low, _) = rgb.to_yuv::<C, (Y, X)>(spec).low_bits().p010::<(H, W, U)>();
        (luma.store::<(Y, X)>(), u.store::<(Y, W)>(), low.store::<(Y, X)>())
    })
    .graph;
    let got = each(&graph, &[&t]);
    let luma = tabulate(&[5, 6], |i| truth.luma(i[0], i[1]));
    close::<u16>(&got[0], &luma, 1e-3);
    close::<u16>(&got[1], &tabulate(&[5, 3], |i| truth.chroma((i[0], i[1]), [1, 2], 1)), 1e-3);
    close::<u16>(&got[2], &luma, 1e-3);
}

fn packed<T: Shade + Into<u32>>(places: [usize; 4], shift: u32, depth: Depth, graph: &dyn Fn(YuvSpec) -> Graph) {
    for (y, x) in SIZES {
        let mut rng = Rng::new((y * 100 + x) as u64);
        let spec = YuvSpec::limited(Standard::Bt709, depth);
        let (truth, t) = truth(&mut rng, y, x, spec, Subsampling::Mean);
        let expected =
            tabulate(&[y, x.div_ceil(2), 4], |i| match places.iter().position(|p| *p == i[2]).expect("a place") {
                k @ (0 | 1) => truth.luma(i[0], (2 * i[1] + k).min(x - 1)),
                k => truth.chroma((i[0], i[1]), [1, 2], k - 1),
            });
        close::<u16>(&unshifted::<T>(&results(&graph(spec), &[&t])[0], shift), &expected, 1e-2);
    }
}

macro_rules! packed {
    ($t:ty, $method:ident, $places:expr, $shift:expr, $depth:expr) => {
        packed::<$t>($places, $shift, $depth, &|spec| {
            trace(|rgb: In<f32, (Y, X, C)>| rgb.to_yuv::<C, (Y, X)>(spec).$method::<(Y, W, P)>().store::<(Y, W, P)>())
                .graph
        });
    };
}

#[test]
fn packed_pairs() {
    packed!(u8, yuyv, [0, 2, 1, 3], 0, Depth::Bits8);
    packed!(u8, yvyu, [0, 2, 3, 1], 0, Depth::Bits8);
    packed!(u8, uyvy, [1, 3, 0, 2], 0, Depth::Bits8);
    packed!(u8, vyuy, [1, 3, 2, 0], 0, Depth::Bits8);
    packed!(u16, y210, [0, 2, 1, 3], 6, Depth::Bits10);
    packed!(u16, y212, [0, 2, 1, 3], 4, Depth::Bits12);
    packed!(u16, y216, [0, 2, 1, 3], 0, Depth::Bits16);
}

#[test]
fn packed_pixels() {
    let mut rng = Rng::new(42);
    let (bytes, deep) =
        (YuvSpec::full(Standard::Bt601, Depth::Bits8), YuvSpec::limited(Standard::Bt2020, Depth::Bits16));
    let (a, at) = truth(&mut rng, 5, 7, bytes, Subsampling::Mean);
    let (b, bt) = truth(&mut rng, 5, 7, deep, Subsampling::Mean);
    let graph = trace(|a: In<f32, (Y, X, C)>, b: In<f32, (Y, X, C)>| {
        let (a, b) = (a.to_yuv::<C, (Y, X)>(bytes), b.to_yuv::<C, (Y, X)>(deep));
        (a.ayuv::<(Y, X, P)>().store::<(Y, X, P)>(), b.y416::<(Y, X, P)>().store::<(Y, X, P)>())
    })
    .graph;
    let got = results(&graph, &[&at, &bt]);
    let expected = |t: &Truth, rows: [usize; 3]| {
        tabulate(&[5, 7, 4], |i| match i[2] {
            3 => t.spec.depth.max(),
            k => t.code(t.pixel(i[0], i[1]), rows[k]),
        })
    };
    close::<u8>(&got[0], &expected(&a, [2, 1, 0]), 1e-3);
    close::<u16>(&got[1], &expected(&b, [1, 0, 2]), 2e-2);
}

/// Pictures whose blocks of 2x2 are of one colour lose nothing but what rounding of codes takes.
#[test]
fn there_and_back() {
    let mut rng = Rng::new(43);
    for spec in yuv::all().filter(|s| s.depth != Depth::Unit) {
        let max = spec.depth.max();
        let (blocks, _) = picture::<u16>(&mut rng, <(Y, X, C)>::IDS, &[3, 4, 3], max);
        let rgb = ArrayD::from_shape_fn(vec![5, 8, 3], |i| blocks[[i[0] / 2, i[1] / 2, i[2]]]);
        let t = Tensor::of(<(Y, X, C)>::IDS, &rgb);
        let there = trace(|rgb: In<u16, (Y, X, C)>| {
            let (luma, u, v) = rgb.to_yuv::<C, (Y, X)>(spec).planar::<(H, W), u16>();
            (luma.store::<(Y, X)>(), u.store::<(H, W)>(), v.store::<(H, W)>())
        });
        let planes = each(&there.graph, &[&t]);
        let back = trace(|y: In<u16, (Y, X)>, u: In<u16, (H, W)>, v: In<u16, (H, W)>| {
            planar::<(Y, X), (H, W), _, _, _>(spec.depth, y, u, v).rgb::<C>(spec).store::<(Y, X, C)>()
        });
        let got = results(&back.graph, &[&planes[0], &planes[1], &planes[2]]).remove(0).array::<f32>();
        // Half a level in each of Y, U and V, and in full range up to another half: pure blue and red have differences of
        // 255.5, one half more than there is.
        let clipped = if spec.range == Range::Full { 0.5 } else { 0.0 };
        let rows = spec.to_rgb().rows;
        for (i, v) in rgb.indexed_iter() {
            let [luma, u, v_] = rows[i[2]].map(f64::abs);
            let bound = 0.5 * luma + (0.5 + clipped) * (u + v_) + 1e-4 * max;
            let error = (f64::from(got[&i]) - f64::from(*v)).abs();
            assert!(error <= bound, "{spec:?}, {i:?}: {v} came back as {}", got[&i]);
        }
    }
}
