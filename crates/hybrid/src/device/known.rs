//! Rates that were measured, for the process and on disk.

use super::measure;
use crate::dispatch::{GpuIdentity, Identity, Profile, Rates};
use crate::linear::Gpu;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// By the GPU's number; under `None` those of the CPU alone.
static KNOWN: Mutex<Option<HashMap<Option<usize>, Rates>>> = Mutex::new(None);

/// Those of this machine with this GPU. One thread measures, others wait.
pub(super) fn rates(gpu: Option<&Gpu>) -> Rates {
    let ordinal = gpu.map(|gpu| gpu.stream().device().ordinal());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.get_or_insert_default().entry(ordinal).or_insert_with(|| {
        let measure = || measure::rates(gpu);
        match file(ordinal) {
            Some(file) => Profile::kept_or_measured(&file, &identity(gpu), measure).rates,
            None => measure(),
        }
    })
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
