//! Pages of memory that nobody has written to yet.

use bytemuck::{Pod, cast_slice_mut};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes from which on it is worth it: some pages of 2 MiB.
const LEAST: usize = 4 << 20;
/// Pages that a thread asks for in a row.
const EACH: usize = 512;

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

/// Has the system give the pages of these values now, by threads that each ask for some of them, where one that fills them would ask for one after
/// the other: 29 MB of pages of 4 KiB take 15.4 ms by one thread, 2.2 by 8; of large ones 2.0 and 0.7 (a virtual machine with 16
/// cores, 2026-11-25). Values stay as they are. Few bytes are left alone.
pub(crate) fn bring_pages<T: Pod + Send>(values: &mut [T]) {
    let page = page_size();
    if size_of_val(values) < LEAST {
        return;
    }
    let bytes: &mut [u8] = cast_slice_mut(values);
    bytes.par_chunks_mut(EACH * page).for_each(|pages| {
        for place in pages.chunks_mut(page).filter_map(|page| page.first_mut()) {
            // SAFETY: the byte is borrowed for writing, and nobody else has it.
            let place = unsafe { AtomicU8::from_ptr(place) };
            // An exchange asks for a page to write to, even where it changes nothing; a load would get one that all share.
            let _ = place.compare_exchange(0, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the system says, behind this name, of the mapping of this address; `None` where it says nothing.
    fn said(name: &str, address: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.map(|(low, high)| [low, high].map(|end| usize::from_str_radix(end, 16)));
            if let Some([Ok(low), Ok(high)]) = ends {
                inside = (low..high).contains(&address);
            } else if let Some(said) = line.strip_prefix(name).filter(|_| inside) {
                return Some(said.trim().to_owned());
            }
        }
        None
    }

    /// Whether the system says of the mapping of this address that large pages are wanted there.
    fn is_advised(address: usize) -> Option<bool> {
        said("VmFlags:", address).map(|flags| flags.split(' ').any(|flag| flag == "hg"))
    }

    /// KiB that the mapping of this address has in memory of its own.
    fn resident(address: usize) -> Option<usize> {
        said("Private_Dirty:", address)?.strip_suffix(" kB")?.trim().parse().ok()
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
    #[test]
    fn pages_are_there_and_values_stay() {
        for length in [0, 100, LEAST - 1, LEAST, 3 * LEAST + 777] {
            let mut values: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            bring_pages(&mut values);
            assert!(values.iter().enumerate().all(|(n, value)| usize::from(*value) == n % 251), "{length}");
        }
        // A mapping of its own: so much no allocator has at hand.
        let mut zeros = vec![0u64; 16 << 20];
        let address = zeros.as_ptr().addr();
        let middle = address + size_of_val(&*zeros) / 2;
        let Some(before) = resident(middle) else { return eprintln!("the system says nothing of its mappings") };
        bring_pages(&mut zeros);
        let (all, there) = (size_of_val(&*zeros) >> 10, resident(middle).unwrap_or(0));
        assert!(before < all / 2, "{before} KiB of {all} were there before");
        assert!(there >= all - 4, "{there} KiB of {all} are there");
    }
}
