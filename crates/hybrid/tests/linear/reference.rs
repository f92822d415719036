//! How far matrices are from what they should be, by sums with twice the digits of f64.

use ndarray::Array2;
use tilewright_hybrid::Complex64;
use tilewright_hybrid::linear::Scalar;
pub(super) use tilewright_hybrid_exact as exact;

pub(super) fn wide<T: Scalar>(a: &Array2<T>) -> Array2<Complex64> {
    a.mapv(Scalar::wide)
}

pub(super) fn product<T: Scalar>(a: &Array2<T>, b: &Array2<T>) -> Array2<T> {
    exact::product(&wide(a), &wide(b)).mapv(T::nearest)
}

pub(super) fn adjoint<T: Scalar>(a: &Array2<T>) -> Array2<T> {
    a.t().mapv(|x| x.conjugate())
}

/// The largest sum of absolute values in a column.
pub(super) fn norm<T: Scalar>(a: &Array2<T>) -> f64 {
    exact::norm(&wide(a))
}

/// The norm of the difference of two matrices.
pub(super) fn distance<T: Scalar>(a: &Array2<T>, b: &Array2<Complex64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    exact::norm(&(wide(a) - b))
}

/// How far the columns are from orthonormal, in units of `size * epsilon`.
pub(super) fn orthonormality<T: Scalar>(q: &Array2<T>) -> f64 {
    if q.is_empty() {
        return 0.0;
    }
    let gram = exact::product(&wide(&adjoint(q)), &wide(q));
    let identity = super::numbers::identity::<Complex64>(q.ncols());
    exact::norm(&(gram - identity)) / (q.nrows().max(q.ncols()) as f64 * T::EPSILON)
}

/// `norm(got - expected) / (norm(scale) * size * epsilon)`.
pub(super) fn residual<T: Scalar>(got: &Array2<T>, expected: &Array2<Complex64>, scale: f64, size: usize) -> f64 {
    let distance = distance(got, expected);
    if distance == 0.0 { 0.0 } else { distance / (scale * size.max(1) as f64 * T::EPSILON) }
}
