//! Times of calls, and the rate at which memory can be copied.

use super::failure::Failure;
use std::time::{Duration, Instant};
use tilewright::{Device, Error, Gpu};

/// What repeated calls cost.
pub(crate) struct Repeated {
    /// One call after the other, without waiting in between on a GPU.
    pub(crate) call: Duration,
    /// Of that, what the host does; on a CPU there is no difference.
    pub(crate) host: Option<Duration>,
    /// Bytes read and written a second by a copy, if it could be measured.
    pub(crate) copy_rate: Option<f64>,
}

/// Measures `call` on `device`.
pub(crate) fn repeated(device: &Device, mut call: impl FnMut() -> Result<(), Error>) -> Result<Repeated, Failure> {
    match device {
        Device::Cpu => {
            let call = median_on_cpu(&mut call)?;
            Ok(Repeated { call, host: None, copy_rate: Some(copy_rate_of_cpu()) })
        }
        Device::Gpu(gpu) => {
            let once = on_gpu(gpu, 3, &mut call)?;
            let calls = (0.02 / once.as_secs_f64().max(1e-7)).clamp(3.0, 2000.0) as usize;
            let device = on_gpu(gpu, calls, &mut call)?;
            let host = host_of_gpu(gpu, &mut call)?;
            gpu.synchronize()?;
            Ok(Repeated { call: device, host: Some(host), copy_rate: copy_rate_of_gpu(gpu).ok() })
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn median_on_cpu(call: &mut impl FnMut() -> Result<(), Error>) -> Result<Duration, Failure> {
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || (begin.elapsed() < Duration::from_millis(300) && times.len() < 100) {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed());
    }
    Ok(median(times))
}

/// Device time of a call, by events around `calls` of them.
fn on_gpu(gpu: &Gpu, calls: usize, call: &mut impl FnMut() -> Result<(), Error>) -> Result<Duration, Failure> {
    let start = gpu.stream().record()?;
    for _ in 0..calls {
        call()?;
    }
    let end = gpu.stream().record()?;
    end.synchronize()?;
    Ok(Duration::from_secs_f64(f64::from(end.elapsed_ms_since(&start)?.max(0.0)) / 1e3 / calls as f64))
}

/// Host time of a call, in bursts that the device's queue takes whole.
fn host_of_gpu(gpu: &Gpu, call: &mut impl FnMut() -> Result<(), Error>) -> Result<Duration, Failure> {
    const BURST: u32 = 32;
    let mut times = Vec::new();
    for _ in 0..15 {
        gpu.synchronize()?;
        let start = Instant::now();
        for _ in 0..BURST {
            call()?;
        }
        times.push(start.elapsed() / BURST);
    }
    Ok(median(times))
}

fn copy_rate_of_gpu(gpu: &Gpu) -> Result<f64, Failure> {
    const BYTES: usize = 512 << 20;
    const COPIES: usize = 10;
    let stream = gpu.stream();
    let from = stream.alloc_zeroed::<u8>(BYTES)?;
    let mut to = stream.alloc_zeroed::<u8>(BYTES)?;
    let seconds = on_gpu(gpu, COPIES, &mut || Ok(to.copy_from_buffer(stream, &from)?))?;
    Ok(2.0 * BYTES as f64 / seconds.as_secs_f64())
}

/// All cores copying at once.
fn copy_rate_of_cpu() -> f64 {
    const BYTES: usize = 64 << 20;
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let (from, mut to) = (vec![1u8; BYTES], vec![2u8; BYTES]);
    let part = BYTES.div_ceil(threads);
    let copy = |to: &mut [u8]| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(move || to.copy_from_slice(from));
            }
        });
        start.elapsed()
    };
    let best = (0..3).map(|_| copy(&mut to)).min().unwrap_or_default();
    2.0 * BYTES as f64 / best.as_secs_f64().max(1e-9)
}
