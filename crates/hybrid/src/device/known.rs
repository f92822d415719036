//! Rates that were measured, for the process and on disk.

use super::measure;
use crate::Error;
use crate::cores::cores;
use crate::dispatch::{Flops, GpuIdentity, Identity, Processor, Profile, Rates, Unit};
use crate::faults::Breaker;
use crate::linear::{Gpu, UNITS};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A GPU that could not be measured is left alone for so long: as long as a breaker remembers, so that this alone never opens one.
const AGAIN: Duration = Duration::from_secs(61);

/// Products of each unit that are timed: the fastest says the rate.
const TIMED: u8 = 3;

/// A rate of the CPU is another one if it is so many times the known one.
const NOTED: f64 = 1.05;

/// What was measured, and when it failed, if it did: then it says nothing of the GPU.
#[derive(Clone, Copy)]
struct Known {
    rates: Rates,
    failed: Option<Instant>,
    /// How many products of each of [`UNITS`] were timed.
    timed: [u8; UNITS.len()],
    /// Whether the CPU was measured for longer.
    is_sure: bool,
}

impl Known {
    fn is_over(&self, now: Instant) -> bool {
        self.failed.is_some_and(|failed| now.duration_since(failed) >= AGAIN)
    }

    /// Of rates that say themselves which of them are expected only.
    fn new(rates: Rates, failed: Option<Instant>) -> Known {
        let expected = rates.gpu.map(|gpu| gpu.expected).unwrap_or_default();
        let is_sure = false;
        Known { rates, failed, is_sure, timed: UNITS.map(|unit| if expected.of(unit).is_some() { 0 } else { TIMED }) }
    }

    /// Takes what products of a unit ran at. Says whether that is another rate.
    fn learn(&mut self, unit: Unit, rate: f64) -> bool {
        let Some((gpu, timed)) = self.rates.gpu.as_mut().zip(UNITS.iter().position(|it| *it == unit)) else {
            return false;
        };
        let is_first = gpu.expected.of(unit).is_some();
        self.timed[timed] = self.timed[timed].saturating_add(1);
        if !is_first && rate <= gpu.processor.flops.of(unit) {
            return false;
        }
        gpu.processor.flops.set(unit, rate);
        gpu.expected.measured(unit);
        true
    }

    /// Takes what a product on the CPU ran at, in operations in a second, which it can do then. Says whether that is another rate.
    fn learn_of_cpu(&mut self, unit: Unit, rate: f64) -> bool {
        let flops = &mut self.rates.cpu.flops;
        if rate <= NOTED * flops.of(unit) {
            return false;
        }
        flops.set(unit, rate);
        if unit == Unit::F32 {
            // What is converted to it on the way, or is no unit of a CPU.
            (flops.tf32, flops.half) = (rate, rate / 2.0);
        }
        true
    }

    /// Takes what another measurement of the CPU says that it can do.
    fn learn_of_cpu_again(&mut self, (cpu, alone): (Processor, Flops)) {
        for unit in [Unit::F64, Unit::F32] {
            self.learn_of_cpu(unit, cpu.flops.of(unit));
        }
        let Rates { cpu: known, alone: known_alone, .. } = &mut self.rates;
        for unit in [Unit::F64, Unit::F32, Unit::Tf32, Unit::Half] {
            known_alone.set(unit, known_alone.of(unit).max(alone.of(unit)));
        }
        (known.memory, known.start) = (known.memory.max(cpu.memory), known.start.min(cpu.start));
    }

    fn wants(&self, unit: Unit) -> bool {
        UNITS.iter().zip(self.timed).any(|(it, timed)| *it == unit && timed < TIMED)
    }
}

/// By the GPU's number; under `None` those of the CPU alone.
fn all() -> MutexGuard<'static, HashMap<Option<usize>, Known>> {
    static ALL: OnceLock<Mutex<HashMap<Option<usize>, Known>>> = OnceLock::new();
    ALL.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of this machine with this GPU. One thread measures, others wait. The breaker learns what becomes of it; while the GPU rests, and for a minute after
/// it could not be measured, they are those of the CPU.
pub(super) fn rates(gpu: Option<(&Gpu, &Breaker)>) -> Rates {
    let Some((gpu, breaker)) = gpu else { return measured(None).0 };
    let is_due = |known: &Known| known.is_over(Instant::now());
    let learned = {
        let mut all = all();
        let known = all.get_mut(&ordinal(Some(gpu))).filter(|known| !is_due(known));
        known.map(|known| {
            let is_other = gpu
                .timed()
                .over()
                .into_iter()
                .fold(false, |is_other, (unit, rate)| known.learn(unit, rate) || is_other);
            gpu.timed().want(|unit| known.wants(unit));
            (known.rates, is_other)
        })
    };
    if let Some((rates, is_other)) = learned {
        if is_other {
            keep(Some(gpu), rates);
        }
        return rates;
    }
    let Ok(admission) = breaker.admit() else { return measured(None).0 };
    let (rates, outcome) = measured(Some(gpu));
    match outcome {
        None => {}
        Some(Ok(())) => admission.succeed(),
        Some(Err(error)) => {
            tracing::warn!(target: "tilewright::dispatch", %error, "the GPU could not be measured and is not used by itself");
            admission.fail("measure", &error);
        }
    }
    rates
}

/// The same, and how the measurement went where there was one.
fn measured(gpu: Option<&Gpu>) -> (Rates, Option<Result<(), Error>>) {
    let (mut all, ordinal) = (all(), ordinal(gpu));
    if let Some(known) = all.get(&ordinal).filter(|known| !known.is_over(Instant::now())) {
        return (known.rates, None);
    }
    let mut outcome = None;
    let mut measure = || {
        let (rates, failure) = measure::rates(gpu);
        outcome = Some(failure.map_or(Ok(()), Err));
        rates
    };
    let rates = match file(ordinal) {
        Some(file) => Profile::kept_or_measured(&file, &identity(gpu), measure).rates,
        None => measure(),
    };
    let failed = matches!(outcome, Some(Err(_))).then(Instant::now);
    let known = Known::new(rates, failed);
    gpu.inspect(|gpu| gpu.timed().want(|unit| known.wants(unit)));
    all.insert(ordinal, known);
    (rates, outcome)
}

/// Measures what products run at: on a GPU of all units whose rates are expected only, and on the CPU once more.
pub(super) fn measure_products(gpu: &Gpu, breaker: &Breaker) -> Result<Rates, Error> {
    let rates = rates(Some((gpu, breaker)));
    let Some(expected) = rates.gpu.map(|gpu| gpu.expected) else {
        let why = "its rates could not be measured; see Device::health".into();
        return Err(Error::NoGpu { why });
    };
    let admission = breaker.admit()?;
    // These are timed already.
    gpu.timed().want(|_| false);
    let measured = match measure::products(gpu, &expected) {
        Ok(measured) => measured,
        Err(error) => {
            admission.fail("measure products", &error);
            return Err(error);
        }
    };
    admission.succeed();
    let is_sure = all().get(&ordinal(Some(gpu))).is_some_and(|known| known.is_sure);
    let cpu = if is_sure { Vec::new() } else { measure::cpu_again() };
    let rates = {
        let mut all = all();
        let Some(known) = all.get_mut(&ordinal(Some(gpu))) else { return Ok(rates) };
        measured.into_iter().for_each(|(unit, rate)| {
            known.learn(unit, rate);
        });
        cpu.into_iter().for_each(|again| known.learn_of_cpu_again(again));
        known.is_sure = true;
        known.timed = [TIMED; UNITS.len()];
        known.rates
    };
    keep(Some(gpu), rates);
    Ok(rates)
}

/// Takes what a product on the CPU ran at, of a device with this GPU whose rates were measured.
pub(super) fn learn_of_cpu(gpu: Option<&Gpu>, unit: Unit, rate: f64) {
    let learned = {
        let mut all = all();
        all.get_mut(&ordinal(gpu)).and_then(|known| known.learn_of_cpu(unit, rate).then_some(known.rates))
    };
    learned.into_iter().for_each(|rates| keep(gpu, rates));
}

/// Keeps what was learned since the profile was written. That this fails is no error: the next process learns it again.
fn keep(gpu: Option<&Gpu>, rates: Rates) {
    let Some(file) = file(ordinal(gpu)) else { return };
    if let Err(error) = Profile::new(identity(gpu), rates).write(&file) {
        tracing::debug!(target: "tilewright::dispatch", %error, "rates are not kept");
    }
}

fn ordinal(gpu: Option<&Gpu>) -> Option<usize> {
    gpu.map(|gpu| gpu.stream().device().ordinal())
}

/// Those of so many cores, which nobody measured.
pub(super) fn unmeasured() -> Rates {
    static ROUGHLY: OnceLock<Rates> = OnceLock::new();
    *ROUGHLY.get_or_init(|| Rates::of_cores(cores()))
}

fn identity(gpu: Option<&Gpu>) -> Identity {
    let gpu = gpu.map(|gpu| {
        let device = gpu.stream().device();
        let uuid = device.uuid().iter().map(|byte| format!("{byte:02x}")).collect();
        let link = device.pci_address().ok().and_then(|address| GpuIdentity::link_at(&address));
        GpuIdentity {
            name: device.name().into(),
            uuid,
            driver: GpuIdentity::driver_serving(device.driver_version()),
            link,
        }
    });
    Identity { gpu, ..Identity::of_cpu() }
}

/// A file in the user's cache folder; nothing where there is none. A build for tests is slower than the machine: what it measures is nobody
/// else's.
fn file(ordinal: Option<usize>) -> Option<PathBuf> {
    if cfg!(debug_assertions) {
        return None;
    }
    let of = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?;
    let name = ordinal.map_or("rates-cpu.json".into(), |ordinal| format!("rates-gpu{ordinal}.json"));
    Some(folder.join("tilewright").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d7_what_a_product_ran_at_the_cpu_can_do() {
        let mut known = Known::new(unmeasured(), None);
        let before = known.rates.cpu.flops;
        assert!(!known.learn_of_cpu(Unit::F64, before.f64) && !known.learn_of_cpu(Unit::F32, before.f32 / 10.0));
        assert_eq!(known.rates.cpu.flops, before);
        assert!(known.learn_of_cpu(Unit::F32, 2.0 * before.f32));
        let twice = Flops { f32: 2.0 * before.f32, tf32: 2.0 * before.f32, half: before.f32, ..before };
        assert_eq!(known.rates.cpu.flops, twice);
        // Another measurement takes nothing back.
        let (cpu, alone) = (known.rates.cpu, known.rates.alone);
        let slow = Processor { memory: cpu.memory / 2.0, start: 1.0, ..unmeasured().cpu };
        known.learn_of_cpu_again((slow, Flops { f64: 2.0 * alone.f64, f32: 1.0, ..alone }));
        assert_eq!((known.rates.cpu, known.rates.alone), (cpu, Flops { f64: 2.0 * alone.f64, ..alone }));
    }

    #[test]
    fn d7_what_could_not_be_measured_is_measured_again_after_a_minute() {
        let (rates, now) = (unmeasured(), Instant::now());
        let is_over = |failed| Known::new(rates, failed).is_over(now + AGAIN);
        assert_eq!([None, Some(now), Some(now + Duration::from_secs(1))].map(is_over), [false, true, false]);
        assert!(AGAIN > crate::faults::Limits::default().window);
    }
}
