//! Products of matrices and vectors.

use super::Device;
use super::asked::{asked, planned};
use super::banded::Factors;
use super::multiplicand::Multiplicand;
use super::operand::{Goal, Operand, Target};
use super::product::Multiplication;
use crate::Error;
use crate::dispatch::Decision;
use crate::linear::Precision;
use crate::matrix::{Dense, Element, Shape, expect};
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
        self.plan(&asked(("matmul", self.ordinal()), precision, [&a, &b], beta != T::Factor::ZERO, c)?)
    }

    /// `c = alpha * a * b + beta * c`, as [`crate::linear::matmul`] has it, on the processor that is expected to be faster. Operands may lie
    /// in host memory, in page-locked memory, in files, or on the GPU, where `c` stays if it is there; only what is elsewhere is moved. A factor that is known by its
    /// diagonal ([`Operand::diagonal`], [`Operand::identity`]) scales rows or columns, where the other one is, and moves nothing.
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
        self.multiply(Factors { operation: "matmul", precision, alpha, a, b, beta, batch: None }, c)
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
        self.multiply(Factors { operation, precision, alpha, a, b: x, beta, batch: None }, y)
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
        self.multiply(Factors { operation, precision, alpha, a: x, b: y.t(), beta, batch: None }, c)
    }

    pub(super) fn multiply<T: Multiplicand>(&self, factors: Factors<'_, T>, c: Target<'_, T>) -> Result<(), Error> {
        let Factors { operation, precision, ref a, ref b, beta, .. } = factors;
        let mut job = asked((operation, self.ordinal()), precision, [a, b], beta != T::Factor::ZERO, &c)?;
        // Streams are what is checked.
        job.is_at_hand &= self.watched.control().verify.is_none();
        self.run(&job, Multiplication { factors, c, room: self.host_memory() }).map(|ran| ran.value)
    }
}
