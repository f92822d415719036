use super::{Step, Sums, Vector};

pub(super) fn count(a: &[Step], b: &[Step], sums: &mut [Sums]) {
    for (a, sums) in a.chunks_exact(b.len()).zip(sums) {
        for (a, b) in a.iter().zip(b) {
            for (sums, a) in sums.0.iter_mut().zip(a) {
                sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += common(a, b));
            }
        }
    }
}

fn common(a: &Vector, b: &Vector) -> u64 {
    a.0.iter().zip(b.0).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// Each for itself: a chain of shifts would take longer than counting.
pub(super) fn above(counts: &[u64; 64], threshold: u64) -> u64 {
    let bits = counts.iter().enumerate().map(|(at, &count)| u64::from(count > threshold) << at);
    bits.fold(0, |word, bit| word | bit)
}
