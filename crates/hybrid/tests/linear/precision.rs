//! G14: nothing less precise than the element type unless it is asked for.

use super::numbers::random;
use super::places;
use super::reference::{exact, wide};
use half::f16;
use ndarray::Array2;
use tilewright_hybrid::linear::{Multiply, Precision, Scalar, matmul};
use tilewright_hybrid::{Complex32, Complex64, Error};

fn worst<T: Scalar + Multiply<Factor = T>>(place: &tilewright_hybrid::linear::Place, precision: Precision) -> f64 {
    let (a, b) = (random::<T>(1, 64, 128), random::<T>(2, 128, 48));
    let mut c = Array2::from_elem((64, 48), T::ZERO);
    matmul(place, precision, T::ONE, (&a).into(), (&b).into(), T::ZERO, (&mut c).into()).unwrap();
    let truth = exact::product(&wide(&a), &wide(&b));
    c.iter().zip(&truth).map(|(got, truth)| (got.wide() - truth).norm()).fold(0.0, f64::max)
}

#[test]
fn g14_f32_is_f32() {
    places::each("linear::precision::g14_f32_is_f32", |place| {
        // Sums of 128 products below 1: f32 is off by some 1e-6, TF32 by some 1e-3.
        for precision in [Precision::Auto, Precision::F32] {
            assert!(worst::<f32>(place, precision) < 2e-5);
            assert!(worst::<Complex32>(place, precision) < 4e-5);
        }
        for precision in [Precision::Tf32, Precision::Bf16] {
            assert!(worst::<f32>(place, precision) < 0.3);
        }
        assert!(worst::<f32>(place, Precision::F64) < 2e-6);
        assert!(worst::<Complex32>(place, Precision::F64) < 2e-6);
        assert!(worst::<f64>(place, Precision::F64) < 1e-13);
        assert!(worst::<Complex64>(place, Precision::Auto) < 1e-13);
    });
}

/// Rounded once: every element is the f32 next to the sum in f64.
#[test]
fn g14_f64_sums_are_rounded_once() {
    places::each("linear::precision::g14_f64_sums_are_rounded_once", |place| {
        let (a, b) = (random::<f32>(3, 9, 700), random::<f32>(4, 700, 8));
        let mut c = random::<f32>(5, 9, 8);
        let before = c.clone();
        matmul(place, Precision::F64, 0.5, (&a).into(), (&b).into(), 3.0, (&mut c).into()).unwrap();
        for ((i, j), got) in c.indexed_iter() {
            let sum: f64 = (0..700).map(|k| f64::from(a[[i, k]]) * f64::from(b[[k, j]])).sum();
            let exact = 0.5 * sum + 3.0 * f64::from(before[[i, j]]);
            assert!((f64::from(*got) - exact).abs() <= 6.0e-8 * exact.abs() + 1e-12);
        }
    });
}

#[test]
fn g14_less_than_the_element_type_is_refused() {
    places::each("linear::precision::g14_less_than_the_element_type_is_refused", |place| {
        let a = random::<f64>(1, 3, 3);
        let mut c = a.clone();
        for precision in [Precision::F32, Precision::Tf32, Precision::Bf16] {
            let error = matmul(place, precision, 1.0, (&a).into(), (&a).into(), 0.0, (&mut c).into()).unwrap_err();
            assert!(matches!(error, Error::Unsupported { element: "f64", .. }), "{error}");
        }
    });
}

/// Nothing here asks for f64 that is emulated by integers of a fixed point, so nothing is: a product with a permutation is exact, whatever the exponents
/// in a row are, where numbers of a fixed point keep those near the largest one.
#[test]
fn g15_f64_is_not_emulated() {
    places::each("linear::precision::g15_f64_is_not_emulated", |place| {
        let size = 192;
        let number = random::<f64>(1, size, size);
        let a = Array2::from_shape_fn((size, size), |(i, k)| {
            number[[i, k]] * 2f64.powi((i * 7 + k * 13) as i32 % 401 - 200)
        });
        let permutation = |k: usize| (k * 5 + 3) % size;
        let b = Array2::from_shape_fn((size, size), |(k, j)| f64::from(u8::from(permutation(k) == j)));
        let mut c = Array2::from_elem((size, size), f64::NAN);
        matmul(place, Precision::Auto, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).unwrap();
        for ((i, k), value) in a.indexed_iter() {
            assert_eq!(c[[i, permutation(k)]], *value, "{i} {k}");
        }
    });
}

#[test]
fn halves_in_f64_on_the_cpu() {
    let a = random::<f64>(1, 3, 900).mapv(f16::from_f64);
    let mut c = Array2::from_elem((3, 3), f16::ZERO);
    let place = tilewright_hybrid::linear::Place::Cpu;
    let b = tilewright_hybrid::MatRef::from(&a).t();
    matmul(&place, Precision::F64, 1.0, (&a).into(), b, 0.0, (&mut c).into()).unwrap();
    for ((i, j), got) in c.indexed_iter() {
        let exact: f64 = (0..900).map(|k| a[[i, k]].to_f64() * a[[j, k]].to_f64()).sum();
        assert_eq!(*got, f16::from_f64(exact));
    }
}
