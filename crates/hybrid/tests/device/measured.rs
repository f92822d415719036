//! What measuring a machine takes of its GPU, counted on a stub.

use crate::ledger::{Entry, Ledger, Stubs};
use tilewright_hybrid::Device;
use tilewright_hybrid::dispatch::{Identity, Profile, Rates};

/// 2048^3 multiplications in each of four types or precisions, four times: 5 ms of an H200. Where time is over, two times, as on a slow machine.
const MULTIPLICATIONS: i64 = 4 * 4 * 2048 * 2048 * 2048;
/// To the GPU, back, both at once, on the device and from ordinary memory, four times each, and the factors of products.
const COPIED: i64 = 448 << 20;
/// Calls of the driver and of cuBLAS that could fail.
const CALLS: i64 = 300;

#[test]
fn d7_measuring_keeps_to_its_bounds_of_bytes_operations_and_calls() {
    let test = "device::measured::d7_measuring_keeps_to_its_bounds_of_bytes_operations_and_calls";
    let folder = tempfile::tempdir().unwrap();
    // Nobody's profile is there.
    Stubs::check_on(Stubs::new(), test, "measured on stubs", |command| {
        command.env("XDG_CACHE_HOME", folder.path());
    });
}

pub(crate) fn child_measured() {
    let ledger = Ledger::here();
    ledger.set(Entry::OnlyCounts, 1);
    let device = Device::gpu(0).unwrap();
    let counted = || [Entry::Multiplied, Entry::Copied, Entry::Calls].map(|entry| ledger.get(entry));
    let before = counted();
    let rates = device.rates();
    // Products of zeros are refused by this stub: there are rates of the GPU, so it got others.
    assert!(rates.gpu.is_some());
    let after = counted();
    let [multiplications, copied, calls] = [0, 1, 2].map(|at| after[at] - before[at]);
    eprintln!("{multiplications} multiplications, {copied} bytes, {calls} calls");
    assert!(multiplications <= MULTIPLICATIONS && 2 * multiplications >= MULTIPLICATIONS, "{multiplications}");
    assert!(copied <= COPIED && 2 * copied >= COPIED - COPIED / 8, "{copied} bytes of {COPIED}");
    assert!(calls <= CALLS && 3 * calls > CALLS, "{calls} calls of {CALLS}");
    assert_eq!((device.rates(), counted()), (rates, after), "measured once");
}

/// A disk is none of what is measured, nor of what is kept; who knows theirs says so.
#[test]
fn d7_profiles_have_no_rate_of_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (path, identity) = (folder.path().join("rates.json"), Identity::of_cpu());
    let said = Rates { disk: 5e9, ..Rates::of_cores(4) };
    Profile::new(identity.clone(), said).write(&path).unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains("disk"));
    assert_eq!(Profile::read(&path, &identity).unwrap().rates, Rates { disk: Rates::DISK, ..said });
    assert_eq!(Device::cpu().rated(said).rates().disk, 5e9);
}
