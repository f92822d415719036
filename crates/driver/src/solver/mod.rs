//! cuSOLVER: factorisations, solutions and eigenvalues of dense matrices on a device, by its 64-bit interfaces where it has them.
//!
//! The library is looked for as cuBLAS is ([`blas`]), which it needs, with cuSPARSE and nvJitLink. Matrices are stored column
//! by column. Every call but [`Solver::laswp`] waits for its end, because what it finds (a pivot that is 0, a minor that is not positive) comes
//! with it.

mod exchanges;

pub use exchanges::Exchanges;

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    DeviceBuffer, Error, Stream,
    blas::{self, Matrix, MatrixMut, Operation, Order, Scalar},
    libraries::Library,
    once::Once,
    raw,
    toolkit::places::Wanted,
};

static LIBRARY: Library = Library {
    name: "cuSOLVER",
    wanted: Wanted {
        stem: "cusolver",
        names: &["libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"],
        package: "nvidia-cusolver nvidia-cublas nvidia-cusparse nvidia-nvjitlink",
        wheel_folders: ["nvidia/cu13/lib", "nvidia/cusolver/lib"],
    },
    behind: 1,
    needs: &["nvJitLink", "cusparse"],
};

fn library() -> Result<&'static raw::SolverLibrary, Error> {
    static LOADED: Once<raw::SolverLibrary> = Once::new();
    blas::library()?;
    LIBRARY.find(&LOADED, raw::SolverLibrary::open)
}

/// The functions of cuSOLVER that tilewright cannot do without; each has been there since CUDA 12.0. A library that lacks one is passed over.
pub fn required_symbols() -> impl Iterator<Item = &'static str> {
    raw::SolverLibrary::symbols().iter().copied()
}

/// How a factorisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Well.
    Done,
    /// Not so: of LU the first pivot that is 0, of Cholesky the order of the first leading minor that is not positive, both counted from 1; of
    /// eigenvalues and singular values how many did not converge.
    Stopped(usize),
}

impl From<usize> for Outcome {
    fn from(info: usize) -> Self {
        if info == 0 { Self::Done } else { Self::Stopped(info) }
    }
}

/// cuSOLVER on a stream. Calls run behind what is queued on the streams that the buffers came from. Threads that share one take turns.
pub struct Solver {
    raw: Mutex<raw::Solver>,
    stream: Stream,
}

impl Solver {
    /// A handle. The first of a process takes about 0.2 s.
    pub fn new(stream: &Stream) -> Result<Self, Error> {
        let raw = raw::Solver::create(library()?, stream.raw.clone()).map_err(|error| stream.explained(error))?;
        Ok(Self { raw: Mutex::new(raw), stream: stream.clone() })
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    fn lock(&self) -> MutexGuard<'_, raw::Solver> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `P a = L U` in place of `a`, with partial pivoting: L below the diagonal, U on and above it. At step i, counted from 0, row i and row
    /// `pivots[i] - 1` were exchanged; there are min(rows, columns) steps.
    pub fn getrf<T: Scalar>(&self, mut a: MatrixMut<'_, T>, pivots: &mut DeviceBuffer<i64>) -> Result<Outcome, Error> {
        let order = Order::of(&self.stream, [a.stream(), pivots.stream()])?;
        order.around(|| self.lock().getrf(&mut a, pivots)).map(Outcome::from)
    }

    /// Bytes of device memory that [`getrf`](Self::getrf) takes besides a matrix of these extents.
    pub fn getrf_bytes<T: Scalar>(&self, rows: usize, columns: usize) -> Result<usize, Error> {
        self.lock().getrf_bytes(T::KIND, rows, columns)
    }

    /// Exchanges rows of `a`. Queues the work and returns. Leading dimensions are below 2^31; [`Error::Matrix`] for exchanges that reach beyond
    /// the last row.
    pub fn laswp<T: Scalar>(&self, mut a: MatrixMut<'_, T>, exchanges: &Exchanges) -> Result<(), Error> {
        if exchanges.rows().is_empty() || a.layout().columns == 0 {
            return Ok(());
        }
        let order = Order::of(&self.stream, [a.stream(), exchanges.rows().stream()])?;
        order.around(|| self.lock().laswp(&mut a, exchanges))
    }

    /// x with `op(a) x = b`, in place of `b`, by the factors and pivots of [`getrf`](Self::getrf).
    pub fn getrs<T: Scalar>(
        &self,
        (operation, a): (Operation, Matrix<'_, T>),
        pivots: &DeviceBuffer<i64>,
        mut b: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), pivots.stream(), b.stream()])?;
        order.around(|| self.lock().getrs((operation, &a), pivots, &mut b)).map(drop)
    }

    /// `a = L adjoint(L)`: L in place of the lower triangle of `a`. The upper triangle is neither read nor written.
    pub fn potrf<T: Scalar>(&self, mut a: MatrixMut<'_, T>) -> Result<Outcome, Error> {
        let order = Order::of(&self.stream, [a.stream()])?;
        order.around(|| self.lock().potrf(&mut a)).map(Outcome::from)
    }

    /// x with `a x = b`, in place of `b`, by the factor of [`potrf`](Self::potrf).
    pub fn potrs<T: Scalar>(&self, a: Matrix<'_, T>, mut b: MatrixMut<'_, T>) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), b.stream()])?;
        order.around(|| self.lock().potrs(&a, &mut b)).map(drop)
    }

    /// `a = Q R` in place of `a`: R on and above the diagonal, the vectors of min(rows, columns) reflections below it, their factors in `tau`. The routine counts elements
    /// in 32 bits: [`Error::Matrix`] from 2^31 on.
    pub fn geqrf<T: Scalar>(&self, mut a: MatrixMut<'_, T>, tau: &mut DeviceBuffer<T>) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), tau.stream()])?;
        order.around(|| self.lock().geqrf(&mut a, tau)).map(drop)
    }

    /// Columns of Q in place of the reflections that [`geqrf`](Self::geqrf) left: as many as `a` has, at most its rows, at least the
    /// reflections. Elements are below 2^31.
    pub fn orgqr<T: Scalar>(&self, mut a: MatrixMut<'_, T>, tau: &DeviceBuffer<T>) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), tau.stream()])?;
        order.around(|| self.lock().orgqr(&mut a, tau)).map(drop)
    }

    /// `adjoint(Q) c` in place of `c`, by the reflections of [`geqrf`](Self::geqrf), whose elements are below 2^31. cuSOLVER wants a workspace of some
    /// 64 columns, which it counts so too: it refuses more than 2^25 rows.
    pub fn ormqr_adjoint<T: Scalar>(
        &self,
        a: Matrix<'_, T>,
        tau: &DeviceBuffer<T>,
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), tau.stream(), c.stream()])?;
        order.around(|| self.lock().ormqr_adjoint(&a, tau, &mut c)).map(drop)
    }

    /// Eigenvalues of a Hermitian matrix, smallest first, and its eigenvectors in place of `a`. Of `a` the lower triangle is read.
    pub fn syevd<T: Scalar>(
        &self,
        mut a: MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T::Magnitude>,
    ) -> Result<Outcome, Error> {
        let order = Order::of(&self.stream, [a.stream(), values.stream()])?;
        order.around(|| self.lock().syevd(true, &mut a, values)).map(Outcome::from)
    }

    /// As [`syevd`](Self::syevd), without vectors: `a` is used up.
    pub fn syevd_values<T: Scalar>(
        &self,
        mut a: MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T::Magnitude>,
    ) -> Result<Outcome, Error> {
        let order = Order::of(&self.stream, [a.stream(), values.stream()])?;
        order.around(|| self.lock().syevd(false, &mut a, values)).map(Outcome::from)
    }

    /// Eigenvalues of a square matrix, which is used up, and its right eigenvectors, if they are wanted.
    ///
    /// `values` has n numbers; of a real type 2 n, first all real parts, then all imaginary ones, and a pair of conjugates has the real and the
    /// imaginary part of the vector of the first in two columns. [`Error::OldLibrary`] before CUDA 12.6.
    pub fn geev<T: Scalar>(
        &self,
        mut a: MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T>,
        mut vectors: Option<MatrixMut<'_, T>>,
    ) -> Result<Outcome, Error> {
        let target = vectors.as_ref().map_or(a.stream(), MatrixMut::stream);
        let order = Order::of(&self.stream, [a.stream(), values.stream(), target])?;
        order.around(|| self.lock().geev(&mut a, values, vectors.as_mut())).map(Outcome::from)
    }

    /// Singular values, largest first, of a matrix with at least as many rows as columns, which is used up; with thin U and the adjoint of V,
    /// if they are wanted.
    pub fn gesvd<T: Scalar>(
        &self,
        mut a: MatrixMut<'_, T>,
        values: &mut DeviceBuffer<T::Magnitude>,
        mut vectors: Option<[MatrixMut<'_, T>; 2]>,
    ) -> Result<Outcome, Error> {
        let [u, vt] = vectors.as_ref().map_or([a.stream(); 2], |both| [both[0].stream(), both[1].stream()]);
        let order = Order::of(&self.stream, [a.stream(), values.stream(), u, vt])?;
        let run = || self.lock().gesvd(&mut a, values, vectors.as_mut().map(|both| both.each_mut()));
        order.around(run).map(Outcome::from)
    }
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solver on {:?}", self.stream)
    }
}
