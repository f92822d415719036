//! Factorisations, and solutions with factors. Extents are checked here, because on them depends which memory is read and written.

use std::ffi::{c_int, c_void};

use cudarc::cusolver::sys::*;

use super::{Room, Solver, check, data_type, operation, size};
use crate::blas::{Kind, Layout, Matrix, MatrixMut, Operation, Scalar, expect};
use crate::{DeviceBuffer, Error, solver::Exchanges};

/// The routine of each scalar type, with the same arguments: pointers are cast to what it declares.
macro_rules! by_kind {
    ($solver:expr, $kind:expr, [$s:ident, $d:ident, $c:ident, $z:ident], ($($argument:expr),* $(,)?)) => {{
        let (table, handle) = (&$solver.library.table, $solver.handle.0);
        match $kind {
            Kind::F32 => (table.$s)(handle, $($argument),*),
            Kind::F64 => (table.$d)(handle, $($argument),*),
            Kind::C64 => (table.$c)(handle, $($argument),*),
            Kind::C128 => (table.$z)(handle, $($argument),*),
            Kind::F16 | Kind::Bf16 | Kind::I8 | Kind::I32 => NOT_SUPPORTED,
        }
    }};
}

const NOT_SUPPORTED: u32 = 9;
const LOWER: cublasFillMode_t = cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

/// An extent for routines of 32 bits.
fn small(call: &'static str, what: &'static str, extent: usize) -> Result<c_int, Error> {
    let limit = c_int::MAX as usize;
    c_int::try_from(extent).map_err(|_| Error::Matrix { call, what, expected: limit, got: extent })
}

/// A matrix for routines that count its elements in 32 bits, whatever their arguments have: of more they read and write elsewhere. So does `Xgeqrf` (CUDA 13.0, H200).
fn counted(call: &'static str, layout: Layout) -> Result<(), Error> {
    let elements = layout.leading.saturating_mul(layout.columns);
    small(call, "elements of a", elements).map(drop)
}

fn smallest(layout: Layout) -> usize {
    layout.rows.min(layout.columns)
}

impl Solver {
    /// LU in place; the pivots' rows, counted from 1, into `pivots`. The number is 0, or that of the first pivot that is 0.
    pub(crate) fn getrf<T: Scalar>(
        &self,
        a: &mut MatrixMut<'_, T>,
        pivots: &mut DeviceBuffer<i64>,
    ) -> Result<usize, Error> {
        let (layout, kind, address) = (a.layout(), data_type(T::KIND), a.address() as *mut c_void);
        expect("getrf", "the length of the pivots", smallest(layout), pivots.len())?;
        let (m, n, lda) = (size(layout.rows), size(layout.columns), size(layout.leading));
        let (table, handle, parameters) = (&self.library.table, self.handle.0, self.parameters.0);
        let rows = pivots.device_ptr() as *mut i64;
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (table.cusolverDnXgetrf_bufferSize)(handle, parameters, m, n, kind, address, lda, kind, device, host)
        };
        // SAFETY: the matrix lies in its buffer, the pivots and the workspace have the sizes that the routine wants, and all are borrowed until
        // it has ended (`finish` waits).
        let runs = |work: Room| unsafe {
            (table.cusolverDnXgetrf)(
                handle,
                parameters,
                m,
                n,
                kind,
                address,
                lda,
                rows,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXgetrf_bufferSize", "cusolverDnXgetrf"], wants, runs)
    }

    /// Bytes of device memory that `getrf` takes besides the matrix.
    pub(crate) fn getrf_bytes(&self, kind: Kind, rows: usize, columns: usize) -> Result<usize, Error> {
        let (mut device, mut host, kind) = (0, 0, data_type(kind));
        // It is told apart from no address at all, and not looked at.
        let nowhere = std::ptr::without_provenance(256);
        let (m, n) = (size(rows), size(columns));
        self.context.bind()?;
        // SAFETY: handles are alive, out pointers valid; the routine computes sizes alone.
        let code = unsafe {
            (self.library.table.cusolverDnXgetrf_bufferSize)(
                self.handle.0,
                self.parameters.0,
                m,
                n,
                kind,
                nowhere,
                m.max(1),
                kind,
                &mut device,
                &mut host,
            )
        };
        check("cusolverDnXgetrf_bufferSize", code).map(|()| device)
    }

    /// Exchanges rows of `a`, one pair after the other.
    pub(crate) fn laswp<T: Scalar>(&self, a: &mut MatrixMut<'_, T>, exchanges: &Exchanges) -> Result<(), Error> {
        let layout = a.layout();
        if exchanges.reach() > layout.rows {
            let (expected, got) = (exchanges.reach(), layout.rows);
            return Err(Error::Matrix { call: "laswp", what: "the rows of a, at least", expected, got });
        }
        let (leading, last) = (
            small("laswp", "the leading dimension", layout.leading)?,
            small("laswp", "the length of the pivots", exchanges.rows().len())?,
        );
        let rows = exchanges.rows().device_ptr() as *const c_int;
        self.context.bind()?;
        // The routine may count elements by 32 bits too: it gets as many columns at a time as those hold.
        let together = (c_int::MAX as usize / layout.leading).max(1);
        for first in (0..layout.columns).step_by(together) {
            let columns = small("laswp", "columns", together.min(layout.columns - first))?;
            let address = a.address() + (first * layout.leading * size_of::<T>()) as u64;
            let part = address as *mut T;
            // SAFETY: the part lies in the matrix, which is borrowed and given back in an order behind this; no exchange reaches beyond its rows.
            let code = unsafe {
                by_kind!(
                    self,
                    T::KIND,
                    [cusolverDnSlaswp, cusolverDnDlaswp, cusolverDnClaswp, cusolverDnZlaswp],
                    (columns, part.cast(), leading, 1, last, rows, 1)
                )
            };
            check("cusolverDn<t>laswp", code)?;
        }
        Ok(())
    }

    /// x with `op(a) x = b`, in place of `b`, by what `getrf` left.
    pub(crate) fn getrs<T: Scalar>(
        &self,
        (op, a): (Operation, &Matrix<'_, T>),
        pivots: &DeviceBuffer<i64>,
        b: &mut MatrixMut<'_, T>,
    ) -> Result<usize, Error> {
        let (matrix, right, kind) = (a.layout(), b.layout(), data_type(T::KIND));
        expect("getrs", "columns of a", matrix.rows, matrix.columns)?;
        expect("getrs", "the length of the pivots", matrix.rows, pivots.len())?;
        expect("getrs", "rows of b", matrix.rows, right.rows)?;
        self.context.bind()?;
        let room = self.workspace(0, 0)?;
        // SAFETY: as in `getrf`.
        let code = unsafe {
            (self.library.table.cusolverDnXgetrs)(
                self.handle.0,
                self.parameters.0,
                operation(op),
                size(matrix.rows),
                size(right.columns),
                kind,
                a.address() as *const c_void,
                size(matrix.leading),
                pivots.device_ptr() as *const i64,
                kind,
                b.address() as *mut c_void,
                size(right.leading),
                room.info(),
            )
        };
        self.finish("cusolverDnXgetrs", code, room)
    }

    /// Cholesky of the lower triangle in place. The number is 0, or the order of the first leading minor that is not positive.
    pub(crate) fn potrf<T: Scalar>(&self, a: &mut MatrixMut<'_, T>) -> Result<usize, Error> {
        let (layout, kind, address) = (a.layout(), data_type(T::KIND), a.address() as *mut c_void);
        expect("potrf", "columns of a", layout.rows, layout.columns)?;
        let (n, lda) = (size(layout.rows), size(layout.leading));
        let (table, handle, parameters) = (&self.library.table, self.handle.0, self.parameters.0);
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (table.cusolverDnXpotrf_bufferSize)(handle, parameters, LOWER, n, kind, address, lda, kind, device, host)
        };
        // SAFETY: as in `getrf`.
        let runs = |work: Room| unsafe {
            (table.cusolverDnXpotrf)(
                handle,
                parameters,
                LOWER,
                n,
                kind,
                address,
                lda,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXpotrf_bufferSize", "cusolverDnXpotrf"], wants, runs)
    }

    /// x with `a x = b`, in place of `b`, by what `potrf` left.
    pub(crate) fn potrs<T: Scalar>(&self, a: &Matrix<'_, T>, b: &mut MatrixMut<'_, T>) -> Result<usize, Error> {
        let (matrix, right, kind) = (a.layout(), b.layout(), data_type(T::KIND));
        expect("potrs", "columns of a", matrix.rows, matrix.columns)?;
        expect("potrs", "rows of b", matrix.rows, right.rows)?;
        self.context.bind()?;
        let room = self.workspace(0, 0)?;
        // SAFETY: as in `getrf`.
        let code = unsafe {
            (self.library.table.cusolverDnXpotrs)(
                self.handle.0,
                self.parameters.0,
                LOWER,
                size(matrix.rows),
                size(right.columns),
                kind,
                a.address() as *const c_void,
                size(matrix.leading),
                kind,
                b.address() as *mut c_void,
                size(right.leading),
                room.info(),
            )
        };
        self.finish("cusolverDnXpotrs", code, room)
    }

    /// QR in place; the reflections' factors into `tau`.
    pub(crate) fn geqrf<T: Scalar>(&self, a: &mut MatrixMut<'_, T>, tau: &mut DeviceBuffer<T>) -> Result<usize, Error> {
        let (layout, kind, address) = (a.layout(), data_type(T::KIND), a.address() as *mut c_void);
        expect("geqrf", "the length of tau", smallest(layout), tau.len())?;
        counted("geqrf", layout)?;
        let (m, n, lda) = (size(layout.rows), size(layout.columns), size(layout.leading));
        let (table, handle, parameters) = (&self.library.table, self.handle.0, self.parameters.0);
        let tau = tau.device_ptr() as *mut c_void;
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (table.cusolverDnXgeqrf_bufferSize)(
                handle, parameters, m, n, kind, address, lda, kind, tau, kind, device, host,
            )
        };
        // SAFETY: as in `getrf`.
        let runs = |work: Room| unsafe {
            (table.cusolverDnXgeqrf)(
                handle,
                parameters,
                m,
                n,
                kind,
                address,
                lda,
                kind,
                tau,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXgeqrf_bufferSize", "cusolverDnXgeqrf"], wants, runs)
    }

    /// The first columns of Q in place of what `geqrf` left, as many as `a` has; at most as many as rows, at least as many as `tau`.
    pub(crate) fn orgqr<T: Scalar>(&self, a: &mut MatrixMut<'_, T>, tau: &DeviceBuffer<T>) -> Result<usize, Error> {
        let (call, layout) = ("orgqr", a.layout());
        if layout.columns > layout.rows || tau.len() > layout.columns {
            let expected = layout.rows.min(layout.columns);
            return Err(Error::Matrix { call, what: "columns of a", expected, got: layout.columns.max(tau.len()) });
        }
        counted(call, layout)?;
        let m = small(call, "rows of a", layout.rows)?;
        let n = small(call, "columns of a", layout.columns)?;
        let lda = small(call, "the leading dimension of a", layout.leading)?;
        let k = small(call, "the length of tau", tau.len())?;
        let (matrix, tau, mut wanted) = (a.address() as *mut T, tau.device_ptr() as *const T, 0);
        self.context.bind()?;
        // SAFETY: handles are alive, the out pointer valid.
        let code = unsafe {
            by_kind!(
                self,
                T::KIND,
                [
                    cusolverDnSorgqr_bufferSize,
                    cusolverDnDorgqr_bufferSize,
                    cusolverDnCungqr_bufferSize,
                    cusolverDnZungqr_bufferSize
                ],
                (m, n, k, matrix.cast_const().cast(), lda, tau.cast(), &mut wanted)
            )
        };
        check("cusolverDn<t>orgqr_bufferSize", code)?;
        let room = self.workspace(usize::try_from(wanted).unwrap_or(0).saturating_mul(size_of::<T>()), 0)?;
        // SAFETY: as in `getrf`.
        let code = unsafe {
            by_kind!(
                self,
                T::KIND,
                [cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr],
                (m, n, k, matrix.cast(), lda, tau.cast(), room.device().cast(), wanted, room.info())
            )
        };
        self.finish("cusolverDn<t>orgqr", code, room)
    }

    /// The adjoint of Q times `c`, in place of `c`, by what `geqrf` left.
    pub(crate) fn ormqr_adjoint<T: Scalar>(
        &self,
        a: &Matrix<'_, T>,
        tau: &DeviceBuffer<T>,
        c: &mut MatrixMut<'_, T>,
    ) -> Result<usize, Error> {
        let (call, from, to) = ("ormqr", a.layout(), c.layout());
        expect(call, "rows of c", from.rows, to.rows)?;
        expect(call, "the length of tau", smallest(from), tau.len())?;
        counted(call, from)?;
        let (m, n) = (small(call, "rows of c", to.rows)?, small(call, "columns of c", to.columns)?);
        let k = small(call, "the length of tau", tau.len())?;
        let lda = small(call, "the leading dimension of a", from.leading)?;
        let ldc = small(call, "the leading dimension of c", to.leading)?;
        let side = cublasSideMode_t::CUBLAS_SIDE_LEFT;
        let adjoint = match T::KIND {
            Kind::C64 | Kind::C128 => cublasOperation_t::CUBLAS_OP_C,
            _ => cublasOperation_t::CUBLAS_OP_T,
        };
        let (matrix, tau, target) = (a.address() as *const T, tau.device_ptr() as *const T, c.address() as *mut T);
        let mut wanted = 0;
        self.context.bind()?;
        // SAFETY: handles are alive, the out pointer valid.
        let code = unsafe {
            by_kind!(
                self,
                T::KIND,
                [
                    cusolverDnSormqr_bufferSize,
                    cusolverDnDormqr_bufferSize,
                    cusolverDnCunmqr_bufferSize,
                    cusolverDnZunmqr_bufferSize
                ],
                (side, adjoint, m, n, k, matrix.cast(), lda, tau.cast(), target.cast_const().cast(), ldc, &mut wanted)
            )
        };
        check("cusolverDn<t>ormqr_bufferSize", code)?;
        let room = self.workspace(usize::try_from(wanted).unwrap_or(0).saturating_mul(size_of::<T>()), 0)?;
        let (work, info) = (room.device(), room.info());
        // SAFETY: as in `getrf`.
        let code = unsafe {
            by_kind!(
                self,
                T::KIND,
                [cusolverDnSormqr, cusolverDnDormqr, cusolverDnCunmqr, cusolverDnZunmqr],
                (side, adjoint, m, n, k, matrix.cast(), lda, tau.cast(), target.cast(), ldc, work.cast(), wanted, info)
            )
        };
        self.finish("cusolverDn<t>ormqr", code, room)
    }
}
