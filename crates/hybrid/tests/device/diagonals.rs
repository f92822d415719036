//! Factors that are known by their diagonals.

use ndarray::{Array2, array};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision};
use tilewright_hybrid::linear::Precision;
use tilewright_hybrid::{Class, Complex64, Device, Multiplicand, Operand, Rows, Side};

use super::matrix;

/// A square matrix with these numbers on its diagonal.
fn full(diagonal: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((diagonal.len(), diagonal.len()), |(i, j)| if i == j { diagonal[i] } else { 0.0 })
}

fn device() -> Device {
    Device::cpu().choosing(Choice::Auto).rated(Rates::h200())
}

#[test]
fn d6_a_diagonal_scales_rows_or_columns() {
    let (left, right) = ([2.0, -3.0, 0.5, 0.0, 7.0], [1.0, 4.0, -2.0]);
    let (a, before) = (matrix(5, 3, 1), matrix(5, 3, 2));
    for (alpha, beta) in [(1.0, 0.0), (2.0, -3.0), (0.0, 2.0), (-1.0, 1.0)] {
        let start = if beta == 0.0 { Array2::from_elem((5, 3), f64::NAN) } else { before.clone() };
        let kept = if beta == 0.0 { Array2::zeros((5, 3)) } else { &before * beta };
        let mut c = start.clone();
        device().matmul(Precision::Auto, alpha, Operand::diagonal(&left), (&a).into(), beta, (&mut c).into()).unwrap();
        assert_eq!(c, full(&left).dot(&a) * alpha + &kept, "rows, {alpha} {beta}");
        let mut c = start;
        device().matmul(Precision::Auto, alpha, (&a).into(), Operand::diagonal(&right), beta, (&mut c).into()).unwrap();
        assert_eq!(c, a.dot(&full(&right)) * alpha + &kept, "columns, {alpha} {beta}");
    }
    let both = device().product(Operand::diagonal(&left).t(), Operand::identity(Rows(5))).unwrap();
    assert_eq!(both, full(&left));
}

#[test]
fn d6_an_identity_moves_nothing_and_computes_little() {
    let a = matrix(40, 60, 3);
    let same = device().product(Operand::identity(Rows(40)), (&a.t().t()).into()).unwrap();
    assert_eq!(same, a);
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::Unsupported("the CPU scales rows and columns")));
    // The matrix and the result.
    assert_eq!(decision.bytes, 8 * 2 * 40 * 60);
    let dense = Array2::from_diag(&ndarray::Array1::<f64>::ones(40));
    device().product((&dense).into(), (&a).into()).unwrap();
    assert!(last_decision().unwrap().cpu.compute > decision.cpu.compute, "a dense one is more work");
}

/// What is off the diagonal is not there; what is on it goes through the arithmetic.
#[test]
fn g12_special_numbers_meet_the_diagonal_alone() {
    let a = array![[f64::NAN, 1.0], [2.0, f64::INFINITY]];
    let c = device().product(Operand::diagonal(&[0.0, 3.0]), (&a).into()).unwrap();
    assert!(c[[0, 0]].is_nan() && c[[0, 1]] == 0.0 && c[[1, 0]] == 6.0 && c[[1, 1]] == f64::INFINITY);
}

fn of_type<T: Multiplicand>(number: fn(f64) -> T) {
    let a = matrix(4, 6, 5).mapv(number);
    let diagonal = [1.0, -2.0, 3.0, 0.5].map(number);
    let c = device().product(Operand::diagonal(&diagonal), (&a).into()).unwrap();
    let expected = full(&[1.0, -2.0, 3.0, 0.5]).dot(&matrix(4, 6, 5)).mapv(number);
    assert_eq!(c, expected, "{}", T::NAME);
}

#[test]
fn d6_diagonals_of_every_type() {
    of_type::<f32>(|x| x as f32);
    of_type::<f64>(|x| x);
    of_type::<Complex64>(|x| Complex64::new(x, 0.0));
    of_type::<half::f16>(half::f16::from_f64);
    of_type::<half::bf16>(half::bf16::from_f64);
}

#[test]
fn b1_diagonals_that_do_not_fit_are_the_users_mistake() {
    let a = matrix(5, 3, 1);
    let error = device().product(Operand::diagonal(&[1.0, 2.0]), (&a).into()).unwrap_err();
    assert_eq!(
        (error.class(), error.to_string().contains("rows of b is 5, expected 2")),
        (Class::User, true),
        "{error}"
    );
}
