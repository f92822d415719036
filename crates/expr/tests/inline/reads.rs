//! What a convolution reads instead of a tensor: pictures that are cropped and resized, normalised, continued beyond their borders.

use super::calls::{Call, How, check_all, random_case, sized};
use crate::emitted::compiler;
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Tensor};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Border, DType, Filter, In, Rect, coordinate, f16, trace};

dims! { N, H, W, C, P }

const LANES: [u32; 4] = [1, 2, 4, 8];

/// The main job: crop, resize, normalise, as halves.
fn pictures() -> Graph {
    trace(|picture: In<u8, (H, W, C)>, boxes: In<Rect, (N,)>, mean: In<f32, (C,)>, std: In<f32, (C,)>| {
        let pixel = picture.crop::<H, W, _>(boxes).resize_with::<H, W>(5, 7, Filter::Linear);
        ((pixel.to::<f32>() * (1.0 / 255.0) - mean) / std).to::<f16>().store::<(N, H, W, C)>()
    })
    .graph
}

fn crops(seed: u64, channels: i64, (known, outside): (bool, bool)) -> Case {
    let mut rng = Rng::new(seed);
    let mut boxes: Vec<Rect> = (0..3).map(|_| rng.inside(19, 23)).collect();
    if outside {
        boxes[1] = Rect::new(20, 3, 8, 4);
    }
    let channel = |rng: &mut Rng| rng.tensor(DType::F32, <(C,)>::IDS, &[channels]);
    let tensors = [
        rng.tensor(DType::U8, <(H, W, C)>::IDS, &[19, 23, channels]),
        Tensor::boxes(<(N,)>::IDS, &[3], &boxes),
        channel(&mut rng),
        channel(&mut rng),
    ];
    let layout = |i: usize, rank| if i == 0 { Layout::random(&mut Rng::new(seed), rank) } else { Layout::dense(rank) };
    let place = |i| if i == 0 || (i == 1 && !known) { Place::Device } else { Place::Host };
    let operand =
        |(i, tensor): (usize, Tensor)| Operand { layout: layout(i, tensor.dims.len()), place: place(i), tensor };
    let operands = tensors.into_iter().enumerate().map(operand).collect();
    Case { graph: pictures(), operands, outputs: vec![Layout::dense(4)], known }
}

/// Boxes that the host has seen, boxes on the device, and one of those outside of the picture.
#[test]
fn crops_that_are_resized_and_normalised() {
    let mut calls = Vec::new();
    for (i, lanes) in LANES.into_iter().enumerate() {
        for (j, kind) in [(true, false), (false, false), (false, true)].into_iter().enumerate() {
            let case = crops((i * 3 + j) as u64, [3, 8, 4, 16][i], kind);
            let name = format!("{lanes} at once, known and outside: {kind:?}");
            calls.push(Call::new(name, &case, How::read(lanes), "f").unwrap_or_else(|e| panic!("{e}")));
        }
    }
    assert!(calls.iter().enumerate().all(|(i, c)| c.text.guards == (i % 3 > 0)), "boxes on the device are checked");
    if compiler("inline::reads::crops_that_are_resized_and_normalised") {
        check_all(&calls);
    }
}

/// What a convolution pads with is a read beyond the border; pixels may go through something before.
#[test]
fn borders_and_pixels() {
    macro_rules! padded {
        ($($border:expr),*) => { [$(trace(|x: In<u8, (N, H, W, C)>, gain: In<f32, (N,)>| {
            let x = (x.to::<f32>() * gain - 1.5).max(0.0);
            x.pad::<H>(2, 1, $border).pad::<W>(3, 2, $border).to::<f16>().store::<(N, H, W, C)>()
        }).graph),*] };
    }
    let mut graphs: Vec<Graph> =
        padded!(Border::Constant(0.0), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap).into();
    // Channels of a pixel that are reduced stand in one thread; a table is looked up.
    let grey = |x: In<u8, (N, H, W, P)>, weights: In<f32, (P, C)>| {
        (x.to::<f32>() * weights).sum::<P>().store::<(N, H, W, C)>()
    };
    graphs.push(trace(grey).graph);
    let table = |x: In<u8, (N, H, W, C)>, table: In<f16, (P,)>| {
        let beyond = table.at_border::<P, _>(x.to::<i32>(), Border::Wrap);
        beyond.at_border::<W, _>(coordinate::<W>() * 2 - 3, Border::Replicate).store::<(N, H, W, C)>()
    };
    graphs.push(trace(table).graph);
    let mut calls = Vec::new();
    for (i, graph) in graphs.into_iter().enumerate() {
        for (j, lanes) in LANES.into_iter().enumerate() {
            let sizes = sized(<(N, H, W, C, P)>::IDS, &[2, 5, 4, [3, 8, 9, 16][(i + j) % 4], 3]);
            let seed = (i * 4 + j) as u64;
            let case = random_case(graph.clone(), seed, &sizes, |rng, _, rank| match j {
                0 | 3 => (Layout::dense(rank), Place::Device),
                _ => (Layout::random(rng, rank), Place::Device),
            });
            let name = format!("graph {i}, {lanes} at once");
            calls.push(Call::new(name, &case, How::read(lanes), "f").unwrap_or_else(|e| panic!("{e}")));
        }
    }
    if compiler("inline::reads::borders_and_pixels") {
        check_all(&calls);
    }
}
