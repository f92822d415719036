//! What it takes besides that operands are stored: until a stream is under way, and where the CPU reads them part by part.

use super::{At, Divisible, Job, Operand, Tiling};

/// Seconds until what is stored is under way, and its end is told: threads, streams and buffers on the GPU; the same with slots, if anything goes through them; a step of a product in tiles;
/// and on the CPU. Inferred from some 15 products of page-locked matrices of 1 to 40 MB on two hosts with an H200 and 16 cores, 2026-11-29, which took 0.7 to 1.1 ms longer than what is copied and
/// computed, 1.7 to 2.4 with slots, and 0.2 to 0.3 on the CPU.
const STREAM: f64 = 0.8e-3;
const SLOTS: f64 = 1.2e-3;
const STEP: f64 = 25e-6;
const PARTS: f64 = 0.25e-3;

/// Bytes in a second that the CPU reads of a page-locked factor, part by part, and that it writes of such a result, in those products.
const PART_READ: f64 = 12.5e9;
const PART_WRITTEN: f64 = 5.3e9;

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

/// Seconds in which the CPU reads what is page-locked of a product, part by part, writes it, and begins. What lies in ordinary memory is mostly computed with where it is.
pub(super) fn in_parts(job: &Job) -> [f64; 3] {
    let is_product = matches!(job.divisible, Some((Divisible::Product(_) | Divisible::Matvec(_), _)));
    if job.tiling == Tiling::AsNeeded || !is_product {
        return [0.0; 3];
    }
    let copied =
        |operand: &Operand, rate: f64| if operand.at == At::Pinned { operand.bytes as f64 / rate } else { 0.0 };
    let read = job.read.iter().flatten().map(|it| copied(it, PART_READ)).sum();
    [read, copied(&job.written, PART_WRITTEN), PARTS]
}
