//! Matrices of test cases.

use ndarray::{Array2, ShapeBuilder};
use tilewright_hybrid::Complex64;
use tilewright_hybrid::linear::Scalar;

/// Pseudo-random numbers in -1..1.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(super) fn number<T: Scalar>(&mut self) -> T {
        T::nearest(Complex64::new(self.unit(), self.unit()))
    }
}

pub(super) fn random<T: Scalar>(seed: u64, rows: usize, columns: usize) -> Array2<T> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((rows, columns), || random.number())
}

pub(super) fn identity<T: Scalar>(size: usize) -> Array2<T> {
    Array2::from_shape_fn((size, size), |(i, j)| if i == j { T::ONE } else { T::ZERO })
}

/// Square matrices by name: of all conditions, some of them hard for a factorisation without pivots.
pub(super) fn square<T: Scalar>(size: usize) -> Vec<(&'static str, Array2<T>)> {
    let number = |seed: u64| random::<T>(seed, size, size);
    let graded = number(2);
    let graded = Array2::from_shape_fn((size, size), |(i, j)| {
        let grade = 10_f64.powf(-6.0 * (i + j) as f64 / (2 * size) as f64);
        T::nearest(graded[[i, j]].wide() * grade)
    });
    let hilbert = Array2::from_shape_fn((size, size), |(i, j)| T::from_f64(1.0 / (i + j + 1) as f64));
    let permutation = Array2::from_shape_fn((size, size), |(i, j)| T::from_f64(f64::from((size - i + 2) % size == j)));
    let half = size / 2;
    let saddle = Array2::from_shape_fn((2 * half, 2 * half), |(i, j)| {
        let inside = i < half && j < half;
        T::from_f64(f64::from(!inside && (i + half == j || j + half == i || (i == j && i >= half))))
    });
    let mut small = number(4);
    small.slice_mut(ndarray::s![..half, ..half]).mapv_inplace(|x| T::nearest(x.wide() * 1e-12));
    let mut sheared = Array2::from_elem((size, size).f(), T::ZERO);
    sheared.assign(&number(5));
    vec![
        ("random", number(1)),
        ("graded", graded),
        ("Hilbert", hilbert),
        ("permutation", permutation),
        ("saddle", saddle),
        ("small leading block", small),
        ("column-major", sheared),
    ]
}

/// A Hermitian positive definite matrix.
pub(super) fn positive<T: Scalar>(seed: u64, size: usize) -> Array2<T> {
    let a = random::<T>(seed, size, size);
    let mut product = super::reference::product(&a, &super::reference::adjoint(&a));
    for i in 0..size {
        product[[i, i]] = T::nearest(product[[i, i]].wide() + size as f64);
    }
    product
}
