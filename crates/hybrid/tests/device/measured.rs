//! What measuring a machine takes of its GPU, counted on a stub.

use crate::ledger::{Entry, Ledger, Stubs};
use tilewright_hybrid::dispatch::{Choice, Identity, Profile, Rates, Reason, last_decision};
use tilewright_hybrid::faults::{Breaker, Policy, Settings};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::{Device, Side};

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
    untouched(&ledger);
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

/// A GPU that is not to be used is neither measured nor asked.
fn untouched(ledger: &Ledger) {
    let gpu = Gpu::new(&tilewright_driver::Device::new(0).unwrap().stream().unwrap());
    let breaker = Breaker::new(0, Settings::default());
    breaker.set_policy(Policy::CpuOnly);
    let device = Device::with(&gpu).guarded(breaker);
    let counted = || [Entry::Calls, Entry::Asked, Entry::Objects].map(|entry| ledger.get(entry));
    let (a, before) = (super::matrix(700, 700, 1), counted());
    device.product((&a).into(), (&a).into()).unwrap();
    device.lu((&a).into()).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason, counted()), (Side::Cpu, Reason::NoGpu, before), "{decision}");
}

/// Auto goes on without the GPU; who asks for it gets it.
#[test]
fn d7_a_gpu_that_cannot_be_measured_is_told_to_its_breaker_and_not_kept() {
    let test = "device::measured::d7_a_gpu_that_cannot_be_measured_is_told_to_its_breaker_and_not_kept";
    let folder = tempfile::tempdir().unwrap();
    Stubs::check_on(Stubs::new(), test, "not measured on stubs", |command| {
        command.env("XDG_CACHE_HOME", folder.path());
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

pub(crate) fn child_not_measured() {
    const OUT_OF_MEMORY: i64 = 2;
    let ledger = Ledger::here();
    ledger.set(Entry::OnlyCounts, 1);
    let stream = tilewright_driver::Device::new(0).unwrap().stream().unwrap();
    let gpu = Gpu::new(&stream);
    gpu.blas().unwrap();
    let device = Device::with(&gpu).guarded(Breaker::new(0, Settings::default()));
    ledger.fail(1, OUT_OF_MEMORY);
    assert!(device.rates().gpu.is_none());
    let health = device.health().unwrap();
    assert_eq!((health.failures, health.recent_failures, health.successes), (1, 1, 0), "{health:?}");
    let calls = ledger.get(Entry::Calls);
    let a = super::matrix(30, 20, 1);
    assert_eq!(device.product((&a).into(), (&a.t()).into()).unwrap(), a.dot(&a.t()));
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::NoGpu), "{decision}");
    assert_eq!((ledger.get(Entry::Calls), device.health().unwrap().failures), (calls, 1), "not tried again at once");
    ledger.set(Entry::OnlyCounts, 0);
    let asked = device.clone().choosing(Choice::Gpu);
    assert_eq!(asked.product((&a).into(), (&a.t()).into()).unwrap(), a.dot(&a.t()));
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
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
