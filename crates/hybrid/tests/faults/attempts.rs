//! What becomes of an operation when its device fails.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use tilewright_hybrid::{
    Class, Error, Side,
    budget::{Budget, Memory},
    faults::{Attempt, Breaker, Condition, Policy, Settings, Why},
};

use super::{Clock, hiccup, kinds, out_of_memory, sticky};

fn breaker() -> Breaker {
    Clock::default().breaker(Settings::default())
}

fn never<T>() -> Result<T, Error> {
    panic!("this processor is not to be used")
}

#[test]
fn a_result_of_the_device() {
    let breaker = breaker();
    let done = Attempt::new("matmul", &breaker).run(|scale| Ok(scale.of(1024)), |_| never()).unwrap();
    assert_eq!((done.value, done.side, done.halvings), (1024, Side::Gpu, 0));
    assert!(done.why.is_none() && kinds(&breaker).is_empty());
    assert_eq!(breaker.health().successes, 1);
}

#[test]
fn b1_the_same_error_on_both_processors() {
    let breaker = breaker();
    let singular = || Err::<(), _>(Error::Singular { pivot: 2, size: 3 });
    for policy in [Policy::FallbackAndReport, Policy::FailFast] {
        let error = Attempt::new("inverse", &breaker).policy(policy).run(|_| singular(), |_| never()).unwrap_err();
        assert!(matches!(error, Error::Singular { pivot: 2, size: 3 }));
    }
    let on_cpu = Attempt::new("inverse", &breaker).policy(Policy::CpuOnly).run(|_| never(), |_| singular());
    assert!(matches!(on_cpu, Err(Error::Singular { pivot: 2, size: 3 })));
    assert_eq!((breaker.health().failures, breaker.health().condition), (0, Condition::Closed));
}

#[test]
fn b2_a_lack_of_memory_is_tried_smaller() {
    let breaker = breaker();
    let mut tiles = Vec::new();
    let try_until = |room: usize, tiles: &mut Vec<usize>| {
        Attempt::new("matmul", &breaker).run(
            |scale| {
                let tile = scale.of(1000);
                tiles.push(tile);
                if tile <= room { Ok(tile) } else { Err(out_of_memory()) }
            },
            |_| Ok(0),
        )
    };
    let done = try_until(300, &mut tiles).unwrap();
    assert_eq!((done.value, done.halvings, done.side), (250, 2, Side::Gpu));
    assert_eq!(breaker.health().failures, 0, "it did succeed");
    tiles.clear();
    let done = try_until(10, &mut tiles).unwrap();
    assert_eq!(tiles, [1000, 500, 250, 125]);
    assert_eq!((done.value, done.side), (0, Side::Cpu));
    assert!(matches!(done.why, Some(Why::Failed(error)) if error.class() == Class::Resource));
    let health = breaker.health();
    assert_eq!((health.failures, health.recent_failures, health.fallbacks), (1, 1, 1), "one operation, one failure");
    assert_eq!(try_until(1000, &mut tiles).unwrap().side, Side::Gpu, "the next one is on the device");
    assert_eq!(kinds(&breaker), ["Smaller", "Smaller", "Smaller", "Smaller", "Smaller", "Failed", "FellBack"]);
}

#[test]
fn b2_a_budget_that_is_short_is_tried_smaller_too() {
    let (breaker, vram) = (breaker(), Budget::new(Memory::Device, 300));
    let done = Attempt::new("matmul", &breaker)
        .run(|scale| vram.try_acquire(scale.of(1000) as u64).map(|permit| permit.bytes()), |_| never())
        .unwrap();
    assert_eq!((done.value, done.halvings, vram.used()), (250, 2, 0));
}

#[test]
fn b3_after_a_sticky_fault_the_cpu_goes_on_from_host_data() {
    let breaker = breaker();
    let data = [1.0f64, 2.0, 3.0];
    let sum = || Attempt::new("sum", &breaker).run(|_| Err(sticky()), |_| Ok(data.iter().sum::<f64>()));
    let done = sum().unwrap();
    assert_eq!((done.value, done.side), (6.0, Side::Cpu));
    assert_eq!(breaker.health().condition, Condition::Poisoned);
    let done = Attempt::new("sum", &breaker).run(|_| never(), |_| Ok(1)).unwrap();
    assert!(matches!(done.why, Some(Why::Poisoned)));
    let error = Attempt::new("sum", &breaker).policy(Policy::FailFast).run(|_| never::<()>(), |_| never()).unwrap_err();
    assert!(matches!(error, Error::DevicePoisoned { .. }), "{error}");
    assert_eq!(breaker.health().fallbacks, 2);
}

#[test]
fn b5_policies() {
    let clock = Clock::default();
    let breaker = clock.breaker(Settings { policy: Policy::FailFast, ..Settings::default() });
    for _ in 0..3 {
        let error = Attempt::new("matmul", &breaker).run(|_| Err::<(), _>(hiccup()), |_| never()).unwrap_err();
        assert!(error.to_string().contains("as injected"), "the device's own error");
    }
    let error = Attempt::new("matmul", &breaker).run(|_| never::<()>(), |_| never()).unwrap_err();
    assert!(matches!(error, Error::DeviceResting { .. }), "{error}");
    let fallback = Attempt::new("matmul", &breaker).policy(Policy::FallbackAndReport);
    let done = fallback.run(|_| never(), |_| Ok(5)).unwrap();
    assert!(matches!(done.why, Some(Why::Resting { .. })) && done.value == 5);
    clock.advance(30);
    assert_eq!(fallback.run(|_| Ok(1), |_| never()).unwrap().side, Side::Gpu);
    breaker.set_policy(Policy::CpuOnly);
    let done = Attempt::new("matmul", &breaker).run(|_| never(), |_| Ok(5)).unwrap();
    assert!(matches!((done.side, done.why), (Side::Cpu, Some(Why::Policy))));
}

#[test]
fn b6_no_fallback_beyond_the_budget() {
    let (breaker, host) = (breaker(), Budget::new(Memory::Host, 100));
    let held = host.try_acquire(30).unwrap();
    let attempt = |bytes| {
        Attempt::new("matmul", &breaker).host_memory(&host, bytes).run(
            |_| Err(hiccup()),
            |permit| {
                let permit = permit.unwrap();
                assert_eq!((permit.bytes(), host.used()), (bytes, 30 + bytes));
                Ok(())
            },
        )
    };
    let error = attempt(71).unwrap_err();
    assert_eq!(error.class(), Class::Resource);
    let text = error.to_string();
    assert!(text.contains("it needs 71 bytes of host memory, 70 of the budget of 100 are free"), "{text}");
    assert!(text.contains("on the GPU: ") && text.contains("as injected"), "{text}");
    assert_eq!(attempt(70).unwrap().side, Side::Cpu);
    assert_eq!(host.used(), 30);
    drop(held);
    // On the device no such memory is needed.
    let done = Attempt::new("matmul", &breaker).host_memory(&host, 1000).run(|_| Ok(1), |_| never()).unwrap();
    assert_eq!((done.value, host.used()), (1, 0));
}

/// As other failures do, but for the breaker: with a permit, an event, and the reason.
#[test]
fn b1_what_the_device_cannot_do_goes_on_on_the_cpu() {
    let (breaker, host) = (breaker(), Budget::new(Memory::Host, 100));
    let missing = || Error::NotFinite { operation: "lu", row: 3, column: 4 };
    let cannot = |error: &Error| matches!(error, Error::NotFinite { .. });
    let attempt = |bytes| Attempt::new("lu", &breaker).host_memory(&host, bytes).cannot(&cannot);
    for _ in 0..5 {
        let done = attempt(70).run(|_| Err(missing()), |permit| Ok(permit.unwrap().bytes())).unwrap();
        assert_eq!((done.value, done.side, host.used()), (70, Side::Cpu, 0));
        assert!(matches!(done.why, Some(Why::Failed(error)) if error.class() == Class::Numeric));
    }
    assert_eq!(kinds(&breaker), ["FellBack"; 5]);
    let health = breaker.health();
    assert_eq!((health.failures, health.recent_failures, health.fallbacks), (0, 0, 5));
    assert_eq!(health.condition, Condition::Closed);
    let error = attempt(101).run(|_| Err(missing()), |_| never::<()>()).unwrap_err();
    assert!(error.to_string().contains("row 3, column 4 is not finite"), "{error}");
    assert!(matches!(error, Error::FallbackWouldExceedBudget { requested: 101, limit: 100, .. }));
    // So is what the CPU wants on its way, if it is the CPU's turn because of that.
    let also = || host.try_acquire(31).map(drop);
    let error = attempt(70).run(|_| Err(missing()), |_| also()).unwrap_err();
    assert!(error.to_string().contains("row 3, column 4 is not finite"), "{error}");
    assert!(matches!(error, Error::FallbackWouldExceedBudget { requested: 31, available: 30, limit: 100, .. }));
    let chosen = Attempt::new("lu", &breaker).policy(Policy::CpuOnly).host_memory(&host, 70);
    let error = chosen.run(|_| never(), |_| also()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 31, .. }), "{error}");
    // Who asked for the device is told, and other errors stay what they are.
    let error = attempt(1).policy(Policy::FailFast).run(|_| Err(missing()), |_| never::<()>()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    let singular = Error::Singular { pivot: 0, size: 1 };
    let error = attempt(1).run(|_| Err(singular.clone()), |_| never::<()>()).unwrap_err();
    assert!(matches!(error, Error::Singular { .. }), "{error}");
    // Within another's function the other one does not know of it.
    let outer = Attempt::new("solve", &breaker);
    let done = outer.run(|_| attempt(1).run(|_| Err(missing()), |_| Ok(())), |_| never()).unwrap();
    assert_eq!((done.side, done.value.side), (Side::Gpu, Side::Cpu));
}

#[test]
fn b7_a_result_is_whole_or_not_there() {
    let breaker = breaker();
    let tiles = 16;
    for after in 0..tiles {
        let product = |tile: usize| (tile * tile) as u64;
        let calls = Cell::new(0);
        let done = Attempt::new("tiles", &breaker)
            .run(
                |_| {
                    let mut result = vec![u64::MAX; tiles];
                    for (tile, value) in result.iter_mut().enumerate() {
                        calls.set(calls.get() + 1);
                        if tile == after {
                            return Err(hiccup());
                        }
                        *value = product(tile);
                    }
                    Ok(result)
                },
                |_| Ok((0..tiles).map(product).collect()),
            )
            .unwrap();
        assert_eq!(done.value, (0..tiles).map(product).collect::<Vec<_>>());
        assert!(calls.get() == after + 1 || matches!(done.why, Some(Why::Resting { .. })));
    }
}

/// What calls itself when it fails, as it should not.
fn inverse(breaker: &Breaker, calls: &Cell<u32>) -> Result<u32, Error> {
    calls.set(calls.get() + 1);
    Attempt::new("inverse", breaker)
        .run(|_| inverse(breaker, calls).or(Err(hiccup())), |_| inverse(breaker, calls))
        .map(|done| done.value)
}

#[test]
fn b9_an_operation_within_itself_is_refused() {
    let (breaker, calls) = (breaker(), Cell::new(0));
    let error = inverse(&breaker, &calls).unwrap_err();
    assert!(matches!(error, Error::Nested { operation: "inverse" }), "{error}");
    assert_eq!((error.class(), calls.get()), (Class::User, 3), "once at the top, once on each processor");
    assert_eq!(
        Attempt::new("inverse", &breaker).run(|_| Ok(1), |_| never()).unwrap().value,
        1,
        "nothing is left behind"
    );
}

#[test]
fn b9_singular_numbers_are_not_tried_again() {
    let breaker = breaker();
    let calls = Cell::new(0);
    let gpu = |_| {
        calls.set(calls.get() + 1);
        Err::<(), _>(Error::Singular { pivot: 0, size: 1024 })
    };
    let error = Attempt::new("inverse", &breaker).policy(Policy::FailFast).run(gpu, |_| never()).unwrap_err();
    assert!(matches!(error, Error::Singular { pivot: 0, size: 1024 }));
    assert_eq!(calls.get(), 1);
}

#[test]
fn an_attempt_within_another_stays_where_that_one_is() {
    let breaker = breaker();
    let inner = |gpu: bool| {
        let device = move |_| if gpu { Ok(Side::Gpu) } else { Err(hiccup()) };
        Attempt::new("solve", &breaker).run(device, |_| Ok(Side::Cpu))
    };
    let done = Attempt::new("inverse", &breaker).run(|_| inner(true), |_| never()).unwrap();
    assert_eq!(done.value.side, Side::Gpu);
    let done = Attempt::new("inverse", &breaker).run(|_| inner(false), |_| inner(true)).unwrap();
    assert!(matches!((done.side, done.value.side, done.value.why), (Side::Cpu, Side::Cpu, Some(Why::Outer))));
    assert_eq!(breaker.health().failures, 1, "both together are one failure");
}

#[test]
fn a_panic_leaves_everything_in_order() {
    let clock = Clock::default();
    let breaker = clock.breaker(Settings::default());
    for _ in 0..3 {
        let _ = Attempt::new("matmul", &breaker).run(|_| Err::<(), _>(hiccup()), |_| Ok(()));
    }
    clock.advance(30);
    let panicking =
        || Attempt::new("matmul", &breaker).run(|_| -> Result<(), Error> { panic!("on purpose") }, |_| Ok(()));
    assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    assert_eq!(breaker.health().condition, Condition::HalfOpen { probing: false });
    assert_eq!(Attempt::new("matmul", &breaker).run(|_| Ok(1), |_| never()).unwrap().side, Side::Gpu);
    assert_eq!(breaker.health().condition, Condition::Closed);
    // So does one of a listener.
    breaker.on_event(|_| panic!("on purpose"));
    let failing = || Attempt::new("matmul", &breaker).run(|_| Err::<(), _>(hiccup()), |_| Ok(()));
    assert!(catch_unwind(AssertUnwindSafe(failing)).is_err());
    assert_eq!(breaker.health().failures, 4);
    assert_eq!(breaker.events().len(), kinds(&breaker).len());
}
