//! [`Scratch`]: memory and a stream on which kernels are timed, nobody else's.

use super::refined::in_turns;
use crate::device::Gpu;
use crate::error::Error;
use std::thread::Builder;
use tilewright_driver::{Arch, DeviceBuffer, Stream};

/// What operands are filled with: small normal numbers in every type, whose products and sums are normal too.
const FILLING: u8 = 0x2c;
/// How long calls that follow one another take together, in microseconds, and how many they are at most.
const SPAN_US: f64 = 1000.0;
const MOST_CALLS: usize = 64;
/// Host time of a call, at most, in microseconds: the device is kept busy for as long.
const QUEUED_US: f64 = 10.0;

/// A stream, with memory that is written while calls are queued.
pub(super) struct Scratch {
    stream: Stream,
    written: DeviceBuffer<u8>,
    cache: usize,
}

/// Operands that are called in turns: together more than the level-2 cache holds, so that each call finds it cold.
pub(super) struct Sets<const N: usize>(Vec<[DeviceBuffer<u8>; N]>);

impl<const N: usize> Sets<N> {
    /// Those of a turn.
    pub(super) fn of(&self, turn: usize) -> &[DeviceBuffer<u8>; N] {
        &self.0[turn % self.0.len()]
    }
}

impl Scratch {
    /// Fails where memory is short.
    pub(super) fn new(gpu: &Gpu) -> Result<Scratch, Error> {
        Scratch::on(gpu, gpu.device().stream()?)
    }

    /// As [`Scratch::new`], on this stream.
    pub(super) fn on(gpu: &Gpu, stream: Stream) -> Result<Scratch, Error> {
        let cache = gpu.device().l2_bytes();
        Ok(Scratch { written: stream.alloc(2 * cache)?, stream, cache })
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

    /// Operands of so many bytes each, and as many more of them as exceed twice the cache, if calls are that many.
    pub(super) fn sets<const N: usize>(&self, bytes: [usize; N]) -> Result<Sets<N>, Error> {
        let count = 1 + 2 * self.cache / bytes.iter().sum::<usize>().max(1);
        let mut sets = Vec::with_capacity(count.min(MOST_CALLS));
        for _ in 0..count.min(MOST_CALLS) {
            let mut set = Vec::with_capacity(N);
            for bytes in bytes {
                set.push(self.operand(bytes)?);
            }
            sets.extend(set.try_into().ok());
        }
        Ok(Sets(sets))
    }

    /// Microseconds of each kernel where calls follow one another, as layers do: the median of several turns. `launch` launches a kernel on the stream, on operands
    /// of a turn.
    ///
    /// A call alone tells less: what is written before it, for the cache to forget, goes to memory while it runs (docs/notes/models.md).
    pub(super) fn times<K>(
        &self,
        kernels: &[K],
        mut launch: impl FnMut(&K, usize) -> Result<(), Error>,
    ) -> Result<Vec<f64>, Error> {
        let fill_us = in_turns(&[()], |()| self.between_events(1, || Ok(self.written.fill_bytes(0)?)))?[0];
        let fills = |calls: usize| 2 + (QUEUED_US * calls as f64 / fill_us.max(1.0)) as usize;
        // So it is known how many calls take a span.
        let alone = in_turns(kernels, |kernel| self.between_events(fills(1), || launch(kernel, 0)))?;
        let mut turn = 0;
        in_turns(&Vec::from_iter(kernels.iter().zip(alone)), |(kernel, alone)| {
            let calls = ((SPAN_US / alone) as usize).clamp(2, MOST_CALLS);
            let mut queue = || {
                (0..calls).try_for_each(|_| {
                    turn += 1;
                    launch(kernel, turn)
                })
            };
            Ok(self.between_events(fills(calls), &mut queue)? / calls as f64)
        })
    }

    /// Microseconds of what is queued, behind so many times of writing that memory: the device is busy until all is queued, so that the host's pace is not
    /// measured.
    fn between_events(&self, fills: usize, queue: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
        for _ in 0..fills {
            self.written.fill_bytes(0)?;
        }
        let begin = self.stream.record()?;
        queue()?;
        let end = self.stream.record()?;
        end.synchronize()?;
        Ok(f64::from(end.elapsed_ms_since(&begin)?) * 1e3)
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
