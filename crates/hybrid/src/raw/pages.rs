//! Pages of memory that nobody has written to yet.

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Bytes from which on it is worth it: some pages of 2 MiB.
const LEAST: usize = 4 << 20;

/// Asks the system for large pages where these values lie, which makes each first touch of so many bytes one fault instead of 512. Where it
/// grants none, nothing changes.
pub(crate) fn in_large_pages<T>(values: &mut [T]) {
    let (bytes, page) = (size_of_val(values), page_size());
    let start = values.as_mut_ptr().cast::<u8>();
    let before = start.align_offset(page);
    if bytes < LEAST.saturating_add(before) {
        return;
    }
    let length = (bytes - before) / page * page;
    // SAFETY: whole pages within values that are borrowed for writing; which pages hold them does not change what they hold.
    let advised = unsafe { madvise(start.add(before).cast(), length, Advice::LinuxHugepage) };
    if let Err(error) = advised {
        tracing::debug!(%error, length, "no large pages");
    }
}
