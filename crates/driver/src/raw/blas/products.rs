//! Products, sums and copies of matrices. Extents are checked here, because on them depends which memory is read and written.

use std::ffi::c_void;

use cudarc::cublas::sys::*;

use super::{Blas, Coefficient, NOT_SUPPORTED, by_kind, check, data_type};
use crate::Error;
use crate::blas::{Compute, Element, Kind, Layout, Matrix, MatrixMut, Operation, Scalar, Side, expect};

/// A matrix, as it enters a product.
pub(crate) struct Gemm<'a, 'b, T: Element> {
    pub(crate) compute: Compute,
    pub(crate) alpha: T::Coefficient,
    pub(crate) a: (Operation, &'a Matrix<'b, T>),
    pub(crate) b: (Operation, &'a Matrix<'b, T>),
    pub(crate) beta: T::Coefficient,
}

fn shape((operation, layout): (Operation, Layout)) -> [usize; 2] {
    match operation {
        Operation::Plain => [layout.rows, layout.columns],
        Operation::Transposed | Operation::Adjoint => [layout.columns, layout.rows],
    }
}

fn size(extent: usize) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}

fn compute_type(kind: Kind, compute: Compute) -> cublasComputeType_t {
    match (kind, compute) {
        (Kind::F64 | Kind::C128, Compute::Emulated { .. }) => {
            cublasComputeType_t::CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
        }
        (Kind::F64 | Kind::C128, _) => cublasComputeType_t::CUBLAS_COMPUTE_64F,
        (Kind::I8 | Kind::I32, _) => cublasComputeType_t::CUBLAS_COMPUTE_32I,
        (Kind::F32 | Kind::C64, Compute::Tf32) => cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
        (Kind::F32 | Kind::C64, Compute::Bf16) => cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_16BF,
        _ => cublasComputeType_t::CUBLAS_COMPUTE_32F,
    }
}

impl<T: Element> Gemm<'_, '_, T> {
    /// m, n and k of a product that fits `c`.
    fn extents(&self, call: &'static str, c: Layout) -> Result<[i64; 3], Error> {
        let [m, k] = shape((self.a.0, self.a.1.layout()));
        let [rows, n] = shape((self.b.0, self.b.1.layout()));
        expect(call, "rows of b", k, rows)?;
        expect(call, "rows of c", m, c.rows)?;
        expect(call, "columns of c", n, c.columns)?;
        Ok([m, n, k].map(size))
    }
}

impl Blas {
    /// What products are computed in is partly the handle's.
    fn computing(
        &self,
        (kind, compute): (Kind, Compute),
        product: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.context.bind()?;
        match (kind, compute) {
            (Kind::F64 | Kind::C128, Compute::Emulated { mantissa_bits }) => self.emulating(mantissa_bits, product),
            _ => product(),
        }
    }

    /// `c = alpha a b + beta c`.
    pub(crate) fn gemm<T: Element>(&self, gemm: &Gemm<'_, '_, T>, c: &mut MatrixMut<'_, T::Sum>) -> Result<(), Error> {
        let [m, n, k] = gemm.extents("gemm", c.layout())?;
        let (a, b) = (gemm.a.1, gemm.b.1);
        let (alpha, beta) = (Coefficient(gemm.alpha), Coefficient(gemm.beta));
        // SAFETY: the layouts lie in their buffers, which are borrowed until here and given back in an order behind the product; the extents
        // fit each other. The types are those of the elements, and of alpha and beta for them (`Element`).
        let product = || unsafe {
            (self.library.table.cublasGemmEx_64)(
                self.handle.0,
                gemm.a.0.into(),
                gemm.b.0.into(),
                m,
                n,
                k,
                alpha.cast(),
                a.address() as *const c_void,
                data_type(T::KIND),
                size(a.layout().leading),
                b.address() as *const c_void,
                data_type(T::KIND),
                size(b.layout().leading),
                beta.cast(),
                c.address() as *mut c_void,
                data_type(T::SUM),
                size(c.layout().leading),
                compute_type(T::KIND, gemm.compute),
                cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
            )
        };
        self.computing((T::KIND, gemm.compute), || check("cublasGemmEx_64", product()))
    }

    /// The same for `count` matrices, which lie in their buffers `strides` elements apart.
    pub(crate) fn gemm_batched<T: Element>(
        &self,
        gemm: &Gemm<'_, '_, T>,
        c: &mut MatrixMut<'_, T::Sum>,
        count: usize,
        strides: [usize; 3],
    ) -> Result<(), Error> {
        let call = "gemm_batched";
        let [m, n, k] = gemm.extents(call, c.layout())?;
        let (a, b) = (gemm.a.1, gemm.b.1);
        let last = |stride: usize| count.saturating_sub(1).saturating_mul(stride);
        a.spans(call, "the length of the buffer of a", last(strides[0]))?;
        b.spans(call, "the length of the buffer of b", last(strides[1]))?;
        c.spans(call, "the length of the buffer of c", last(strides[2]))?;
        let least = c.layout().leading.saturating_mul(c.layout().columns);
        if count > 1 && strides[2] < least {
            return Err(Error::Matrix { call, what: "the stride of c", expected: least, got: strides[2] });
        }
        let (alpha, beta) = (Coefficient(gemm.alpha), Coefficient(gemm.beta));
        let [stride_a, stride_b, stride_c] = strides.map(size);
        // SAFETY: as in `gemm`, also for the last matrices; those of c do not overlap.
        let product = || unsafe {
            (self.library.table.cublasGemmStridedBatchedEx_64)(
                self.handle.0,
                gemm.a.0.into(),
                gemm.b.0.into(),
                m,
                n,
                k,
                alpha.cast(),
                a.address() as *const c_void,
                data_type(T::KIND),
                size(a.layout().leading),
                stride_a,
                b.address() as *const c_void,
                data_type(T::KIND),
                size(b.layout().leading),
                stride_b,
                beta.cast(),
                c.address() as *mut c_void,
                data_type(T::SUM),
                size(c.layout().leading),
                stride_c,
                size(count),
                compute_type(T::KIND, gemm.compute),
                cublasGemmAlgo_t::CUBLAS_GEMM_DFALT,
            )
        };
        self.computing((T::KIND, gemm.compute), || check("cublasGemmStridedBatchedEx_64", product()))
    }

    /// `y = alpha a x + beta y`; `x` and `y` are matrices of one column.
    pub(crate) fn gemv<T: Scalar>(
        &self,
        alpha: T,
        (operation, a): (Operation, &Matrix<'_, T>),
        x: &Matrix<'_, T>,
        beta: T,
        y: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let [rows, columns] = shape((operation, a.layout()));
        for (what, expected, got) in [
            ("rows of x", columns, x.layout().rows),
            ("rows of y", rows, y.layout().rows),
            ("columns of x", 1, x.layout().columns),
            ("columns of y", 1, y.layout().columns),
        ] {
            expect("gemv", what, expected, got)?;
        }
        self.context.bind()?;
        let (m, n, lda) = (size(a.layout().rows), size(a.layout().columns), size(a.layout().leading));
        let (alpha, beta) = (Coefficient(alpha), Coefficient(beta));
        let (a, x, y) = (a.address() as *const T, x.address() as *const T, y.address() as *mut T);
        // SAFETY: as in `gemm`.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasSgemv_v2_64, cublasDgemv_v2_64, cublasCgemv_v2_64, cublasZgemv_v2_64],
                (operation.into(), m, n, alpha.cast(), a.cast(), lda, x.cast(), 1, beta.cast(), y.cast(), 1)
            )
        }
    }

    /// `a = a + alpha x transpose(y)`, or with the conjugate of `y` where the operation is the adjoint.
    pub(crate) fn ger<T: Scalar>(
        &self,
        alpha: T,
        x: &Matrix<'_, T>,
        (operation, y): (Operation, &Matrix<'_, T>),
        a: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        for (what, expected, got) in [
            ("rows of x", a.layout().rows, x.layout().rows),
            ("rows of y", a.layout().columns, y.layout().rows),
            ("columns of x", 1, x.layout().columns),
            ("columns of y", 1, y.layout().columns),
        ] {
            expect("ger", what, expected, got)?;
        }
        self.context.bind()?;
        let (m, n, lda) = (size(a.layout().rows), size(a.layout().columns), size(a.layout().leading));
        let alpha = Coefficient(alpha);
        let (a, x, y) = (a.address() as *mut T, x.address() as *const T, y.address() as *const T);
        // SAFETY: as in `gemm`.
        unsafe {
            match operation {
                Operation::Adjoint => by_kind!(
                    self,
                    T::KIND,
                    [cublasSger_v2_64, cublasDger_v2_64, cublasCgerc_v2_64, cublasZgerc_v2_64],
                    (m, n, alpha.cast(), x.cast(), 1, y.cast(), 1, a.cast(), lda)
                ),
                Operation::Plain | Operation::Transposed => by_kind!(
                    self,
                    T::KIND,
                    [cublasSger_v2_64, cublasDger_v2_64, cublasCgeru_v2_64, cublasZgeru_v2_64],
                    (m, n, alpha.cast(), x.cast(), 1, y.cast(), 1, a.cast(), lda)
                ),
            }
        }
    }

    /// `c = alpha op(a) + beta c`.
    pub(crate) fn add_scaled<T: Scalar>(
        &self,
        alpha: T,
        (operation, a): (Operation, &Matrix<'_, T>),
        beta: T,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let ([rows, columns], to) = (shape((operation, a.layout())), c.layout());
        expect("add_scaled", "rows of c", rows, to.rows)?;
        expect("add_scaled", "columns of c", columns, to.columns)?;
        self.context.bind()?;
        let (beta, alpha) = (Coefficient(beta), Coefficient(alpha));
        let (from, lda, target, ldc) = (a.address() as *const T, a.layout().leading, c.address() as *mut T, to.leading);
        // The other summand may be c itself, as it is stored there; times 0 geam does not read it.
        // SAFETY: as in `gemm`.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasSgeam_64, cublasDgeam_64, cublasCgeam_64, cublasZgeam_64],
                (
                    operation.into(),
                    cublasOperation_t::CUBLAS_OP_N,
                    size(rows),
                    size(columns),
                    alpha.cast(),
                    from.cast(),
                    size(lda),
                    beta.cast(),
                    target.cast_const().cast(),
                    size(ldc),
                    target.cast(),
                    size(ldc),
                )
            )
        }
    }

    /// `c = diag(x) a` from the left, `c = a diag(x)` from the right; `x` is a matrix of one column.
    pub(crate) fn scale_lines<T: Scalar>(
        &self,
        side: Side,
        a: &Matrix<'_, T>,
        x: &Matrix<'_, T>,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let (from, to) = (a.layout(), c.layout());
        let lines = if side == Side::Left { from.rows } else { from.columns };
        for (what, expected, got) in [
            ("rows of x", lines, x.layout().rows),
            ("columns of x", 1, x.layout().columns),
            ("rows of c", from.rows, to.rows),
            ("columns of c", from.columns, to.columns),
        ] {
            expect("scale_lines", what, expected, got)?;
        }
        self.context.bind()?;
        let (m, n, lda, ldc) = (size(from.rows), size(from.columns), size(from.leading), size(to.leading));
        let (a, x, c) = (a.address() as *const T, x.address() as *const T, c.address() as *mut T);
        // SAFETY: as in `gemm`.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasSdgmm_64, cublasDdgmm_64, cublasCdgmm_64, cublasZdgmm_64],
                (side.into(), m, n, a.cast(), lda, x.cast(), 1, c.cast(), ldc)
            )
        }
    }

    /// `c = by * c`, `c = 0` for 0.
    pub(crate) fn scale<T: Scalar>(&self, by: T, c: &mut MatrixMut<'_, T>) -> Result<(), Error> {
        self.context.bind()?;
        let (by, zero) = (Coefficient(by), Coefficient(T::zeroed()));
        let (target, layout) = (c.address() as *mut T, c.layout());
        let (plain, ldc) = (cublasOperation_t::CUBLAS_OP_N, size(layout.leading));
        // Both summands are `c` itself, as it is stored there; times 0 geam does not read one.
        // SAFETY: as in `gemm`.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasSgeam_64, cublasDgeam_64, cublasCgeam_64, cublasZgeam_64],
                (
                    plain,
                    plain,
                    size(layout.rows),
                    size(layout.columns),
                    by.cast(),
                    target.cast_const().cast(),
                    ldc,
                    zero.cast(),
                    target.cast_const().cast(),
                    ldc,
                    target.cast(),
                    ldc,
                )
            )
        }
    }

    /// The diagonal of `a` into a matrix of one column.
    pub(crate) fn diagonal<T: Scalar>(&self, a: &Matrix<'_, T>, to: &mut MatrixMut<'_, T>) -> Result<(), Error> {
        let (from, length) = (a.layout(), a.layout().rows.min(a.layout().columns));
        expect("diagonal", "rows of the result", length, to.layout().rows)?;
        expect("diagonal", "columns of the result", 1, to.layout().columns)?;
        self.context.bind()?;
        let (source, target) = (a.address() as *const T, to.address() as *mut T);
        // SAFETY: as in `gemm`; a step of one column and one row ends at the last of the diagonal.
        unsafe {
            by_kind!(
                self,
                T::KIND,
                [cublasScopy_v2_64, cublasDcopy_v2_64, cublasCcopy_v2_64, cublasZcopy_v2_64],
                (size(length), source.cast(), size(from.leading) + 1, target.cast(), 1)
            )
        }
    }
}
