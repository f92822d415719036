//! Products of matrices and vectors.

use super::Device;
use super::asked::{asked, integers, planned};
use super::banded::Factors;
use super::multiplicand::Multiplicand;
use super::operand::{Goal, Operand, Target};
use super::product::Multiplication;
use super::stacked::Products;
use crate::dispatch::{Decision, Job};
use crate::linear::{IntegerElement, Overflow, Place, Precision, matmul_batched, matmul_integer};
use crate::matrix::{Dense, Element, Shape, expect};
use crate::{Error, MatMut, MatRef};
use ndarray::Array2;

impl Device {
    /// Where a product of an `a` and a `b` of these shapes in host memory would run, why, and what that is expected to take: bytes, tiles,
    /// times. Computes nothing, and leaves no record. `reads_c` says whether something is added.
    pub fn plan_matmul<T: Multiplicand>(
        &self,
        precision: Precision,
        [a, b]: [Shape; 2],
        reads_c: bool,
    ) -> Result<Decision, Error> {
        self.plan(&planned::<T>(precision, [a, b], reads_c)?)
    }

    /// The same of any operands, wherever they lie: [`matmul`](Device::matmul) decides so. Reads none of them.
    pub fn plan_product<T: Multiplicand>(
        &self,
        precision: Precision,
        [a, b]: [Operand<'_, T>; 2],
        beta: T::Factor,
        c: &Target<'_, T>,
    ) -> Result<Decision, Error> {
        self.plan(&asked("matmul", precision, [&a, &b], beta != T::Factor::ZERO, c)?)
    }

    /// `c = alpha * a * b + beta * c`, as [`crate::linear::matmul`] has it, on the processor that is expected to be faster. Operands may lie
    /// in host memory, in page-locked memory, in files, or on the GPU, where `c` stays if it is there; only what is elsewhere is moved. A factor that is known by its
    /// diagonal ([`Operand::diagonal`], [`Operand::identity`]) scales rows or columns, and moves nothing.
    ///
    /// What does not fit into the GPU's memory is streamed through it. Nothing of a `c` in host memory is changed before the result is
    /// whole; what fails on the GPU is tried with smaller tiles, then on the CPU, as the policy says. What is multiplied into a `c` on the GPU
    /// is queued there, not waited for.
    ///
    /// What is stored ([`Source`](crate::store::Source), [`Sink`](crate::store::Sink)) is streamed through the GPU however small it is, and on
    /// the CPU read in parts that fit into the budget of host memory ([`falling_back_within`](Device::falling_back_within)). A sink is
    /// committed when the result is whole. Products with something on the GPU are not streamed: for the GPU stored operands are
    /// read whole then. Halves and products in f64 of smaller types are gathered where they fit, else streamed as f32 and as f64. [`Error::Unsupported`] where `beta` is not 0 and nobody said what a sink is to be added
    /// to ([`Target::updating`]).
    ///
    /// ```
    /// use tilewright_hybrid::linear::Precision;
    /// use tilewright_hybrid::store::{Element, NpySink, NpySource, Order, Sink};
    /// use tilewright_hybrid::{Device, dispatch};
    ///
    /// # let folder = std::env::temp_dir().join(format!("tilewright-stored-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let [a, c] = ["a.npy", "c.npy"].map(|name| folder.join(name));
    /// # let ones = NpySink::create(&a, &[300, 200], Element::F64, Order::C)?;
    /// # ones.write_tile(&ones.extents().whole(), bytemuck::cast_slice(&[1.0f64; 60_000]))?;
    /// # Box::new(ones).commit()?;
    /// let x = ndarray::Array2::<f64>::ones((200, 4));
    /// let (a, product) = (NpySource::open(&a)?, NpySink::create(&c, &[300, 4], Element::F64, Order::C)?);
    /// Device::auto().matmul(Precision::Auto, 1.0, (&a).into(), (&x).into(), 0.0, product.into())?; // whole, or not there
    /// println!("{}", dispatch::last_decision().unwrap());
    /// # use tilewright_hybrid::store::ReadTyped;
    /// let mut row = [0.0f64; 4];
    /// NpySource::open(&c)?.read(&tilewright_hybrid::store::Tile { rows: 7..8, columns: 0..4 }, &mut row)?;
    /// assert_eq!(row, [200.0; 4]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn matmul<T: Multiplicand>(
        &self,
        precision: Precision,
        alpha: T::Factor,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        beta: T::Factor,
        c: Target<'_, T>,
    ) -> Result<(), Error> {
        self.multiply(Factors { operation: "matmul", precision, alpha, a, b, beta }, c)
    }

    /// `a * b` as a new array, with the element type's own precision.
    pub fn product<T: Multiplicand>(&self, a: Operand<'_, T>, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        let mut c = Dense::zeros(Shape::new(a.shape().rows, b.shape().columns))?;
        self.matmul(Precision::Auto, T::Factor::ONE, a, b, T::Factor::ZERO, Target(Goal::New(c.view_mut())))?;
        Ok(c.into_array())
    }

    /// `y = alpha * a * x + beta * y`, where `x` and `y` are matrices of one column. As [`matmul`](Device::matmul) otherwise.
    pub fn matvec<T: Multiplicand>(
        &self,
        precision: Precision,
        alpha: T::Factor,
        a: Operand<'_, T>,
        x: Operand<'_, T>,
        beta: T::Factor,
        y: Target<'_, T>,
    ) -> Result<(), Error> {
        let operation = "matvec";
        expect(operation, "columns of x", 1, x.shape().columns.0)?;
        expect(operation, "columns of y", 1, y.shape().columns.0)?;
        self.multiply(Factors { operation, precision, alpha, a, b: x, beta }, y)
    }

    /// `c = c + alpha * x * transpose(y)`, where `x` and `y` are matrices of one column. As [`matmul`](Device::matmul) otherwise.
    pub fn outer<T: Multiplicand>(
        &self,
        alpha: T::Factor,
        x: Operand<'_, T>,
        y: Operand<'_, T>,
        c: Target<'_, T>,
    ) -> Result<(), Error> {
        let (operation, precision, beta) = ("outer", Precision::Auto, T::Factor::ONE);
        expect(operation, "columns of x", 1, x.shape().columns.0)?;
        expect(operation, "columns of y", 1, y.shape().columns.0)?;
        self.multiply(Factors { operation, precision, alpha, a: x, b: y.t(), beta }, c)
    }

    pub(super) fn multiply<T: Multiplicand>(&self, factors: Factors<'_, T>, c: Target<'_, T>) -> Result<(), Error> {
        let product = Multiplication { factors, c, host: self.host.clone() };
        let mut job = product.job()?;
        if product.is_elsewhere(self.ordinal()) {
            job.not_on_gpu = Some("an operand lies on another GPU");
        }
        self.run(&job, product).map(|ran| ran.value)
    }

    /// `c[i] = alpha * a[i] * b[i] + beta * c[i]` for all i, as [`crate::linear::matmul_batched`] has it. Where `b` are vectors, what does not fit into the GPU's
    /// memory goes through it in panels, as of [`matvec_batched`](Device::matvec_batched); other batches stay on the CPU then.
    pub fn matmul_batched<T: Multiplicand>(
        &self,
        precision: Precision,
        alpha: T::Factor,
        a: &[MatRef<'_, T>],
        b: &[MatRef<'_, T>],
        beta: T::Factor,
        c: &mut [MatMut<'_, T>],
    ) -> Result<(), Error> {
        let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else {
            return matmul_batched(&Place::Cpu, precision, alpha, a, b, beta, c);
        };
        let one = planned::<T>(precision, [first_a.shape(), first_b.shape()], beta != T::Factor::ZERO)?;
        let is_streamed = one.divisible.is_some();
        let products = Products { precision, alpha, a, b, beta, c };
        let divisible = products.divisible().filter(|_| is_streamed);
        let job = Job { operation: "matmul_batched", divisible, ..one.repeated(a.len()) };
        self.run(&job, products).map(|ran| ran.value)
    }

    /// `c = a * b` of integers, exactly, as [`crate::linear::matmul_integer`] has it. A GPU multiplies i8 where no sum can overflow.
    pub fn matmul_integer<T: IntegerElement>(
        &self,
        overflow: Overflow,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        mut c: MatMut<'_, T::Sum>,
    ) -> Result<(), Error> {
        let job = integers::<T>(a.shape(), b.shape())?;
        self.run(&job, |place: &_| matmul_integer(place, overflow, a, b, c.reborrow())).map(|ran| ran.value)
    }
}
