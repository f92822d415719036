//! Products of matrices and of vectors.

mod batched;
mod folded;
mod integer;
mod kind;
mod promoted;
mod vector;

pub(crate) use batched::check_batch;
pub use batched::matmul_batched;
pub use integer::{IntegerElement, Overflow, matmul_integer};
pub use kind::Multiply;
pub use vector::{matvec, outer};

pub(crate) use folded::fold;
pub(crate) use integer::kept;

use ndarray::Array2;

use super::{Place, Precision, precision::Arithmetic};
use crate::matrix::{Dense, Element, Shape, expect};
use crate::{Error, MatMut, MatRef};

const OPERATION: &str = "matmul";

/// `c = alpha * a * b + beta * c`, of any layouts.
///
/// `a` is m x k, `b` k x n, `c` m x n; f32, f64, c64, c128, and f16 and bf16 with factors in f32. Zeros, infinities and NaN of `a` and `b` go
/// through the arithmetic like other numbers (0 * NaN is NaN). With `beta` 0 what is in `c` is not read, with `alpha` 0 neither are `a` and
/// `b`. A `c` that lies where an operand does is [`Error::Aliased`], sizes that do not fit are [`Error::Shape`].
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::linear::{Place, Precision, matmul};
///
/// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0], [6.0]]);
/// let mut c = array![[1.0], [1.0]];
/// matmul(&Place::Cpu, Precision::Auto, 2.0, (&a).into(), (&b).into(), 10.0, (&mut c).into())?;
/// assert_eq!(c, array![[44.0], [88.0]]);
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
pub fn matmul<T: Multiply>(
    place: &Place,
    precision: Precision,
    alpha: T::Factor,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: T::Factor,
    c: MatMut<'_, T>,
) -> Result<(), Error> {
    let arithmetic = precision.arithmetic::<T>(OPERATION)?;
    check_shapes(OPERATION, a.shape(), b.shape(), c.shape())?;
    c.refuse_overlap(OPERATION, "a", a)?;
    c.refuse_overlap(OPERATION, "b", b)?;
    let mut product = Product { arithmetic, alpha, a, b, beta, c };
    if product.is_only_c() {
        product.scale_c();
        return Ok(());
    }
    match place {
        Place::Cpu => T::multiply_on_cpu(product),
        Place::Gpu(gpu) => T::multiply_on_gpu(gpu, product),
    }
}

/// `a * b` as a new array, with the element type's own precision.
pub fn product<T: Multiply>(place: &Place, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
    expect(OPERATION, "rows of b", a.columns(), b.rows())?;
    let mut c = Dense::zeros(Shape::new(a.shape().rows, b.shape().columns))?;
    matmul(place, Precision::Auto, T::Factor::ONE, a, b, T::Factor::ZERO, c.view_mut())?;
    Ok(c.into_array())
}

pub(crate) fn check_shapes(operation: &'static str, a: Shape, b: Shape, c: Shape) -> Result<(), Error> {
    expect(operation, "rows of b", a.columns.0, b.rows.0)?;
    expect(operation, "rows of c", a.rows.0, c.rows.0)?;
    expect(operation, "columns of c", b.columns.0, c.columns.0)
}

/// A product whose operands fit each other.
pub(crate) struct Product<'a, T: Multiply> {
    pub(crate) arithmetic: Arithmetic,
    pub(crate) alpha: T::Factor,
    pub(crate) a: MatRef<'a, T>,
    pub(crate) b: MatRef<'a, T>,
    pub(crate) beta: T::Factor,
    pub(crate) c: MatMut<'a, T>,
}

impl<T: Multiply> Product<'_, T> {
    /// The same, but transposed where `c` stands row by row without gaps: `t(c) = t(b) t(a)`, of which a GPU's result needs no rearrangement.
    pub(crate) fn by_columns(mut self) -> Self {
        let is_by_rows =
            self.c.elements().as_columns().is_none() && self.c.reborrow().t().elements().as_columns().is_some();
        match is_by_rows {
            true => Product { a: self.b.t(), b: self.a.t(), c: self.c.t(), ..self },
            false => self,
        }
    }

    /// Whether nothing of `a` and `b` enters the result.
    fn is_only_c(&self) -> bool {
        self.c.shape().is_empty() || self.a.columns() == 0 || self.alpha == T::Factor::ZERO
    }

    /// `c = beta * c`.
    pub(crate) fn scale_c(&mut self) {
        let beta = self.beta;
        if beta == T::Factor::ZERO {
            self.c.elements().fill(|_| T::ZERO);
        } else if beta != T::Factor::ONE {
            self.c.elements().update(|_, old| T::scaled_by(beta, old));
        }
    }
}
