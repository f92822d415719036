//! The singular value decomposition.

use super::numbers::{random, square};
use super::places;
use super::reference::{adjoint, exact, norm, orthonormality, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::linear::{Place, Scalar, singular_values, svd};
use tilewright_hybrid::{Complex32, Complex64, MatRef};

fn check<T: Scalar>(place: &Place, name: &str, a: &Array2<T>) {
    let (size, what) = (a.nrows().min(a.ncols()), (T::NAME, name, a.dim()));
    let found = svd(place, a.into()).unwrap();
    assert_eq!((found.u.dim(), found.vh.dim()), ((a.nrows(), size), (size, a.ncols())), "{what:?}");
    assert!(found.values.windows(2).all(|pair| pair[0] >= pair[1]), "{what:?}");
    assert!(found.values.iter().all(|value| value.wide().re >= 0.0), "{what:?}");
    assert!(orthonormality(&found.u) <= 40.0, "{what:?}: {}", orthonormality(&found.u));
    assert!(orthonormality(&adjoint(&found.vh)) <= 40.0, "{what:?}");
    let scaled = Array2::from_shape_fn(found.u.dim(), |(i, j)| found.u[[i, j]].wide() * found.values[j].wide());
    let off = residual(a, &exact::product(&scaled, &wide(&found.vh)), norm(a), a.nrows().max(a.ncols()));
    assert!(off <= 20.0, "{what:?}: {off}");
    let values = singular_values(place, a.into()).unwrap();
    let bound = 40.0 * size as f64 * T::EPSILON * norm(a);
    assert_eq!(values.len(), size);
    for (one, other) in values.iter().zip(&found.values) {
        assert!((one.wide() - other.wide()).norm() <= bound, "{what:?}");
    }
}

fn decompositions<T: Scalar>(place: &Place) {
    for (rows, columns) in [(1, 1), (2, 2), (9, 9), (60, 20), (20, 60), (1, 8), (8, 1), (100, 90), (0, 3), (3, 0)] {
        check(place, "random", &random::<T>(1, rows, columns));
    }
    square::<T>(30).iter().for_each(|(name, a)| check(place, name, a));
    check(place, "zero", &Array2::from_elem((5, 4), T::ZERO));
    // Columns that are nearly the same, and rows.
    let near = random::<T>(5, 3000, 4).mapv(|x| T::nearest(x.wide() * (1e4 * T::EPSILON) + 1.0));
    check(place, "nearly the same", &near);
    check(place, "nearly the same", &near.t().to_owned());
}

/// In f32 faer alone would find one value, and that wrong.
#[test]
fn f1_values_of_many_rows() {
    check(&Place::Cpu, "many rows", &random::<f32>(1, 600_000, 3));
}

#[test]
fn decompositions_are_products() {
    places::each("linear::svd::decompositions_are_products", |place| {
        decompositions::<f32>(place);
        decompositions::<f64>(place);
        decompositions::<Complex32>(place);
        decompositions::<Complex64>(place);
    });
}

/// F3: a view has the decomposition of its copy.
#[test]
fn f3_views() {
    places::each("linear::svd::f3_views", |place| {
        let a = random::<Complex64>(2, 12, 7);
        let values = singular_values(place, (&a).into()).unwrap();
        let scale = Complex64::new(0.0, -2.0);
        let view = singular_values(place, MatRef::from(&a).h().scaled(scale)).unwrap();
        assert!(values.iter().zip(&view).all(|(one, other)| (2.0 * one - other).abs() < 1e-13));
    });
}
