//! The host's part of the main job: boxes that change on every call, and boxes that lie on the device already.

use crate::Result;
use crate::cases::{Batch, Boxes, CROP, FRAME, Random, colours, crops};
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;

/// Prepared sets of boxes.
const SETS: usize = 64;

/// Measures `crops/N`. Its device time is that of the suite `crops`.
pub fn run(session: &Session, count: usize, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let mut random = Random::new(count as u64);
    let host = random.picture(FRAME)?;
    let boxes: Vec<Boxes> = (0..SETS).map(|_| random.boxes(count, FRAME)).collect::<std::result::Result<_, _>>()?;
    let constants = colours()?;
    let [mul, sub, div] = &constants;
    let crops = crops();
    let expected = crops.call(&host, &boxes[0], mul, sub, div)?.to_vec()?;

    let picture = host.to(device)?;
    let (height, width) = CROP;
    let extents = [count, FRAME[2], height, width];
    let poisoned = Batch::from_vec(extents, vec![f32::NAN; extents.iter().product()])?;
    let (mut batch, mut other) = (poisoned.to(device)?, poisoned.to(device)?);
    let placed = boxes[0].to(device)?;
    let mut placed_constants = Vec::new();
    for each in &constants {
        placed_constants.push(each.to(device)?);
    }
    crops.call_into(&mut batch, &picture, &boxes[0], mul, sub, div)?;
    same_bits(&batch.to_vec()?, &expected)?;
    let [mul_there, sub_there, div_there] = &placed_constants[..] else { return Err("three constants".into()) };
    crops.call_into(&mut other, &picture, &placed, mul_there, sub_there, div_there)?;
    same_bits(&other.to_vec()?, &expected)?;

    let [empty, changed, prebuilt] = session.clock.host_us_of([
        &mut |_| session.empty.launch(),
        &mut |call| Ok(crops.call_into(&mut batch, &picture, &boxes[call % SETS], mul, sub, div)?),
        &mut |_| Ok(crops.call_into(&mut other, &picture, &placed, mul_there, sub_there, div_there)?),
    ])?;
    let case = format!("crops/{count}");
    for (metric, us) in [("changed", changed), ("prebuilt", prebuilt)] {
        report.add("fuse", &case, &format!("{metric}_host_us"), us, "us");
        report.add("fuse", &case, &format!("{metric}_host_over_empty_us"), us - empty, "us");
    }
    Ok(())
}
