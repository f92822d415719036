//! What is seen of a stream from outside: which of its stages run beside which, and how soon it ends when it is not wanted any more.

use crate::Result;
use crate::cases::Random;
use serde_json::Value;
use std::time::{Duration, Instant};
use tilewright_hybrid::dispatch::Trace;
use tilewright_hybrid::stream::Cancel;
use tilewright_hybrid::{Class, Error};

/// Cancellations, and the part of a whole run after which one comes at the latest.
const CANCELLED: usize = 5;
const LATEST: f64 = 0.9;

/// Seconds that stages of a traced run take, each once however many tracks it has, and that products and copies both do.
pub(super) struct Stages {
    pub(super) compute: f64,
    pub(super) copies: f64,
    pub(super) both: f64,
}

impl Stages {
    /// The part of the shorter of both that runs beside the longer one.
    pub(super) fn overlap(&self) -> f64 {
        self.both / self.compute.min(self.copies)
    }
}

/// What a run does when: its trace is kept in the folder that `TILEWRIGHT_TRACES` names, if it names one.
pub(super) fn traced(case: &str, run: impl FnOnce() -> Result<()>) -> Result<Stages> {
    let trace = Trace::begin();
    run()?;
    if let Some(folder) = std::env::var_os("TILEWRIGHT_TRACES") {
        trace.write(&std::path::Path::new(&folder).join(format!("{}.json", case.replace('/', "-"))))?;
    }
    let whole: Value = serde_json::from_str(&trace.json())?;
    let events = whole["traceEvents"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |names: &[&str]| {
        let named = events.iter().filter(|event| event["ph"] == "X");
        let named = named.filter(|event| event["name"].as_str().is_some_and(|name| names.contains(&name)));
        let span = |event: &Value| {
            let begin = event["ts"].as_f64()?;
            Some((begin * 1e-6, (begin + event["dur"].as_f64()?) * 1e-6))
        };
        joined(named.filter_map(span).collect())
    };
    let (compute, copies) = (of(&["compute"]), of(&["copy in", "copy back"]));
    let length = |spans: &[(f64, f64)]| spans.iter().map(|(begin, end)| end - begin).sum::<f64>();
    let all = joined(compute.iter().chain(&copies).copied().collect());
    let (of_compute, of_copies) = (length(&compute), length(&copies));
    Ok(Stages { compute: of_compute, copies: of_copies, both: of_compute + of_copies - length(&all) })
}

/// Spans in their order, those that touch made one.
fn joined(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (begin, end) in spans {
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

/// The longest that somebody waits who has cancelled a run, which takes so many seconds if nobody does; milliseconds.
pub(super) fn cancelled(seconds: f64, mut run: impl FnMut(&Cancel) -> Result<()>) -> Result<f64> {
    let (mut random, mut longest) = (Random::new(9), 0.0f64);
    for _ in 0..CANCELLED {
        let cancel = Cancel::new();
        let after = Duration::from_secs_f64(LATEST * seconds * random.below(1 << 20) as f64 / f64::from(1 << 20));
        let (ended, told) = std::thread::scope(|scope| {
            let teller = scope.spawn(|| {
                std::thread::sleep(after);
                cancel.cancel();
                Instant::now()
            });
            let ended = run(&cancel).map(|()| None).or_else(|error| match error.downcast_ref::<Error>() {
                Some(own) if own.class() == Class::Cancelled => Ok(Some(Instant::now())),
                _ => Err(error),
            });
            (ended, teller.join())
        });
        let told = told.map_err(|_| "nobody cancelled")?;
        let Some(ended) = ended? else { return Err("a run that was cancelled went on to its end".into()) };
        longest = longest.max(ended.saturating_duration_since(told).as_secs_f64() * 1e3);
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn spans_that_touch_are_one() {
        let spans = vec![(3.0, 4.0), (0.0, 1.0), (0.5, 2.0), (3.5, 3.75), (4.0, 5.0)];
        assert_eq!(joined(spans), [(0.0, 2.0), (3.0, 5.0)]);
    }
}
