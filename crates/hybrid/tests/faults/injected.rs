//! Faults at every call: whichever call of the driver or of a library fails, the result is right or the error says why, and all memory is
//! given back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tilewright_hybrid::dispatch::{last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, Policy, renew};
use tilewright_hybrid::{Class, Device, Error, Side};

use super::operations::{FACE, OnAStream, OnTheFace, ROOM, STREAMS, budgets, eager, eighths, gpu, multiply};
use crate::ledger::{Entry, Ledger, Stubs};

const OUT_OF_MEMORY: i64 = 2;
const ILLEGAL_ADDRESS: i64 = 700;
/// Rows of matrices.
const SIDE: usize = 12;
/// No call takes so long: whoever does waits for something that does not come.
const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn every_call_fails_once() {
    Stubs::check("faults::injected::every_call_fails_once", "injected");
}

pub(crate) fn child_injected() {
    let ledger = Ledger::here();
    watch();
    for (name, operation, parts) in FACE {
        for room in [Some(ROOM), parts.map(|parts| eighths(parts, SIDE))].into_iter().flatten() {
            // Each call fails in both ways and under both policies: in one way under each.
            for (code, policies) in [
                (OUT_OF_MEMORY, [Policy::FallbackAndReport, Policy::FailFast]),
                (ILLEGAL_ADDRESS, [Policy::FailFast, Policy::FallbackAndReport]),
            ] {
                on_the_face(&ledger, (name, operation), room, (code, policies));
            }
        }
    }
    for (name, operation) in STREAMS {
        for code in [OUT_OF_MEMORY, ILLEGAL_ADDRESS] {
            on_a_stream(&ledger, name, operation, code);
        }
    }
}

/// Rises with every trial.
static TRIALS: AtomicU64 = AtomicU64::new(0);

/// Ends a process that hangs.
fn watch() {
    std::thread::spawn(|| {
        loop {
            let before = TRIALS.load(Ordering::Relaxed);
            std::thread::sleep(LONGEST);
            if TRIALS.load(Ordering::Relaxed) == before {
                eprintln!("trial {before} hangs");
                std::process::abort();
            }
        }
    });
}

/// An operation, and what happens to it.
struct Case {
    name: &'static str,
    room: u64,
    policy: Policy,
}

impl Case {
    /// Factors that stay on the GPU are asked there, with nowhere else to go, when the operation that made them is over.
    fn is_asked_later(&self, breaker: &Breaker) -> bool {
        matches!(self.name, "cholesky" | "qr") && self.room == ROOM && breaker.health().successes == 1
    }
}

fn on_the_face(
    ledger: &Ledger,
    (name, operation): (&'static str, OnTheFace),
    room: u64,
    (code, policies): (i64, [Policy; 2]),
) {
    for number in 1.. {
        let policy = policies[number as usize % 2];
        let case = &Case { name, room, policy };
        TRIALS.fetch_add(1, Ordering::Relaxed);
        let (before, place) = (in_use(ledger), format!("{name} in {room}, {policy:?}, {code} at call {number}"));
        let gpu = gpu();
        let (device, breaker, budgets) = eager(&gpu, room, policy);
        ledger.fail(number, code);
        let done = catch_unwind(AssertUnwindSafe(|| operation(&device, SIDE)));
        let done = done.unwrap_or_else(|_| panic!("{place}"));
        let is_injected = ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
        assert_eq!(last_decision().unwrap().gpu.unwrap().tiles.is_some(), room < ROOM, "{place}");
        if code == OUT_OF_MEMORY {
            short_of_memory(case, &breaker, &done, &place);
        } else if is_injected {
            lost(case, &device, &breaker, &done, &place);
        }
        assert!(budgets.iter().all(|budget| budget.used() == 0), "{place}: {budgets:?}");
        drop((device, gpu));
        ledger.mend();
        given_back(ledger, (code, before), &place);
        if !is_injected {
            assert!(done.is_ok() && number > 20, "{place}: {done:?}");
            return;
        }
    }
}

/// It is tried in smaller parts, then on the CPU.
fn short_of_memory(case: &Case, breaker: &Breaker, done: &Result<(), Error>, place: &str) {
    let health = breaker.health();
    assert_eq!((health.condition, health.epoch), (Condition::Closed, 0), "{place}");
    assert!(health.failures <= 1, "{place}: {health:?}");
    match done {
        Ok(()) => assert_eq!(health.failures, health.fallbacks, "{place}"),
        Err(error) => {
            assert_eq!(error.class(), Class::Resource, "{place}: {error}");
            assert!(case.policy == Policy::FailFast || case.is_asked_later(breaker), "{place}: {error}");
        }
    }
}

/// It goes on, on the CPU, or fails for that reason, and so does what comes next; only that, if the result was there before.
fn lost(case: &Case, device: &Device, breaker: &Breaker, done: &Result<(), Error>, place: &str) {
    let was_there = breaker.health().successes == 1;
    match done {
        Ok(()) => assert!(case.policy == Policy::FallbackAndReport || was_there, "{place}"),
        Err(error) => {
            assert!(error.is_sticky() && error.class() == Class::Device, "{place}: {error}");
            assert!(case.policy == Policy::FailFast || case.is_asked_later(breaker), "{place}: {error}");
        }
    }
    // Who comes next learns of it.
    let next = multiply(device, SIDE);
    let health = breaker.health();
    assert_eq!((health.condition, health.failures), (Condition::Poisoned, u64::from(!was_there)), "{place}");
    match case.policy {
        Policy::FailFast => assert!(matches!(next, Err(Error::DevicePoisoned { .. })), "{place}: {next:?}"),
        _ => assert_eq!((next.is_ok(), last_outcome().unwrap().side), (true, Side::Cpu), "{place}"),
    }
}

/// Bytes and objects, but for what is kept for whoever comes next.
fn in_use(ledger: &Ledger) -> [i64; 3] {
    gpu().stream().trim().unwrap();
    ledger.in_use()
}

/// Nothing is left; of a context that was lost, nothing is left that would be in the way of another.
fn given_back(ledger: &Ledger, (code, before): (i64, [i64; 3]), place: &str) {
    if code == OUT_OF_MEMORY {
        return assert_eq!(in_use(ledger), before, "{place}: bytes on the device, pinned bytes, objects");
    }
    renew(0).unwrap_or_else(|error| panic!("{place}: {error}"));
}

/// What has no CPU to go to works or says what failed.
fn on_a_stream(ledger: &Ledger, name: &str, operation: OnAStream, code: i64) {
    let (side, room) = (2 * SIDE, eighths(16, 2 * SIDE));
    // Kernels are compiled once, and what expressions have for themselves is made.
    operation(&gpu(), &budgets(room), side).unwrap();
    for number in 1.. {
        TRIALS.fetch_add(1, Ordering::Relaxed);
        let (before, place) = (in_use(ledger), format!("{name}, {code} at call {number}"));
        let (gpu, budgets) = (gpu(), budgets(room));
        ledger.fail(number, code);
        let done = operation(&gpu, &budgets, side);
        let is_injected = ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
        match &done {
            // Memory that streams keep makes up for some that is not there; and the result may have been there before.
            Ok(()) if code == OUT_OF_MEMORY || !is_injected => {}
            Ok(()) => {
                let next = operation(&gpu, &budgets, side);
                assert!(next.as_ref().is_err_and(Error::is_sticky), "{place}: {next:?}");
            }
            Err(error) if code == OUT_OF_MEMORY => assert_eq!(error.class(), Class::Resource, "{place}: {error}"),
            Err(error) => assert!(error.is_sticky(), "{place}: {error}"),
        }
        assert!(budgets.device.used() == 0 && budgets.pinned.used() == 0, "{place}: {budgets:?}");
        drop(gpu);
        ledger.mend();
        given_back(ledger, (code, before), &place);
        if !is_injected {
            assert!(done.is_ok() && number > 20, "{place}: {done:?}");
            return;
        }
    }
}
