//! Triangular systems, and products whose results are Hermitian.

use super::{Blas, Coefficient, NOT_SUPPORTED, by_kind, check};
use crate::Error;
use crate::blas::{Diagonal, Kind, Matrix, MatrixMut, Operation, Scalar, Side, Triangle, expect};

fn size(extent: usize) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}

impl Blas {
    /// x with `op(a) x = alpha b`, or `x op(a) = alpha b`, in place of `b`.
    pub(crate) fn trsm<T: Scalar>(
        &self,
        side: Side,
        triangle: Triangle,
        diagonal: Diagonal,
        alpha: T,
        (operation, a): (Operation, &Matrix<'_, T>),
        b: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let (matrix, right) = (a.layout(), b.layout());
        expect("trsm", "columns of a", matrix.rows, matrix.columns)?;
        match side {
            Side::Left => expect("trsm", "rows of b", matrix.rows, right.rows)?,
            Side::Right => expect("trsm", "columns of b", matrix.rows, right.columns)?,
        }
        self.context.bind()?;
        let alpha = Coefficient(alpha);
        let (a, b) = (a.address() as *const T, b.address() as *mut T);
        // SAFETY: the layouts lie in their buffers, which are borrowed until here and given back in an order behind this; extents fit.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasStrsm_v2_64, cublasDtrsm_v2_64, cublasCtrsm_v2_64, cublasZtrsm_v2_64],
                (
                    side.into(),
                    triangle.into(),
                    operation.into(),
                    diagonal.into(),
                    size(right.rows),
                    size(right.columns),
                    alpha.cast(),
                    a.cast(),
                    size(matrix.leading),
                    b.cast(),
                    size(right.leading),
                )
            )
        }
    }

    /// A triangle of `c = alpha a adjoint(a) + beta c`, or of `alpha adjoint(a) a + beta c` where the operation is the adjoint.
    pub(crate) fn herk<T: Scalar>(
        &self,
        triangle: Triangle,
        alpha: T::Magnitude,
        (operation, a): (Operation, &Matrix<'_, T>),
        beta: T::Magnitude,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let (from, to) = (a.layout(), c.layout());
        let (order, depth) = match operation {
            Operation::Plain => (from.rows, from.columns),
            Operation::Transposed | Operation::Adjoint => (from.columns, from.rows),
        };
        expect("herk", "rows of c", order, to.rows)?;
        expect("herk", "columns of c", order, to.columns)?;
        // Real routines call it transposed, complex ones know the adjoint alone.
        let operation = match (operation, T::KIND) {
            (Operation::Plain, _) => Operation::Plain,
            (_, Kind::C64 | Kind::C128) => Operation::Adjoint,
            _ => Operation::Transposed,
        };
        self.context.bind()?;
        let (alpha, beta) = (Coefficient(alpha), Coefficient(beta));
        let (a, c) = (a.address() as *const T, c.address() as *mut T);
        // SAFETY: as in `trsm`; alpha and beta are real, as these routines want them.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasSsyrk_v2_64, cublasDsyrk_v2_64, cublasCherk_v2_64, cublasZherk_v2_64],
                (
                    triangle.into(),
                    operation.into(),
                    size(order),
                    size(depth),
                    alpha.cast(),
                    a.cast(),
                    size(from.leading),
                    beta.cast(),
                    c.cast(),
                    size(to.leading),
                )
            )
        }
    }
}
