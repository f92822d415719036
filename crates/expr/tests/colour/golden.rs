//! What OpenCV's cvtColor makes of the same pictures (`golden/colour.py` writes the file).
//!
//! OpenCV computes bytes in fixed point, so they may differ by one level; where it rounds hues of bytes to two degrees it goes
//! through a table, and may differ by one step.

use super::{C, H, Shade, U, W, X, Y, results};
use crate::tensor::Tensor;
use ndarray::{ArrayD, IxDyn};
use std::collections::HashMap;
use tilewright_dims::Dims;
use tilewright_expr::colour::*;
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, trace};

/// Every block of the file, by name.
fn blocks() -> HashMap<&'static str, ArrayD<f64>> {
    let mut blocks = HashMap::new();
    let mut lines = include_str!("../golden/colour.txt").lines().peekable();
    while let Some(head) = lines.next() {
        let words: Vec<&str> = head.split(' ').collect();
        let shape: Vec<usize> = words[2..].iter().map(|n| n.parse().expect("an extent")).collect();
        let count: usize = shape.iter().product();
        let mut values: Vec<f64> = Vec::with_capacity(count);
        while values.len() < count {
            let line = lines.next().expect("as many values as the extents say");
            values.extend(line.split(' ').map(|v| v.parse::<f64>().expect("a number")));
        }
        blocks.insert(words[0], ArrayD::from_shape_vec(IxDyn(&shape), values).expect("as many values"));
    }
    blocks
}

fn tensor<T: Shade>(dims: &[u64], values: &ArrayD<f64>) -> Tensor {
    Tensor::of(dims, &values.mapv(T::shade))
}

/// The largest distance between the result and OpenCV's; of the first channel around a circle of `turn`.
fn distance<T: Shade>(graph: &Graph, inputs: &[&Tensor], golden: &ArrayD<f64>, turn: Option<f64>) -> f64 {
    let got = results(graph, inputs).remove(0).array::<T>();
    assert_eq!(got.shape(), golden.shape());
    let apart = |(i, g): (IxDyn, &f64)| {
        let d = (got[&i].real() - g).abs();
        turn.filter(|_| i[2] == 0).map_or(d, |t| d.min(t - d))
    };
    golden.indexed_iter().map(apart).fold(0.0, f64::max)
}

const SPACES: [(&str, Space); 4] =
    [("HSV", Space::Hsv), ("HLS", Space::Hls), ("XYZ", Space::Xyz), ("YCrCb", Space::YCrCb)];

/// `tolerance` as a share of white, `hue` in its own steps.
fn spaces<T: Shade + tilewright_expr::colour::Shade>(picture: &str, white: f64, tolerance: f64, turn: f64, hue: f64) {
    let blocks = blocks();
    let rgb = tensor::<T>(<(Y, X, C)>::IDS, &blocks[picture]);
    for (name, space) in SPACES {
        let Some(there) = blocks.get(format!("{picture}_to_{name}").as_str()) else { continue };
        let turns = matches!(space, Space::Hsv | Space::Hls).then_some(turn);
        let graph = trace(|x: In<T, (Y, X, C)>| x.convert::<C>(Space::Rgb, space).store::<(Y, X, C)>()).graph;
        let off = distance::<T>(&graph, &[&rgb], there, turns);
        assert!(off <= if turns.is_some() { hue } else { tolerance * white }, "{picture} to {name}: {off}");

        let graph = trace(|x: In<T, (Y, X, C)>| x.convert::<C>(space, Space::Rgb).store::<(Y, X, C)>()).graph;
        let input = tensor::<T>(<(Y, X, C)>::IDS, there);
        let off = distance::<T>(&graph, &[&input], &blocks[format!("{picture}_of_{name}").as_str()], None);
        assert!(off <= tolerance * white, "{name} to {picture}: {off}");
    }
    let graph = trace(|x: In<T, (Y, X, C)>| x.gray::<C>(Space::Rgb).store::<(Y, X)>()).graph;
    let off = distance::<T>(&graph, &[&rgb], &blocks[format!("{picture}_to_GRAY").as_str()], None);
    assert!(off <= tolerance * white, "{picture} to grey: {off}");
    let graph = trace(|x: In<T, (Y, X, C)>| x.convert::<C>(Space::Rgb, Space::Bgra).store::<(Y, X, C)>()).graph;
    let off = distance::<T>(&graph, &[&rgb], &blocks[format!("{picture}_to_BGRA").as_str()], None);
    assert!(off <= 1e-7, "the file has seven digits: {off}");
}

#[test]
fn spaces_of_bytes() {
    spaces::<u8>("rgb", 255.0, 1.0 / 255.0, 180.0, 1.0);
}

#[test]
fn spaces_of_deep_pictures() {
    // Matrices of 12 bits: half of 2^-12 in each coefficient.
    spaces::<u16>("deep", 65535.0, 1.5 / 8192.0, 65536.0, 1.0);
}

#[test]
fn spaces_of_floats() {
    spaces::<f32>("unit", 1.0, 3e-6, 360.0, 2e-3);
}

const VIDEO: YuvSpec = YuvSpec::limited(Standard::Bt601, Depth::Bits8);

/// Luma, and the rows of chroma below it, as planes of these extents.
fn planes(block: &ArrayD<f64>, chroma: &[usize]) -> (ArrayD<f64>, Vec<ArrayD<f64>>) {
    let all: Vec<f64> = block.iter().copied().collect();
    let (luma, rest) = all.split_at(48);
    let size: usize = chroma.iter().product();
    let plane = |v: &[f64]| ArrayD::from_shape_vec(IxDyn(chroma), v.to_vec()).expect("a plane");
    (ArrayD::from_shape_vec(IxDyn(&[6, 8]), luma.to_vec()).expect("luma"), rest.chunks(size).map(plane).collect())
}

#[test]
fn planar_video() {
    let blocks = blocks();
    let (luma, both) = planes(&blocks["planes"], &[3, 4, 2]);
    let (luma, both) = (tensor::<u8>(<(Y, X)>::IDS, &luma), tensor::<u8>(<(H, W, U)>::IDS, &both[0]));
    let graph = |swapped: bool| {
        trace(move |luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>| {
            let frame =
                if swapped { nv21::<(Y, X), (H, W, U)>(luma, both) } else { nv12::<(Y, X), (H, W, U)>(luma, both) };
            frame.rgb::<C>(VIDEO).to::<u8>().store::<(Y, X, C)>()
        })
        .graph
    };
    for (name, swapped) in [("rgb_of_NV12", false), ("rgb_of_NV21", true)] {
        let off = distance::<u8>(&graph(swapped), &[&luma, &both], &blocks[name], None);
        assert!(off <= 1.0, "{name}: {off}");
    }
    let (_, three) = planes(&blocks["planes"], &[3, 4]);
    let [a, b] = [0, 1].map(|i| tensor::<u8>(<(H, W)>::IDS, &three[i]));
    let graph = trace(|luma: In<u8, (Y, X)>, u: In<u8, (H, W)>, v: In<u8, (H, W)>| {
        i420::<(Y, X), (H, W)>(luma, u, v).rgb::<C>(VIDEO).to::<u8>().store::<(Y, X, C)>()
    })
    .graph;
    for (name, u, v) in [("rgb_of_I420", &a, &b), ("rgb_of_YV12", &b, &a)] {
        let off = distance::<u8>(&graph, &[&luma, u, v], &blocks[name], None);
        assert!(off <= 1.0, "{name}: {off}");
    }
}

/// Pairs of pixels as words of four bytes.
fn words(block: &ArrayD<f64>) -> ArrayD<f64> {
    block.to_shape(IxDyn(&[6, 4, 4])).expect("four bytes a pair").into_owned()
}

#[test]
fn packed_video() {
    let blocks = blocks();
    let input = tensor::<u8>(<(Y, W, U)>::IDS, &words(&blocks["words"]));
    for name in ["YUY2", "YVYU", "UYVY"] {
        let graph = trace(|words: In<u8, (Y, W, U)>| {
            let frame = match name {
                "YUY2" => yuyv::<(Y, X), (Y, W, U)>(words),
                "YVYU" => yvyu::<(Y, X), (Y, W, U)>(words),
                _ => uyvy::<(Y, X), (Y, W, U)>(words),
            };
            frame.rgb::<C>(VIDEO).to::<u8>().store::<(Y, X, C)>()
        })
        .graph;
        let off = distance::<u8>(&graph, &[&input], &blocks[format!("rgb_of_{name}").as_str()], None);
        assert!(off <= 1.0, "{name}: {off}");
    }
}

/// OpenCV takes the first pixel of four for planes, the mean of two for pairs.
#[test]
fn video_written() {
    let blocks = blocks();
    let rgb = tensor::<u8>(<(Y, X, C)>::IDS, &blocks["rgb"]);
    let plane = |output: usize| {
        let mut graph = trace(|rgb: In<u8, (Y, X, C)>| {
            let picture = rgb.to_yuv::<C, (Y, X)>(VIDEO).subsampling(Subsampling::First);
            let (luma, u, v) = picture.i420::<(H, W)>();
            (luma.store::<(Y, X)>(), u.store::<(H, W)>(), v.store::<(H, W)>())
        })
        .graph;
        graph.outputs = vec![graph.outputs[output].clone()];
        graph
    };
    for (name, [u, v]) in [("rgb_to_I420", [0, 1]), ("rgb_to_YV12", [1, 0])] {
        let (luma, chroma) = planes(&blocks[name], &[3, 4]);
        for (output, golden) in [(0, &luma), (1, &chroma[u]), (2, &chroma[v])] {
            let off = distance::<u8>(&plane(output), &[&rgb], golden, None);
            assert!(off <= 1.0, "{name}, plane {output}: {off}");
        }
    }
    for name in ["YUY2", "UYVY"] {
        let graph = trace(|rgb: In<u8, (Y, X, C)>| {
            let picture = rgb.to_yuv::<C, (Y, X)>(VIDEO);
            let words = if name == "YUY2" { picture.yuyv::<(Y, W, U)>() } else { picture.uyvy::<(Y, W, U)>() };
            words.store::<(Y, W, U)>()
        })
        .graph;
        let off = distance::<u8>(&graph, &[&rgb], &words(&blocks[format!("rgb_to_{name}").as_str()]), None);
        assert!(off <= 1.0, "{name}: {off}");
    }
}
