//! Norms.

use super::numbers::random;
use super::places;
use ndarray::Array2;
use tilewright_hybrid::linear::{Norm, Place, Scalar, norm};
use tilewright_hybrid::{Complex32, Complex64, MatRef};

fn check<T: Scalar>(place: &Place) {
    let a = random::<T>(1, 9, 5);
    let sums = |lines: Vec<f64>| lines.into_iter().fold(0.0, f64::max);
    let sum = |line: ndarray::ArrayView1<'_, T>| line.iter().map(|x| x.modulus()).sum::<f64>();
    let got = |kind| norm(place, kind, MatRef::from(&a)).unwrap();
    let near =
        |got: f64, expected: f64| assert!((got - expected).abs() <= 1e-5 * expected, "{} {got} {expected}", T::NAME);
    near(got(Norm::One), sums(a.columns().into_iter().map(sum).collect()));
    near(got(Norm::Infinity), sums(a.rows().into_iter().map(sum).collect()));
    near(got(Norm::Max), sums(a.iter().map(|x| x.modulus()).collect()));
    let squares: f64 = a.iter().map(|x| x.modulus().powi(2)).sum();
    near(got(Norm::Frobenius), squares.sqrt());
    let scaled = MatRef::from(&a).h().scaled(T::from_f64(-3.0));
    near(norm(place, Norm::One, scaled).unwrap(), 3.0 * got(Norm::Infinity));
    let values = tilewright_hybrid::linear::singular_values(place, (&a).into()).unwrap();
    near(got(Norm::Spectral), values[0].modulus());
    near(got(Norm::Nuclear), values.iter().map(|x| x.modulus()).sum());
}

#[test]
fn norms_are_those_of_their_definition() {
    places::each("linear::norms::norms_are_those_of_their_definition", |place| {
        check::<f32>(place);
        check::<f64>(place);
        check::<Complex32>(place);
        check::<Complex64>(place);
    });
}

#[test]
fn norms_at_the_ends_of_the_range() {
    let of = |kind, a: &Array2<f64>| norm(&Place::Cpu, kind, a.into()).unwrap();
    let large = Array2::from_elem((2, 2), 1e300);
    assert!((of(Norm::Frobenius, &large) / 2e300 - 1.0).abs() < 1e-15);
    let small = Array2::from_elem((2, 2), 1e-300);
    assert!((of(Norm::Frobenius, &small) / 2e-300 - 1.0).abs() < 1e-15);
    let mut nan = large;
    nan[[0, 1]] = f64::NAN;
    for kind in [Norm::One, Norm::Infinity, Norm::Frobenius, Norm::Max] {
        assert!(of(kind, &nan).is_nan(), "{kind:?}");
        assert_eq!(of(kind, &Array2::zeros((0, 3))), 0.0);
        assert_eq!(of(kind, &Array2::zeros((3, 2))), 0.0);
    }
}
