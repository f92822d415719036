//! Products of bits on the device of the tests ([`crate::stream::late`]), bit by bit.

use super::Becomes;
use super::engine::{BitMultiplication, BitMultiplier};
use crate::Error;
use crate::bits::gpu::words_per_row;
use crate::stream::engine::Queue;
use crate::stream::late::{Buffer, Device, Memory};

/// Whether a bit of a row is set.
fn is_set(words: &[u32], row: usize, bits: usize, bit: usize) -> bool {
    words[row * words_per_row(bits) + bit / 32] >> (bit % 32) & 1 == 1
}

impl BitMultiplier for Device {
    fn transpose(&self, from: &Buffer<u32>, [rows, columns]: [usize; 2], to: &mut Buffer<u32>) -> Result<(), Error> {
        let (from, to) = (Memory::clone(from), Memory::clone(to));
        self.queue(Queue::Compute, move || {
            let (from, mut to) = (from.lock(), to.lock());
            for (row, index) in (0..columns).flat_map(|row| (0..rows.div_ceil(32)).map(move |index| (row, index))) {
                let set = |bit: &usize| is_set(&from, *bit, columns, row);
                let bits = (32 * index..rows.min(32 * index + 32)).filter(set);
                let bits = bits.fold(0u32, |word, bit| word | 1 << (bit % 32));
                to[row * words_per_row(rows) + index] = bits;
            }
        });
        Ok(())
    }

    fn clear(&self, buffer: &mut Buffer<u32>) -> Result<(), Error> {
        let buffer = Memory::clone(buffer);
        self.queue(Queue::Compute, move || buffer.lock().fill(0));
        Ok(())
    }

    fn count_pairs(
        &self,
        what: &BitMultiplication,
        [left, right]: [&Buffer<u32>; 2],
        result: &mut Buffer<u32>,
    ) -> Result<(), Error> {
        let (what, [left, right, result]) = (*what, [left, right, &*result].map(|buffer| Memory::clone(buffer)));
        self.queue(Queue::Compute, move || {
            count_pairs(&what, &left.lock(), &right.lock(), &mut result.lock());
        });
        Ok(())
    }
}

/// All words of both rows are gone through, as a kernel does, padding too.
fn count_pairs(what: &BitMultiplication, left: &[u32], right: &[u32], result: &mut [u32]) {
    let BitMultiplication { rows, columns, depth, becomes } = *what;
    let per_row = words_per_row(depth);
    for (i, left) in left.chunks_exact(per_row).take(rows).enumerate() {
        let counts = right
            .chunks_exact(per_row)
            .take(columns)
            .map(|right| left.iter().zip(right).map(|(left, right)| (left & right).count_ones()).sum::<u32>());
        match becomes {
            Becomes::Distances => {
                let ones = |row: &[u32]| row.iter().map(|word| word.count_ones()).sum::<u32>();
                let of_right = right.chunks_exact(per_row).map(ones);
                let distances = counts.zip(of_right).map(|(count, right)| ones(left) + right - 2 * count);
                distances.enumerate().for_each(|(j, distance)| result[i * columns + j] = distance);
            }
            Becomes::Counts => counts.enumerate().for_each(|(j, count)| result[i * columns + j] = count),
            Becomes::MoreThan(most) => set(result, i, columns, counts.map(|count| count > most)),
            Becomes::Parities => set(result, i, columns, counts.map(|count| count % 2 == 1)),
        }
    }
}

/// A row of bits; behind the last one it is as it was, to the end of the last word with a bit ones.
fn set(result: &mut [u32], row: usize, columns: usize, bits: impl Iterator<Item = bool>) {
    let mut words = vec![u32::MAX; columns.div_ceil(32)];
    bits.enumerate().filter(|(_, bit)| !bit).for_each(|(column, _)| words[column / 32] &= !(1 << (column % 32)));
    let begin = row * words_per_row(columns);
    result[begin..begin + words.len()].copy_from_slice(&words);
}
