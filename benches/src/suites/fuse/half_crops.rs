//! The main job stored in halves: half the bytes of its results.

use crate::Result;
use crate::cases::{BOX, C, CROP, FRAME, N, Random, X, Y, colours, stored_crops};
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use tilewright_expr::f16;
use tilewright_ops::Tensor;

/// Prepared sets of boxes, so that each call has its own.
const SETS: usize = 64;

/// Measures `crops_f16/N`.
pub fn run(session: &Session, count: usize, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let mut random = Random::new(count as u64);
    let host = random.picture(FRAME)?;
    let boxes = (0..SETS).map(|_| random.boxes(count, FRAME)).collect::<std::result::Result<Vec<_>, _>>()?;
    let [mul, sub, div] = colours()?;
    let crops = stored_crops::<f16>();
    let (height, width) = CROP;
    let extents = [count, FRAME[2], height, width];
    let nan = vec![f16::NAN; extents.iter().product()];
    let mut batch = Tensor::<f16, (N, C, Y, X)>::from_vec(extents, nan)?.to(device)?;
    let picture = host.to(device)?;
    crops.call_into(&mut batch, &picture, &boxes[0], &mul, &sub, &div)?;
    let wide = |values: Vec<f16>| -> Vec<f32> { values.into_iter().map(f32::from).collect() };
    same_bits(&wide(batch.to_vec()?), &wide(crops.call(&host, &boxes[0], &mul, &sub, &div)?.to_vec()?))?;

    let case = format!("crops_f16/{count}");
    let read = (count * BOX.0 * BOX.1 * FRAME[2]).min(FRAME.iter().product());
    let limit = session.limit_us(read + extents.iter().product::<usize>() * size_of::<f16>())?;
    let mut call = |call: usize| Ok(crops.call_into(&mut batch, &picture, &boxes[call % SETS], &mul, &sub, &div)?);
    report.add("fuse", &case, "device_us", session.clock.device_us(&mut call)?, "us").limited(limit);
    report.add("fuse", &case, "device_us_graph", session.clock.graph_us(&mut call)?, "us").limited(limit);
    Ok(())
}
