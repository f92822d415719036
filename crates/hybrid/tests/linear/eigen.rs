//! Eigenvalues and eigenvectors.

use super::numbers::{positive, random, square};
use super::places;
use super::reference::{adjoint, exact, norm, orthonormality, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::linear::{Place, Scalar, eigen, eigen_hermitian, eigenvalues, eigenvalues_hermitian};
use tilewright_hybrid::{Complex32, Complex64, Error};

fn hermitian<T: Scalar>(place: &Place) {
    for size in [0, 1, 2, 9, 40, 100] {
        let half = random::<T>(1, size, size);
        let mut a =
            Array2::from_shape_fn((size, size), |(i, j)| T::nearest(half[[i, j]].wide() + half[[j, i]].wide().conj()));
        let whole = a.clone();
        // What is above the diagonal is not read.
        a.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, x)| *x = T::from_f64(f64::NAN));
        let found = eigen_hermitian(place, (&a).into()).unwrap();
        assert!(found.values.windows(2).all(|pair| pair[0] <= pair[1]));
        let off = orthonormality(&found.vectors);
        assert!(off <= 40.0, "{} {size}: {off}", T::NAME);
        let scaled = Array2::from_shape_fn(found.vectors.dim(), |(i, j)| {
            T::nearest(found.vectors[[i, j]].wide() * found.values[j].wide())
        });
        let off = residual(&scaled, &exact::product(&wide(&whole), &wide(&found.vectors)), norm(&whole), size);
        assert!(off <= 20.0, "{} {size}: {off}", T::NAME);
        let values = eigenvalues_hermitian(place, (&a).into()).unwrap();
        let bound = 40.0 * size as f64 * T::EPSILON * norm(&whole);
        assert_eq!(values.len(), size);
        for (one, other) in values.iter().zip(&found.values) {
            assert!((one.wide() - other.wide()).norm() <= bound, "{} {size}", T::NAME);
        }
    }
    let values = eigenvalues_hermitian(place, (&positive::<T>(2, 30)).into()).unwrap();
    assert!(values.iter().all(|value| value.wide().re > 0.0));
}

#[test]
fn hermitian_matrices() {
    places::each("linear::eigen::hermitian_matrices", |place| {
        hermitian::<f32>(place);
        hermitian::<f64>(place);
        hermitian::<Complex32>(place);
        hermitian::<Complex64>(place);
    });
}

fn check_general<T: Scalar>(place: &Place, name: &str, a: &Array2<T>) {
    let found = match eigen(place, a.into()) {
        Err(Error::Unsupported { place: "GPU", .. }) => return,
        found => found.unwrap(),
    };
    let size = a.nrows();
    assert_eq!((found.values.len(), found.vectors.dim()), (size, (size, size)));
    let scaled = Array2::from_shape_fn((size, size), |(i, j)| {
        T::Complex::nearest(found.vectors[[i, j]].wide() * found.values[j].wide())
    });
    let off = residual(&scaled, &exact::product(&wide(a), &wide(&found.vectors)), norm(a), size);
    // Graded matrices in f32 are the worst, with 64.
    assert!(off <= 100.0, "{} {name} {size}: {off}", T::NAME);
    for column in found.vectors.columns() {
        let length = column.iter().map(|x| x.modulus()).fold(0.0, f64::hypot);
        assert!((length - 1.0).abs() < 100.0 * T::EPSILON, "{length}");
    }
    let trace: Complex64 = a.diag().iter().map(|x| x.wide()).sum();
    let sum: Complex64 = eigenvalues(place, a.into()).unwrap().iter().map(|x| x.wide()).sum();
    assert!((trace - sum).norm() <= 40.0 * size as f64 * T::EPSILON * norm(a), "{} {name}: {trace} {sum}", T::NAME);
}

fn general<T: Scalar>(place: &Place) {
    for size in [0, 1, 2, 3, 10, 61] {
        check_general(place, "random", &random::<T>(3, size, size));
    }
    square::<T>(24).iter().for_each(|(name, a)| check_general(place, name, a));
    let rotation = ndarray::arr2(&[[0.0, -1.0], [1.0, 0.0]]).mapv(T::from_f64);
    if let Ok(values) = eigenvalues(place, (&rotation).into()) {
        let mut parts: Vec<_> = values.iter().map(|x| x.wide().im).collect();
        parts.sort_by(f64::total_cmp);
        assert!((parts[0] + 1.0).abs() < 1e-6 && (parts[1] - 1.0).abs() < 1e-6, "{values:?}");
    }
}

#[test]
fn general_matrices() {
    places::each("linear::eigen::general_matrices", |place| {
        general::<f32>(place);
        general::<f64>(place);
        general::<Complex32>(place);
        general::<Complex64>(place);
    });
}

#[test]
fn what_is_not_finite_is_refused() {
    places::each("linear::eigen::what_is_not_finite_is_refused", |place| {
        for special in [f64::NAN, f64::INFINITY] {
            let mut a = random::<f64>(1, 6, 6);
            a[[4, 2]] = special;
            let refused =
                |error: Error| assert!(matches!(error, Error::NotFinite { row: 4, column: 2, .. }), "{error}");
            refused(eigen(place, (&a).into()).unwrap_err());
            refused(eigenvalues(place, (&a).into()).unwrap_err());
            refused(eigen_hermitian(place, (&a).into()).unwrap_err());
            refused(eigenvalues_hermitian(place, (&a).into()).unwrap_err());
            refused(tilewright_hybrid::linear::svd(place, (&a).into()).unwrap_err());
            let twisted = adjoint(&a);
            assert!(tilewright_hybrid::linear::singular_values(place, (&twisted).into()).is_err());
        }
        let error = eigen(place, (&random::<f64>(1, 2, 3)).into()).unwrap_err();
        assert!(matches!(error, Error::NotSquare { .. }));
    });
}
