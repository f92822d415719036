//! How long copies between the processors are expected to take.

use super::stored::LOCK;
use super::{Link, Rates};
use crate::stream::transfer::{LARGE, LOCKED};

/// Seconds that a copy to the GPU takes besides where the driver does not take what is copied at once: 7 to 8 us beside an H200, from ordinary memory and from page-locked memory, 2026-11-29.
const BEGINS: f64 = 7e-6;

/// The part of the rate of the CPU's memory at which threads fill slots: 18 to 21 GB/s beside an H200, whose host has 200, 2026-11-23.
const STAGED: f64 = 0.1;

/// Bytes of ordinary memory up to which a copy to the GPU is not waited for (CUDA, "API synchronization behavior").
const INLINE: u64 = 64 << 10;

/// Seconds until an operand of so many bytes comes to the GPU.
pub(super) fn call_to_gpu(bytes: u64, link: &Link) -> f64 {
    link.call_to_gpu + if bytes <= INLINE { 0.0 } else { BEGINS }
}

/// Seconds of a copy of so many bytes from ordinary memory to the GPU.
pub(super) fn brought(bytes: u64, rates: &Rates, link: &Link) -> f64 {
    let begins = call_to_gpu(bytes, link);
    if bytes < LARGE as u64 {
        begins + bytes as f64 / link.pageable
    } else {
        begins + staged(bytes, link.pageable, rates, link)
    }
}

/// Bytes in a second that come into ordinary memory whose pages are not there yet, most of which threads ask for first: 5 to 7e9 of 30 to 50 MB beside three H200.
pub(super) const FRESH: f64 = 6e9;

/// Whether so much of a product passes through page-locked memory that is kept.
pub(super) fn passes(bytes: u64, is_product: bool) -> bool {
    is_product && (*LOCKED.start() as u64..=*LOCKED.end() as u64).contains(&bytes)
}

/// Seconds of a copy of so many bytes to the host.
pub(super) fn fetched(bytes: u64, is_product: bool, rates: &Rates, link: &Link) -> f64 {
    let begins = link.call_to_host;
    match bytes {
        _ if passes(bytes, is_product) => begins + bytes as f64 / link.to_host,
        _ if bytes < LARGE as u64 => begins + bytes as f64 / link.pageable_back.min(FRESH),
        _ => begins + staged(bytes, link.pageable_back, rates, link),
    }
}

/// Bytes of a result that one thread copies from there to where somebody has it, and in a second; what several take besides, and bytes in a second of theirs: 16 MB in 0.5 ms, beside an H200.
const ALONE: u64 = 1 << 20;
const PUT_ALONE: f64 = 12e9;
const PUT_BEGINS: f64 = 60e-6;
const PUT: f64 = 35e9;

/// Seconds of a copy of a result to where somebody has it in ordinary memory.
pub(super) fn delivered(bytes: u64, is_product: bool, rates: &Rates, link: &Link) -> f64 {
    let put = if bytes <= ALONE { bytes as f64 / PUT_ALONE } else { PUT_BEGINS + bytes as f64 / PUT };
    let is_direct = bytes < *LOCKED.start() as u64;
    fetched(bytes, is_product, rates, link) + if is_direct { 0.0 } else { put }
}

/// Seconds of copies between ordinary memory and the GPU through slots ([`crate::linear::DeviceMat::upload`]).
fn staged(bytes: u64, least: f64, rates: &Rates, link: &Link) -> f64 {
    LOCK + bytes as f64 / (STAGED * rates.cpu.memory).clamp(least, link.to_gpu.max(least))
}
