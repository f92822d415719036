//! What products take on a GPU, by events around them, for as long as somebody wants to know. Nobody waits for them: what is over is taken when somebody asks.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tilewright_driver::{Event, Stream, blas::Compute};

use crate::Error;
use crate::dispatch::Unit;
use crate::matrix::Element;

/// The units that are timed.
pub(crate) const UNITS: [Unit; 4] = [Unit::F64, Unit::F32, Unit::Tf32, Unit::Half];

/// Products with a shorter side are bound by more than arithmetic, and say less about others.
const LEAST_SIDE: usize = 1024;
/// Of what a product takes on the GPU the host has at most this part to queue it. More it takes where a library loads the kernel, which whoever comes next does not
/// wait for, and the GPU may have waited meanwhile.
const QUEUED: f64 = 0.1;

/// Products under way that are timed, at most one of each unit.
#[derive(Debug, Default)]
pub(crate) struct Timed {
    /// A bit for each of [`UNITS`].
    wanted: AtomicU8,
    is_there: AtomicBool,
    samples: Mutex<Vec<Sample>>,
}

#[derive(Debug)]
struct Sample {
    unit: Unit,
    operations: f64,
    /// Seconds in which it was queued.
    queued: f64,
    events: [Event; 2],
}

impl Timed {
    /// Has these units timed from now on, and no others.
    pub(crate) fn want(&self, is_wanted: impl Fn(Unit) -> bool) {
        let bits = UNITS.iter().enumerate().filter(|(_, unit)| is_wanted(**unit));
        self.wanted.store(bits.fold(0, |bits, (bit, _)| bits | 1 << bit), Ordering::Relaxed);
    }

    /// Queues a product of matrices of these extents, and has it timed where that is wanted. What fails is the product's own error.
    pub(crate) fn around<T: Element>(
        &self,
        stream: &Stream,
        (compute, [rows, columns, depth]): (Compute, [usize; 3]),
        queue: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let wanted = self.wanted.load(Ordering::Relaxed);
        if wanted == 0 || rows.min(columns).min(depth) < LEAST_SIDE {
            return queue();
        }
        let unit = unit::<T>(compute).filter(|unit| {
            let is_wanted = UNITS.iter().position(|it| it == unit).is_some_and(|bit| wanted & 1 << bit != 0);
            is_wanted && self.locked().iter().all(|sample| sample.unit != *unit)
        });
        // Who cannot time it, multiplies.
        let Some((unit, before)) = unit.and_then(|unit| Some((unit, stream.record().ok()?))) else { return queue() };
        let begin = Instant::now();
        queue()?;
        let queued = begin.elapsed().as_secs_f64();
        if let Ok(after) = stream.record() {
            let operations = 2.0 * rows as f64 * columns as f64 * depth as f64;
            self.locked().push(Sample { unit, operations, queued, events: [before, after] });
            self.is_there.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// What the products that are over ran at, in operations in a second, of those that say it.
    pub(crate) fn over(&self) -> Vec<(Unit, f64)> {
        if !self.is_there.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut samples = self.locked();
        let mut rates = Vec::new();
        samples.retain(|sample| match sample.events[1].is_done() {
            Ok(false) => true,
            Ok(true) => {
                let took = sample.events[1].elapsed_ms_since(&sample.events[0]).map(|ms| f64::from(ms) / 1e3);
                rates.extend(took.ok().and_then(|took| sample.rate(took)).map(|rate| (sample.unit, rate)));
                false
            }
            Err(_) => false,
        });
        self.is_there.store(!samples.is_empty(), Ordering::Release);
        rates
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Sample>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sample {
    fn rate(&self, took: f64) -> Option<f64> {
        rate((self.operations, self.queued), took)
    }
}

/// So many operations, queued in so many seconds and done in so many.
fn rate((operations, queued): (f64, f64), took: f64) -> Option<f64> {
    let rate = operations / took;
    (queued <= QUEUED * took && rate.is_finite() && rate > 0.0).then_some(rate)
}

/// What products of real elements are computed in; nothing where it is no unit of its own.
fn unit<T: Element>(compute: Compute) -> Option<Unit> {
    match (T::NAME, compute) {
        ("f64", Compute::Own) => Some(Unit::F64),
        ("f32", Compute::Own) => Some(Unit::F32),
        ("f32", Compute::Tf32) => Some(Unit::Tf32),
        ("f32", Compute::Bf16) | ("f16" | "bf16", Compute::Own) => Some(Unit::Half),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d7_a_product_during_which_its_kernel_was_loaded_says_nothing() {
        assert_eq!(rate((1e12, 0.01), 0.1), Some(1e13));
        assert_eq!(rate((1e12, 0.011), 0.1), None);
        assert_eq!([0.0, -1.0, f64::NAN].map(|took| rate((1e12, 0.0), took)), [None; 3]);
    }

    #[test]
    fn d7_units_are_those_that_rates_know() {
        assert_eq!(unit::<f32>(Compute::Tf32), Some(Unit::Tf32));
        assert_eq!(unit::<half::bf16>(Compute::Own), Some(Unit::Half));
        assert_eq!(unit::<f64>(Compute::Emulated { mantissa_bits: 55 }), None);
        assert_eq!(unit::<crate::Complex64>(Compute::Own), None);
    }
}
