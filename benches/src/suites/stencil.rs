//! A filter over neighbours: a Gaussian of five taps in each direction over a 4K picture.

use super::same_bits;
use crate::Result;
use crate::cases::{Random, X, Y};
use crate::pipelines::gauss5;
use crate::report::Report;
use crate::session::Session;
use tilewright_ops::Tensor;

/// Height and width of the picture.
const PICTURE: [usize; 2] = [2160, 3840];
/// More than the level-2 cache keeps, so that memory is read.
const SETS: usize = 3;

/// Measures `gauss5/4k`.
pub fn run(session: &Session, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let len = PICTURE[0] * PICTURE[1];
    let handle = gauss5();
    let host = Tensor::<f32, (Y, X)>::from_vec(PICTURE, Random::new(5).floats(len))?;
    let mut pictures = Vec::new();
    for _ in 0..SETS {
        let empty = Tensor::<f32, (Y, X)>::from_vec(PICTURE, vec![f32::NAN; len])?;
        pictures.push((host.to(device)?, empty.to(device)?));
    }
    let (picture, result) = &mut pictures[0];
    handle.call_into(result, &*picture)?;
    same_bits(&result.to_vec()?, &handle.call(&host)?.to_vec()?)?;
    let limit = session.limit_us(2 * len * size_of::<f32>())?;
    let us = session.clock.device_us(&mut |call| {
        let (picture, result) = &mut pictures[call % SETS];
        Ok(handle.call_into(result, &*picture)?)
    })?;
    report.add("reduce", "gauss5/4k", "device_us", us, "us").limited(limit);
    Ok(())
}
