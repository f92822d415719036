//! The largest eigenvalues of Hermitian matrices, by products alone, wherever they lie.

use super::Device;
use super::banded::Factors;
use super::multiplicand::Multiplicand;
use super::operand::{Goal, Operand, Target};
use crate::Error;
use crate::linear::{HermitianEigen, Multiply, Precision, Scalar};
use crate::matrix::{Columns, Dense, Rows, Shape};
use crate::stream::{self, EigenSearch};
use ndarray::Array2;

const OPERATION: &str = "largest_eigenvalues";

impl Device {
    /// The `count` largest eigenvalues of a Hermitian matrix, smallest first, and their eigenvectors, by block Krylov spaces with restarts, as
    /// [`stream::largest_eigenvalues`](crate::stream::largest_eigenvalues) has them. Of the matrix nothing but products is asked, each with `count + 8` vectors, so that it lies anywhere, as
    /// operands of [`matmul`](Device::matmul) do, and may be larger than memory and than the GPU's. Each product is decided, recorded and, where it fails on the GPU, done on the CPU for itself.
    /// All of the matrix is read, both triangles.
    ///
    /// The CPU keeps eighteen times as many vectors of the matrix's height, and four squares of four times their number, which take the budget of host memory ([`falling_back_within`](Device::falling_back_within)). Progress is told in products, of as
    /// many as `search` has.
    ///
    /// [`Error::NotSquare`]; [`Error::Shape`] for more eigenvalues than there are; [`Error::NotConverged`], where the largest ones stand close to the next; [`Error::NotFinite`]; those of products.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use tilewright_hybrid::{Device, stream::EigenSearch};
    ///
    /// let a = Array2::from_diag_elem(40, 1.0) + Array2::<f64>::ones((40, 40));
    /// let found = Device::auto().largest_eigenvalues::<f64>((&a).into(), 1, EigenSearch::default())?;
    /// assert!((found.values[0] - 41.0).abs() < 1e-9);
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn largest_eigenvalues<T: Scalar + Multiplicand + Multiply<Factor = T>>(
        &self,
        a: Operand<'_, T>,
        count: usize,
        search: EigenSearch,
    ) -> Result<HermitianEigen<T>, Error> {
        let size = a.shape().square(OPERATION)?;
        let bytes = stream::elements_of_search(size, count).saturating_mul(size_of::<T>());
        let _host = self.host.try_acquire(bytes as u64)?;
        let control = self.watched.control();
        // Each product counts its own steps.
        let quiet = Device { watched: self.watched.quiet(), ..self.clone() };
        let mut done = 0;
        stream::largest_by_products(size, count, search, |block: &Array2<T>| {
            let mut image = Dense::zeros(Shape::new(Rows(size), Columns(block.ncols())))?;
            let factors = Factors {
                operation: OPERATION,
                precision: Precision::Auto,
                alpha: T::ONE,
                a,
                b: block.into(),
                beta: T::ZERO,
                batch: None,
            };
            quiet.multiply(factors, Target(Goal::New(image.view_mut())))?;
            done += 1;
            control.tell(done, search.products as u64);
            Ok(image.into_array())
        })
    }
}
