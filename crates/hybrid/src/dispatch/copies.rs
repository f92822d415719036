//! How long copies between the processors are expected to take.

use super::Link;
use crate::linear::{EMPTIED, FILLED, LOCKED};

/// Seconds that a copy to the GPU takes besides where the driver does not take what is copied at once: 7 to 8 us beside an H200, from ordinary memory and from page-locked memory, 2026-11-29.
pub(crate) const BEGINS: f64 = 7e-6;

/// Bytes of ordinary memory up to which a copy to the GPU is not waited for (CUDA, "API synchronization behavior").
const INLINE: u64 = 64 << 10;

/// Seconds until an operand of so many bytes comes to the GPU.
pub(super) fn call_to_gpu(bytes: u64, link: &Link) -> f64 {
    link.call_to_gpu + if bytes <= INLINE { 0.0 } else { BEGINS }
}

/// Seconds until threads fill page-locked memory that goes to the GPU, and bytes in a second of theirs: 2 MiB in 0.11 ms and 16 in 0.53 beside an H200, 2026-11-29.
const FILL_BEGINS: f64 = 30e-6;
const FILL: f64 = 34e9;

/// Seconds of a copy of so many bytes from ordinary memory to the GPU.
pub(super) fn brought(bytes: u64, link: &Link) -> f64 {
    let begins = call_to_gpu(bytes, link);
    if bytes < FILLED as u64 {
        begins + bytes as f64 / link.pageable
    } else {
        begins + FILL_BEGINS + bytes as f64 / FILL.min(link.to_gpu)
    }
}

/// Seconds in which threads empty page-locked memory into ordinary memory whose pages are not there yet, without those until the first bytes are there: 2 MiB in 0.28 ms, 16 in 1.4 and 64 in 3.1
/// beside an H200, 2026-11-29.
fn emptied(bytes: u64) -> f64 {
    (bytes as f64 / 7.5e9).min(0.35e-3 + bytes as f64 / 22e9)
}

/// Whether so much of a product passes through page-locked memory that is kept.
pub(super) fn passes(bytes: u64, is_product: bool) -> bool {
    is_product && (*LOCKED.start() as u64..=*LOCKED.end() as u64).contains(&bytes)
}

/// Seconds of a copy of so many bytes to the host.
pub(super) fn fetched(bytes: u64, is_product: bool, link: &Link) -> f64 {
    let begins = link.call_to_host;
    match bytes {
        _ if passes(bytes, is_product) => begins + bytes as f64 / link.to_host,
        _ if bytes < EMPTIED as u64 => begins + bytes as f64 / link.pageable_back,
        _ => begins + emptied(bytes),
    }
}

/// Bytes of a result that one thread copies from there to where somebody has it, and in a second; what several take besides, and bytes in a second of theirs: 16 MB in 0.5 ms, beside an H200.
const ALONE: u64 = 1 << 20;
const PUT_ALONE: f64 = 12e9;
const PUT_BEGINS: f64 = 60e-6;
const PUT: f64 = 35e9;

/// Seconds of a copy of a result to where somebody has it in ordinary memory.
pub(super) fn delivered(bytes: u64, is_product: bool, link: &Link) -> f64 {
    let put = if bytes <= ALONE { bytes as f64 / PUT_ALONE } else { PUT_BEGINS + bytes as f64 / PUT };
    let is_direct = bytes < *LOCKED.start() as u64;
    fetched(bytes, is_product, link) + if is_direct { 0.0 } else { put }
}
