//! A frame of video as decoders give it, NV12 in one allocation, becomes what a detector takes: converted to RGB, cropped,
//! resized, normalised, planar, in one kernel. There is no RGB picture in between.
//!
//! It shows the head of the kernel, and what comes out; without a GPU the same expression runs on the CPU.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use tilewright::colour::{Depth, Standard, YuvSpec, nv12, per_channel};
use tilewright::expr::bind::{Place, View, dense};
use tilewright::expr::emit::emit;
use tilewright::expr::plan::Plan;
use tilewright::expr::{Out, trace};
use tilewright::{Error, prelude::*};

dims! {
    /// Crops.
    N,
    /// Rows of luma.
    Y,
    /// Columns of luma.
    X,
    /// Rows of chroma: half as many.
    H,
    /// Columns of chroma.
    W,
    /// U and V.
    U,
    /// Red, green, blue.
    C,
}

const HEIGHT: usize = 180;
const WIDTH: usize = 320;
/// How high definition is coded.
const VIDEO: YuvSpec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);

/// Eight bars, from white to black, that grow darker downwards.
fn bars(y: In<f32, (Y,)>, x: In<f32, (X,)>) -> Expr<f32, <(Y, X, C) as Dims>::Set> {
    let bar = (x * (8.0 / WIDTH as f32)).floor();
    let light = (y * (-0.5 / HEIGHT as f32) + 1.0) * 255.0;
    // In the order of test pictures: green is off in the last four, red in every other two, blue in every other one.
    let [blue, red, green] = [1.0, 2.0, 4.0].map(|n| ((bar / n).floor() / 2.0).floor() * -2.0 + (bar / n).floor());
    let on = [red, green, blue].map(|off| light * (off * -1.0 + 1.0));
    tilewright::colour::stack::<C, _>(on)
}

/// What runs for each frame.
fn detector_input(luma: In<u8, (Y, X)>, chroma: In<u8, (H, W, U)>, boxes: In<Rect, (N,)>) -> Out<f32, (N, C, Y, X)> {
    let rgb = nv12::<(Y, X), (H, W, U)>(luma, chroma).rgb::<C>(VIDEO);
    let crops = rgb.crop::<Y, X, _>(boxes).resize::<Y, X>(64, 96) / 255.0;
    let (mean, deviation) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    crops.normalise(per_channel::<C, _, 3>(mean), per_channel::<C, _, 3>(deviation)).store()
}

/// A frame made by the way back, in one kernel: luma, and below it chroma of half the size.
fn frame() -> Result<Tensor<u8, (Y, X)>, Error> {
    let ramp = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<f32>>();
    let rows = Tensor::<f32, (Y,)>::from_vec([HEIGHT], ramp(HEIGHT))?;
    let columns = Tensor::<f32, (X,)>::from_vec([WIDTH], ramp(WIDTH))?;
    let written = fuse(|y: In<f32, (Y,)>, x: In<f32, (X,)>| {
        let (luma, chroma) = bars(y, x).to_yuv::<C, (Y, X)>(VIDEO).nv12::<(H, W, U)>();
        (luma.store::<(Y, X)>(), chroma.store::<(H, W, U)>())
    });
    let (luma, chroma) = written.call(&rows, &columns)?;
    let mut bytes = luma.to_vec()?;
    bytes.extend(chroma.to_vec()?);
    Tensor::from_vec([HEIGHT * 3 / 2, WIDTH], bytes)
}

/// The text of the kernel for such operands on a GPU.
fn kernel(crops: usize) -> Result<String, Error> {
    let graph = trace(detector_input).graph;
    let (height, width) = (HEIGHT as i64, WIDTH as i64);
    let luma = dense(<(Y, X)>::IDS, &[height, width]);
    let chroma = dense(<(H, W, U)>::IDS, &[height / 2, width / 2, 2]);
    let boxes = dense(<(N,)>::IDS, &[crops as i64]);
    let result = dense(<(N, C, Y, X)>::IDS, &[crops as i64, 3, 64, 96]);
    let rectangles = vec![Rect::new(0, 0, 1, 1); crops];
    let view = |axes, place, boxes| View { axes, place, alignment: 16, boxes };
    let operands = [
        view(&luma[..], Place::Device, None),
        view(&chroma[..], Place::Device, None),
        view(&boxes[..], Place::Host, Some(&rectangles[..])),
    ];
    let plan = Plan::new(&graph, &operands, &[view(&result[..], Place::Device, None)])?;
    let kernel = emit(&graph, &plan)?;
    Ok(kernel.head + &kernel.source)
}

fn main() -> Result<(), Error> {
    let device = Device::auto();
    let (luma, chroma) = frame()?.to(&device)?.luma_and_chroma::<(H, W, U)>()?;
    println!("a frame of two planes, {luma:?} and {chroma:?}");

    let rects = vec![Rect::new(0, 0, 320, 180), Rect::new(40, 20, 40, 60), Rect::new(281, 101, 33, 49)];
    let boxes = Tensor::<Rect, (N,)>::from_vec([rects.len()], rects.clone())?;
    let batch = fuse(detector_input).call(&luma, &chroma, &boxes)?;
    println!("one kernel makes {batch:?} of it:");
    let values = batch.to_vec()?;
    for (rect, crop) in rects.iter().zip(values.chunks(3 * 64 * 96)) {
        let mean = |plane: &[f32]| plane.iter().map(|v| f64::from(*v)).sum::<f64>() / plane.len() as f64;
        let means: Vec<String> = crop.chunks(64 * 96).map(|plane| format!("{:+.3}", mean(plane))).collect();
        println!("  {rect}: red, green, blue are {} on average", means.join(", "));
    }

    let source = kernel(rects.len())?;
    println!("\nthe kernel has {} lines and begins with", source.lines().count());
    source.lines().take(48).for_each(|line| println!("  {line}"));
    Ok(())
}
