//! The kernels of colour expressions: they run on the host model with the evaluator's bits, and share what they can.

use super::{C, H, N, P, U, W, X, Y, picture};
use crate::emitted::{Prepared, check_kernels, prepare};
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Tensor};
use tilewright_dims::Dims;
use tilewright_expr::bind::Place;
use tilewright_expr::colour::*;
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, Rect, trace};

const VIDEO: YuvSpec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);

fn prepared(name: &str, graph: Graph, tensors: Vec<Tensor>) -> Prepared {
    let operand = |tensor: Tensor| Operand {
        layout: Layout::dense(tensor.dims.len()),
        place: if tensor.components == 4 { Place::Host } else { Place::Device },
        tensor,
    };
    let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    let case = Case { graph, operands: tensors.into_iter().map(operand).collect(), outputs, known: true };
    prepare(name.into(), &case, 0).expect("there are few loops")
}

/// Luma and chroma of a frame of this size.
fn frame(y: usize, x: usize) -> Vec<Tensor> {
    let mut rng = Rng::new(51);
    let luma = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[y, x], 255.0).1;
    let chroma = picture::<u8>(&mut rng, <(H, W, U)>::IDS, &[y.div_ceil(2), x.div_ceil(2), 2], 255.0).1;
    vec![luma, chroma]
}

/// The pipeline of detectors: decode, crop, resize, normalise, planar.
fn pipeline() -> Graph {
    trace(|luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>, boxes: In<Rect, (N,)>| {
        let rgb = nv12::<(Y, X), (H, W, U)>(luma, both).rgb::<C>(VIDEO);
        let small = rgb.crop::<Y, X, _>(boxes).resize::<Y, X>(6, 10) / 255.0;
        let (mean, deviation) =
            (per_channel::<C, _, 3>([0.485, 0.456, 0.406]), per_channel::<C, _, 3>([0.229, 0.224, 0.225]));
        small.normalise(mean, deviation).store::<(N, C, Y, X)>()
    })
    .graph
}

#[test]
fn kernels_run() {
    let mut all = Vec::new();
    let boxes = Tensor::boxes(<(N,)>::IDS, &[2], &[Rect::new(1, 2, 17, 9), Rect::new(3, 0, 20, 19)]);
    let mut operands = frame(19, 23);
    operands.push(boxes);
    all.push(prepared("detector", pipeline(), operands));
    for (y, x) in [(5, 7), (6, 16)] {
        let packed = trace(|luma: In<u8, (Y, X)>, both: In<u8, (H, W, U)>| {
            let rgb = nv12::<(Y, X), (H, W, U)>(luma, both).siting(ChromaSiting::Left).rgb::<C>(VIDEO);
            rgb.to::<u8>().store::<(Y, X, C)>()
        });
        all.push(prepared("nv12 to packed", packed.graph, frame(y, x)));
    }
    let mut rng = Rng::new(52);
    let rgb = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[5, 7, 3], 255.0).1;
    let words = trace(|rgb: In<u8, (Y, X, C)>| rgb.to_yuv::<C, (Y, X)>(VIDEO).uyvy::<(Y, W, P)>().store::<(Y, W, P)>());
    all.push(prepared("uyvy", words.graph, vec![rgb.clone()]));
    let luma = trace(|rgb: In<u8, (Y, X, C)>| rgb.to_yuv::<C, (Y, X)>(VIDEO).nv12::<(H, W, U)>().0.store::<(Y, X)>());
    let both =
        trace(|rgb: In<u8, (Y, X, C)>| rgb.to_yuv::<C, (Y, X)>(VIDEO).nv12::<(H, W, U)>().1.store::<(H, W, U)>());
    all.push(prepared("nv12, luma", luma.graph, vec![rgb.clone()]));
    all.push(prepared("nv12, chroma", both.graph, vec![rgb.clone()]));
    let words = picture::<u16>(&mut rng, <(Y, W, P)>::IDS, &[3, 9, 4], 65535.0).1;
    let deep = trace(|words: In<u16, (Y, W, P)>| y210::<(Y, X), (Y, W, P)>(words).yuv::<C>().store::<(C, Y, X)>());
    all.push(prepared("y210", deep.graph, vec![words]));
    for space in [Space::Hsv, Space::Hls, Space::Xyz, Space::YCrCb, Space::Lab, Space::Luv] {
        let there = trace(|x: In<u8, (Y, X, C)>| x.convert::<C>(Space::Bgr, space).store::<(Y, X, C)>()).graph;
        let back = trace(|x: In<u8, (Y, X, C)>| x.convert::<C>(space, Space::Rgba).store::<(C, Y, X)>()).graph;
        all.push(prepared("there", there, vec![rgb.clone()]));
        all.push(prepared("back", back, vec![rgb.clone()]));
    }
    let grey = trace(|x: In<u8, (Y, X, C)>| x.gray::<C>(Space::Bgr).store::<(Y, X)>()).graph;
    all.push(prepared("grey", grey, vec![rgb]));
    check_kernels("colour::kernels::kernels_run", &all);
}

/// A thread computes all three channels of its pixels: each tap loads luma, U and V once, and goes through the matrix once.
#[test]
fn channels_share_loads_and_matrix() {
    let boxes = Tensor::boxes(<(N,)>::IDS, &[1], &[Rect::new(0, 0, 16, 12)]);
    let mut operands = frame(12, 16);
    operands.push(boxes);
    let p = prepared("detector", pipeline(), operands);
    assert_eq!(p.plan.registers, [(<(C,)>::IDS[0], 3)]);
    let tile = p.kernel.source.split("extern").next().expect("the code of a thread");
    // Two rows of points, two rows and two columns of taps each.
    let taps = 2 * 2 * 2;
    assert_eq!(tile.matches("const unsigned char v").count(), 3 * taps, "{tile}");
    // Of a tap: two for green, one for red, one for blue.
    assert_eq!(tile.matches("1.7927411f").count(), taps);
    assert_eq!(tile.matches("- 16.0f").count(), taps);
}
