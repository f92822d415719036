//! Blocks of a matrix from line to line: what C order and Fortran order need of each other.

/// Side of the squares that are transposed at once: two of 16-byte elements fit a first-level cache.
const BLOCK: usize = 32;

/// Lines of elements, `pitch` bytes from one to the next.
pub(super) struct Lines<B> {
    pub(super) bytes: B,
    pub(super) pitch: usize,
}

/// Copies `lines` x `length` elements, so that element `j` of line `i` becomes element `i` of line `j`.
pub(super) fn transpose(from: Lines<&[u8]>, to: Lines<&mut [u8]>, lines: usize, length: usize, element_bytes: usize) {
    match element_bytes {
        1 => by_size::<1>(from, to, lines, length),
        2 => by_size::<2>(from, to, lines, length),
        4 => by_size::<4>(from, to, lines, length),
        8 => by_size::<8>(from, to, lines, length),
        _ => by_size::<16>(from, to, lines, length),
    }
}

fn by_size<const SIZE: usize>(from: Lines<&[u8]>, to: Lines<&mut [u8]>, lines: usize, length: usize) {
    for top in (0..lines).step_by(BLOCK) {
        for left in (0..length).step_by(BLOCK) {
            for column in left..length.min(left + BLOCK) {
                let target = &mut to.bytes[column * to.pitch..];
                for line in top..lines.min(top + BLOCK) {
                    let at = line * from.pitch + column * SIZE;
                    target[line * SIZE..][..SIZE].copy_from_slice(&from.bytes[at..][..SIZE]);
                }
            }
        }
    }
}
