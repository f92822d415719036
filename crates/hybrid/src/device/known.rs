//! Rates that were measured, for the process and on disk.

use super::measure;
use crate::Error;
use crate::dispatch::{GpuIdentity, Identity, Profile, Rates};
use crate::faults::Breaker;
use crate::linear::Gpu;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A GPU that could not be measured is left alone for so long: as long as a breaker remembers, so that this alone never opens one.
const AGAIN: Duration = Duration::from_secs(61);

/// What was measured, and when it failed, if it did: then it says nothing of the GPU.
#[derive(Clone, Copy)]
struct Known {
    rates: Rates,
    failed: Option<Instant>,
}

impl Known {
    fn is_over(&self, now: Instant) -> bool {
        self.failed.is_some_and(|failed| now.duration_since(failed) >= AGAIN)
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
    if let Some(known) = all().get(&ordinal(Some(gpu))).filter(|known| !is_due(known)) {
        return known.rates;
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
    all.insert(ordinal, Known { rates, failed });
    (rates, outcome)
}

fn ordinal(gpu: Option<&Gpu>) -> Option<usize> {
    gpu.map(|gpu| gpu.stream().device().ordinal())
}

/// Those of so many cores, which nobody measured.
pub(super) fn unmeasured() -> Rates {
    static ROUGHLY: OnceLock<Rates> = OnceLock::new();
    *ROUGHLY.get_or_init(|| Rates::of_cores(std::thread::available_parallelism().map_or(1, usize::from)))
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
    fn d7_what_could_not_be_measured_is_measured_again_after_a_minute() {
        let (rates, now) = (unmeasured(), Instant::now());
        let is_over = |failed| Known { rates, failed }.is_over(now + AGAIN);
        assert_eq!([None, Some(now), Some(now + Duration::from_secs(1))].map(is_over), [false, true, false]);
        assert!(AGAIN > crate::faults::Limits::default().window);
    }
}
