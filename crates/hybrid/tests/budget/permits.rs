//! Permits are counted, given back, and served in turn.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use tilewright_hybrid::{
    Class, Error,
    budget::{Budget, Level, Memory},
};

const LONG: Duration = Duration::from_secs(60);

fn waiters(budget: &Budget, free: u64) {
    // What waits is promised: nothing is left over for those who ask in passing.
    let begin = Instant::now();
    while budget.available() != free {
        assert!(begin.elapsed() < LONG, "{budget:?}");
        thread::yield_now();
    }
}

#[test]
fn what_is_taken_is_counted_until_it_is_dropped() {
    let budget = Budget::new(Memory::Pinned, 100);
    let mut first = budget.try_acquire(60).unwrap();
    let second = budget.try_acquire(40).unwrap();
    assert_eq!((budget.used(), budget.peak(), budget.available()), (100, 100, 0));
    let error = budget.try_acquire(1).unwrap_err();
    assert_eq!(error.class(), Class::Resource);
    assert_eq!(
        error.to_string(),
        "pinned memory: 1 bytes asked for, 0 of the budget of 100 are free; raise the budget"
    );
    drop(second);
    let part = first.split_off(25);
    assert_eq!((first.bytes(), part.bytes(), budget.used()), (35, 25, 60));
    first.shrink_to(5);
    first.shrink_to(50);
    assert_eq!((first.bytes(), budget.used()), (5, 30));
    drop((first, part));
    assert_eq!((budget.used(), budget.peak()), (0, 100));
    budget.reset_peak();
    assert_eq!(budget.peak(), 0);
    assert_eq!(budget.try_acquire(0).unwrap().bytes(), 0);
}

#[test]
fn more_than_the_limit_is_refused_without_waiting() {
    let budget = Budget::new(Memory::Host, 100);
    let begin = Instant::now();
    assert!(matches!(budget.acquire(101, LONG), Err(Error::Budget { requested: 101, available: 100, limit: 100, .. })));
    assert!(begin.elapsed() < LONG / 2);
    assert!(matches!(budget.acquire_up_to(101, 200), Err(Error::Budget { requested: 101, .. })));
    assert_eq!(budget.acquire_up_to(10, 200).unwrap().bytes(), 100);
    assert_eq!(budget.acquire_up_to(10, 30).unwrap().bytes(), 30);
    assert_eq!(budget.acquire_up_to(10, 3).unwrap().bytes(), 10);
}

#[test]
fn patience_ends() {
    let budget = Budget::new(Memory::Host, 100);
    let held = budget.try_acquire(90).unwrap();
    let begin = Instant::now();
    let error = budget.acquire(20, Duration::from_millis(30)).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 20, available: 10, .. }), "{error}");
    assert!(begin.elapsed() >= Duration::from_millis(30));
    assert_eq!(budget.available(), 10, "who has gone is not waited for");
    drop(held);
    assert_eq!(budget.acquire(20, Duration::MAX).unwrap().bytes(), 20);
}

#[test]
fn a_large_request_is_not_overtaken_by_small_ones() {
    let budget = Budget::new(Memory::Device, 100);
    let held = budget.try_acquire(50).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for (name, bytes, free) in [("large", 100, 0), ("small", 1, 0)] {
            let (own, order) = (budget.clone(), order.clone());
            scope.spawn(move || {
                let permit = own.acquire(bytes, LONG).unwrap();
                order.lock().unwrap().push(name);
                drop(permit);
            });
            waiters(&budget, free);
        }
        thread::sleep(Duration::from_millis(20));
        assert!(order.lock().unwrap().is_empty(), "50 bytes are free, and the first in the queue wants 100");
        assert!(budget.try_acquire(1).is_err());
        drop(held);
    });
    assert_eq!(*order.lock().unwrap(), ["large", "small"]);
    assert_eq!((budget.used(), budget.peak()), (0, 100));
}

#[test]
fn eight_threads_share_it_fairly() {
    let budget = Budget::new(Memory::Device, 1000);
    let inside = AtomicU64::new(0);
    let rounds = thread::scope(|scope| {
        let workers: Vec<_> = (0..8u64)
            .map(|worker| {
                let (budget, inside) = (&budget, &inside);
                scope.spawn(move || {
                    let bytes = 100 + 100 * worker;
                    for _ in 0..200 {
                        let permit = budget.acquire(bytes, LONG).unwrap();
                        let now = inside.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        assert!(now <= 1000, "{now}");
                        thread::yield_now();
                        inside.fetch_sub(bytes, Ordering::SeqCst);
                        drop(permit);
                    }
                    200
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>()
    });
    assert_eq!((rounds, budget.used()), (1600, 0));
    assert!(budget.peak() <= 1000 && budget.peak() >= 800, "{}", budget.peak());
}

#[test]
fn a_panic_gives_back() {
    let budget = Budget::new(Memory::Host, 10);
    let other = budget.clone();
    let ended = thread::spawn(move || {
        let _permit = other.try_acquire(10).unwrap();
        panic!("on purpose");
    });
    assert!(ended.join().is_err());
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_measured_limit_is_asked_again() {
    let capacity = Arc::new(AtomicU64::new(100));
    let budget = {
        let capacity = capacity.clone();
        Budget::measured(Memory::Host, move || {
            let capacity = capacity.load(Ordering::SeqCst);
            Level { capacity, available: capacity.min(150) }
        })
    };
    let first = budget.try_acquire(100).unwrap();
    assert!(matches!(budget.try_acquire(50), Err(Error::Budget { available: 0, limit: 100, .. })));
    capacity.store(1000, Ordering::SeqCst);
    assert_eq!(budget.available(), 150, "no more than is there now");
    let second = budget.try_acquire(150).unwrap();
    assert!(budget.try_acquire(151).is_err());
    capacity.store(200, Ordering::SeqCst);
    assert_eq!((budget.used(), budget.limit(), budget.available()), (250, 200, 0), "what is granted stays granted");
    // Nobody gives anything back: who waits finds out alone that there is more.
    thread::scope(|scope| {
        let waiting = scope.spawn(|| budget.acquire(140, LONG).unwrap().bytes());
        waiters(&budget, 0);
        capacity.store(400, Ordering::SeqCst);
        assert_eq!(waiting.join().unwrap(), 140);
    });
    drop((first, second));
    assert_eq!(budget.used(), 0);
}

/// Asking the machine takes longer than many small operations do.
#[test]
fn nobody_is_asked_for_nothing_and_seldom_for_trifles() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = {
        let asked = asked.clone();
        move || asked.swap(0, Ordering::SeqCst)
    };
    let budget = Budget::measured(Memory::Host, move || {
        asked.fetch_add(1, Ordering::SeqCst);
        Level { capacity: 1 << 30, available: 1 << 20 }
    });
    assert_eq!(budget.try_acquire(0).unwrap().bytes(), 0);
    assert_eq!(count(), 0);
    let trifles: Vec<_> = (0..500).map(|_| budget.try_acquire(1000).unwrap()).collect();
    assert!((1..50).contains(&count()), "once in 20 ms");
    assert_eq!(budget.used(), 500 * 1000);
    // What is granted without asking is counted: a megabyte is not there twice.
    drop(trifles);
    let all = (0..2000).map(|_| budget.try_acquire(1000).unwrap()).collect::<Vec<_>>();
    assert!((2..100).contains(&count()), "asked again when it is used up");
    drop(all);
    drop(budget.try_acquire(2000).unwrap());
    assert_eq!(count(), 1, "no trifle");
    for _ in 0..10 {
        assert_eq!(budget.acquire_up_to(1, 500).unwrap().bytes(), 500);
    }
    assert!(count() <= 1, "a trifle at most");
    assert_eq!(budget.acquire_up_to(1, 2000).unwrap().bytes(), 2000);
    assert_eq!(count(), 1, "no trifle at most");
}

/// What is nothing beside all of it goes by any answer.
#[test]
fn crumbs_go_by_the_last_answer() {
    let asked = Arc::new(AtomicU64::new(0));
    let budget = Budget::measured(Memory::Host, {
        let asked = asked.clone();
        move || {
            asked.fetch_add(1, Ordering::SeqCst);
            Level { capacity: 1 << 30, available: 1 << 30 }
        }
    });
    for bytes in [1000, 1000, 1, 1023] {
        drop(budget.try_acquire(bytes).unwrap());
        std::thread::sleep(Duration::from_millis(30));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // Many of them at once too.
    let _held: Vec<_> = (0..1 << 10).map(|_| budget.try_acquire(1 << 9).unwrap()).collect();
    assert!(asked.load(Ordering::SeqCst) <= 3);
    drop(budget.try_acquire(1025).unwrap());
    std::thread::sleep(Duration::from_millis(30));
    let before = asked.load(Ordering::SeqCst);
    drop(budget.try_acquire(1025).unwrap());
    assert_eq!(asked.load(Ordering::SeqCst), before + 1, "no crumb");
}

proptest! {
    #[test]
    fn counts_are_exact(limit in 0u64..500, wishes in proptest::collection::vec((0u64..200, 0usize..8), 1..60)) {
        let budget = Budget::new(Memory::Host, limit);
        let (mut held, mut peak) = (Vec::new(), 0);
        for (bytes, slot) in wishes {
            let sum: u64 = held.iter().map(tilewright_hybrid::budget::Permit::bytes).sum();
            prop_assert_eq!((budget.used(), budget.available(), budget.peak()), (sum, limit - sum, peak));
            match budget.try_acquire(bytes) {
                Ok(permit) => {
                    prop_assert!(sum + bytes <= limit);
                    peak = peak.max(sum + bytes);
                    held.push(permit);
                }
                Err(_) => prop_assert!(sum + bytes > limit),
            }
            if slot < held.len() {
                drop(held.swap_remove(slot));
            }
        }
        drop(held);
        prop_assert_eq!(budget.used(), 0);
    }
}
