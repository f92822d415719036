//! What a GPU's multiprocessor has, as far as configurations depend on it.

use tilewright_perf::DeviceFacts;

/// 32-bit registers of a multiprocessor.
pub(crate) const REGISTERS: usize = 65_536;
/// Bytes of shared memory that the system takes of each block.
pub(crate) const SYSTEM_BYTES: usize = 1024;

/// Bytes that memory fetches together.
const FETCH: usize = 64;

/// Bytes that memory fetches beside a piece of so many bytes of each pixel, in the mean of pixels of so many that follow one another: none where pieces are whole pixels,
/// since they lie side by side.
///
/// Pieces begin at all multiples of what both lengths and a fetch have in common.
pub(crate) fn fetched_beside(piece: usize, pixel: usize) -> usize {
    if piece >= pixel { 0 } else { FETCH - (1 << (piece | pixel | FETCH).trailing_zeros()) }
}

/// What a GPU's multiprocessor has, as far as a configuration depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiprocessor {
    /// Bytes of shared memory that one block can have.
    pub shared_bytes: usize,
    /// Whether it copies boxes of tensors by itself (compute capability 9.0 and up).
    pub bulk_copies: bool,
}

impl Multiprocessor {
    /// Bytes of shared memory that its blocks have together, with what the system takes of each: what one can have, and that. What an estimate
    /// was fitted with on an H200 is a little less than there is.
    pub(crate) fn room(self) -> usize {
        (self.shared_bytes + SYSTEM_BYTES).min(228_000)
    }
}

/// What an estimate knows of a GPU beside its [`Multiprocessor`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuScale {
    pub(crate) multiprocessors: usize,
    /// The memory's bandwidth for each of them, in an H200's.
    pub(crate) memory: f64,
}

impl From<&DeviceFacts> for GpuScale {
    fn from(device: &DeviceFacts) -> Self {
        let of = |device: &DeviceFacts| device.memory_bandwidth / device.multiprocessors;
        Self { multiprocessors: device.multiprocessors as usize, memory: of(device) / of(&DeviceFacts::h200()) }
    }
}

impl From<&DeviceFacts> for Multiprocessor {
    fn from(device: &DeviceFacts) -> Self {
        Self { shared_bytes: device.shared_bytes_per_block as usize, bulk_copies: device.architecture >= 90 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_fetched_beside_pieces_are_those_of_a_count() {
        // The last piece of a pixel may be shorter.
        for (piece, pixel) in [(64, 160), (32, 160), (80, 160), (96, 288), (144, 288), (64, 128), (16, 48), (8, 44)] {
            let (mut beside, mut pieces) = (0, 0);
            for (at, offset) in (0..FETCH).flat_map(|at| (0..pixel).step_by(piece).map(move |offset| (at, offset))) {
                let (begin, end) = (at * pixel + offset, at * pixel + pixel.min(offset + piece));
                beside += end.next_multiple_of(FETCH) - begin / FETCH * FETCH - (end - begin);
                pieces += 1;
            }
            assert_eq!(beside, pieces * fetched_beside(piece, pixel), "{piece} of {pixel}");
        }
        assert_eq!([160, 192].map(|piece| fetched_beside(piece, 160)), [0, 0]);
    }
}
