//! Vertical fusion: a chain of multiplications and additions over one picture.

use super::{close, same_ends};
use crate::Result;
use crate::cases::{Random, X, Y};
use crate::kernels::Stepwise;
use crate::pipelines::{PAIRS, vertical};
use crate::report::Report;
use crate::session::Session;
use tilewright_driver::DeviceBuffer;
use tilewright_ops::Tensor;

/// Height and width of the picture.
pub const PICTURE: [usize; 2] = [2160, 4096];
/// Rows at each end that are compared.
const SAMPLE: usize = 4;

/// Measures `vertical/N`: `n` pairs in one kernel, and in a kernel for each operation.
pub fn run(session: &Session, n: usize, report: &mut Report) -> Result<()> {
    let device = &session.device;
    let len = PICTURE[0] * PICTURE[1];
    let bytes = len + len * size_of::<f32>();
    let handle = vertical(n);
    let mut random = Random::new(n as u64);
    let host = Tensor::<u8, (Y, X)>::from_vec(PICTURE, random.pixels(len))?;
    let nan = || Ok::<_, Box<dyn std::error::Error>>(Tensor::from_vec(PICTURE, vec![f32::NAN; len])?.to(device)?);

    let mut pictures = vec![host.to(device)?];
    let mut results = vec![nan()?];
    handle.call_into(&mut results[0], &pictures[0])?;
    let [begin, end] = [0, PICTURE[0] - SAMPLE]
        .map(|row| -> Result<Vec<f32>> { Ok(handle.call(&host.narrow::<Y>(row, SAMPLE)?)?.to_vec()?) });
    let (begin, end) = (begin?, end?);
    same_ends(&results[0].to_vec()?, &begin, &end)?;

    let mut one_by_one = OneByOne::new(session, &host.to_vec()?)?;
    one_by_one.queue(n)?;
    close(&one_by_one.x.to_vec()?[..begin.len()], &begin, 2 * n)?;

    for _ in 1..session.sets(bytes) {
        pictures.push(Tensor::from_vec(PICTURE, random.pixels(len))?.to(device)?);
        results.push(nan()?);
    }
    let count = pictures.len();
    let mut call = |call: usize| Ok(handle.call_into(&mut results[call % count], &pictures[call % count])?);
    let us = session.clock.device_us(&mut call)?;
    let us_graph = session.clock.graph_us(&mut call)?;
    let peers = [
        ("a kernel per operation", session.clock.long_us(&mut |_| one_by_one.queue(n))?),
        ("a kernel per operation, CUDA graph", session.clock.long_graph_us(&mut |_| one_by_one.queue(n))?),
    ];
    let case = format!("vertical/{n}");
    let limit = session.limit_us(bytes)?;
    report.add_against(["fuse", &case, "device_us"], us, "us", Some(limit), &peers);
    report.add("fuse", &case, "device_us_graph", us_graph, "us").limited(limit);
    Ok(())
}

/// The same chain as a library of single operations runs it: a conversion, then an operation at a time in place.
pub struct OneByOne {
    kernels: Stepwise,
    /// What it computes with.
    pub x: DeviceBuffer<f32>,
    from: DeviceBuffer<u8>,
}

impl OneByOne {
    /// A chain over these numbers.
    pub fn new(session: &Session, from: &[u8]) -> Result<Self> {
        let stream = session.gpu.stream();
        let x = stream.upload(&vec![f32::NAN; from.len()])?;
        Ok(Self { kernels: Stepwise::new(&session.gpu)?, x, from: stream.upload(from)? })
    }

    /// Queues `n` pairs over all of it.
    pub fn queue(&mut self, n: usize) -> Result<()> {
        self.queue_part(0..self.x.len(), n)
    }

    /// Queues `n` pairs over a part.
    pub fn queue_part(&mut self, part: std::ops::Range<usize>, n: usize) -> Result<()> {
        self.kernels.convert(&mut self.x, &self.from, part.clone())?;
        for pair in 0..n {
            let (factor, summand) = PAIRS[pair % PAIRS.len()];
            self.kernels.multiply(&mut self.x, part.clone(), factor)?;
            self.kernels.add(&mut self.x, part.clone(), summand)?;
        }
        Ok(())
    }
}
