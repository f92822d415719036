//! The pipelines of the examples: what goes before a network.

use super::{Entries, Suite, zeros};
use tilewright_dims::dims;
use tilewright_expr::colour::{Depth, Standard, YuvSpec, nv12};
use tilewright_expr::{Element, In, Rect, Value, f16};
use tilewright_ops::{Error, Item, Tensor, fuse};

dims! { N, Y, X, C, H, W, U }

/// Rows and columns of a frame.
const FRAME: [usize; 2] = [1080, 1920];
/// Rows and columns of what networks take.
const INPUTS: [[usize; 2]; 3] = [[128, 64], [224, 224], [640, 640]];
/// Batches whose boxes travel in a small and in a large parameter block, and through a buffer.
const BATCHES: [usize; 3] = [50, 300, 10_000];

/// Adds all of them.
pub(super) fn add(entries: &mut Entries) -> Result<(), Error> {
    for input in INPUTS {
        crops::<f32>(entries, input)?;
        crops::<f16>(entries, input)?;
        video::<f32>(entries, input)?;
        video::<f16>(entries, input)?;
    }
    normalised::<f32>(entries)?;
    normalised::<f16>(entries)
}

/// A number for each colour.
fn colours() -> Result<Tensor<f32, (C,)>, Error> {
    zeros([3])
}

/// Boxes of a frame, resized, in the other order of colours, normalised, planar.
fn crops<T: Value + Element + Item>(entries: &mut Entries, [height, width]: [usize; 2]) -> Result<(), Error> {
    let crops = fuse(
        move |picture: In<u8, (Y, X, C)>,
              boxes: In<Rect, (N,)>,
              mul: In<f32, (C,)>,
              sub: In<f32, (C,)>,
              div: In<f32, (C,)>| {
            let pixel = picture.crop::<Y, X, _>(boxes).resize::<Y, X>(height, width).reverse::<C>();
            ((pixel * mul - sub) / div).to::<T>().store::<(N, C, Y, X)>()
        },
    );
    let frame = zeros::<u8, (Y, X, C), 3>([FRAME[0], FRAME[1], 3])?;
    let [mul, sub, div] = [colours()?, colours()?, colours()?];
    for count in BATCHES {
        let boxes = Tensor::<Rect, (N,)>::from_vec([count], vec![Rect::new(0, 0, 60, 120); count])?;
        let variant = format!("{}, {count} of {height} x {width}", <T as Value>::DTYPE);
        entries.plan(Suite::Pipelines, ("crops", &variant), &crops.plan(&frame, &boxes, &mul, &sub, &div)?)?;
    }
    Ok(())
}

/// A frame of NV12 as RGB, resized, normalised, planar.
fn video<T: Value + Element + Item>(entries: &mut Entries, [height, width]: [usize; 2]) -> Result<(), Error> {
    const SPEC: YuvSpec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
    let video = fuse(
        move |luma: In<u8, (Y, X)>,
              chroma: In<u8, (H, W, U)>,
              mul: In<f32, (C,)>,
              sub: In<f32, (C,)>,
              div: In<f32, (C,)>| {
            let rgb = nv12::<(Y, X), (H, W, U)>(luma, chroma).rgb::<C>(SPEC);
            ((rgb.resize::<Y, X>(height, width) * mul - sub) / div).to::<T>().store::<(C, Y, X)>()
        },
    );
    let luma = zeros::<u8, (Y, X), 2>(FRAME)?;
    let chroma = zeros::<u8, (H, W, U), 3>([FRAME[0] / 2, FRAME[1] / 2, 2])?;
    let plan = video.plan(&luma, &chroma, &colours()?, &colours()?, &colours()?)?;
    entries.plan(Suite::Pipelines, ("NV12", &format!("{}, {height} x {width}", <T as Value>::DTYPE)), &plan)
}

/// Bytes to numbers: by colour from packed pixels to planes, and by picture of a batch.
fn normalised<T: Value + Element + Item>(entries: &mut Entries) -> Result<(), Error> {
    let planes = fuse(|x: In<u8, (N, Y, X, C)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
        ((x.to::<f32>() * mul - sub) / div).to::<T>().store::<(N, C, Y, X)>()
    });
    let frames = zeros::<u8, (N, Y, X, C), 4>([2, 224, 224, 3])?;
    let plan = planes.plan(&frames, &colours()?, &colours()?, &colours()?)?;
    entries.plan(Suite::Pipelines, ("pixels to planes", <T as Value>::DTYPE.name()), &plan)?;

    let batch = fuse(|x: In<u8, (N, Y, X)>, mul: In<f32, (N,)>, sub: In<f32, (N,)>, div: In<f32, (N,)>| {
        ((x.to::<f32>() * mul - sub) / div).to::<T>().store::<(N, Y, X)>()
    });
    for count in BATCHES {
        let pictures = zeros::<u8, (N, Y, X), 3>([count, 120, 60])?;
        let number = || zeros::<f32, (N,), 1>([count]);
        let plan = batch.plan(&pictures, &number()?, &number()?, &number()?)?;
        entries.plan(Suite::Pipelines, ("batch", &format!("{}, {count}", <T as Value>::DTYPE)), &plan)?;
    }
    Ok(())
}
