//! F5: factors in the smaller type, solutions as good as in the larger.

use super::numbers::random;
use super::places;
use super::reference::{exact, norm, residual, wide};
use ndarray::Array2;
use tilewright_hybrid::linear::{Place, Refinable, Refinement, solve_refined};
use tilewright_hybrid::{Complex64, Error};

fn refined<T: Refinable>(place: &Place) {
    for (size, columns) in [(1, 1), (20, 3), (150, 2), (0, 2), (4, 0)] {
        let (a, b) = (random::<T>(1, size, size), random::<T>(2, size, columns));
        let found = solve_refined(place, (&a).into(), (&b).into(), Refinement::default()).unwrap();
        let x = &found.solution;
        let scale = norm(&a) * norm(x) + norm(&b);
        let off = residual(&b, &exact::product(&wide(&a), &wide(x)), scale, size);
        assert!(off <= 4.0, "{} {size}: {off}", T::NAME);
        let errors = &found.backward_errors;
        assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
        assert!(errors.len() >= 2 || size * columns == 0, "{errors:?}");
    }
    // Right-hand sides beyond the range of the smaller type.
    let (a, b) = (random::<T>(3, 8, 8), random::<T>(4, 8, 1).mapv(|x| T::nearest(x.wide() * 1e60)));
    let found = solve_refined(place, (&a).into(), (&b).into(), Refinement::default()).unwrap();
    assert!(found.solution.iter().all(|x| x.is_finite()));
}

#[test]
fn f5_refined_solutions() {
    places::each("linear::refine::f5_refined_solutions", |place| {
        refined::<f64>(place);
        refined::<Complex64>(place);
    });
}

#[test]
fn f5_where_it_does_not_converge() {
    places::each("linear::refine::f5_where_it_does_not_converge", |place| {
        let hilbert = Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (i + j + 1) as f64);
        let b = random::<f64>(1, 12, 1);
        let error = solve_refined(place, (&hilbert).into(), (&b).into(), Refinement::default()).unwrap_err();
        assert!(matches!(error, Error::NotConverged { .. }), "{error}");
        let a = random::<f64>(1, 12, 12);
        let none = Refinement { iterations: 0, ..Refinement::default() };
        let error = solve_refined(place, (&a).into(), (&b).into(), none).unwrap_err();
        assert!(matches!(error, Error::NotConverged { iterations: 0, .. }), "{error}");
    });
}
