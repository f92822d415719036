//! What operations took on either processor, where both were expected to be nearly as fast.
//!
//! Rates tell within a factor of one and a half what a product of a tenth of a millisecond takes, on a machine whose threads wake when they wake. Where
//! that does not tell which processor is faster, both are tried, and what they took decides.

use super::{Decision, Job, Reason};
use crate::Side;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Both processors are tried where neither is expected to take more than so many times as long as the other.
const CLOSE: f64 = 2.0;
/// How often each is, at least.
const TRIALS: u32 = 3;
/// Short operations take half as long again in one moment as in the next, and a moment is some milliseconds. So they are tried in several spells, the
/// processors in turns, each of so many seconds or so many operations.
const SPELLS: u32 = 4;
const SPELL_SECONDS: f64 = 5e-3;
const SPELL_TRIALS: u32 = 50;
/// Operations that are known at most. All are forgotten where there would be more.
const MOST: usize = 4096;

/// What is known of operations, by all that the cost model knows of each.
#[derive(Debug, Default)]
pub(crate) struct Experience(Mutex<HashMap<Key, [Tried; 2]>>);

/// An operation is known by its job: what it asks of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    names: (&'static str, &'static str, super::Unit),
    operands: ([Option<super::Operand>; 3], super::Operand),
    product: (Option<(super::ProductExtents, usize)>, [bool; 2]),
    divisible: Option<(super::Divisible, usize)>,
    counts: [u64; 5],
}

impl Key {
    fn of(job: &Job) -> Key {
        Key {
            names: (job.operation, job.element, job.unit),
            operands: (job.read, job.written),
            product: (job.product, job.turned),
            divisible: job.divisible,
            counts: [job.flops.to_bits(), job.swept.to_bits(), job.steps, job.device_bytes, job.host_bytes],
        }
    }
}

/// What a processor took.
#[derive(Clone, Copy, Debug)]
struct Tried {
    times: u32,
    least: f64,
    seconds: f64,
}

impl Default for Tried {
    fn default() -> Self {
        Tried { times: 0, least: f64::INFINITY, seconds: 0.0 }
    }
}

impl Tried {
    /// How many spells are over.
    fn spells(self) -> u32 {
        let spells = ((self.seconds / SPELL_SECONDS) as u32).max(self.times / SPELL_TRIALS);
        if self.times < TRIALS { 0 } else { spells.min(SPELLS) }
    }
}

impl Experience {
    fn known(&self) -> MutexGuard<'_, HashMap<Key, [Tried; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether both processors may do it, and which is faster is not sure.
    fn is_close(decision: &Decision) -> bool {
        let [cpu, gpu] = [Some(decision.cpu.wall), decision.gpu.as_ref().map(|gpu| gpu.cost.wall)];
        let (Some(cpu), Some(gpu), Reason::Cost) = (cpu, gpu, decision.reason) else { return false };
        cpu.max(gpu) <= CLOSE * cpu.min(gpu)
    }

    /// The decision by what is known: the faster one of two that were tried often enough, and until then the expected one for a spell, then the other: a
    /// processor that others worked between is not as fast as it is again and again. The second says whether what it takes is to be told ([`Experience::tell`]).
    pub(crate) fn decided(&self, job: &Job, decision: Decision) -> (Decision, bool) {
        if !Self::is_close(&decision) {
            return (decision, false);
        }
        let tried = self.known().get(&Key::of(job)).copied().unwrap_or_default();
        let [expected, other] = match decision.side {
            Side::Cpu => [Side::Cpu, Side::Gpu],
            Side::Gpu => [Side::Gpu, Side::Cpu],
        };
        let of = |side: Side| tried[side as usize];
        let [spells, others] = [expected, other].map(|side| of(side).spells());
        let is_known = spells.min(others) == SPELLS;
        let prefers_other = if is_known { of(other).least < of(expected).least } else { spells > others };
        let side = if prefers_other { other } else { expected };
        let reason = if is_known { Reason::Measured } else { Reason::Tried };
        (Decision { side, reason, ..decision }, !is_known)
    }

    /// The decision by what is known, and by what is expected where nothing is; tries nothing.
    pub(crate) fn planned(&self, job: &Job, decision: Decision) -> Decision {
        match self.decided(job, decision.clone()) {
            (known, false) => known,
            (_, true) => decision,
        }
    }

    /// What an operation took on a processor, in seconds: infinity where that could not do it.
    pub(crate) fn tell(&self, job: &Job, side: Side, seconds: f64) {
        let (mut known, key) = (self.known(), Key::of(job));
        if known.len() >= MOST && !known.contains_key(&key) {
            known.clear();
        }
        let tried = &mut known.entry(key).or_default()[side as usize];
        tried.times = tried.times.saturating_add(1);
        tried.least = tried.least.min(seconds);
        tried.seconds += seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::{At, Choice, ProductExtents, Rates, Unit};

    fn job(rows: usize) -> Job {
        let extents = ProductExtents { rows, columns: 64, depth: 64 };
        Job::matmul(("f64", 8, Unit::F64), extents, [At::Pageable; 3], false).unwrap()
    }

    /// A decision whose sides are expected to take so long.
    fn expecting([cpu, gpu]: [f64; 2]) -> Decision {
        let mut decision = Decision::of(&job(64), Choice::Auto, &Rates::h200(), 1 << 30).unwrap();
        decision.cpu.wall = cpu;
        decision.gpu.as_mut().unwrap().cost.wall = gpu;
        decision.side = if gpu < cpu { Side::Gpu } else { Side::Cpu };
        decision
    }

    #[test]
    fn both_sides_are_tried_one_after_the_other_and_then_the_faster_one_stays() {
        let (experience, decision) = (Experience::default(), expecting([1.0, 1.5]));
        let mut sides = Vec::new();
        for run in 0..8 {
            let (decided, is_tried) = experience.decided(&job(64), decision.clone());
            sides.push(decided.side);
            assert_eq!(
                (is_tried, decided.reason),
                match run {
                    0..6 => (true, Reason::Tried),
                    _ => (false, Reason::Measured),
                }
            );
            // Nothing is planned by half of the trials.
            let planned = experience.planned(&job(64), decision.clone());
            assert_eq!(planned.side, if run < 6 { Side::Cpu } else { Side::Gpu });
            experience.tell(&job(64), decided.side, if decided.side == Side::Cpu { 1.0 } else { 0.9 });
        }
        assert_eq!(sides[..6], [Side::Cpu, Side::Cpu, Side::Cpu, Side::Gpu, Side::Gpu, Side::Gpu]);
        assert_eq!(sides[6..], [Side::Gpu; 2]);
        // Of another shape nothing is known.
        assert_eq!(experience.decided(&job(65), decision).0.side, Side::Cpu);
    }

    #[test]
    fn what_is_short_is_tried_more_often_in_turns() {
        // How often, and how often the processor changes.
        let trials = |seconds: f64| {
            let (experience, decision) = (Experience::default(), expecting([1.0, 1.5]));
            let mut sides = Vec::new();
            loop {
                let (decided, is_tried) = experience.decided(&job(64), decision.clone());
                if !is_tried {
                    break;
                }
                experience.tell(&job(64), decided.side, seconds);
                sides.push(decided.side);
            }
            (sides.len(), sides.windows(2).filter(|pair| pair[0] != pair[1]).count())
        };
        assert_eq!([1e-5, 1.3e-3, 2.6e-3, 1.0].map(trials), [(400, 7), (32, 7), (16, 7), (6, 1)]);
    }

    #[test]
    fn what_cannot_be_done_is_not_tried_for_ever_and_nobody_tries_what_is_sure_or_asked_for() {
        let experience = Experience::default();
        for _ in 0..TRIALS {
            experience.tell(&job(64), Side::Gpu, f64::INFINITY);
            experience.tell(&job(64), Side::Cpu, 2.0);
        }
        let (decided, is_tried) = experience.decided(&job(64), expecting([1.5, 1.0]));
        assert_eq!((decided.side, is_tried), (Side::Cpu, false));
        for decision in [
            expecting([1.0, 2.1]),
            expecting([2.1, 1.0]),
            Decision { reason: Reason::Asked, ..expecting([1.0, 1.0]) },
            Decision { gpu: None, ..expecting([1.0, 1.0]) },
        ] {
            assert_eq!(experience.decided(&job(64), decision.clone()), (decision, false));
        }
    }

    #[test]
    fn what_is_known_is_bounded() {
        let experience = Experience::default();
        for rows in 0..2 * MOST {
            experience.tell(&job(rows), Side::Cpu, 1.0);
            assert!(experience.known().len() <= MOST);
        }
        assert!(experience.known().contains_key(&Key::of(&job(2 * MOST - 1))));
    }
}
