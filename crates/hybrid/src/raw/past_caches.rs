//! Copies that leave nothing in the caches of the processor: a device that reads what these hold has to ask each core for it, which halves its rate.

use std::cell::Cell;

thread_local!(static COPIES_PAST_CACHES: Cell<bool> = const { Cell::new(false) });

/// Bytes of a line from which on it is worth it.
const LEAST: usize = 4 << 10;

/// From now on this thread copies lines past its caches ([`copy_line`]): a device reads them, or nobody soon.
pub(crate) fn from_now_on_past_caches() {
    COPIES_PAST_CACHES.set(true);
}

/// Copies bytes that are part of something larger to as many others.
pub(crate) fn copy_line(from: &[u8], to: &mut [u8]) {
    match COPIES_PAST_CACHES.get() && from.len() >= LEAST {
        true => copy_past_caches(from, to),
        false => to.copy_from_slice(from),
    }
}

/// Copies bytes to as many others, past the caches where the processor can.
#[cfg(target_arch = "x86_64")]
pub(crate) fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    assert_eq!(from.len(), to.len(), "bytes of a copy");
    // SAFETY: any bytes are such a vector, and any vector is bytes.
    let (head, middle, tail) = unsafe { to.align_to_mut::<__m128i>() };
    let (from_head, rest) = from.split_at(head.len());
    let (from_middle, from_tail) = rest.split_at(size_of_val(middle));
    head.copy_from_slice(from_head);
    tail.copy_from_slice(from_tail);
    for (to, from) in middle.iter_mut().zip(from_middle.as_chunks::<{ size_of::<__m128i>() }>().0) {
        // SAFETY: as many bytes to read, at any address, and a vector that is borrowed for writing, at a multiple of its size. Every such processor has SSE2.
        unsafe { _mm_stream_si128(to, _mm_loadu_si128(from.as_ptr().cast())) };
    }
    // SAFETY: it orders stores and does nothing else. Whoever learns later that these bytes are there finds them.
    unsafe { _mm_sfence() };
}

/// Copies bytes to as many others.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn copy_past_caches(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use super::{LEAST, copy_line, copy_past_caches, from_now_on_past_caches};

    #[test]
    fn all_bytes_are_copied_wherever_they_begin_and_no_others() {
        let from: Vec<u8> = (0..300u32).map(|n| (n % 251) as u8).collect();
        for (length, begin, at) in [(0, 0, 0), (1, 3, 5), (15, 1, 1), (16, 0, 0), (16, 1, 3), (100, 7, 9), (255, 2, 16)]
        {
            let mut to = vec![0xAA; 300];
            copy_past_caches(&from[begin..begin + length], &mut to[at..at + length]);
            assert_eq!(to[at..at + length], from[begin..begin + length], "{length} bytes from {begin} to {at}");
            let others = to[..at].iter().chain(&to[at + length..]);
            assert!(others.copied().all(|byte| byte == 0xAA), "{length} bytes from {begin} to {at}");
        }
    }

    #[test]
    fn lines_are_the_same_for_whomever() {
        let from: Vec<u8> = (0..2 * LEAST).map(|n| (n % 251) as u8).collect();
        for length in [0, 5, LEAST - 1, LEAST + 3, 2 * LEAST] {
            let mut to = [vec![0; length], vec![0; length]];
            copy_line(&from[..length], &mut to[0]);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    from_now_on_past_caches();
                    copy_line(&from[..length], &mut to[1]);
                });
            });
            assert!(to.iter().all(|to| to[..] == from[..length]), "{length}");
        }
    }
}
