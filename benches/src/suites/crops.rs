//! The main job: boxes of a frame, resized, normalised and planar, in one kernel.

use super::same_bits;
use crate::Result;
use crate::cases::{BOX, Batch, Boxes, CROP, Crops, FRAME, Picture, Random, by_row, colours, crops};
use crate::report::Report;
use crate::session::Session;
use tilewright_ops::Device;

/// Prepared sets of boxes, so that each call has its own.
const SETS: usize = 64;
/// Most boxes that travel in the parameter block.
const MOST_BY_VALUE: usize = 150;

/// Measures the case whose name is the number of boxes. Their places are in no order; with `-by-row` behind the number they run
/// from the top of the frame to its bottom, as a sliding window's or a detector's do.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let (number, in_order) = case.strip_suffix("-by-row").map_or((case, false), |number| (number, true));
    let count: usize = number.parse()?;
    let device = &session.device;
    let mut random = Random::new(count as u64);
    let picture = random.picture(FRAME)?;
    let mut boxes = (0..SETS).map(|_| random.boxes(count, FRAME)).collect::<std::result::Result<Vec<_>, _>>()?;
    if in_order {
        boxes = boxes.iter().map(by_row).collect::<std::result::Result<Vec<_>, _>>()?;
    }
    let [mul, sub, div] = colours()?;
    let crops = crops();

    let expected = crops.call(&picture, &boxes[0], &mul, &sub, &div)?.to_vec()?;
    let picture = picture.to(device)?;
    let mut batch = poisoned(count, device)?;
    crops.call_into(&mut batch, &picture, &boxes[0], &mul, &sub, &div)?;
    same_bits(&batch.to_vec()?, &expected)?;

    let limit = session.limit_us(bytes(count))?;
    // Boxes from the host, other ones each call: beside the parameters, or copied while the kernel before runs.
    let us = session
        .clock
        .device_us(&mut |call| Ok(crops.call_into(&mut batch, &picture, &boxes[call % SETS], &mul, &sub, &div)?))?;
    report.add("crops", case, "device_us", us, "us").limited(limit);
    // A graph cannot contain that copy, so larger batches have their boxes in device memory, where the kernel checks them.
    let placed = match count > MOST_BY_VALUE {
        false => boxes.clone(),
        true => boxes.iter().take(8).map(|boxes| boxes.to(device)).collect::<std::result::Result<_, _>>()?,
    };
    let us = session.clock.graph_us(&mut |call| {
        Ok(crops.call_into(&mut batch, &picture, &placed[call % placed.len()], &mul, &sub, &div)?)
    })?;
    report.add("crops", case, "device_us_graph", us, "us").limited(limit);
    if count <= MOST_BY_VALUE {
        let us = rotating(session, &crops, picture.clone(), &boxes, count)?;
        report.add("crops", case, "device_us_rotating", us, "us").limited(limit);
    }

    let [empty, host] = session.clock.host_us_of([&mut |_| session.empty.launch(), &mut |call| {
        Ok(crops.call_into(&mut batch, &picture, &boxes[call % SETS], &mul, &sub, &div)?)
    }])?;
    report.add("crops", case, "host_us", host, "us");
    report.add("crops", case, "host_over_empty_us", host - empty, "us");
    Ok(())
}

/// Device time with pictures and results that rotate over more memory than the level-2 cache holds.
fn rotating(session: &Session, crops: &Crops, picture: Picture, boxes: &[Boxes], count: usize) -> Result<f64> {
    let device = &session.device;
    let cache = session.gpu.device().l2_bytes();
    let [mul, sub, div] = colours()?;
    let mut pictures = vec![picture];
    while pictures.len() * pictures[0].len() <= cache {
        pictures.push(Random::new(pictures.len() as u64).picture(FRAME)?.to(device)?);
    }
    let mut batches = vec![poisoned(count, device)?];
    while batches.len() * batches[0].len() * size_of::<f32>() <= cache {
        batches.push(poisoned(count, device)?);
    }
    let batches_len = batches.len();
    session.clock.device_us(&mut |call| {
        let (picture, boxes) = (&pictures[call % pictures.len()], &boxes[call % SETS]);
        Ok(crops.call_into(&mut batches[call % batches_len], picture, boxes, &mul, &sub, &div)?)
    })
}

/// A result that holds NaN until it is written.
fn poisoned(count: usize, device: &Device) -> Result<Batch> {
    let (height, width) = CROP;
    let values = vec![f32::NAN; count * FRAME[2] * height * width];
    Ok(Batch::from_vec([count, FRAME[2], height, width], values)?.to(device)?)
}

/// The fewest bytes: each pixel in a box read once, each result written once.
fn bytes(count: usize) -> usize {
    let read = (count * BOX.0 * BOX.1 * FRAME[2]).min(FRAME.iter().product());
    read + count * FRAME[2] * CROP.0 * CROP.1 * size_of::<f32>()
}
