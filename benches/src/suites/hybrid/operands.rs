//! Large matrices in host memory.

use crate::Result;
use crate::cases::Random;
use rayon::prelude::*;
use tilewright_hybrid::budget::Budget;
use tilewright_hybrid::linear::Scalar;

/// Elements that a thread fills before it takes others.
const BLOCK: usize = 1 << 16;

/// `a` and `b`, random in -1..1, and a `c` that is no product yet: square, row by row.
pub(super) struct Operands<T> {
    pub(super) size: usize,
    pub(super) a: Vec<T>,
    pub(super) b: Vec<T>,
    pub(super) c: Vec<T>,
}

impl<T: Scalar> Operands<T> {
    /// All memory is touched, on all cores. Refuses more than this machine has to give.
    pub(super) fn random(size: usize) -> Result<Self> {
        let bytes = (3 * size * size * size_of::<T>()) as u64;
        let available = Budget::host().available();
        if bytes > available {
            return Err(format!("{bytes} bytes of operands, this machine has {available}").into());
        }
        let mut operands = Self { size, a: random(size, 1), b: random(size, 2), c: vec![T::ZERO; size * size] };
        operands.poison();
        Ok(operands)
    }

    /// Makes `c` something that no product is.
    pub(super) fn poison(&mut self) {
        self.c.par_chunks_mut(BLOCK).for_each(|block| block.fill(T::from_f64(f64::NAN)));
    }
}

/// A square matrix of numbers in -1..1.
pub(super) fn random<T: Scalar>(size: usize, seed: u64) -> Vec<T> {
    random_values(size * size, seed)
}

/// Numbers in -1..1.
pub(super) fn random_values<T: Scalar>(count: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::ZERO; count];
    values.par_chunks_mut(BLOCK).enumerate().for_each(|(number, block)| {
        let mut random = Random::new(seed << 32 | number as u64);
        let step = 2.0f64.powi(-52);
        block.fill_with(|| T::from_f64((random.bits() >> 11) as f64 * step - 1.0));
    });
    values
}
