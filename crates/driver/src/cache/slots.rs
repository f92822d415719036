//! Values that are made once, by whoever asks first.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use super::Origin;
use crate::Error;

/// A map whose values are made once: who comes while a value is made waits for it, and gets the same failure if there is one. A
/// failure is not kept, so who comes later tries again. Nothing is locked while a value is made, so different ones are made at
/// the same time.
///
/// What was made stays as long as the map: one value for each kernel that the process uses.
pub(super) struct Slots<K, V>(Mutex<HashMap<K, Slot<V>>>);

enum Slot<V> {
    Made(V),
    /// Somebody makes it now.
    Flight(Arc<Flight<V>>),
}

impl<K, V> Default for Slots<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq + Copy, V: Clone> Slots<K, V> {
    /// The value, made if nobody has; what is there already, or is being made by another, is [`Origin::Memory`].
    pub(super) fn get_or_make(
        &self,
        key: K,
        make: impl FnOnce() -> Result<(V, Origin), Error>,
    ) -> Result<(V, Origin), Error> {
        loop {
            let own = Arc::new(Flight::default());
            let other = {
                let mut map = locked(&self.0);
                match map.get(&key) {
                    Some(Slot::Made(value)) => return Ok((value.clone(), Origin::Memory)),
                    Some(Slot::Flight(flight)) => Some(flight.clone()),
                    None => map.insert(key, Slot::Flight(own.clone())).and(None),
                }
            };
            let Some(other) = other else { return self.fly(key, own, make) };
            if let Some(made) = other.wait() {
                return made.map(|value| (value, Origin::Memory));
            }
        }
    }

    /// What is there already.
    pub(super) fn get(&self, key: &K) -> Option<V> {
        match locked(&self.0).get(key)? {
            Slot::Made(value) => Some(value.clone()),
            Slot::Flight(_) => None,
        }
    }

    pub(super) fn set(&self, key: K, value: V) {
        locked(&self.0).insert(key, Slot::Made(value));
    }

    pub(super) fn remove(&self, key: &K) {
        locked(&self.0).remove(key);
    }

    fn fly(
        &self,
        key: K,
        flight: Arc<Flight<V>>,
        make: impl FnOnce() -> Result<(V, Origin), Error>,
    ) -> Result<(V, Origin), Error> {
        // When `make` panics the value's place is empty again, and those who wait try by themselves.
        let mut landing = Landing { slots: self, key, flight, made: None };
        let (made, origin) = match make() {
            Ok((value, origin)) => (Ok(value), Ok(origin)),
            Err(error) => (Err(error.clone()), Err(error)),
        };
        landing.made = Some(made.clone());
        drop(landing);
        made.and_then(|value| Ok((value, origin?)))
    }
}

struct Landing<'a, K: Hash + Eq + Copy, V: Clone> {
    slots: &'a Slots<K, V>,
    key: K,
    flight: Arc<Flight<V>>,
    made: Option<Result<V, Error>>,
}

impl<K: Hash + Eq + Copy, V: Clone> Drop for Landing<'_, K, V> {
    fn drop(&mut self) {
        let mut map = locked(&self.slots.0);
        // Another can have put a value here meanwhile: that one stays.
        if matches!(map.get(&self.key), Some(Slot::Flight(flight)) if Arc::ptr_eq(flight, &self.flight)) {
            match &self.made {
                Some(Ok(value)) => map.insert(self.key, Slot::Made(value.clone())),
                _ => map.remove(&self.key),
            };
        }
        drop(map);
        self.flight.land(self.made.take());
    }
}

/// A value under way.
pub(super) struct Flight<V> {
    landed: Mutex<Option<Landed<V>>>,
    changed: Condvar,
}

/// The value or why there is none; `None` when who made it panicked.
type Landed<V> = Option<Result<V, Error>>;

impl<V> Default for Flight<V> {
    fn default() -> Self {
        Self { landed: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<V: Clone> Flight<V> {
    pub(super) fn land(&self, made: Landed<V>) {
        *locked(&self.landed) = Some(made);
        self.changed.notify_all();
    }

    pub(super) fn has_landed(&self) -> bool {
        locked(&self.landed).is_some()
    }

    pub(super) fn wait(&self) -> Landed<V> {
        let mut landed = locked(&self.landed);
        loop {
            if let Some(made) = &*landed {
                return made.clone();
            }
            landed = self.changed.wait(landed).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What these locks guard is whole at any time, so a poisoned lock is as good as any.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{panic::AssertUnwindSafe, sync::Barrier, thread};

    use super::*;

    fn failure() -> Error {
        Error::NoCacheFolder
    }

    #[test]
    fn different_values_are_made_at_the_same_time() {
        let (slots, inside) = (Slots::<u32, u32>::default(), Barrier::new(4));
        thread::scope(|scope| {
            let (slots, inside) = (&slots, &inside);
            for key in 0..4 {
                let make = move || {
                    // Passed only when four are here at once.
                    inside.wait();
                    Ok((10 * key, Origin::Disk))
                };
                scope.spawn(move || assert_eq!(slots.get_or_make(key, make).unwrap(), (10 * key, Origin::Disk)));
            }
        });
        assert_eq!(slots.get(&3), Some(30));
    }

    #[test]
    fn who_waits_shares_a_failure_and_who_comes_later_tries_again() {
        let (slots, begun) = (Slots::<u32, u32>::default(), Barrier::new(2));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                slots.get_or_make(1, || {
                    begun.wait();
                    thread::sleep(std::time::Duration::from_millis(50));
                    Err(failure())
                })
            });
            begun.wait();
            let second = slots.get_or_make(1, || panic!("the first makes it"));
            assert!(matches!((first.join().unwrap(), second), (Err(Error::NoCacheFolder), Err(Error::NoCacheFolder))));
        });
        assert_eq!(slots.get_or_make(1, || Ok((7, Origin::Disk))).unwrap(), (7, Origin::Disk));
        assert_eq!(slots.get_or_make(1, || Err(failure())).unwrap(), (7, Origin::Memory));
    }

    #[test]
    fn a_panic_leaves_the_place_empty() {
        let (slots, begun) = (Slots::<u32, u32>::default(), Barrier::new(2));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let make = || {
                    begun.wait();
                    thread::sleep(std::time::Duration::from_millis(50));
                    panic!("on purpose")
                };
                std::panic::catch_unwind(AssertUnwindSafe(|| slots.get_or_make(1, make))).is_err()
            });
            begun.wait();
            assert_eq!(slots.get_or_make(1, || Ok((7, Origin::Disk))).unwrap(), (7, Origin::Disk));
            assert!(first.join().unwrap());
        });
    }

    #[test]
    fn what_is_put_while_another_makes_it_stays() {
        let slots = Slots::<u32, u32>::default();
        let make = || {
            slots.set(1, 5);
            Ok((7, Origin::Disk))
        };
        assert_eq!(slots.get_or_make(1, make).unwrap(), (7, Origin::Disk));
        assert_eq!(slots.get(&1), Some(5));
        slots.remove(&1);
        assert_eq!(slots.get(&1), None);
    }
}
