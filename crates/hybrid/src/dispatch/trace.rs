//! What operations decided and did, in a file that chrome://tracing and Perfetto draw.

use super::{Decision, Outcome};
use crate::Error;
use crate::store::replace;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A recording of all decisions and operations of this process, from [`begin`](Trace::begin) until it is dropped.
///
/// A decision is a mark, an operation a bar on its thread, named as decisions are (`gpu.matmul.f64`) after the processor where it ended, with
/// both expected times, bytes, the bound and, where it did not go as decided, why. Durations are those of calls: what is queued on a GPU and
/// not waited for ends later. `tracing` has operations as spans, with what
/// was decided, for those who collect them already.
///
/// Below the thread whose operation was streamed through a GPU each stage has a track of its own: *read* (from a source to a slot of host memory),
/// *copy in*, *compute*, *copy back*, and *write* (from a slot to a sink), with a track for each thread that reads or writes. A bar says which tile
/// or panel it was. The host's stages are timed where they happen, without the copies that they wait for; those of the GPU by events, which exist
/// while a trace is kept and not otherwise. What is copied without a slot, as from page-locked memory, is not read or written by anybody. Of a
/// stream that fails, what the GPU did is not told.
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::{Device, dispatch::Trace};
///
/// let trace = Trace::begin();
/// Device::cpu().inverse((&array![[2.0, 0.0], [0.0, 4.0]]).into())?;
/// assert!(trace.json().contains("cpu.inverse.f64"));
/// # let path = std::env::temp_dir().join(format!("tilewright-trace-{}.json", std::process::id()));
/// trace.write(&path)?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
#[derive(Debug)]
pub struct Trace(Arc<Recording>);

#[derive(Debug)]
struct Recording {
    begin: Instant,
    events: Mutex<Vec<Value>>,
    /// The names of what bars stand on.
    tracks: Mutex<BTreeMap<u64, String>>,
}

static RECORDINGS: Mutex<Vec<Weak<Recording>>> = Mutex::new(Vec::new());
/// How many there are: looked at by every operation, mostly 0.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Trace {
    /// Begins a recording. There may be several at once.
    pub fn begin() -> Trace {
        let recording =
            Arc::new(Recording { begin: Instant::now(), events: Mutex::default(), tracks: Mutex::default() });
        RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&recording));
        COUNT.fetch_add(1, Ordering::Relaxed);
        Trace(recording)
    }

    /// What was recorded so far, as JSON in Chrome's trace event format.
    pub fn json(&self) -> String {
        let mut events = self.0.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tracks = self.0.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        // Below one another as their numbers are.
        let told = |(&tid, name): (&u64, &String)| {
            let facts = [("thread_name", json!({ "name": name })), ("thread_sort_index", json!({ "sort_index": tid }))];
            facts.map(|(told, facts)| {
                json!({ "name": told, "ph": "M", "pid": std::process::id(), "tid": tid, "args": facts })
            })
        };
        events.extend(tracks.iter().flat_map(told));
        json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string()
    }

    /// Writes that to a file, whole or not at all. The recording goes on.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        replace(path, self.json().as_bytes())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        let own = Arc::downgrade(&self.0);
        RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| !it.ptr_eq(&own));
    }
}

/// An operation under way.
pub(crate) struct Running {
    begin: Instant,
    decision: Decision,
}

impl Running {
    /// Nothing where nobody records.
    pub(crate) fn begin(decision: &Decision) -> Option<Running> {
        is_recorded().then(|| Running { begin: Instant::now(), decision: decision.clone() })
    }

    pub(crate) fn end(self, outcome: Result<&Outcome, &Error>) {
        let mut facts = facts(&self.decision);
        let side = match outcome {
            Ok(Outcome { side, halvings, why, tiles, traffic, checked }) => {
                facts["checked"] = (*checked).into();
                facts["halvings"] = (*halvings).into();
                facts["tiles"] = tiles.map(|tiles| tiles.to_string()).into();
                facts["to_gpu"] = traffic.to_gpu.into();
                facts["to_host"] = traffic.to_host.into();
                facts["why"] = why.as_ref().map(|why| format!("{why:?}")).into();
                *side
            }
            Err(error) => {
                facts["error"] = error.to_string().into();
                self.decision.side
            }
        };
        let name = self.decision.name_on(side);
        let event = json!({ "name": name, "cat": "operation", "ph": "X", "args": facts });
        record_here(self.begin, Some(self.begin.elapsed()), event);
    }
}

/// Marks a decision.
pub(super) fn decided(decision: &Decision) {
    if is_recorded() {
        let name = format!("decided: {}", decision.name_on(decision.side));
        let event = json!({ "name": name, "cat": "decision", "ph": "i", "s": "t", "args": facts(decision) });
        record_here(Instant::now(), None, event);
    }
}

/// Whether anybody keeps a trace.
pub(crate) fn is_recorded() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

/// What a bar stands on: a thread, or a track below it, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tid {
    pub(super) thread: u64,
    pub(super) track: u64,
}

impl Tid {
    fn number(self) -> u64 {
        1000 * self.thread + self.track
    }
}

/// Adds an event of this thread.
fn record_here(at: Instant, duration: Option<Duration>, event: Value) {
    let thread = thread_number();
    record(at, duration, Tid { thread, track: 0 }, &format!("thread {thread}"), event);
}

/// Adds an event at a time, and perhaps of some length, to all recordings that had begun.
pub(super) fn record(at: Instant, duration: Option<Duration>, on: Tid, track: &str, mut event: Value) {
    if let Some(duration) = duration {
        event["dur"] = microseconds(duration.as_secs_f64()).into();
    }
    event["pid"] = std::process::id().into();
    event["tid"] = on.number().into();
    let recordings: Vec<_> = RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for recording in recordings.iter().filter_map(Weak::upgrade) {
        let Some(since) = at.checked_duration_since(recording.begin) else { continue };
        let mut event = event.clone();
        event["ts"] = microseconds(since.as_secs_f64()).into();
        recording.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        let mut tracks = recording.tracks.lock().unwrap_or_else(PoisonError::into_inner);
        tracks.entry(on.number()).or_insert_with(|| track.to_owned());
    }
}

/// The unit of the format, with three digits behind the point.
fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e3
}

/// Threads in the order in which they first did something, from 1.
pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static OWN: Cell<u64> = const { Cell::new(0) };
    }
    OWN.with(|own| {
        if own.get() == 0 {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    })
}

fn facts(decision: &Decision) -> Value {
    json!({
        "decision": decision.to_string(),
        "reason": decision.reason.to_string(),
        "bytes": decision.bytes,
        "bound": format!("{:?}", decision.bound()).to_lowercase(),
        "expected_on_cpu_us": microseconds(decision.cpu.wall),
        "expected_on_gpu_us": decision.gpu.as_ref().map(|gpu| microseconds(gpu.cost.wall)),
        "device_bytes": decision.gpu.as_ref().map(|gpu| gpu.device_bytes),
        "host_bytes": decision.on_host.map(|it| it.host_bytes),
        "error_bound": decision.emulation.map(|emulation| emulation.error_bound),
    })
}
