//! The gate under loom: its source, compiled a second time with loom's locks, in every order in which threads can meet.

use std::time::Duration;

use loom::{sync::Arc, thread};

use super::{event, machine};
use event::{EventKind, Log};
use gate::Gate;
use machine::{Answer, Condition, Limits, Machine, Ticket, Verdict};

#[allow(dead_code, clippy::duplicate_mod, reason = "the same source with other locks, of which the model calls a part")]
#[path = "gate.rs"]
mod gate;

mod sync {
    pub(super) use std::sync::PoisonError;

    pub(super) use loom::sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    };
}

const LIMITS: Limits = Limits { failures: 1, window: Duration::from_secs(60), cooldown: Duration::from_secs(10) };
const START: Duration = Duration::ZERO;
const RESTED: Duration = Duration::from_secs(10);

fn gate() -> Arc<Gate> {
    Arc::new(Gate::new(Machine::new(LIMITS), Log::new(100)))
}

fn ticket(gate: &Gate, now: Duration) -> Option<Ticket> {
    match gate.admit(now).0 {
        Answer::Go(ticket) => Some(ticket),
        Answer::Rest { .. } | Answer::Poisoned => None,
    }
}

/// A gate that one failure opened.
fn open_gate() -> Arc<Gate> {
    let gate = gate();
    let first = ticket(&gate, START).unwrap();
    gate.report(first, Verdict::Failure, START);
    gate
}

/// What happened, in order; each number once.
fn story(gate: &Gate) -> Vec<String> {
    let events = gate.inside().log.events();
    assert!(events.iter().enumerate().all(|(place, event)| event.number == place as u64));
    let name = |kind: &EventKind| format!("{kind:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
    events.iter().map(|event| name(&event.kind)).collect()
}

fn on_threads<T: Send + 'static>(threads: usize, work: impl Fn(usize) -> T + Clone + Send + 'static) -> Vec<T> {
    let others: Vec<_> = (1..threads)
        .map(|index| {
            let work = work.clone();
            thread::spawn(move || work(index))
        })
        .collect();
    let mut results = vec![work(0)];
    results.extend(others.into_iter().map(|thread| thread.join().unwrap()));
    results
}

#[test]
fn one_probe_at_a_time() {
    loom::model(|| {
        let gate = open_gate();
        assert!(ticket(&gate, RESTED - Duration::from_nanos(1)).is_none());
        let probes = {
            let gate = gate.clone();
            on_threads(3, move |_| ticket(&gate, RESTED))
        };
        assert_eq!(probes.iter().flatten().count(), 1);
        gate.report(*probes.iter().flatten().next().unwrap(), Verdict::Success, RESTED);
        assert_eq!(gate.inside().machine.condition(), Condition::Closed);
        assert_eq!(story(&gate), ["Opened", "Probing", "Closed"]);
    });
}

#[test]
fn an_abandoned_probe_lets_the_next_one_in() {
    loom::model(|| {
        let gate = open_gate();
        let other = gate.clone();
        let probe = ticket(&gate, RESTED).unwrap();
        let waiting = thread::spawn(move || ticket(&other, RESTED));
        gate.report(probe, Verdict::Nothing, RESTED);
        let came = waiting.join().unwrap();
        let next = came.or_else(|| ticket(&gate, RESTED)).expect("nobody holds the probe any more");
        // The one that has gone has no say.
        gate.report(probe, Verdict::Success, RESTED);
        assert_eq!(gate.inside().machine.condition(), Condition::HalfOpen { probing: true });
        gate.report(next, Verdict::Failure, RESTED);
        assert_eq!(gate.inside().machine.condition(), Condition::Open { until: RESTED + LIMITS.cooldown });
    });
}

#[test]
fn failures_of_one_time_open_it_once() {
    loom::model(|| {
        let gate = gate();
        let all = gate.clone();
        let work = move |_| {
            let ticket = ticket(&all, START)?;
            all.report(ticket, Verdict::Failure, START);
            // Who has reported sees that its time is over.
            assert!(all.epoch() > ticket.epoch);
            Some(ticket)
        };
        let came = on_threads(2, work).into_iter().flatten().count();
        let story = story(&gate);
        assert_eq!(story.iter().filter(|name| *name == "Opened").count(), 1, "{story:?}");
        assert_eq!(story.iter().filter(|name| *name == "Late").count(), came - 1, "{story:?}");
        assert_eq!(gate.epoch(), 1);
    });
}

#[test]
fn poison_wins() {
    loom::model(|| {
        let gate = gate();
        let tickets: Vec<_> = (0..3).map(|_| ticket(&gate, START).unwrap()).collect();
        let all = gate.clone();
        on_threads(3, move |index| {
            let verdict = [Verdict::Poison, Verdict::Failure, Verdict::Success][index];
            all.report(tickets[index], verdict, START);
            assert!(index > 0 || all.epoch() > 0);
        });
        assert_eq!(gate.inside().machine.condition(), Condition::Poisoned);
        assert!(ticket(&gate, RESTED).is_none() && !gate.inside().machine.lives(0));
        assert_eq!(story(&gate).iter().filter(|name| *name == "Poisoned").count(), 1);
        gate.change(RESTED, Machine::revive);
        assert!(!gate.inside().machine.lives(0) && gate.inside().machine.lives(gate.epoch()));
    });
}

#[test]
fn late_failures_do_not_disturb_a_probe() {
    loom::model(|| {
        let gate = gate();
        let (first, late) = (ticket(&gate, START).unwrap(), ticket(&gate, START).unwrap());
        gate.report(first, Verdict::Failure, START);
        let other = gate.clone();
        let straggler = thread::spawn(move || {
            other.report(late, Verdict::Failure, RESTED);
        });
        let probe = ticket(&gate, RESTED).unwrap();
        gate.report(probe, Verdict::Success, RESTED);
        straggler.join().unwrap();
        assert_eq!(gate.inside().machine.condition(), Condition::Closed);
        assert_eq!(gate.inside().machine.recent_failures(RESTED), 0);
    });
}
