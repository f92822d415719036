//! Products whose sums threads share.

use super::layouts::Form;
use super::matmul::assert_product;
use super::numbers::random;
use super::places;
use ndarray::Array2;
use tilewright_hybrid::linear::{Multiply, Place, Precision, Scalar, matmul};
use tilewright_hybrid::{Complex32, Complex64};

/// Sums so long, of results so few, that threads share the sums.
fn long_sums<T: Scalar + Multiply<Factor = T>>(place: &Place) {
    let alpha = T::nearest(Complex64::new(0.5, -1.25));
    for (m, k, n) in [(23, 3001, 31), (5, 5003, 83)] {
        for forms in [(Form::Plain, Form::Plain), (Form::Conjugate, Form::Adjoint)] {
            let (mut a, b, c) = (random::<T>(14, m, k), random::<T>(15, k, n), random::<T>(16, m, n));
            for beta in [T::ZERO, T::from_f64(2.0)] {
                let product = |a: &Array2<T>| {
                    let (stored_a, stored_b) = (forms.0.undone(a), forms.1.undone(&b));
                    let (matrix_a, matrix_b) = (forms.0.of((&stored_a).into()), forms.1.of((&stored_b).into()));
                    // What is there is not read where nothing of it is wanted.
                    let mut got = if beta == T::ZERO { c.mapv(|_| T::from_f64(f64::NAN)) } else { c.clone() };
                    matmul(place, Precision::Auto, alpha, matrix_a, matrix_b, beta, (&mut got).into()).unwrap();
                    got
                };
                let got = product(&a);
                assert_product(&(T::NAME, m, k, n, forms, beta), (alpha, &a, &b), (beta, &c), &got);
                assert!(got == product(&a), "the same again");
                // In the first part of the sum, and in the last: the other rows do not notice.
                let before = [a[[1, 3]], a[[2, k - 2]]];
                (a[[1, 3]], a[[2, k - 2]]) = (T::from_f64(f64::NAN), T::from_f64(f64::INFINITY));
                let special = product(&a);
                for (i, row) in special.outer_iter().enumerate() {
                    match i {
                        1 | 2 => assert!(row.iter().all(|value| !value.modulus().is_finite()), "row {i}"),
                        _ => assert!(row == got.row(i), "row {i}"),
                    }
                }
                [a[[1, 3]], a[[2, k - 2]]] = before;
            }
        }
    }
}

#[test]
fn sums_that_threads_share() {
    places::each("linear::long_sums::sums_that_threads_share", |place| {
        long_sums::<f32>(place);
        long_sums::<f64>(place);
        long_sums::<Complex32>(place);
        long_sums::<Complex64>(place);
    });
}
