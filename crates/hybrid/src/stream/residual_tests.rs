//! Solutions that are checked: right ones, and those of which an element is wrong.

use super::matmul::Factor;
use super::verify::Verify;
use crate::linear::{self, Place, Scalar};
use crate::store::{MemorySource, Stored};
use crate::{Class, Complex32, Complex64, Error};
use ndarray::Array2;

fn random<T: Scalar>(seed: usize, rows: usize, columns: usize) -> Array2<T> {
    let part = |i: usize, j: usize, by: usize| (((i * 37 + j * by + seed) * 7919 % 1009) as f64 / 504.5) - 1.0;
    Array2::from_shape_fn((rows, columns), |(i, j)| T::nearest(Complex64::new(part(i, j, 11), part(i, j, 101))))
}

fn checked<T: Scalar + Stored>(a: &Array2<T>, b: &Array2<T>, x: &Array2<T>) -> Result<f64, Error> {
    let [a, b, x] = [a, b, x].map(|it| MemorySource::new(it.view()));
    Verify::default().check_solution::<T>([Factor::plain(&a), Factor::plain(&b)], &x)
}

fn right_and_wrong<T: Scalar + Stored>() {
    for (size, columns) in [(1, 1), (2, 3), (60, 1), (90, 20)] {
        let (a, b) = (random::<T>(size, size, size), random::<T>(3, size, columns));
        let mut x = linear::solve(&Place::Cpu, (&a).into(), (&b).into()).unwrap();
        let residual = checked(&a, &b, &x).unwrap();
        assert!(residual < 1.0, "{} {size} {columns}: {residual}", T::NAME);
        // The adjoint of what is stored.
        let turned = a.t().mapv(|it| it.conjugate());
        let [of_a, of_b, of_x] = [&turned, &b, &x].map(|it| MemorySource::new(it.view()));
        Verify::default().check_solution::<T>([Factor::adjoint(&of_a), Factor::plain(&of_b)], &of_x).unwrap();
        let largest = x.iter().fold(0.0, |most: f64, it| most.max(it.modulus()));
        let before = x[[size / 2, columns / 2]];
        for wrong in [before.wide() + 1e4 * T::EPSILON * size as f64 * largest, f64::NAN.into()] {
            x[[size / 2, columns / 2]] = T::nearest(wrong);
            let error = checked(&a, &b, &x).unwrap_err();
            assert!(matches!(error, Error::WrongSolution { allowed: 16.0, size: n, .. } if n == size), "{error}");
            assert_eq!(error.class(), Class::Numeric);
            x[[size / 2, columns / 2]] = before;
        }
    }
}

#[test]
fn right_solutions_pass_and_one_wrong_element_does_not() {
    right_and_wrong::<f32>();
    right_and_wrong::<f64>();
    right_and_wrong::<Complex32>();
    right_and_wrong::<Complex64>();
}

/// Numbers near the ends of the range, and none.
#[test]
fn what_nothing_is_known_of_passes() {
    let (a, b) = (random::<f32>(1, 30, 30), random::<f32>(2, 30, 2));
    let solve = |a: &Array2<f32>, b: &Array2<f32>| linear::solve(&Place::Cpu, a.into(), b.into()).unwrap();
    for (of_a, of_b) in [(1.0, 1e-40), (1e-15, 1e-20), (1e15, 1e-25), (1e15, 1e30), (1.0, 1e20)] {
        let (a, b) = (&a * of_a, &b * of_b);
        let x = solve(&a, &b);
        checked(&a, &b, &x).unwrap_or_else(|error| panic!("{of_a} {of_b}: {error}, {:?}", x.column(0)));
    }
    checked(&a, &(&b * 0.0), &(&b * 0.0)).unwrap();
    let mut unfinished = a.clone();
    unfinished[[3, 4]] = f32::NAN;
    checked(&unfinished, &b, &solve(&unfinished, &b)).unwrap();
    let nothing = Array2::<f64>::zeros((0, 0));
    assert_eq!(checked(&nothing, &nothing, &nothing).unwrap(), 0.0);
    let misfit = checked(&a, &b, &random::<f32>(3, 30, 3)).unwrap_err();
    assert!(matches!(misfit, Error::Shape { what: "columns of x", expected: 2, got: 3, .. }), "{misfit}");
}
