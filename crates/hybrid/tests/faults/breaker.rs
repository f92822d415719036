//! States of a breaker, with a clock that the tests set.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tilewright_driver::Error as Driver;
use tilewright_hybrid::{
    Class, Error,
    faults::{Breaker, Condition, EventKind, Limits, Policy, Settings},
};

use super::{Clock, answer, hiccup, kinds, out_of_memory, sticky};

fn fail(breaker: &Breaker, error: &Error) {
    breaker.admit().unwrap().fail("matmul", error);
}

#[test]
fn b1_errors_of_users_and_numbers_do_not_move_it() {
    let clock = Clock::default();
    let breaker = clock.breaker(Settings::default());
    let errors = [
        Error::Shape { operation: "matmul", what: "rows of b", expected: 3, got: 4 },
        Error::NotSquare { operation: "inverse", rows: 3, columns: 4 },
        Error::Unsupported { operation: "matmul", element: "u128", place: "GPU", why: "no such type".into() },
        Error::Singular { pivot: 3, size: 8 },
        Error::NotPositiveDefinite { order: 1, size: 2 },
        Error::NotConverged { operation: "svd", iterations: 30 },
        Error::Corrupt { path: "a.npy".into(), chunk: None, why: "cut".into() },
        Error::Cancelled { done: 1, steps: 2 },
        Error::Nested { operation: "inverse" },
        answer(1),
    ];
    for _ in 0..10 {
        errors.iter().for_each(|error| fail(&breaker, error));
    }
    let health = breaker.health();
    assert_eq!((health.condition, health.recent_failures, health.failures, health.epoch), (Condition::Closed, 0, 0, 0));
    assert_eq!(kinds(&breaker), Vec::<String>::new());
}

#[test]
fn b4_three_failures_in_a_minute_open_it_and_a_probe_closes_it() {
    let clock = Clock::default();
    let breaker = clock.breaker(Settings::default());
    let heard = Arc::new(Mutex::new(Vec::new()));
    {
        let heard = heard.clone();
        breaker.on_event(move |event| heard.lock().unwrap().push(format!("{:?}", event.kind)));
    }
    fail(&breaker, &hiccup());
    clock.advance(61);
    fail(&breaker, &hiccup());
    clock.advance(30);
    fail(&breaker, &out_of_memory());
    assert_eq!(
        (breaker.health().condition, breaker.health().recent_failures),
        (Condition::Closed, 2),
        "the first is old"
    );
    clock.advance(30);
    fail(&breaker, &hiccup());
    let until = Duration::from_secs(121 + 30);
    assert_eq!((breaker.health().condition, breaker.epoch()), (Condition::Open { until }, 1));
    let error = breaker.admit().err().unwrap();
    assert!(
        matches!(error, Error::DeviceResting { ordinal: 7, retry_in } if retry_in == Duration::from_secs(30)),
        "{error}"
    );
    assert_eq!(error.class(), Class::Device);

    clock.advance(29);
    assert!(breaker.admit().is_err());
    clock.advance(1);
    let probe = breaker.admit().unwrap();
    assert_eq!(breaker.health().condition, Condition::HalfOpen { probing: true });
    assert!(matches!(breaker.admit(), Err(Error::DeviceResting { retry_in: Duration::ZERO, .. })));
    probe.fail("matmul", &hiccup());
    assert_eq!(breaker.health().condition, Condition::Open { until: until + Duration::from_secs(30) });

    clock.advance(30);
    drop(breaker.admit().unwrap());
    assert_eq!(breaker.health().condition, Condition::HalfOpen { probing: false }, "no verdict");
    breaker.admit().unwrap().succeed();
    assert_eq!(breaker.health().condition, Condition::Closed);
    breaker.admit().unwrap().succeed();
    let health = breaker.health();
    assert_eq!((health.successes, health.failures, health.recent_failures, health.epoch), (2, 5, 0, 2));
    let story = [
        "Failed", "Failed", "Failed", "Failed", "Opened", "Probing", "Failed", "Opened", "Probing", "Probing", "Closed",
    ];
    assert_eq!(kinds(&breaker), story);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), story.len());
    assert!(heard.iter().zip(story).all(|(heard, name)| heard.starts_with(name)), "{heard:?}");
}

#[test]
fn b4_numbers_can_be_set() {
    let limits = Limits { failures: 2, window: Duration::from_secs(5), cooldown: Duration::from_secs(1) };
    let clock = Clock::default();
    let breaker = clock.breaker(Settings { limits, events: 3, ..Settings::default() });
    for _ in 0..4 {
        fail(&breaker, &hiccup());
        clock.advance(6);
    }
    assert_eq!(breaker.health().condition, Condition::Closed);
    fail(&breaker, &hiccup());
    fail(&breaker, &hiccup());
    assert!(matches!(breaker.health().condition, Condition::Open { .. }));
    let events = breaker.events();
    assert_eq!(events.iter().map(|event| event.number).collect::<Vec<_>>(), [4, 5, 6], "the last ones");
    assert!(
        matches!(&events[1].kind, EventKind::Failed { operation: "matmul", class: Class::Device, error } if error.contains("as injected"))
    );
    // Of nothing that makes no sense a limit is made.
    let never = Limits { failures: 0, window: Duration::ZERO, cooldown: Duration::MAX };
    let breaker = clock.breaker(Settings { limits: never, events: 0, ..Settings::default() });
    fail(&breaker, &hiccup());
    assert!(matches!(breaker.health().condition, Condition::Open { until: Duration::MAX }));
    assert_eq!(breaker.events().len(), 0);
}

#[test]
fn b3_a_sticky_fault_poisons_it() {
    for code in [700, 702, 709, 710, 714, 715, 716, 717, 718, 719] {
        let error = answer(code);
        assert!(error.is_sticky(), "{code}");
        let launch = Driver::Launch {
            kernel: "k".into(),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            cause: Box::new(match error {
                Error::Driver(error) => error,
                other => panic!("{other}"),
            }),
        };
        assert!(Error::from(launch).is_sticky(), "{code}");
    }
    assert!(!out_of_memory().is_sticky() && !answer(2).is_sticky() && !hiccup().is_sticky());

    let clock = Clock::default();
    let breaker = clock.breaker(Settings::default());
    let (made, other) = (breaker.epoch(), breaker.admit().unwrap());
    assert!(breaker.check(made).is_ok() && other.is_current());
    fail(&breaker, &sticky());
    assert_eq!(breaker.health().condition, Condition::Poisoned);
    assert!(!other.is_current());
    // What was made on the device fails, and so does what would be.
    for error in
        [breaker.check(made).unwrap_err(), breaker.check(breaker.epoch()).unwrap_err(), breaker.admit().err().unwrap()]
    {
        assert!(matches!(&error, Error::DevicePoisoned { ordinal: 7, why } if why.contains("700")), "{error}");
    }
    clock.advance(100_000);
    assert!(breaker.admit().is_err(), "time does not heal it");
    // A late answer of that context is not held against the next.
    breaker.revive();
    assert!(breaker.check(made).is_err() && breaker.check(breaker.epoch()).is_ok());
    other.fail("matmul", &sticky());
    assert_eq!(breaker.health().condition, Condition::Closed);
    breaker.admit().unwrap().succeed();
    assert_eq!(kinds(&breaker), ["Failed", "Poisoned", "Revived", "Failed", "Late"]);
    breaker.poison(&sticky());
    assert!(breaker.check(breaker.epoch()).is_err());
}

#[test]
fn one_breaker_for_a_device() {
    let (one, same, other) = (Breaker::of(1001), Breaker::of(1001), Breaker::of(1002));
    assert_eq!((one.ordinal(), one.settings()), (1001, Settings::default()));
    one.set_policy(Policy::CpuOnly);
    assert_eq!((same.settings().policy, other.settings().policy), (Policy::CpuOnly, Policy::FallbackAndReport));
    assert_eq!(same.health().policy, Policy::CpuOnly);
}
