//! Eight threads with operations of the face, on stubs of the driver and of its libraries, while the breaker of all of them trips.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tilewright_hybrid::{
    Device,
    budget::{Budget, Memory},
    dispatch::Rates,
    faults::{Breaker, Condition, Limits, Settings},
};

use super::kinds;
use super::operations::{FACE, ROOM, budgets, eighths, gpu};
use crate::ledger::{Entry, Ledger, Stubs};

const THREADS: usize = 8;
/// Rows of matrices.
const SIDE: usize = 12;
/// A failure that leaves the context whole, and one that does not.
const OPERATING_SYSTEM: i64 = 304;
const ILLEGAL_ADDRESS: i64 = 700;
/// What needs nothing of the GPU afterwards: factors that stay there are lost with it.
const OPERATIONS: [&str; 5] = ["matmul", "solve", "inverse", "determinant", "symmetric eigen"];

#[test]
fn b8_operations_of_eight_threads_while_the_breaker_trips() {
    Stubs::check("faults::crowd::b8_operations_of_eight_threads_while_the_breaker_trips", "crowd");
}

pub(crate) fn child_crowd() {
    let ledger = Ledger::here();
    it_opens_and_closes(&ledger);
    // Nothing works there afterwards.
    it_is_poisoned(&ledger);
}

/// Threads that work until they are told to stop, each on a stream and handles of its own, whole and in parts, and what they may use. Each operation
/// checks its own result, and none fails: what the GPU does not do, the CPU does.
fn crowd(breaker: &Breaker, supervise: impl FnOnce()) {
    let (begin, stop, host) = (Barrier::new(THREADS + 1), AtomicBool::new(false), Budget::new(Memory::Host, ROOM));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|number| {
                let (begin, stop, host) = (&begin, &stop, &host);
                scope.spawn(move || {
                    let (gpu, mut rates) = (gpu(), Rates::h200());
                    rates.cpu.call = 3600.0;
                    let device = Device::with(&gpu).rated(rates).guarded(breaker.clone());
                    let device = device.falling_back_within(host.clone());
                    let named = FACE.iter().filter(|(name, ..)| OPERATIONS.contains(name));
                    let rooms = |parts: Option<u64>| parts.map_or(ROOM, |parts| eighths(parts, SIDE));
                    let all: Vec<_> = named
                        .map(|(name, operation, parts)| {
                            let own = budgets(if number % 2 == 0 { ROOM } else { rooms(*parts) });
                            (name, operation, device.clone().within(own.clone()), own)
                        })
                        .collect();
                    begin.wait();
                    let mut done = 0;
                    // One at least, however late a thread begins.
                    while done == 0 || !stop.load(Ordering::SeqCst) {
                        let (name, operation, device, own) = &all[(number + done) % all.len()];
                        operation(device, SIDE).unwrap_or_else(|error| panic!("{name}: {error}"));
                        assert_eq!((own.device.used(), own.pinned.used()), (0, 0), "{name}");
                        done += 1;
                    }
                })
            })
            .collect();
        begin.wait();
        let stops = Stop(&stop);
        supervise();
        drop(stops);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    assert_eq!(host.used(), 0);
}

/// Also when whoever supervises fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("never: {what}");
}

fn it_opens_and_closes(ledger: &Ledger) {
    let now = Arc::new(AtomicU64::new(0));
    let limits = Limits { failures: 3, window: Duration::from_secs(60), cooldown: Duration::from_secs(1) };
    let clock = now.clone();
    let breaker = Breaker::with_clock(0, Settings { limits, events: 1 << 16, ..Settings::default() }, move || {
        Duration::from_secs(clock.load(Ordering::SeqCst))
    });
    crowd(&breaker, || {
        let health = || breaker.health();
        until("operations on the GPU", || health().successes > 16);
        let is_open = || matches!(health().condition, Condition::Open { .. });
        while !is_open() {
            // A call whose answer nobody needs may be the one.
            ledger.fail(7, OPERATING_SYSTEM);
            until("the call that fails", || is_open() || ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt));
        }
        let before = health().fallbacks;
        until("operations on the CPU", || health().fallbacks > before + 16);
        // The call that was to fail last may be the probe's: it rests once more then.
        until("a probe", || {
            now.fetch_add(2, Ordering::SeqCst);
            health().condition == Condition::Closed
        });
        let before = health().successes;
        until("operations on the GPU again", || health().successes > before + 16);
    });
    let kinds = kinds(&breaker);
    let mut story = kinds.iter().filter(|kind| matches!(kind.as_str(), "Opened" | "Probing" | "Closed"));
    assert!(["Opened", "Probing", "Closed"].iter().all(|kind| story.any(|it| it == kind)), "{kinds:?}");
    assert!(breaker.health().failures >= 3);
}

fn it_is_poisoned(ledger: &Ledger) {
    let breaker = Breaker::new(0, Settings::default());
    let epoch = breaker.epoch();
    crowd(&breaker, || {
        until("operations on the GPU", || breaker.health().successes > 16);
        ledger.fail(20, ILLEGAL_ADDRESS);
        until("the end of the context", || breaker.health().condition == Condition::Poisoned);
        let before = breaker.health().fallbacks;
        until("operations on the CPU", || breaker.health().fallbacks > before + 16);
    });
    assert_eq!(breaker.health().condition, Condition::Poisoned);
    assert!(breaker.check(epoch).is_err());
}
