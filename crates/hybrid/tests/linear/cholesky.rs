//! F6: Cholesky's factorisation.

use super::layouts::{FORMS, Layout, Stored};
use super::numbers::{identity, positive, random};
use super::places;
use super::reference::{adjoint, exact, norm, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::linear::{Cholesky, Place, Scalar, log_determinant};
use tilewright_hybrid::{Complex32, Complex64, Error};

fn factors<T: Scalar>(place: &Place) {
    for size in [1, 2, 17, 64, 129] {
        let a = positive::<T>(1, size);
        // What is above the diagonal is not read.
        let mut lower = a.clone();
        lower.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, x)| *x = T::from_f64(f64::NAN));
        let cholesky = Cholesky::factor(place, (&lower).into()).unwrap();
        let l = cholesky.l().unwrap();
        assert!(l.indexed_iter().all(|((i, j), x)| i >= j || *x == T::ZERO), "{} {size}", T::NAME);
        assert!((0..size).all(|i| l[[i, i]].wide().re > 0.0 && l[[i, i]].wide().im == 0.0));
        let off = residual(&a, &exact::product(&wide(&l), &wide(&adjoint(&l))), norm(&a), size);
        assert!(off <= 20.0, "{} {size}: {off}", T::NAME);

        let b = random::<T>(2, size, 3);
        let x = cholesky.solve((&b).into()).unwrap();
        let off = residual(&b, &exact::product(&wide(&a), &wide(&x)), norm(&a) * norm(&x), size);
        assert!(off <= 20.0, "{} {size}: {off}", T::NAME);
        let inverse = cholesky.inverse().unwrap();
        let scale = norm(&a) * norm(&inverse);
        let off = residual(&identity::<T>(size), &exact::product(&wide(&a), &wide(&inverse)), scale, size);
        assert!(off <= 20.0, "{} {size}: {off}", T::NAME);
        let (one, other) = (cholesky.log_determinant(), log_determinant(place, (&a).into()).unwrap());
        assert!((one.log_abs - other.log_abs).abs() <= 100.0 * size as f64 * T::EPSILON, "{one:?} {other:?}");
        assert_eq!(one.sign, T::ONE);
    }
}

#[test]
fn f6_factors() {
    places::each("linear::cholesky::f6_factors", |place| {
        factors::<f32>(place);
        factors::<f64>(place);
        factors::<Complex32>(place);
        factors::<Complex64>(place);
    });
}

fn not_positive<T: Scalar>(place: &Place) {
    for size in [1, 5, 40, 90] {
        for at in [0, size / 2, size - 1] {
            let mut a = positive::<T>(3, size);
            a[[at, at]] = T::from_f64(-1.0);
            let error = Cholesky::factor(place, (&a).into()).unwrap_err();
            let expected = Error::NotPositiveDefinite { order: at + 1, size };
            assert_eq!(error.to_string(), expected.to_string(), "{}", T::NAME);
            a[[at, at]] = T::from_f64(f64::NAN);
            let error = Cholesky::factor(place, (&a).into()).unwrap_err();
            assert!(
                matches!(error, Error::NotPositiveDefinite { order, .. } if order <= at + 1),
                "{} {error}",
                T::NAME
            );
        }
    }
    let zero = Array2::from_elem((3, 3), T::ZERO);
    assert!(matches!(Cholesky::factor(place, (&zero).into()), Err(Error::NotPositiveDefinite { order: 1, size: 3 })));
}

#[test]
fn f6_matrices_that_are_not_positive_definite() {
    places::each("linear::cholesky::f6_matrices_that_are_not_positive_definite", |place| {
        not_positive::<f32>(place);
        not_positive::<f64>(place);
        not_positive::<Complex32>(place);
        not_positive::<Complex64>(place);
    });
}

/// F3, F4: views, sizes 0, and what is not square.
#[test]
fn f3_views_and_sizes() {
    places::each("linear::cholesky::f3_views_and_sizes", |place| {
        let a = positive::<Complex64>(4, 12);
        for form in FORMS {
            let stored = Stored::new(Layout::Scattered, &form.undone(&a));
            let view = stored.view();
            let cholesky = Cholesky::factor(place, form.of((&view).into())).unwrap();
            let l = cholesky.l().unwrap();
            assert!(residual(&a, &exact::product(&wide(&l), &wide(&adjoint(&l))), norm(&a), 12) <= 20.0, "{form:?}");
        }
        let empty = Cholesky::factor(place, (&Array2::<f32>::zeros((0, 0))).into()).unwrap();
        assert_eq!(empty.l().unwrap().dim(), (0, 0));
        assert_eq!(empty.solve((&Array2::zeros((0, 2))).into()).unwrap().dim(), (0, 2));
        let error = Cholesky::factor(place, (&random::<f32>(1, 2, 3)).into()).unwrap_err();
        assert!(matches!(error, Error::NotSquare { .. }));
    });
}
