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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the system says of the mapping of this address that large pages are wanted there; `None` where it says nothing.
    fn is_advised(address: usize) -> Option<bool> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(low, high)| [low, high].map(|end| usize::from_str_radix(end, 16)));
            if let Some([Ok(low), Ok(high)]) = ends {
                inside = (low..high).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return Some(flags.split(' ').any(|flag| flag == "hg"));
            }
        }
        None
    }

    #[test]
    fn what_lies_there_stays_and_the_system_knows() {
        for (length, odd) in [(0, 0), (100, 1), (LEAST - 1, 0), (LEAST + 5000, 3), (5 * LEAST + 1, 1)] {
            let mut values: Vec<u8> = (0..length + odd).map(|n| (n % 251) as u8).collect();
            in_large_pages(&mut values[odd..]);
            assert!(values.iter().enumerate().all(|(n, value)| usize::from(*value) == n % 251), "{length}");
        }
        let mut zeros = vec![0u64; LEAST];
        in_large_pages(&mut zeros);
        let middle = &raw const zeros[LEAST / 2];
        match is_advised(middle.addr()) {
            Some(advised) => assert!(advised),
            None => eprintln!("the system says nothing of its mappings"),
        }
    }
}
