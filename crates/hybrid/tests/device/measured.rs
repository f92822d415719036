//! What measuring a machine takes of its GPU, counted on a stub.

use crate::ledger::{Entry, Ledger, Stubs};
use tilewright_hybrid::dispatch::{Choice, Decision, Expected, Identity, Profile, Rates, Reason, last_decision};
use tilewright_hybrid::faults::{Breaker, Policy, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::{Columns, Device, Shape, Side};

/// 2048^3 multiplications in each of four types or precisions, four times: 5 ms of an H200. Where time is over, two times, as on a slow machine.
const MULTIPLICATIONS: i64 = 4 * 4 * 2048 * 2048 * 2048;
/// A factor of each.
const FACTORS: i64 = (8 + 4 + 4 + 4) * 2048 * 2048;
/// On the device 16 MiB, to the GPU and back 4, both at once, and from ordinary memory 1 and back, four times each.
const COPIED: i64 = 137 << 20;
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
    let first = counted();
    let of = |after: [i64; 3], before: [i64; 3]| [0, 1, 2].map(|at| after[at] - before[at]);
    let [multiplications, copied, calls] = of(first, before);
    eprintln!("{multiplications} multiplications, {copied} bytes, {calls} calls");
    // Nothing is multiplied, nor does cuBLAS start: that is what takes long.
    assert_eq!(multiplications, 0);
    assert!(copied <= COPIED && 2 * copied >= COPIED, "{copied} bytes of {COPIED}");
    assert!(calls <= CALLS && 3 * calls > CALLS, "{calls} calls of {CALLS}");
    let gpu = rates.gpu.unwrap();
    let facts = gpu.expected.facts.unwrap();
    assert_eq!((gpu.expected, gpu.processor.flops, facts.arch), (Expected::all(facts), facts.flops(), [9, 0]));
    assert_eq!((device.rates(), counted()), (rates, first), "measured once");
    // Who asks has them measured. Products of zeros are refused by this stub: it got others.
    let all = device.measure_products().unwrap();
    let after = counted();
    let [multiplications, copied, calls] = of(after, first);
    eprintln!("{multiplications} multiplications, {copied} bytes, {calls} calls");
    assert!(multiplications <= MULTIPLICATIONS && 2 * multiplications >= MULTIPLICATIONS, "{multiplications}");
    assert!(copied <= FACTORS && calls <= CALLS, "{copied} bytes, {calls} calls");
    let known = all.gpu.unwrap();
    assert_eq!((known.expected, known.link), (Expected::default(), gpu.link));
    // Another measurement of the CPU takes nothing back.
    assert!(
        all.cpu.flops.f64 >= rates.cpu.flops.f64 && all.alone.f32 >= rates.alone.f32,
        "{:?} {:?}",
        all.cpu,
        rates.cpu
    );
    assert_ne!(known.processor.flops, gpu.processor.flops);
    assert_eq!((device.measure_products().unwrap(), counted()), (all, after), "once too");
    let rates = all;
    assert_eq!((device.rates(), counted()), (rates, after), "measured once");
}

/// Rates of products come from products that somebody wants.
#[test]
fn d7_rates_of_products_are_learned_from_the_first_ones() {
    let test = "device::measured::d7_rates_of_products_are_learned_from_the_first_ones";
    let folder = tempfile::tempdir().unwrap();
    Stubs::check_on(Stubs::new(), test, "learned on stubs", |command| {
        command.env("XDG_CACHE_HOME", folder.path());
    });
}

pub(crate) fn child_learned() {
    let ledger = Ledger::here();
    ledger.set(Entry::OnlyCounts, 1);
    let gpu = Gpu::new(&tilewright_driver::Device::new(0).unwrap().stream().unwrap());
    let device = Device::with(&gpu).choosing(Choice::Gpu);
    device.rates();
    let side = 1024;
    let (a, small) = (super::matrix(side, side, 1), super::matrix(side - 1, side, 1));
    let [a, small] = [&a, &small].map(|it| DeviceMat::upload(&gpu, it.into()).unwrap());
    let multiply = |left: &DeviceMat<f64>| {
        let mut c = DeviceMat::<f64>::uninitialised(&gpu, Shape::new(left.shape().rows, Columns(side))).unwrap();
        let before = ledger.get(Entry::Timed);
        device.matmul(Precision::Auto, 1.0, left.into(), (&a).into(), 0.0, (&mut c).into()).unwrap();
        (last_decision().unwrap(), ledger.get(Entry::Timed) - before)
    };
    let rate = |decision: &Decision| decision.rates.gpu.unwrap().processor.flops.f64;
    let facts = device.rates().gpu.unwrap().expected.facts.unwrap();
    // One that is small is not timed; one that the host takes longer to queue than it takes says nothing.
    ledger.set(Entry::Elapsed, 1);
    assert_eq!(multiply(&small).1, 0);
    let (first, events) = multiply(&a);
    assert_eq!((first.side, first.expected, events), (Side::Gpu, Some(facts), 2), "{first}");
    assert!(
        first
            .to_string()
            .ends_with("rate of the GPU expected from 100000 multiprocessors of sm_90 at 0.10 GHz, not measured"),
        "{first}"
    );
    assert!(first.explain().to_string().contains("; f64, f32, tf32, half expected from 100000 "));
    device.rates();
    ledger.set(Entry::Elapsed, 100_000_000);
    let (second, events) = multiply(&a);
    assert_eq!((second.expected, rate(&second), events), (Some(facts), rate(&first), 2), "{second}");
    // That one took 100 s. The fastest of three counts.
    let operations = 2.0 * (side as f64).powi(3);
    for (seconds, fastest, events) in [(50, 100, 2), (200, 50, 2), (10, 50, 0)] {
        let (next, timed) = multiply(&a);
        assert_eq!((next.expected, timed), (None, events), "{next}");
        assert_eq!(rate(&next), operations / f64::from(fastest));
        ledger.set(Entry::Elapsed, 1_000_000 * seconds);
    }
    let explained = multiply(&a).0.explain().to_string();
    assert!(explained.contains("; f32, tf32, half expected from"), "{explained}");
    assert!(!multiply(&small).0.to_string().contains("expected"));
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
