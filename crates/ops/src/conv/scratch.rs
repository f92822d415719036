//! [`Scratch`]: memory and a stream on which kernels are timed, nobody else's.

use super::refined::in_turns;
use crate::device::Gpu;
use crate::error::Error;
use std::thread::Builder;
use tilewright_driver::{Arch, DeviceBuffer, Stream};

/// What operands are filled with: small normal numbers in every type, whose products and sums are normal too.
const FILLING: u8 = 0x2c;

/// A stream with what is written between kernels, so that they find nothing of their operands in the level-2 cache.
pub(super) struct Scratch {
    stream: Stream,
    flushed: DeviceBuffer<u8>,
}

impl Scratch {
    /// Fails where memory is short.
    pub(super) fn new(gpu: &Gpu) -> Result<Scratch, Error> {
        Scratch::on(gpu, gpu.device().stream()?)
    }

    /// As [`Scratch::new`], on this stream.
    pub(super) fn on(gpu: &Gpu, stream: Stream) -> Result<Scratch, Error> {
        let flushed = stream.alloc(2 * gpu.device().l2_bytes())?;
        Ok(Scratch { stream, flushed })
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// An operand of so many bytes.
    pub(super) fn operand(&self, bytes: usize) -> Result<DeviceBuffer<u8>, Error> {
        let operand = self.stream.alloc(bytes)?;
        operand.fill_bytes(FILLING)?;
        Ok(operand)
    }

    /// Microseconds of each kernel, the median of several turns. `launch` launches one on the stream, on operands of it.
    pub(super) fn times<K>(
        &self,
        kernels: &[K],
        mut launch: impl FnMut(&K) -> Result<(), Error>,
    ) -> Result<Vec<f64>, Error> {
        in_turns(kernels, |kernel| {
            // Writing so much keeps the device busy until the rest is queued, so that the host's pace is not measured.
            self.flushed.fill_bytes(0)?;
            let begin = self.stream.record()?;
            launch(kernel)?;
            let end = self.stream.record()?;
            end.synchronize()?;
            Ok(f64::from(end.elapsed_ms_since(&begin)?) * 1e3)
        })
    }
}

/// Has kernels in the cache, compiled at the same time. What fails here fails again where it is loaded, and is told there.
///
/// On threads of its own: one of a pool that waits could take up another call, which would wait for this one.
pub(super) fn compile_at_once<S: Sync>(gpu: &Gpu, sources: &[S], compile: impl Fn(&S, Arch) + Sync) {
    let (arch, compile) = (gpu.device().arch(), &compile);
    std::thread::scope(|scope| {
        for source in sources {
            let compile = move || compile(source, arch);
            // Without a thread it is compiled where it is loaded.
            drop(Builder::new().name("tilewright-refine".into()).spawn_scoped(scope, compile));
        }
    });
}
