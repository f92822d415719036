//! cuBLAS: products of matrices on a device, and what goes with them, by its 64-bit interfaces.
//!
//! The library is looked for when a [`Blas`] is first made, where NVRTC is looked for ([`toolkit::nvrtc`](crate::toolkit::nvrtc)) and in
//! Python's wheels; without it that is [`Error::NoLibrary`], and everything else goes on. Matrices are stored column by column. What is stored
//! row by row is the transposed matrix.
//!
//! ```no_run
//! use tilewright_driver::Device;
//! use tilewright_driver::blas::{Blas, Compute, Layout, Matrix, MatrixMut, Operation};
//!
//! let stream = Device::new(0)?.stream()?;
//! let blas = Blas::new(&stream)?;
//! let (a, b) = (stream.upload(&[1.0_f32, 3.0, 2.0, 4.0])?, stream.upload(&[5.0_f32, 6.0])?);
//! let mut c = stream.alloc::<f32>(2)?;
//! let (a, b) = (Matrix::new(&a, Layout::dense(2, 2))?, Matrix::new(&b, Layout::dense(2, 1))?);
//! let result = MatrixMut::new(&mut c, Layout::dense(2, 1))?;
//! blas.gemm(Compute::Own, 1.0, (Operation::Plain, a), (Operation::Plain, b), 0.0, result)?;
//! assert_eq!(c.to_vec()?, [17.0, 39.0]);
//! # Ok::<(), tilewright_driver::Error>(())
//! ```

mod element;
mod matrix;

pub use element::{Element, Kind, Scalar};
pub(crate) use matrix::expect;
pub use matrix::{Layout, Matrix, MatrixMut};

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{Error, Stream, libraries::Library, once::Once, raw, toolkit::places::Wanted};

/// What is done to a matrix before it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Nothing.
    Plain,
    /// It is transposed.
    Transposed,
    /// It is transposed and conjugated.
    Adjoint,
}

/// What products are computed in, of the types that have more than one way; each ignores those of others. Halves have one, with sums in f32, and i8 in i32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compute {
    /// The type's own arithmetic.
    #[default]
    Own,
    /// Factors of f32 and c64 may be rounded to TF32.
    Tf32,
    /// Factors of f32 and c64 may be rounded to bf16.
    Bf16,
    /// Factors of f64 and c128 become integers of a fixed point, whose products tensor cores add exactly: of each row of the first and each column of
    /// the second so many bits below its largest element are kept. What cuBLAS does not emulate on a device is computed in f64. Infinities and NaN
    /// go through. [`Error::OldLibrary`] before cuBLAS 13.1, which is of CUDA 13.0 update 2; memory for the integers is the library's own.
    Emulated {
        /// Bits that are kept, besides the sign.
        mantissa_bits: u32,
    },
}

/// A triangle of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above it.
    Upper,
}

/// The diagonal of a triangular matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Diagonal {
    /// As it is stored.
    Stored,
    /// Ones, whatever is stored.
    Ones,
}

/// Where a triangular matrix stands beside an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

static LIBRARY: Library = Library {
    name: "cuBLAS",
    wanted: Wanted {
        stem: "cublas",
        names: &["libcublas.so.13", "libcublas.so.12", "libcublas.so"],
        package: "nvidia-cublas",
        wheel_folders: ["nvidia/cu13/lib", "nvidia/cublas/lib"],
    },
    behind: 0,
    needs: &["cublasLt"],
};

pub(crate) fn library() -> Result<&'static raw::BlasLibrary, Error> {
    static LOADED: Once<raw::BlasLibrary> = Once::new();
    LIBRARY.find(&LOADED, raw::BlasLibrary::open)
}

/// The functions of cuBLAS that tilewright calls; each has been there since CUDA 12.0. A library that lacks one is passed over.
pub fn required_symbols() -> impl Iterator<Item = &'static str> {
    raw::BlasLibrary::symbols().iter().copied()
}

/// cuBLAS on a stream. Calls queue work and return; they run behind what is queued on the streams that the buffers came from, and later work
/// there runs behind them. Threads that share one take turns.
pub struct Blas {
    raw: Mutex<raw::Blas>,
    stream: Stream,
}

impl Blas {
    /// A handle. The first of a process takes about 0.1 s.
    pub fn new(stream: &Stream) -> Result<Self, Error> {
        let raw = raw::Blas::create(library()?, &stream.raw).map_err(|error| stream.explained(error))?;
        Ok(Self { raw: Mutex::new(raw), stream: stream.clone() })
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// `10000 * major + 100 * minor + patch` of cuBLAS.
    pub fn version(&self) -> Result<i32, Error> {
        self.lock().version()
    }

    /// Whether products can be computed so: [`Error::OldLibrary`] where the library is older than what that needs.
    pub fn check(&self, compute: Compute) -> Result<(), Error> {
        match compute {
            Compute::Emulated { .. } => self.lock().check_emulation(),
            Compute::Own | Compute::Tf32 | Compute::Bf16 => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, raw::Blas> {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `c = alpha op(a) op(b) + beta c`. With `beta` 0 what is in `c` is not read.
    pub fn gemm<T: Element>(
        &self,
        compute: Compute,
        alpha: T::Coefficient,
        (op_a, a): (Operation, Matrix<'_, T>),
        (op_b, b): (Operation, Matrix<'_, T>),
        beta: T::Coefficient,
        mut c: MatrixMut<'_, T::Sum>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), b.stream(), c.stream()])?;
        let gemm = raw::Gemm { compute, alpha, a: (op_a, &a), b: (op_b, &b), beta };
        order.around(|| self.lock().gemm(&gemm, &mut c))
    }

    /// As [`gemm`](Self::gemm) for `count` matrices, those of `a`, `b` and `c` as many elements apart as `strides` says.
    #[allow(clippy::too_many_arguments, reason = "they are those of the routine")]
    pub fn gemm_batched<T: Element>(
        &self,
        compute: Compute,
        alpha: T::Coefficient,
        (op_a, a): (Operation, Matrix<'_, T>),
        (op_b, b): (Operation, Matrix<'_, T>),
        beta: T::Coefficient,
        mut c: MatrixMut<'_, T::Sum>,
        count: usize,
        strides: [usize; 3],
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), b.stream(), c.stream()])?;
        let gemm = raw::Gemm { compute, alpha, a: (op_a, &a), b: (op_b, &b), beta };
        order.around(|| self.lock().gemm_batched(&gemm, &mut c, count, strides))
    }

    /// `y = alpha op(a) x + beta y`; `x` and `y` are matrices of one column.
    pub fn gemv<T: Scalar>(
        &self,
        alpha: T,
        (operation, a): (Operation, Matrix<'_, T>),
        x: Matrix<'_, T>,
        beta: T,
        mut y: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), x.stream(), y.stream()])?;
        order.around(|| self.lock().gemv(alpha, (operation, &a), &x, beta, &mut y))
    }

    /// `a = a + alpha x transpose(y)`; with [`Operation::Adjoint`] `y` is conjugated. `x` and `y` are matrices of one column.
    pub fn ger<T: Scalar>(
        &self,
        alpha: T,
        x: Matrix<'_, T>,
        (operation, y): (Operation, Matrix<'_, T>),
        mut a: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [x.stream(), y.stream(), a.stream()])?;
        order.around(|| self.lock().ger(alpha, &x, (operation, &y), &mut a))
    }

    /// x with `op(a) x = alpha b`, in place of `b`, where `a` is a triangle of a square matrix.
    pub fn trsm<T: Scalar>(
        &self,
        (triangle, diagonal): (Triangle, Diagonal),
        alpha: T,
        (operation, a): (Operation, Matrix<'_, T>),
        mut b: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), b.stream()])?;
        order.around(|| self.lock().trsm(Side::Left, triangle, diagonal, alpha, (operation, &a), &mut b))
    }

    /// x with `x op(a) = alpha b`, in place of `b`, where `a` is a triangle of a square matrix.
    pub fn trsm_right<T: Scalar>(
        &self,
        (triangle, diagonal): (Triangle, Diagonal),
        alpha: T,
        (operation, a): (Operation, Matrix<'_, T>),
        mut b: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), b.stream()])?;
        order.around(|| self.lock().trsm(Side::Right, triangle, diagonal, alpha, (operation, &a), &mut b))
    }

    /// A triangle of `c = alpha a adjoint(a) + beta c`, or of `alpha adjoint(a) a + beta c` unless the operation is plain. The other triangle
    /// of `c` is left alone.
    pub fn herk<T: Scalar>(
        &self,
        triangle: Triangle,
        alpha: T::Magnitude,
        (operation, a): (Operation, Matrix<'_, T>),
        beta: T::Magnitude,
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), c.stream()])?;
        order.around(|| self.lock().herk(triangle, alpha, (operation, &a), beta, &mut c))
    }

    /// `c = alpha op(a)`.
    pub fn copy_scaled<T: Scalar>(
        &self,
        alpha: T,
        (operation, a): (Operation, Matrix<'_, T>),
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), c.stream()])?;
        order.around(|| self.lock().add_scaled(alpha, (operation, &a), T::zeroed(), &mut c))
    }

    /// `c = alpha op(a) + beta c`. With `beta` 0 what is in `c` is not read.
    pub fn add_scaled<T: Scalar>(
        &self,
        alpha: T,
        (operation, a): (Operation, Matrix<'_, T>),
        beta: T,
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), c.stream()])?;
        order.around(|| self.lock().add_scaled(alpha, (operation, &a), beta, &mut c))
    }

    /// Each row of `a` times an element of `x`, a matrix of one column, into `c`.
    pub fn scale_rows<T: Scalar>(
        &self,
        x: Matrix<'_, T>,
        a: Matrix<'_, T>,
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), x.stream(), c.stream()])?;
        order.around(|| self.lock().scale_lines(Side::Left, &a, &x, &mut c))
    }

    /// Each column of `a` times an element of `x`, a matrix of one column, into `c`.
    pub fn scale_columns<T: Scalar>(
        &self,
        a: Matrix<'_, T>,
        x: Matrix<'_, T>,
        mut c: MatrixMut<'_, T>,
    ) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), x.stream(), c.stream()])?;
        order.around(|| self.lock().scale_lines(Side::Right, &a, &x, &mut c))
    }

    /// Each element of `c` times a number, in place; times 0 it is 0, whatever was there: NaN too.
    pub fn scale<T: Scalar>(&self, by: T, mut c: MatrixMut<'_, T>) -> Result<(), Error> {
        let order = Order::of(&self.stream, [c.stream()])?;
        order.around(|| self.lock().scale(by, &mut c))
    }

    /// The diagonal of `a`, into a matrix of one column.
    pub fn diagonal<T: Scalar>(&self, a: Matrix<'_, T>, mut to: MatrixMut<'_, T>) -> Result<(), Error> {
        let order = Order::of(&self.stream, [a.stream(), to.stream()])?;
        order.around(|| self.lock().diagonal(&a, &mut to))
    }
}

impl fmt::Debug for Blas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blas on {:?}", self.stream)
    }
}

/// Work of a stream on memory of several.
pub(crate) struct Order<'a, const N: usize> {
    stream: &'a Stream,
    homes: [Stream; N],
}

impl<'a, const N: usize> Order<'a, N> {
    /// Memory of another device is [`Error::OtherDevice`].
    pub(crate) fn of(stream: &'a Stream, homes: [&Stream; N]) -> Result<Self, Error> {
        homes.iter().try_for_each(|home| stream.device().expect(&home.device(), "a matrix"))?;
        Ok(Self { stream, homes: homes.map(Stream::clone) })
    }

    /// The stream waits for what is queued where the memory came from, and that for the work, also with giving the memory back.
    pub(crate) fn around<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        let others = || self.homes.iter().filter(|home| home.handle() != self.stream.handle());
        for home in others() {
            self.stream.wait(&home.mark()?)?;
        }
        let result = work().map_err(|error| self.stream.explained(error));
        if others().next().is_none() {
            return result;
        }
        let ordered = self.stream.mark().and_then(|done| others().try_for_each(|home| home.wait(&done)));
        // Without the order nothing may go on before the work has ended.
        ordered.or_else(|_| self.stream.synchronize())?;
        result
    }
}
