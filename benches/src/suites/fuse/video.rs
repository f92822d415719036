//! A frame of video for a detector: NV12 in high definition to 640 x 640, RGB, normalised, planar, in halves.

use crate::Result;
use crate::cases::{C, H, Random, U, W, X, Y, colours};
use crate::pipelines::video;
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use tilewright_expr::f16;
use tilewright_ops::Tensor;

/// Height and width of a frame.
const FRAME: [usize; 2] = [1080, 1920];
/// Height and width of what is made of it.
const SMALL: [usize; 2] = [640, 640];

/// Measures `nv12_1080p`.
pub fn run(session: &Session, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let [height, width] = FRAME;
    let mut random = Random::new(12);
    let handle = video(SMALL[0], SMALL[1]);
    let [mul, sub, div] = colours()?;
    let luma = Tensor::<u8, (Y, X)>::from_vec(FRAME, random.pixels(height * width))?;
    let chroma = Tensor::<u8, (H, W, U)>::from_vec([height / 2, width / 2, 2], random.pixels(height * width / 2))?;
    let expected = handle.call(&luma, &chroma, &mul, &sub, &div)?.to_vec()?;

    let points = 3 * SMALL[0] * SMALL[1];
    let bytes = height * width * 3 / 2 + points * size_of::<f16>();
    let poisoned = Tensor::<f16, (C, Y, X)>::from_vec([3, SMALL[0], SMALL[1]], vec![f16::NAN; points])?;
    let mut frames = Vec::new();
    for _ in 0..session.sets(bytes) {
        frames.push((luma.to(device)?, chroma.to(device)?, poisoned.to(device)?));
    }
    let (luma, chroma, result) = &mut frames[0];
    handle.call_into(result, &*luma, &*chroma, &mul, &sub, &div)?;
    let wide = |values: Vec<f16>| -> Vec<f32> { values.into_iter().map(f32::from).collect() };
    same_bits(&wide(result.to_vec()?), &wide(expected))?;

    let (count, limit) = (frames.len(), session.limit_us(bytes)?);
    let mut call = |call: usize| {
        let (luma, chroma, result) = &mut frames[call % count];
        Ok(handle.call_into(result, &*luma, &*chroma, &mul, &sub, &div)?)
    };
    report.add("fuse", "nv12_1080p", "device_us", session.clock.device_us(&mut call)?, "us").limited(limit);
    report.add("fuse", "nv12_1080p", "device_us_graph", session.clock.graph_us(&mut call)?, "us").limited(limit);
    Ok(())
}
