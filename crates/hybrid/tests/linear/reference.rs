//! The slow truth: loops over sums with twice the digits of f64.

use ndarray::Array2;
use tilewright_hybrid::Complex64;
use tilewright_hybrid::linear::Scalar;

/// A sum of products as an unevaluated sum of two numbers.
#[derive(Clone, Copy, Default)]
struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    fn add_product(&mut self, x: f64, y: f64) {
        let product = x * y;
        let sum = self.high + product;
        let part = sum - self.high;
        let rest = (self.high - (sum - part)) + (product - part);
        self.low += x.mul_add(y, -product) + rest;
        self.high = sum;
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

/// `sum of x[i] y[i]` of c128.
pub(super) fn dot(pairs: impl Iterator<Item = (Complex64, Complex64)>) -> Complex64 {
    let (mut real, mut imaginary) = (Sum::default(), Sum::default());
    for (x, y) in pairs {
        real.add_product(x.re, y.re);
        real.add_product(-x.im, y.im);
        imaginary.add_product(x.re, y.im);
        imaginary.add_product(x.im, y.re);
    }
    Complex64::new(real.value(), imaginary.value())
}

pub(super) fn wide<T: Scalar>(a: &Array2<T>) -> Array2<Complex64> {
    a.mapv(Scalar::wide)
}

/// `a * b` in c128.
pub(super) fn wide_product(a: &Array2<Complex64>, b: &Array2<Complex64>) -> Array2<Complex64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| dot((0..a.ncols()).map(|k| (a[[i, k]], b[[k, j]]))))
}

pub(super) fn product<T: Scalar>(a: &Array2<T>, b: &Array2<T>) -> Array2<T> {
    wide_product(&wide(a), &wide(b)).mapv(T::nearest)
}

pub(super) fn adjoint<T: Scalar>(a: &Array2<T>) -> Array2<T> {
    a.t().mapv(|x| x.conjugate())
}

/// The largest sum of absolute values in a column.
pub(super) fn norm<T: Scalar>(a: &Array2<T>) -> f64 {
    a.columns().into_iter().map(|column| column.iter().map(|x| x.modulus()).sum()).fold(0.0, f64::max)
}

/// The norm of the difference of two matrices.
pub(super) fn distance<T: Scalar>(a: &Array2<T>, b: &Array2<Complex64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    norm(&(wide(a) - b))
}

/// How far the columns are from orthonormal, in units of `size * epsilon`.
pub(super) fn orthonormality<T: Scalar>(q: &Array2<T>) -> f64 {
    if q.is_empty() {
        return 0.0;
    }
    let gram = wide_product(&wide(&adjoint(q)), &wide(q));
    let identity = super::numbers::identity::<Complex64>(q.ncols());
    norm(&(gram - identity)) / (q.nrows().max(q.ncols()) as f64 * T::EPSILON)
}

/// `norm(got - expected) / (norm(scale) * size * epsilon)`.
pub(super) fn residual<T: Scalar>(got: &Array2<T>, expected: &Array2<Complex64>, scale: f64, size: usize) -> f64 {
    let distance = distance(got, expected);
    if distance == 0.0 { 0.0 } else { distance / (scale * size.max(1) as f64 * T::EPSILON) }
}
