//! Eigenvalues and singular values. Extents are checked here, because on them depends which memory is read and written.

use std::ffi::{c_schar, c_void};
use std::ptr;

use cudarc::cusolver::sys::*;

use super::{Room, Solver, data_type, size};
use crate::blas::{Element, Kind, MatrixMut, Scalar, expect};
use crate::{DeviceBuffer, Error};

fn job(wanted: bool) -> cusolverEigMode_t {
    match wanted {
        true => cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR,
        false => cusolverEigMode_t::CUSOLVER_EIG_MODE_NOVECTOR,
    }
}

impl Solver {
    /// Eigenvalues of the Hermitian matrix of which the lower triangle is given, smallest first, and in place of `a` its eigenvectors, where
    /// they are wanted. The number is 0, or of values that did not converge.
    pub(crate) fn syevd<T: Scalar>(
        &self,
        vectors: bool,
        a: &mut MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T::Magnitude>,
    ) -> Result<usize, Error> {
        let (layout, address) = (a.layout(), a.address() as *mut c_void);
        expect("syevd", "columns of a", layout.rows, layout.columns)?;
        expect("syevd", "the length of the values", layout.rows, values.len())?;
        let (n, lda, job) = (size(layout.rows), size(layout.leading), job(vectors));
        let (kind, real) = (data_type(T::KIND), data_type(T::Magnitude::KIND));
        let lower = cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;
        let (table, handle, parameters) = (&self.library.table, self.handle.0, self.parameters.0);
        let values = values.device_ptr() as *mut c_void;
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (table.cusolverDnXsyevd_bufferSize)(
                handle, parameters, job, lower, n, kind, address, lda, real, values, kind, device, host,
            )
        };
        // SAFETY: the matrix lies in its buffer, values and workspace have the sizes that the routine wants, and all are borrowed until it has
        // ended (`finish` waits).
        let runs = |work: Room| unsafe {
            (table.cusolverDnXsyevd)(
                handle,
                parameters,
                job,
                lower,
                n,
                kind,
                address,
                lda,
                real,
                values,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXsyevd_bufferSize", "cusolverDnXsyevd"], wants, runs)
    }

    /// Eigenvalues of a general matrix, whose memory is used up: n numbers, or of a real type n real parts and n imaginary ones. Right
    /// eigenvectors as LAPACK's geev has them.
    pub(crate) fn geev<T: Scalar>(
        &self,
        a: &mut MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T>,
        vectors: Option<&mut MatrixMut<'_, T>>,
    ) -> Result<usize, Error> {
        let missing = Error::OldLibrary { library: "cuSOLVER", found: None, symbol: "cusolverDnXgeev", since: "12.6" };
        let new = self.library.new.as_ref().ok_or(missing)?;
        let (layout, address, kind) = (a.layout(), a.address() as *mut c_void, data_type(T::KIND));
        let length = if matches!(T::KIND, Kind::C64 | Kind::C128) { 1 } else { 2 } * layout.rows;
        expect("geev", "columns of a", layout.rows, layout.columns)?;
        expect("geev", "the length of the values", length, values.len())?;
        let (none, right) = (job(false), job(vectors.is_some()));
        let (target, ldvr) = match vectors {
            Some(vectors) => {
                expect("geev", "rows of the vectors", layout.rows, vectors.layout().rows)?;
                expect("geev", "columns of the vectors", layout.rows, vectors.layout().columns)?;
                (vectors.address() as *mut c_void, size(vectors.layout().leading))
            }
            None => (ptr::null_mut(), size(layout.rows.max(1))),
        };
        let (n, lda, left, ldvl) = (size(layout.rows), size(layout.leading), ptr::null_mut(), size(layout.rows.max(1)));
        let (handle, parameters, values) = (self.handle.0, self.parameters.0, values.device_ptr() as *mut c_void);
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (new.cusolverDnXgeev_bufferSize)(
                handle, parameters, none, right, n, kind, address, lda, kind, values, kind, left, ldvl, kind, target,
                ldvr, kind, device, host,
            )
        };
        // SAFETY: as in `syevd`; left vectors are not asked for, and their address is not used.
        let runs = |work: Room| unsafe {
            (new.cusolverDnXgeev)(
                handle,
                parameters,
                none,
                right,
                n,
                kind,
                address,
                lda,
                kind,
                values,
                kind,
                left,
                ldvl,
                kind,
                target,
                ldvr,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXgeev_bufferSize", "cusolverDnXgeev"], wants, runs)
    }

    /// Singular values, largest first, of a matrix with at least as many rows as columns, whose memory is used up; thin U and the adjoint of V
    /// where they are wanted. The number is 0, or of values that did not converge.
    pub(crate) fn gesvd<T: Scalar>(
        &self,
        a: &mut MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T::Magnitude>,
        vectors: Option<[&mut MatrixMut<'_, T>; 2]>,
    ) -> Result<usize, Error> {
        let (layout, address, kind) = (a.layout(), a.address() as *mut c_void, data_type(T::KIND));
        let (rows, columns) = (layout.rows, layout.columns);
        if rows < columns {
            return Err(Error::Matrix { call: "gesvd", what: "rows of a", expected: columns, got: rows });
        }
        expect("gesvd", "the length of the values", columns, values.len())?;
        let which = if vectors.is_some() { b'S' } else { b'N' } as c_schar;
        let [(u, ldu), (vt, ldvt)] = match vectors {
            None => [(ptr::null_mut(), size(rows.max(1))), (ptr::null_mut(), size(columns.max(1)))],
            Some([u, vt]) => {
                for (what, expected, got) in [
                    ("rows of u", rows, u.layout().rows),
                    ("columns of u", columns, u.layout().columns),
                    ("rows of vt", columns, vt.layout().rows),
                    ("columns of vt", columns, vt.layout().columns),
                ] {
                    expect("gesvd", what, expected, got)?;
                }
                [u, vt].map(|matrix| (matrix.address() as *mut c_void, size(matrix.layout().leading)))
            }
        };
        let (m, n, lda, real) = (size(rows), size(columns), size(layout.leading), data_type(T::Magnitude::KIND));
        let (table, handle, parameters) = (&self.library.table, self.handle.0, self.parameters.0);
        let values = values.device_ptr() as *mut c_void;
        // SAFETY: handles are alive, out pointers valid.
        let wants = |device: &mut usize, host: &mut usize| unsafe {
            (table.cusolverDnXgesvd_bufferSize)(
                handle, parameters, which, which, m, n, kind, address, lda, real, values, kind, u, ldu, kind, vt, ldvt,
                kind, device, host,
            )
        };
        // SAFETY: as in `syevd`.
        let runs = |work: Room| unsafe {
            (table.cusolverDnXgesvd)(
                handle,
                parameters,
                which,
                which,
                m,
                n,
                kind,
                address,
                lda,
                real,
                values,
                kind,
                u,
                ldu,
                kind,
                vt,
                ldvt,
                kind,
                work.device,
                work.device_bytes,
                work.host,
                work.host_bytes,
                work.info,
            )
        };
        self.in_workspace(["cusolverDnXgesvd_bufferSize", "cusolverDnXgesvd"], wants, runs)
    }
}
