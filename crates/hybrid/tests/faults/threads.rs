//! Eight threads at once; every order of fewer is in the model of the gate.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tilewright_hybrid::{
    Side,
    budget::{Budget, Memory},
    faults::{Attempt, Condition, EventKind, Limits, Settings},
};

use super::{Clock, hiccup, kinds, sticky};

/// Stands for an object on the device: its memory is counted as long as it lives.
struct Object {
    epoch: u64,
    _room: tilewright_hybrid::budget::Permit,
}

#[test]
fn b8_it_trips_while_others_are_inside() {
    let (clock, vram) = (Clock::default(), Budget::new(Memory::Device, 800));
    let breaker = clock.breaker(Settings::default());
    let inside = Arc::new(Barrier::new(8));
    thread::scope(|scope| {
        for worker in 0..8 {
            let (breaker, vram, inside) = (&breaker, &vram, &inside);
            scope.spawn(move || {
                let done = Attempt::new("matmul", breaker).run(
                    |_| {
                        let object = Object { epoch: breaker.epoch(), _room: vram.try_acquire(100)? };
                        inside.wait();
                        if worker == 0 {
                            return Err(sticky());
                        }
                        // The others work until they see that their time is over.
                        while breaker.epoch() == object.epoch {
                            thread::yield_now();
                        }
                        breaker.check(object.epoch).map(|()| worker)
                    },
                    |_| Ok(worker),
                );
                let done = done.unwrap();
                assert_eq!((done.value, done.side), (worker, Side::Cpu));
            });
        }
    });
    let health = breaker.health();
    assert_eq!((health.condition, health.failures, health.fallbacks), (Condition::Poisoned, 1, 8));
    assert_eq!((vram.used(), vram.peak()), (0, 800));
}

#[test]
fn b8_storms() {
    let limits = Limits { failures: 3, window: Duration::from_secs(60), cooldown: Duration::from_secs(1) };
    let clock = Clock::default();
    let breaker = clock.breaker(Settings { limits, events: 1 << 20, ..Settings::default() });
    let (probes, broken) = (AtomicU64::new(0), AtomicBool::new(false));
    let told = Arc::new(AtomicU64::new(0));
    {
        let told = told.clone();
        breaker.on_event(move |_| _ = told.fetch_add(1, Ordering::SeqCst));
    }
    thread::scope(|scope| {
        for worker in 0..8u64 {
            let (breaker, clock, probes, broken) = (&breaker, &clock, &probes, &broken);
            scope.spawn(move || {
                for round in 0..500 {
                    clock.advance(round % 2);
                    // Each breaks it and mends it for all, so that there are both, whoever runs when.
                    if worker == round % 8 {
                        broken.store(round % 10 < 5, Ordering::SeqCst);
                    }
                    let broken = if worker < 4 { broken.load(Ordering::SeqCst) } else { round % 10 < 5 };
                    let value = Attempt::new("matmul", breaker).run(
                        |_| {
                            if matches!(breaker.health().condition, Condition::HalfOpen { probing: true }) {
                                probes.fetch_add(1, Ordering::SeqCst);
                            }
                            thread::yield_now();
                            if broken { Err(hiccup()) } else { Ok(round) }
                        },
                        |_| Ok(round),
                    );
                    assert_eq!(value.unwrap().value, round);
                }
            });
        }
    });
    let events = breaker.events();
    assert_eq!(told.load(Ordering::SeqCst), events.len() as u64);
    assert!(events.iter().enumerate().all(|(place, event)| event.number == place as u64));
    // Transitions follow each other as they may.
    let mut state = "Closed";
    for event in &events {
        state = match (&event.kind, state) {
            (EventKind::Opened { .. }, "Closed" | "Probing") => "Opened",
            (EventKind::Probing, "Opened" | "Probing") => "Probing",
            (EventKind::Closed, "Probing") => "Closed",
            (EventKind::Failed { .. } | EventKind::FellBack { .. } | EventKind::Late, state) => state,
            (kind, state) => panic!("{kind:?} in {state}"),
        };
    }
    let health = breaker.health();
    assert!(kinds(&breaker).iter().filter(|kind| *kind == "Opened").count() > 3 && probes.load(Ordering::SeqCst) > 0);
    // Each operation succeeded on the device or went on, on the CPU.
    assert_eq!(health.successes + health.fallbacks, 8 * 500);
}

#[test]
fn b10_pinned_memory_goes_back_after_a_trip() {
    let (breaker, pinned) = (Clock::default().breaker(Settings::default()), Budget::new(Memory::Pinned, 1000));
    for _ in 0..5 {
        let slots: Vec<_> = (0..3).map(|_| pinned.try_acquire(100).unwrap()).collect();
        let done = Attempt::new("matmul", &breaker).run(
            |_| {
                let _more = pinned.try_acquire(50)?;
                Err::<(), _>(sticky())
            },
            |_| Ok(()),
        );
        assert_eq!((done.unwrap().side, pinned.used()), (Side::Cpu, 300), "what the attempt took is back");
        drop(slots);
        assert_eq!(pinned.used(), 0);
    }
}
