//! How time is taken.
//!
//! *Device time*: many calls back to back between two events, queued behind a kernel that keeps the device busy until they are
//! all there, so that the host's pace is not measured. *Host time*: bursts of calls, short enough not to fill the launch
//! queue, with a wait between bursts outside the timed part. Always the median.

use crate::Result;
use crate::kernels::Spin;
use std::time::{Duration, Instant};
use tilewright_driver::Graph;
use tilewright_ops::Gpu;

/// Calls of a burst: far below the 1024 launches that a queue holds.
pub const BURST: usize = 64;
/// Most calls between two events.
const MOST_CALLS: usize = 256;
/// How long the calls between two events should take together, in microseconds.
const SPAN_US: f64 = 4000.0;
/// How long one host measurement may take, once it has a few bursts.
const PATIENCE: Duration = Duration::from_millis(1500);

/// A call to be timed; its argument counts the calls, so that operands can rotate.
pub type Call<'a> = dyn FnMut(usize) -> Result<()> + 'a;

/// The middle value, or the mean of the two middle ones; NaN of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        len => (values[(len - 1) / 2] + values[len / 2]) / 2.0,
    }
}

/// The median of `repeats` runs in milliseconds, after one that does not count.
pub fn wall_ms(repeats: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    let timed = (0..repeats).map(|_| {
        let begin = Instant::now();
        run().map(|()| begin.elapsed().as_secs_f64() * 1e3)
    });
    Ok(median(timed.collect::<Result<_>>()?))
}

/// The clock of one GPU.
#[derive(Debug)]
pub struct Clock {
    gpu: Gpu,
    spin: Spin,
    repeats: usize,
    bursts: usize,
}

impl Clock {
    /// A clock that repeats each measurement often, or just enough to see that it works.
    pub fn new(gpu: &Gpu, quick: bool) -> Result<Self> {
        let (repeats, bursts) = if quick { (5, 31) } else { (21, 301) };
        Ok(Self { gpu: gpu.clone(), spin: Spin::new(gpu)?, repeats, bursts })
    }

    /// Device time of a call, in microseconds.
    pub fn device_us(&self, call: &mut Call<'_>) -> Result<f64> {
        let pilot = self.pilot(call)?;
        let count = ((SPAN_US / pilot.total_us) as usize).clamp(4, MOST_CALLS);
        // Half as long again as queueing takes.
        let busy_us = (1.5 * pilot.queued_us * count as f64 + 100.0).min(2.0 * SPAN_US);
        let once = |_| -> Result<f64> {
            self.between_events(busy_us, &mut || (0..count).try_for_each(&mut *call)).map(|us| us / count as f64)
        };
        Ok(median((0..self.repeats).map(once).collect::<Result<_>>()?))
    }

    /// Device time of a call in microseconds, the calls captured into a graph.
    pub fn graph_us(&self, call: &mut Call<'_>) -> Result<f64> {
        let pilot = self.pilot(call)?;
        let count = ((SPAN_US / 4.0 / pilot.total_us) as usize).clamp(2, BURST);
        let (graph, captured) = self.gpu.stream().capture(|| (0..count).try_for_each(&mut *call))?;
        captured?;
        let launches = 4;
        let replay = || -> Result<()> {
            for _ in 0..launches {
                graph.launch(self.gpu.stream())?;
            }
            Ok(())
        };
        replay()?;
        self.gpu.synchronize()?;
        let once = |_| self.between_events(500.0, &mut || replay()).map(|us| us / (count * launches) as f64);
        Ok(median((0..self.repeats).map(once).collect::<Result<_>>()?))
    }

    /// The median of single calls in microseconds, each between two events; `before` is queued ahead of each, outside of what is timed.
    pub fn single_us(
        &self,
        before: &mut dyn FnMut() -> Result<()>,
        call: &mut dyn FnMut() -> Result<()>,
    ) -> Result<f64> {
        const BUSY_US: f64 = 150.0;
        let stream = self.gpu.stream();
        let mut once = || -> Result<f64> {
            self.spin.launch(BUSY_US)?;
            before()?;
            let begin = stream.record()?;
            call()?;
            let end = stream.record()?;
            self.gpu.synchronize()?;
            Ok(f64::from(end.elapsed_ms_since(&begin)?) * 1e3)
        };
        once()?;
        Ok(median((0..self.repeats).map(|_| once()).collect::<Result<_>>()?))
    }

    /// What a call adds to `before` in microseconds: a graph of both, again and again, less one of `before` alone. No event stands between the
    /// two, so the time that one takes is not in it; the pause between two kernels of a graph is.
    pub fn added_us(
        &self,
        before: &mut dyn FnMut() -> Result<()>,
        call: &mut dyn FnMut() -> Result<()>,
    ) -> Result<f64> {
        const TIMES: usize = 8;
        let stream = self.gpu.stream();
        let (both, captured) = stream.capture(|| (0..TIMES).try_for_each(|_| before().and_then(|()| call())))?;
        captured?;
        let (alone, captured) = stream.capture(|| (0..TIMES).try_for_each(|_| before()))?;
        captured?;
        let once = |graph: &Graph| self.between_events(50.0, &mut || Ok(graph.launch(stream)?));
        once(&both)?;
        once(&alone)?;
        let added = |_| Ok((once(&both)? - once(&alone)?) / TIMES as f64);
        Ok(median((0..self.repeats).map(added).collect::<Result<_>>()?))
    }

    /// Microseconds of a call that queues so much that the host's pace is part of it: between two events around one call. A call
    /// beyond a second is timed once.
    pub fn long_us(&self, call: &mut Call<'_>) -> Result<f64> {
        self.some_spans(&mut || call(0))
    }

    /// As [`Clock::long_us`], the call captured into a graph.
    pub fn long_graph_us(&self, call: &mut Call<'_>) -> Result<f64> {
        let (graph, captured) = self.gpu.stream().capture(|| call(0))?;
        captured?;
        self.some_spans(&mut || Ok(graph.launch(self.gpu.stream())?))
    }

    /// As [`Clock::long_graph_us`], the graph replayed `times` times: for what no graph could hold.
    pub fn replays_us(&self, times: usize, call: &mut Call<'_>) -> Result<f64> {
        let (graph, captured) = self.gpu.stream().capture(|| call(0))?;
        captured?;
        self.some_spans(&mut || (0..times).try_for_each(|_| Ok(graph.launch(self.gpu.stream())?)))
    }

    /// The median of a few spans after one that does not count; that one alone when it is very long.
    fn some_spans(&self, queue: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        const LONG_US: f64 = 1e6;
        let mut span = || -> Result<f64> {
            let begin = self.gpu.stream().record()?;
            queue()?;
            let end = self.gpu.stream().record()?;
            self.gpu.synchronize()?;
            Ok(f64::from(end.elapsed_ms_since(&begin)?) * 1e3)
        };
        let first = span()?;
        if first > LONG_US {
            return Ok(first);
        }
        let repeats = ((LONG_US / 4.0 / first) as usize).clamp(3, self.repeats);
        Ok(median((0..repeats).map(|_| span()).collect::<Result<_>>()?))
    }

    /// Host time of a call, in microseconds.
    pub fn host_us(&self, call: &mut Call<'_>) -> Result<f64> {
        Ok(self.host_us_of([call])?[0])
    }

    /// Host time of several calls in microseconds, their bursts in turns, so that their differences can be trusted.
    pub fn host_us_of<const K: usize>(&self, mut calls: [&mut Call<'_>; K]) -> Result<[f64; K]> {
        let mut times = [const { Vec::new() }; K];
        let begin = Instant::now();
        // The first burst of each warms up.
        for burst in 0..=self.bursts {
            if burst > 9 && begin.elapsed() > PATIENCE {
                break;
            }
            for (call, times) in calls.iter_mut().zip(&mut times) {
                self.gpu.synchronize()?;
                let begin = Instant::now();
                (0..BURST).try_for_each(&mut **call)?;
                let us = begin.elapsed().as_secs_f64() * 1e6 / BURST as f64;
                if burst > 0 {
                    times.push(us);
                }
            }
        }
        self.gpu.synchronize()?;
        Ok(times.map(median))
    }

    /// Microseconds between an event before and one after what `queue` queues, behind a busy device.
    pub fn between_events(&self, busy_us: f64, queue: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let stream = self.gpu.stream();
        self.spin.launch(busy_us)?;
        let begin = stream.record()?;
        queue()?;
        let end = stream.record()?;
        self.gpu.synchronize()?;
        Ok(f64::from(end.elapsed_ms_since(&begin)?) * 1e3)
    }

    /// Warms up, and finds about how long a call takes.
    fn pilot(&self, call: &mut Call<'_>) -> Result<Pilot> {
        const CALLS: usize = 8;
        (0..3).try_for_each(&mut *call)?;
        self.gpu.synchronize()?;
        let begin = Instant::now();
        (0..CALLS).try_for_each(&mut *call)?;
        let queued = begin.elapsed();
        self.gpu.synchronize()?;
        let us = |time: Duration| time.as_secs_f64() * 1e6 / CALLS as f64;
        Ok(Pilot { queued_us: us(queued), total_us: us(begin.elapsed()) })
    }
}

/// A first look at a call: the host's part, and both together.
struct Pilot {
    queued_us: f64,
    total_us: f64,
}
