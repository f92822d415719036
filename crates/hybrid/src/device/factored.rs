//! Factors, put where they are wanted.

use super::Device;
use super::operand::{Operand, Target};
use super::placed::{Placed, Through};
use super::streamed;
use crate::Error;
use crate::dispatch::{self, Verb};
use crate::linear::{Cholesky, Given, Lu, Made, Place, Scalar};
use crate::matrix::expect;
use std::cell::RefCell;

/// What LU factors are made with beside L and U: `P a = L U`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pivots {
    pub(super) permutation: Vec<usize>,
    pub(super) singular: Option<usize>,
}

impl Pivots {
    /// Row i of `P a` is row `permutation()[i]` of `a`.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// The first pivot, counted from 0, by which the matrix is singular, as [`Lu::singular_pivot`] has it.
    pub fn singular_pivot(&self) -> Option<usize> {
        self.singular
    }
}

impl Device {
    /// LU factors of `a`, wherever it lies, as `dgetrf` leaves them: L below the diagonal of an m x n target, whose own diagonal
    /// is ones, and U on and above it. A singular matrix has such factors too ([`Pivots::singular_pivot`]).
    ///
    /// What is stored is read whole where it fits. A square matrix that the GPU has no room for is streamed through it from where it is
    /// stored, and one that host memory holds once and not twice through the CPU ([`stream::lu`](crate::stream::lu)); its factors take host memory of the matrix's size until they are written: where that is
    /// short, [`Error::Budget`], and [`stream::lu`](crate::stream::lu) takes a file for them. They are not made in the target, which is left as it was where anything fails. A sink is committed when the result is whole,
    /// and what lies on the GPU is changed then. [`Error::Shape`] for a target of another size, [`Error::ElementType`];
    /// [`Error::Unsupported`] for diagonals, which are their own factors.
    ///
    /// ```
    /// use ndarray::array;
    /// use tilewright_hybrid::Device;
    ///
    /// let (a, mut factors) = (array![[1.0, 2.0], [4.0, 4.0]], array![[0.0, 0.0], [0.0, 0.0]]);
    /// let pivots = Device::auto().lu_into((&a).into(), (&mut factors).into())?;
    /// assert_eq!((factors, pivots.permutation()), (array![[4.0, 4.0], [0.25, 1.0]], &[1, 0][..]));
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn lu_into<T: Scalar>(&self, a: Operand<'_, T>, factors: Target<'_, T>) -> Result<Pivots, Error> {
        let whole = |place: &Place, a: Given<'_, T>| {
            let lu = Lu::of(place, a)?;
            let pivots = Pivots { permutation: lu.permutation().to_vec(), singular: lu.singular_pivot() };
            Ok((lu.into_packed(), pivots))
        };
        let streamed =
            |through: Through<'_, 1>| streamed::lu(through).map(|(factors, pivots)| (Made::Host(factors), pivots));
        self.factored_into(Verb::Lu, a, factors, whole, streamed)
    }

    /// Cholesky's factor of `a`, wherever it lies: L with zeros above its diagonal. As of [`Cholesky::factor`], what is above the diagonal of `a` has
    /// no influence. Where it runs, what it takes and other errors are those of [`lu_into`](Device::lu_into); [`Error::NotSquare`]; [`Error::NotPositiveDefinite`].
    pub fn cholesky_into<T: Scalar>(&self, a: Operand<'_, T>, l: Target<'_, T>) -> Result<(), Error> {
        a.shape().square("Cholesky's factorisation")?;
        let made = |cholesky: Cholesky<T>| Ok((cholesky.into_l()?, ()));
        let whole = |place: &Place, a: Given<'_, T>| made(Cholesky::of(place, a)?);
        self.factored_into(Verb::Cholesky, a, l, whole, |through| made(streamed::cholesky(through)?))
    }

    fn factored_into<T: Scalar, R>(
        &self,
        verb: Verb,
        a: Operand<'_, T>,
        to: Target<'_, T>,
        mut whole: impl FnMut(&Place, Given<'_, T>) -> Result<(Made<T>, R), Error>,
        mut streamed: impl FnMut(Through<'_, 1>) -> Result<(Made<T>, R), Error>,
    ) -> Result<R, Error> {
        let (operation, shape) = (verb.name(), a.shape());
        expect(operation, "rows of the factors", shape.rows.0, to.shape().rows.0)?;
        expect(operation, "columns of the factors", shape.columns.0, to.shape().columns.0)?;
        let (mut job, bytes) = (self.job(verb, &[a])?, shape.bytes::<T>()?.0 as u64);
        job.written = dispatch::Operand { bytes, ..job.written };
        to.wanted_by(&mut job, self.ordinal())?;
        // What is made of a copy of the matrix in its place is taken when it is made.
        let on_its_way = to.on_its_way()?;
        job.host_bytes = 0;
        let to = RefCell::new(to);
        let put = |(factors, found): (Made<T>, R)| to.borrow_mut().put(factors).map(|()| found);
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| whole(place, a).and_then(put);
        let streamed = |through: Through<'_, 1>| streamed(through).and_then(put);
        let route = Placed { operands: [a], scratches: self.scratches(), on_its_way, whole, streamed };
        self.run(&job, route).map(|ran| ran.value)
    }
}
