//! The link between host and device, from page-locked memory.

use crate::Result;
use crate::clock::median;
use tilewright_driver::{Event, Stream};
use tilewright_hybrid::dispatch::Link;

/// Bytes of a copy, copies in a row, and rows.
const BYTES: usize = 64 << 20;
const COPIES: usize = 12;
const REPEATS: usize = 3;

/// Measures each way alone, and both at once: of these the slower one.
pub(super) fn measure(stream: &Stream) -> Result<Link> {
    let device = stream.device();
    let other = device.stream()?;
    let (source, mut target) = (device.pinned::<u8>(BYTES)?, device.pinned::<u8>(BYTES)?);
    let (mut there, from) = (stream.alloc::<u8>(BYTES)?, stream.alloc_zeroed::<u8>(BYTES)?);
    stream.synchronize()?;
    let mut bring = || -> Result<[Event; 2]> {
        let begin = stream.record()?;
        (0..COPIES).try_for_each(|_| there.copy_from_pinned(stream, &source))?;
        Ok([begin, stream.record()?])
    };
    let mut back = || -> Result<[Event; 2]> {
        let begin = other.record()?;
        (0..COPIES).try_for_each(|_| from.copy_to_pinned(&other, &mut target))?;
        Ok([begin, other.record()?])
    };
    let rate = |[begin, end]: &[Event; 2]| -> Result<f64> {
        end.synchronize()?;
        Ok((BYTES * COPIES) as f64 / (f64::from(end.elapsed_ms_since(begin)?) / 1e3))
    };
    let mut rates = [const { Vec::new() }; 3];
    // The first row warms up.
    for _ in 0..=REPEATS {
        rates[0].push(rate(&bring()?)?);
        rates[1].push(rate(&back()?)?);
        let (up, down) = (bring()?, back()?);
        rates[2].push(rate(&up)?.min(rate(&down)?));
    }
    let [to_gpu, to_host, both] = rates.map(|rates| median(rates[1..].to_vec()));
    // Nothing here goes from pageable memory.
    // Beside streams of gigabytes what a call takes is nothing.
    let call = 10e-6;
    Ok(Link { to_gpu, to_host, both, pageable: both, pageable_back: both, call_to_gpu: call, call_to_host: call })
}
