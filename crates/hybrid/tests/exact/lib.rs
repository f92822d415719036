//! What the tests of tilewright-hybrid compare with: products of matrices with twice the digits of f64. A package of its own, so that it is
//! optimised where they are not.

// Tests read the code; nobody reads pages of it.
#![allow(missing_docs)]

use ndarray::Array2;
use num_complex::Complex64;

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

/// `sum of x[i] y[i]`.
fn dot<'a>(x: impl IntoIterator<Item = &'a Complex64>, y: impl IntoIterator<Item = &'a Complex64>) -> Complex64 {
    let (mut real, mut imaginary) = (Sum::default(), Sum::default());
    for (x, y) in x.into_iter().zip(y) {
        real.add_product(x.re, y.re);
        real.add_product(-x.im, y.im);
        imaginary.add_product(x.re, y.im);
        imaginary.add_product(x.im, y.re);
    }
    Complex64::new(real.value(), imaginary.value())
}

/// `a * b`.
pub fn product(a: &Array2<Complex64>, b: &Array2<Complex64>) -> Array2<Complex64> {
    assert_eq!(a.ncols(), b.nrows());
    let (rows, columns) = (a.as_standard_layout(), b.t().as_standard_layout().into_owned());
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| dot(rows.row(i), columns.row(j)))
}

/// `|a| * |b|`: what the error of a product is measured by.
pub fn product_of_sizes(a: &Array2<Complex64>, b: &Array2<Complex64>) -> Array2<f64> {
    a.mapv(Complex64::norm).dot(&b.mapv(Complex64::norm))
}

/// The largest sum of absolute values in a column.
pub fn norm(a: &Array2<Complex64>) -> f64 {
    let sums = a.columns().into_iter().map(|column| column.iter().map(|x| x.norm()).sum());
    sums.fold(0.0, f64::max)
}
