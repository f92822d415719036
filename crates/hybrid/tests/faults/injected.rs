//! Faults at every call: whichever call of the driver or of a library fails, the result is right or the error says why, and all memory is
//! given back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tilewright_hybrid::dispatch::{last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, Policy, renew};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::{Class, Device, Error, Side};

use super::elsewhere::{ELSEWHERE, OUTSIDE};
use super::operations::{FACE, OnAStream, ROOM, STREAMS, budgets, eager, eighths, gpu, multiply};
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
            // Factors that stay on the GPU are looked at there when the operation that made them is over.
            let has_outside = matches!(name, "cholesky" | "qr") && room == ROOM;
            let run = |_: &Gpu, device: &Device| {
                let done = operation(device, SIDE);
                // What is asked of factors in host memory knows of no GPU.
                let is_streamed = last_decision().unwrap().gpu.map(|gpu| gpu.tiles.is_some());
                assert!(is_streamed.is_none_or(|is_streamed| is_streamed == (room < ROOM)), "{name} in {room}");
                done
            };
            on_the_face(&ledger, &Case { name, run: &run, room, has_outside });
        }
    }
    for (name, operation, is_outside) in ELSEWHERE {
        let run = |gpu: &Gpu, device: &Device| operation(gpu, device, SIDE);
        // Kernels are compiled once, and what expressions have for themselves is made.
        let gpu = gpu();
        run(&gpu, &eager(&gpu, ROOM, Policy::FallbackAndReport).0).unwrap();
        drop(gpu);
        on_the_face(&ledger, &Case { name, run: &run, room: ROOM, has_outside: is_outside == OUTSIDE });
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

/// An operation of the face.
struct Case<'a> {
    name: &'static str,
    run: &'a dyn Fn(&Gpu, &Device) -> Result<(), Error>,
    room: u64,
    /// Whether something is done on the GPU, or lies there, that is not the face's, and has no CPU to go to.
    has_outside: bool,
}

/// Each call fails in both ways and under both policies: in one way under each.
fn on_the_face(ledger: &Ledger, case: &Case<'_>) {
    for (code, policies) in [
        (OUT_OF_MEMORY, [Policy::FallbackAndReport, Policy::FailFast]),
        (ILLEGAL_ADDRESS, [Policy::FailFast, Policy::FallbackAndReport]),
    ] {
        (1..).find(|number| !is_injected(ledger, case, (*number, code, policies[*number as usize % 2])));
    }
}

/// Has a call fail, if there are so many.
fn is_injected(ledger: &Ledger, case: &Case<'_>, (number, code, policy): (i64, i64, Policy)) -> bool {
    let Case { name, room, .. } = case;
    TRIALS.fetch_add(1, Ordering::Relaxed);
    let (before, place) = (in_use(ledger), format!("{name} in {room}, {policy:?}, {code} at call {number}"));
    let gpu = gpu();
    let (device, breaker, budgets) = eager(&gpu, *room, policy);
    ledger.fail(number, code);
    let done = catch_unwind(AssertUnwindSafe(|| (case.run)(&gpu, &device)));
    let done = done.unwrap_or_else(|_| panic!("{place}"));
    let is_injected = ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
    if code == OUT_OF_MEMORY {
        short_of_memory(case, policy, &breaker, &done, &place);
    } else if is_injected {
        lost(case, policy, (&device, &breaker), &done, &place);
    }
    assert!(budgets.iter().all(|budget| budget.used() == 0), "{place}: {budgets:?}");
    drop((device, gpu));
    ledger.mend();
    given_back(ledger, (code, before), &place);
    assert!(is_injected || done.is_ok() && number > 10, "{place}: {done:?}");
    is_injected
}

/// It is tried in smaller parts, then on the CPU.
fn short_of_memory(case: &Case<'_>, policy: Policy, breaker: &Breaker, done: &Result<(), Error>, place: &str) {
    let health = breaker.health();
    assert_eq!((health.condition, health.epoch), (Condition::Closed, 0), "{place}");
    assert!(health.failures <= 1, "{place}: {health:?}");
    match done {
        Ok(()) => assert_eq!(health.failures, health.fallbacks, "{place}"),
        Err(error) => {
            assert_eq!(error.class(), Class::Resource, "{place}: {error}");
            // The face has not heard of what failed outside.
            let is_outside = case.has_outside && health.failures == 0;
            assert!(policy == Policy::FailFast || is_outside, "{place}: {error}");
        }
    }
}

/// It goes on, on the CPU, or fails for that reason, and so does what comes next; only that, if the face has not heard of it.
fn lost(
    case: &Case<'_>,
    policy: Policy,
    (device, breaker): (&Device, &Breaker),
    done: &Result<(), Error>,
    place: &str,
) {
    let failures = breaker.health().failures;
    match done {
        Ok(()) => assert!(policy == Policy::FallbackAndReport || failures == 0, "{place}"),
        Err(error) => {
            assert!(error.is_sticky() && error.class() == Class::Device, "{place}: {error}");
            assert!(policy == Policy::FailFast || case.has_outside, "{place}: {error}");
        }
    }
    // Who comes next learns of it.
    let next = multiply(device, SIDE);
    let health = breaker.health();
    assert_eq!((health.condition, health.failures), (Condition::Poisoned, failures), "{place}");
    assert!(failures <= 1 && (failures == 1 || done.is_ok() || case.has_outside), "{place}: {health:?}");
    match policy {
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
