//! Large matrices in host memory.

use crate::Result;
use crate::cases::Random;
use bytemuck::Pod;
use rayon::prelude::*;
use tilewright_driver::{Device, PinnedBuffer};
use tilewright_hybrid::budget::Budget;
use tilewright_hybrid::linear::Scalar;

/// Elements that a thread fills before it takes others.
const BLOCK: usize = 1 << 16;

/// `a` and `b`, random in -1..1, and a `c` that is no product yet: square, row by row, in page-locked memory.
pub(super) struct Operands<T: Pod> {
    pub(super) size: usize,
    pub(super) a: PinnedBuffer<T>,
    pub(super) b: PinnedBuffer<T>,
    pub(super) c: PinnedBuffer<T>,
}

impl<T: Scalar + Pod> Operands<T> {
    /// Refuses more than this machine has to give.
    pub(super) fn random(device: Device, size: usize) -> Result<Self> {
        let bytes = (3 * size * size * size_of::<T>()) as u64;
        let available = Budget::host().available();
        if bytes > available {
            return Err(format!("{bytes} bytes of operands, this machine has {available}").into());
        }
        let [a, b, c] = locked(device, [size * size; 3])?;
        let mut operands = Self { size, a, b, c };
        fill(&mut operands.a, 1);
        fill(&mut operands.b, 2);
        operands.poison();
        Ok(operands)
    }

    /// Makes `c` something that no product is.
    pub(super) fn poison(&mut self) {
        self.c.par_chunks_mut(BLOCK).for_each(|block| block.fill(T::from_f64(f64::NAN)));
    }
}

/// Page-locked memory, of which a gigabyte takes a fifth of a second: at once.
pub(super) fn locked<T: Pod + Send, const N: usize>(
    device: Device,
    counts: [usize; N],
) -> Result<[PinnedBuffer<T>; N]> {
    let buffers: Vec<_> =
        counts.par_iter().map(|count| device.pinned(*count)).collect::<std::result::Result<_, _>>()?;
    buffers.try_into().map_err(|_| "as many buffers as counts".into())
}

/// A square matrix of numbers in -1..1.
pub(super) fn random<T: Scalar>(size: usize, seed: u64) -> Vec<T> {
    random_values(size * size, seed)
}

/// Numbers in -1..1.
fn random_values<T: Scalar>(count: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::ZERO; count];
    fill(&mut values, seed);
    values
}

/// Fills memory with numbers in -1..1, on all cores.
pub(super) fn fill<T: Scalar>(values: &mut [T], seed: u64) {
    values.par_chunks_mut(BLOCK).enumerate().for_each(|(number, block)| {
        let mut random = Random::new(seed << 32 | number as u64);
        let step = 2.0f64.powi(-52);
        block.fill_with(|| T::from_f64((random.bits() >> 11) as f64 * step - 1.0));
    });
}
