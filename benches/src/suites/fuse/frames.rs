//! Large frames for a classifier: 4K to 224 x 224, normalised and planar.

use crate::Result;
use crate::cases::{C, N, Random, X, Y, colours};
use crate::pipelines::frames;
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use tilewright_ops::Tensor;

/// Height, width and colours of a frame.
const FRAME: [usize; 3] = [2160, 3840, 3];
/// Height and width of what is made of it.
const SMALL: [usize; 2] = [224, 224];

/// Measures `frames4k/N`.
pub fn run(session: &Session, count: usize, report: &mut Report) -> Result<()> {
    let len: usize = FRAME.iter().product();
    let mut random = Random::new(count as u64);
    // One random frame again and again, each shifted by some bytes: no two are alike, and they are there in a moment.
    let one = random.pixels(len);
    let mut pixels = Vec::with_capacity(count * len);
    for i in 0..count {
        let (front, back) = one.split_at(7919 * i % len);
        pixels.extend_from_slice(back);
        pixels.extend_from_slice(front);
    }
    let host = Tensor::<u8, (N, Y, X, C)>::from_vec([count, FRAME[0], FRAME[1], FRAME[2]], pixels)?;
    let [mul, sub, div] = colours()?;
    let handle = frames(SMALL[0], SMALL[1]);
    let expected = handle.call(&host, &mul, &sub, &div)?.to_vec()?;
    let input = host.to(&session.device)?;
    let extents = [count, FRAME[2], SMALL[0], SMALL[1]];
    let nan = vec![f32::NAN; extents.iter().product()];
    let mut result = Tensor::<f32, (N, C, Y, X)>::from_vec(extents, nan)?.to(&session.device)?;
    handle.call_into(&mut result, &input, &mul, &sub, &div)?;
    same_bits(&result.to_vec()?, &expected)?;

    let case = format!("frames4k/{count}");
    let limit = session.limit_us(bytes(count))?;
    let mut call = |_| Ok(handle.call_into(&mut result, &input, &mul, &sub, &div)?);
    report.add("fuse", &case, "device_us", session.clock.device_us(&mut call)?, "us").limited(limit);
    report.add("fuse", &case, "device_us_graph", session.clock.graph_us(&mut call)?, "us").limited(limit);
    Ok(())
}

/// The fewest bytes: of each result four pixels, and itself.
fn bytes(count: usize) -> usize {
    let points = count * SMALL[0] * SMALL[1] * FRAME[2];
    points * 4 + points * size_of::<f32>()
}
