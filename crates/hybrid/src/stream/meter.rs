//! How far a long operation is, and how much longer it will take.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Makes a pace of what a [`Progress`](super::Progress) is told, and hands it on. It prints nothing: a bar, a log or a window does, with what it gets.
///
/// ```
/// use tilewright_hybrid::stream::{Control, Meter};
///
/// let meter = Meter::new(|pace| println!("{pace}"));   // 25 % (3 of 12) in 1.2 s, 3.6 s left
/// let progress = |done, steps| meter.tell(done, steps);
/// let control = Control { progress: Some(&progress), ..Control::default() };
/// # (control.progress.unwrap())(3, 12);
/// assert_eq!(meter.pace().share, 0.25);
/// ```
pub struct Meter<'a> {
    now: Box<dyn Fn() -> Duration + Send + Sync + 'a>,
    told: Box<dyn Fn(&Pace) + Send + Sync + 'a>,
    state: Mutex<State>,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Steps that are done.
    pub done: u64,
    /// Steps of the whole; 0 before anything is known.
    pub steps: u64,
    /// What is done, 0 to 1. It never falls: where an operation begins anew, with smaller tiles say, it stands until that is as far.
    pub share: f64,
    /// Since the meter was made.
    pub elapsed: Duration,
    /// Until the end, if steps go on as they did; nothing before the first one.
    pub remaining: Option<Duration>,
}

#[derive(Default)]
struct State {
    pace: Pace,
    /// The first step of this try, and when it was done: what came before, files that are opened and memory that is locked, comes once.
    first: Option<(u64, Duration)>,
}

impl<'a> Meter<'a> {
    /// One that begins now; `told` is called after every step, by the thread that made it.
    pub fn new(told: impl Fn(&Pace) + Send + Sync + 'a) -> Self {
        let begin = Instant::now();
        Self::with_clock(move || begin.elapsed(), told)
    }

    /// One that goes by another clock, which says how long ago it began.
    pub fn with_clock(now: impl Fn() -> Duration + Send + Sync + 'a, told: impl Fn(&Pace) + Send + Sync + 'a) -> Self {
        Meter { now: Box::new(now), told: Box::new(told), state: Mutex::default() }
    }

    /// What a [`Progress`](super::Progress) is called with: steps done, and steps of the whole.
    pub fn tell(&self, done: u64, steps: u64) {
        let elapsed = (self.now)();
        let pace = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.step(done, steps, elapsed);
            state.pace
        };
        (self.told)(&pace);
    }

    /// How far it is now, which may be between two steps.
    pub fn pace(&self) -> Pace {
        let elapsed = (self.now)();
        let pace = self.state.lock().unwrap_or_else(PoisonError::into_inner).pace;
        let since = elapsed.saturating_sub(pace.elapsed);
        Pace { elapsed, remaining: pace.remaining.map(|remaining| remaining.saturating_sub(since)), ..pace }
    }
}

impl State {
    fn step(&mut self, done: u64, steps: u64, elapsed: Duration) {
        if self.first.is_none() || steps != self.pace.steps || done < self.pace.done {
            self.first = Some((done, elapsed));
        }
        let share = if steps == 0 { 1.0 } else { done as f64 / steps as f64 };
        let left = steps.saturating_sub(done) as f64;
        // With one step its own time is all there is to go by, with what came before it.
        let each = match self.first {
            Some((first, begin)) if done > first => elapsed.saturating_sub(begin).as_secs_f64() / (done - first) as f64,
            _ => elapsed.as_secs_f64() / done.max(1) as f64,
        };
        let remaining = Duration::try_from_secs_f64(each * left).ok();
        self.pace = Pace { done, steps, share: self.pace.share.max(share.min(1.0)), elapsed, remaining };
    }
}

/// One line.
impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pace { done, steps, share, elapsed, remaining } = *self;
        // What is not done is not 100 %.
        write!(f, "{:.0} % ({done} of {steps}) in {}", (100.0 * share).floor(), Time(elapsed))?;
        remaining.map_or(Ok(()), |remaining| write!(f, ", {} left", Time(remaining)))
    }
}

struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0..60 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            60..3600 => write!(f, "{} min {:02} s", seconds / 60, seconds % 60),
            _ => write!(f, "{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        }
    }
}

impl fmt::Debug for Meter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meter at {}", self.pace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Milliseconds that tests set.
    struct Clock(AtomicU64);

    impl Clock {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        }

        fn set(&self, milliseconds: u64) {
            self.0.store(milliseconds, Ordering::Relaxed);
        }
    }

    /// Steps of 100 ms, more or less, behind a begin of a while.
    #[test]
    fn m15_what_remains_is_within_a_quarter_after_a_tenth() {
        for (begin, jitter) in [(0, 0), (0, 60), (700, 60), (3000, 0)] {
            let (clock, paces) = (Clock(AtomicU64::new(0)), Mutex::new(Vec::new()));
            let meter = Meter::with_clock(|| clock.now(), |pace| paces.lock().unwrap().push(*pace));
            let at = |done: u64| begin + 100 * done + jitter * (done * 7 % 5) / 4;
            for done in 1..=200 {
                clock.set(at(done));
                meter.tell(done, 200);
            }
            let paces = paces.lock().unwrap();
            let last = at(200);
            for pace in &paces[19..] {
                let truth = last as f64 / 1e3 - pace.elapsed.as_secs_f64();
                let off = (pace.remaining.unwrap().as_secs_f64() - truth).abs();
                // A last step is as long as it happens to be.
                assert!(off <= 0.25 * truth || off <= 0.1, "{begin} {jitter}: {pace} of {truth}");
            }
            assert!(paces.windows(2).all(|two| two[0].share < two[1].share));
            let end = paces[199];
            assert_eq!((end.share, end.remaining), (1.0, Some(Duration::ZERO)));
        }
    }

    #[test]
    fn between_steps_time_goes_on_and_a_second_try_takes_nothing_back() {
        let clock = Clock(AtomicU64::new(0));
        let meter = Meter::with_clock(|| clock.now(), |_| {});
        assert_eq!(meter.pace(), Pace::default());
        for (at, done) in [(1000, 1), (2000, 2), (3000, 3)] {
            clock.set(at);
            meter.tell(done, 6);
        }
        clock.set(3500);
        let pace = meter.pace();
        assert_eq!((pace.remaining, pace.elapsed), (Some(Duration::from_millis(2500)), clock.now()));
        clock.set(9000);
        assert_eq!(meter.pace().remaining, Some(Duration::ZERO));
        // Smaller tiles, more steps, of half a second each.
        for (at, done, share) in [(10_000, 1, 0.5), (10_500, 2, 0.5), (12_000, 5, 0.5), (13_500, 8, 2.0 / 3.0)] {
            clock.set(at);
            meter.tell(done, 12);
            assert_eq!(meter.pace().share, share, "{done}");
        }
        assert_eq!(meter.pace().remaining, Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_pace_is_one_line() {
        let pace = |elapsed, remaining| {
            let (elapsed, remaining) = (Duration::from_millis(elapsed), Some(Duration::from_millis(remaining)));
            Pace { done: 199, steps: 200, share: 0.995, elapsed, remaining }.to_string()
        };
        assert_eq!(pace(12_340, 65_000), "99 % (199 of 200) in 12.3 s, 1 min 05 s left");
        assert_eq!(pace(7_500_000, 0), "99 % (199 of 200) in 2 h 05 min, 0.0 s left");
        assert_eq!(Pace::default().to_string(), "0 % (0 of 0) in 0.0 s");
    }
}
