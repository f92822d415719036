//! Large frames for a classifier: 4K to 224 x 224, by interpolation or by area, normalised and planar.

use crate::Result;
use crate::cases::{C, N, Random, X, Y, colours};
use crate::pipelines::frames;
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use std::collections::BTreeSet;
use tilewright_expr::Filter;
use tilewright_ops::Tensor;

/// Height, width and colours of a frame.
const FRAME: [usize; 3] = [2160, 3840, 3];
/// Height and width of what is made of it.
const SMALL: [usize; 2] = [224, 224];

/// Memory is read in sectors of so many bytes.
const SECTOR: usize = 32;

/// Measures `frames4k/N` and `frames4k_area/N`.
pub fn run(session: &Session, (kind, filter): (&str, Filter), count: usize, report: &mut Report) -> Result<()> {
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
    let handle = frames(filter, SMALL[0], SMALL[1]);
    let expected = handle.call(&host, &mul, &sub, &div)?.to_vec()?;
    let input = host.to(&session.device)?;
    let extents = [count, FRAME[2], SMALL[0], SMALL[1]];
    let nan = vec![f32::NAN; extents.iter().product()];
    let mut result = Tensor::<f32, (N, C, Y, X)>::from_vec(extents, nan)?.to(&session.device)?;
    handle.call_into(&mut result, &input, &mul, &sub, &div)?;
    same_bits(&result.to_vec()?, &expected)?;

    let case = format!("{kind}/{count}");
    let limit = session.limit_us(count * bytes(filter))?;
    let mut call = |_| Ok(handle.call_into(&mut result, &input, &mul, &sub, &div)?);
    report.add("fuse", &case, "device_us", session.clock.device_us(&mut call)?, "us").limited(limit);
    report.add("fuse", &case, "device_us_graph", session.clock.graph_us(&mut call)?, "us").limited(limit);
    Ok(())
}

/// The fewest bytes of a frame: the sectors that hold a pixel of some result, and the results.
fn bytes(filter: Filter) -> usize {
    let results = SMALL[0] * SMALL[1] * FRAME[2] * size_of::<f32>();
    if filter == Filter::Area {
        return FRAME.iter().product::<usize>() + results;
    }
    let taps = |from: usize, to: usize| -> BTreeSet<usize> {
        let first = |i: usize| ((i as f64 + 0.5) * from as f64 / to as f64 - 0.5) as usize;
        (0..to).flat_map(|i| [first(i), (first(i) + 1).min(from - 1)]).collect()
    };
    let columns = taps(FRAME[1], SMALL[1]);
    let sectors: BTreeSet<usize> =
        columns.iter().flat_map(|x| [x * FRAME[2], x * FRAME[2] + 2].map(|at| at / SECTOR)).collect();
    taps(FRAME[0], SMALL[0]).len() * sectors.len() * SECTOR + results
}
