//! Stages of streams in traces.

use super::trace::{Tid, record};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What a stream does at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// From a source to a slot of host memory.
    Read,
    /// From there to the device, or from page-locked memory without a slot.
    CopyIn,
    /// What the device computes.
    Compute,
    /// From the device to a slot, or to page-locked memory without one.
    CopyBack,
    /// From a slot to a sink.
    Write,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::CopyIn => "copy in",
            Stage::Compute => "compute",
            Stage::CopyBack => "copy back",
            Stage::Write => "write",
        }
    }

    /// A bar on the track of this stage, and of one of the threads that do it, below the thread whose stream it is.
    pub(crate) fn took(self, (thread, worker): (u64, usize), begin: Instant, duration: Duration, facts: &Value) {
        let name = match self {
            Stage::Read | Stage::Write => format!("{} {} of thread {thread}", self.name(), worker + 1),
            _ => format!("{} of thread {thread}", self.name()),
        };
        // Of each stage up to a hundred.
        let track = 100 * (self as u64 + 1) + worker as u64 % 100;
        let event = json!({ "name": self.name(), "cat": "stage", "ph": "X", "args": facts });
        record(begin, Some(duration), Tid { thread, track }, &name, event);
    }
}
