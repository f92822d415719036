//! [`Config::refined`](super::Config::refined): the first few of a choice are timed once, and the fastest is remembered.

use crate::error::Error;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many configurations are timed.
pub(super) const TIMED: usize = 3;
/// How often each has its turn.
const ROUNDS: usize = 15;

/// Configurations that were the fastest, by what they were timed for; for as long as the process lives.
pub(super) struct Remembered<K, C>(LazyLock<Mutex<HashMap<K, C>>>);

impl<K: Eq + Hash, C: Copy + Debug> Remembered<K, C> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The configuration that is remembered, or the one that `time` finds the fastest of `first`, in microseconds each. Where memory is too
    /// short to time them it is the first one, and whoever listens is told; `None` if there is none. What else fails is the call's error,
    /// and nothing is remembered of it.
    ///
    /// One is timed after the other, whoever asks: they would disturb each other.
    pub(super) fn get(
        &self,
        key: K,
        first: impl FnOnce() -> Vec<C>,
        time: impl FnOnce(&[C]) -> Result<Vec<f64>, Error>,
    ) -> Result<Option<C>, Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = known.get(&key) {
            return Ok(Some(*config));
        }
        let configs = first();
        let times = if configs.len() > 1 { time(&configs) } else { Ok(Vec::new()) };
        let config = match times {
            Ok(times) => {
                tracing::debug!(?configs, ?times, "configurations were timed, in microseconds");
                fastest(&configs, &times)
            }
            Err(error) if lacks_memory(&error) => {
                tracing::warn!(%error, "configurations cannot be timed; the model's first is taken");
                configs.first().copied()
            }
            Err(error) => return Err(error),
        };
        if let Some(config) = config {
            known.insert(key, config);
        }
        Ok(config)
    }
}

/// Whether memory of the device was short: the one thing for which configurations are not timed.
fn lacks_memory(error: &Error) -> bool {
    matches!(error, Error::Driver(tilewright_driver::Error::OutOfMemory { .. }))
}

/// The configuration of the shortest time; the first of equals, and where none has a time.
fn fastest<C: Copy>(configs: &[C], times: &[f64]) -> Option<C> {
    let timed = configs.iter().zip(times).filter(|(_, us)| us.is_finite());
    let best = timed.min_by(|a, b| a.1.total_cmp(b.1)).map(|(config, _)| config);
    best.or(configs.first()).copied()
}

/// The median of what `once` says of each item, in turns, so that what changes meanwhile changes all. A first turn does not count; what
/// finds too little memory in it is infinitely slow.
pub(super) fn in_turns<I>(items: &[I], mut once: impl FnMut(&I) -> Result<f64, Error>) -> Result<Vec<f64>, Error> {
    let mut first = |item| match once(item) {
        Ok(_) => Ok(Some((item, Vec::new()))),
        Err(error) if lacks_memory(&error) => Ok(None),
        Err(error) => Err(error),
    };
    let mut runs = items.iter().map(&mut first).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS {
        for (item, times) in runs.iter_mut().flatten() {
            times.push(once(item)?);
        }
    }
    Ok(runs.into_iter().map(|run| run.map_or(f64::INFINITY, |(_, times)| median(times))).collect())
}

/// The middle one of an odd number of times.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_memory() -> Error {
        tilewright_driver::Error::OutOfMemory { requested: 1 << 40, free: 1 << 20, total: 1 << 30 }.into()
    }

    fn broken() -> Error {
        let (name, message) = ("CUDA_ERROR_INVALID_VALUE".to_owned(), "invalid argument".to_owned());
        tilewright_driver::Error::Driver { call: "cuLaunchKernelEx", code: 1, name, message }.into()
    }

    #[test]
    fn the_fastest_is_taken_and_remembered() {
        let remembered = Remembered::new();
        let get = |key: &'static str| remembered.get(key, || vec!['a', 'b', 'c'], |_| Ok(vec![3.0, 1.0, 2.0]));
        assert_eq!(get("problem").unwrap(), Some('b'));
        let never = |_: &[char]| -> Result<Vec<f64>, Error> { panic!("what is remembered is not timed again") };
        assert_eq!(remembered.get("problem", || panic!("nor ranked"), never).unwrap(), Some('b'));
        // Another problem is timed by itself.
        assert_eq!(remembered.get("other", || vec!['d', 'e'], |_| Ok(vec![1.0, 2.0])).unwrap(), Some('d'));
        assert_eq!(get("problem").unwrap(), Some('b'));
    }

    #[test]
    fn without_memory_the_first_is_taken_and_not_tried_again() {
        let remembered = Remembered::new();
        let mut asked = 0;
        for _ in 0..2 {
            let refuse = |configs: &[u32]| {
                asked += 1;
                assert_eq!(configs, [7, 8, 9]);
                Err(no_memory())
            };
            assert_eq!(remembered.get((), || vec![7, 8, 9], refuse).unwrap(), Some(7));
        }
        assert_eq!(asked, 1);
    }

    #[test]
    fn what_else_fails_is_an_error_and_not_remembered() {
        let remembered = Remembered::new();
        let error = remembered.get((), || vec![7, 8, 9], |_| Err(broken())).unwrap_err();
        assert!(error.to_string().contains("cuLaunchKernelEx"), "{error}");
        assert_eq!(remembered.get((), || vec![7, 8, 9], |_| Ok(vec![3.0, 2.0, 1.0])).unwrap(), Some(9));
        assert!(in_turns(&[(), ()], |_| Err(broken())).is_err());
    }

    #[test]
    fn one_alone_is_not_timed() {
        let remembered = Remembered::new();
        assert_eq!(remembered.get((), || vec![5], |_| panic!("one needs no time")).unwrap(), Some(5));
        assert_eq!(Remembered::<(), u8>::new().get((), Vec::new, |_| Ok(Vec::new())).unwrap(), None);
    }

    #[test]
    fn odd_times_are_never_the_shortest() {
        assert_eq!(fastest(&[1, 2, 3], &[f64::NAN, 5.0, f64::INFINITY]), Some(2));
        assert_eq!(fastest(&[1, 2, 3], &[f64::NAN, f64::INFINITY, f64::INFINITY]), Some(1));
        assert_eq!(fastest(&[1, 2, 3], &[4.0, 4.0, 4.0]), Some(1), "the model's order decides");
        assert_eq!(fastest(&[1, 2, 3], &[]), Some(1));
    }

    #[test]
    fn turns_are_taken_one_after_the_other_and_medians_count() {
        let mut order = Vec::new();
        let times = in_turns(&[0usize, 1, 2], |item| {
            order.push(*item);
            let turn = order.iter().filter(|it| *it == item).count();
            // The first one is slow, and does not count; one other is an outlier; item 1 cannot run.
            match (item, turn) {
                (1, _) => Err(no_memory()),
                (_, 1 | 5) => Ok(1e6),
                _ => Ok((10 * item + turn) as f64),
            }
        });
        // Turns 2 to 16, of which 5 is an outlier: the eighth of fifteen.
        assert_eq!(times.unwrap(), [10.0, f64::INFINITY, 30.0]);
        assert_eq!(order[..7], [0, 1, 2, 0, 2, 0, 2]);
        assert_eq!(order.len(), 3 + 2 * ROUNDS);
    }

    #[test]
    fn what_fails_later_fails_all() {
        let mut turns = 0;
        let failing = |_: &()| {
            turns += 1;
            if turns > 3 { Err(no_memory()) } else { Ok(1.0) }
        };
        assert!(in_turns(&[(), ()], failing).is_err());
    }

    #[test]
    fn others_wait_and_do_not_time_again() {
        let (remembered, timed) = (Remembered::new(), std::sync::atomic::AtomicUsize::new(0));
        let time = |_: &[u8]| {
            timed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(5));
            Ok(vec![2.0, 1.0])
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(remembered.get(0, || vec![1, 2], time).unwrap(), Some(2)));
            }
        });
        assert_eq!(timed.into_inner(), 1);
    }
}
