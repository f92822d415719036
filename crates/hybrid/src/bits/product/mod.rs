mod blocks;
mod counted;
mod panels;
mod path;
mod tables;

use std::borrow::Cow;

use ndarray::Array2;

pub(crate) use self::counted::as_array;
pub use self::path::Path;
pub(crate) use self::tables::{Join, join_into};
use self::{counted::counted, tables::product as by_tables};
use crate::{
    Error,
    bits::{BitMatrix, elementwise::same},
};

/// A product of bit matrices on the CPU: m x k by k x n, with what shall become of the k pairs of an element.
///
/// Work is shared out over rayon's threads; results do not depend on their number, nor on the [`Path`].
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    left: &'a BitMatrix,
    right: Right<'a>,
    path: Path,
}

/// The right operand, as it was given.
#[derive(Clone, Copy, Debug)]
enum Right<'a> {
    /// k x n.
    Plain(&'a BitMatrix),
    /// n x k.
    Transposed(&'a BitMatrix),
}

impl<'a> Product<'a> {
    /// The product of `left`, m x k, and `right`, k x n.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two do not have the same k.
    pub fn of(left: &'a BitMatrix, right: &'a BitMatrix) -> Result<Self, Error> {
        same("bits::Product::of", "rows of the right matrix", left.columns(), right.rows())?;
        Ok(Self { left, right: Right::Plain(right), path: Path::best() })
    }

    /// The product of `left`, m x k, and the transpose of `right`, n x k: element (i, j) is of row i of the one and row j of the other.
    ///
    /// # Errors
    /// As [`Product::of`].
    pub fn of_rows(left: &'a BitMatrix, right: &'a BitMatrix) -> Result<Self, Error> {
        same("bits::Product::of_rows", "columns of the right matrix", left.columns(), right.columns())?;
        Ok(Self { left, right: Right::Transposed(right), path: Path::best() })
    }

    /// The same product by this path, whatever would be chosen.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this processor lacks its instructions.
    pub fn on(self, path: Path) -> Result<Self, Error> {
        path.check()?;
        Ok(Self { path, ..self })
    }

    /// How many of the k pairs are both set: the product over the integers.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if k is 2^31 or more, so that a count may not fit; [`Product::counts_i64`] holds it.
    /// [`Error::TooLarge`] if the result is more than the address space holds.
    pub fn counts(&self) -> Result<Array2<i32>, Error> {
        self.check_i32("bits::counts")?;
        self.counted(|count, _, _| count as i32)
    }

    /// As [`Product::counts`], of any k.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn counts_i64(&self) -> Result<Array2<i64>, Error> {
        self.counted(|count, _, _| count as i64)
    }

    /// As [`Product::counts`]; a count beyond 65535 is 65535.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub fn counts_u16(&self) -> Result<Array2<u16>, Error> {
        self.counted(|count, _, _| count.min(u16::MAX.into()) as u16)
    }

    /// In how many of the k places the two differ: Hamming's distance, by pop(a ^ b) = pop(a) + pop(b) - 2 pop(a & b).
    ///
    /// # Errors
    /// As [`Product::counts`].
    pub fn distances(&self) -> Result<Array2<i32>, Error> {
        self.check_i32("bits::distances")?;
        let (left, right) = (self.left.row_counts(), self.right_transposed()?.row_counts());
        self.counted(|count, row, column| (left[row] + right[column] - 2 * count) as i32)
    }

    /// Whether more than `threshold` of the k pairs are both set.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn more_than(&self, threshold: u64) -> Result<BitMatrix, Error> {
        let right = self.right_transposed()?;
        counted::more_than(self.left, &right, self.path, threshold)
    }

    /// Whether any of the k pairs is both set: the product over (OR, AND), which is reachability in two steps.
    ///
    /// By tables of all unions of 8 rows of `right` (the method of Arlazarov, Dinic, Kronrod and Faradzhev, 1970).
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn paths(&self) -> Result<BitMatrix, Error> {
        by_tables(self.left, &*self.right_plain()?, Join::Or, self.path)
    }

    /// Whether an odd number of the k pairs is both set: the product over GF(2). By tables, as [`Product::paths`].
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn parities(&self) -> Result<BitMatrix, Error> {
        by_tables(self.left, &*self.right_plain()?, Join::Xor, self.path)
    }

    /// The sum of each row of [`Product::counts_i64`], which is not stored.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn row_counts(&self) -> Result<Vec<u64>, Error> {
        let weights: Vec<u64> = match self.right {
            Right::Plain(right) => right.row_counts(),
            Right::Transposed(right) => right.column_counts(),
        };
        let sum = |row| self.left.ones_of_row(row).map(|at| weights[at]).sum();
        Ok((0..self.left.rows()).map(sum).collect())
    }

    fn counted<T: Copy + Default + Send>(
        &self,
        value: impl Fn(u64, usize, usize) -> T + Sync,
    ) -> Result<Array2<T>, Error> {
        let right = self.right_transposed()?;
        as_array(self.left.rows(), right.rows(), counted(self.left, &right, self.path, value)?)
    }

    fn check_i32(&self, operation: &'static str) -> Result<(), Error> {
        let k = self.left.columns();
        if k <= i32::MAX as usize {
            return Ok(());
        }
        let why = format!("a count of k = {k} may not fit, the limit is {}; counts_i64 holds it", i32::MAX);
        Err(Error::Unsupported { operation, element: "i32", place: "CPU", why })
    }

    fn right_transposed(&self) -> Result<Cow<'a, BitMatrix>, Error> {
        match self.right {
            Right::Plain(right) => right.transposed().map(Cow::Owned),
            Right::Transposed(right) => Ok(Cow::Borrowed(right)),
        }
    }

    fn right_plain(&self) -> Result<Cow<'a, BitMatrix>, Error> {
        match self.right {
            Right::Plain(right) => Ok(Cow::Borrowed(right)),
            Right::Transposed(right) => right.transposed().map(Cow::Owned),
        }
    }
}
