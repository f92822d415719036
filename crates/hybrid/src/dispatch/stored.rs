//! What it takes besides that operands are stored, until a stream is under way.

use super::{At, Job};

/// Seconds until what is stored is under way, and its end is told: plans, a thread, buffers on the GPU; besides, threads and slots if anything goes through them; a step of a product in tiles.
/// Inferred from how long each step of products of 0.1 to 8 MB took beside an H200 and 16 cores, 2026-11-29, less what was mended since (docs/notes/streams.md).
const STREAM: f64 = 0.35e-3;
const SLOTS: f64 = 0.3e-3;
const STEP: f64 = 25e-6;

/// Seconds in which slots are page-locked for a large operand.
pub(super) const LOCK: f64 = 10e-3;

/// Seconds in which a byte is page-locked: 0.2 ms a megabyte.
const LOCKED: f64 = 0.2e-9;

/// Bytes of what goes through slots: of all that is not page-locked already.
fn staged_bytes(job: &Job) -> f64 {
    let operands = job.read.iter().flatten().chain([&job.written]);
    operands.filter(|it| matches!(it.at, At::Pageable | At::Disk)).map(|it| it.bytes as f64).sum()
}

/// Seconds until a stream of so many steps is under way, and its end is told. Slots are a part of what goes through them: less than a fifth of what is small.
pub(super) fn begin_of_stream(job: &Job, steps: f64) -> f64 {
    let bytes = staged_bytes(job);
    let slots = if bytes > 0.0 { SLOTS + LOCK.min(bytes * LOCKED / 5.0) } else { 0.0 };
    STREAM + steps * STEP + slots
}
