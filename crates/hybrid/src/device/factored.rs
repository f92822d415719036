//! Factors of what is stored, put where they are wanted.

use super::asked::{at, goes, is_stored};
use super::multiplicand::{Multiplicand, Streamed};
use super::operand::{Form, Goal, Operand, Target};
use super::product::{Fed, read, write};
use super::run::Route;
use super::solved::here;
use super::streamed::{self, Into};
use super::{Accelerated, Device};
use crate::budget::Budget;
use crate::dispatch::{self, At, Job, Verb};
use crate::faults::Scale;
use crate::linear::{Cholesky, Lu, Place};
use crate::matrix::{Columns, Dense, expect};
use crate::store::Extents;
use crate::stream::Control;
use crate::{Error, MatRef};
use ndarray::s;

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
    /// LU factors of `a`, which lies in host memory or is stored, as `dgetrf` leaves them: L below the diagonal of an m x n target, whose own diagonal
    /// is ones, and U on and above it. A singular matrix has such factors too ([`Pivots::singular_pivot`]).
    ///
    /// What fits is read whole. A square matrix that the GPU has no room for is streamed through it from where it is stored ([`stream::lu`](crate::stream::lu));
    /// its factors take host memory of the matrix's size until they are written: where that is short, [`Error::Budget`], and [`stream::lu`](crate::stream::lu) takes a file
    /// for them. A sink is committed when the result is whole. [`Error::Shape`] for a target of another size, [`Error::ElementType`]; [`Error::Unsupported`] for what lies on a GPU
    /// ([`Device::lu`] has factors there), and for diagonals, which are their own factors.
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
    pub fn lu_into<T: Streamed + Multiplicand>(
        &self,
        a: Operand<'_, T>,
        factors: Target<'_, T>,
    ) -> Result<Pivots, Error> {
        let whole = |place: &Place, a: MatRef<'_, T>| {
            let lu = Lu::factor(place, a)?;
            let pivots = Pivots { permutation: lu.permutation().to_vec(), singular: lu.singular_pivot() };
            Ok((lu.into_packed()?, pivots))
        };
        self.factored_into(Verb::Lu, a, factors, (whole, streamed::lu_of::<T>))
    }

    /// Cholesky's factor of `a`, which lies in host memory or is stored: L with zeros above its diagonal. As of [`Cholesky::factor`], what is above the diagonal of `a` has
    /// no influence. Where it runs, what it takes and other errors are those of [`lu_into`](Device::lu_into); [`Error::NotSquare`]; [`Error::NotPositiveDefinite`].
    pub fn cholesky_into<T: Streamed + Multiplicand>(&self, a: Operand<'_, T>, l: Target<'_, T>) -> Result<(), Error> {
        a.shape().square("Cholesky's factorisation")?;
        let whole = |place: &Place, a: MatRef<'_, T>| Ok((Cholesky::factor(place, a)?.into_l()?, ()));
        let streamed = |into: Into<'_>| Ok((streamed::cholesky_of::<T>(into)?.into_l()?, ()));
        self.factored_into(Verb::Cholesky, a, l, (whole, streamed))
    }

    fn factored_into<T: Streamed + Multiplicand, R>(
        &self,
        verb: Verb,
        a: Operand<'_, T>,
        to: Target<'_, T>,
        (whole, streamed): (
            impl FnMut(&Place, MatRef<'_, T>) -> Result<(Dense<T>, R), Error>,
            impl FnMut(Into<'_>) -> Result<(Dense<T>, R), Error>,
        ),
    ) -> Result<R, Error> {
        let (operation, shape) = (verb.name(), a.shape());
        if matches!(a.0, Form::Gpu(_) | Form::Diagonal(_)) || matches!(to.0, Goal::Gpu(_)) {
            let why = "the matrix and its factors lie in host memory or are stored; Device::lu and Device::cholesky keep factors on a GPU";
            return Err(Error::Unsupported { operation, element: T::NAME, place: "CPU and GPU", why: why.into() });
        }
        expect(operation, "rows of the factors", shape.rows.0, to.shape().rows.0)?;
        expect(operation, "columns of the factors", shape.columns.0, to.shape().columns.0)?;
        let mut job = Job::verb::<T>(verb, shape, Columns(0))?;
        // What is page-locked is gathered where it fits.
        let lies = |at| if at == At::Pinned { At::Pageable } else { at };
        let (from, bytes) = (lies(at(operation, &a)?), shape.bytes::<T>()?.0 as u64);
        job.read[0] = job.read[0].map(|it| dispatch::Operand { at: from, ..it });
        job.written = dispatch::Operand { bytes, at: lies(goes::<T>(operation, &to)?) };
        job.host_bytes = bytes.saturating_mul(2);
        self.run(&job, FactoredInto { a, to, host: self.host.clone(), whole, streamed }).map(|ran| ran.value)
    }
}

struct FactoredInto<'a, T: Multiplicand, W, S> {
    a: Operand<'a, T>,
    to: Target<'a, T>,
    host: Budget,
    whole: W,
    streamed: S,
}

/// Bytes of rows that are turned and written together.
const WRITTEN: usize = 64 << 20;

impl<T: Multiplicand, W, S> FactoredInto<'_, T, W, S> {
    /// Puts factors where they are wanted.
    fn put(&mut self, factors: Dense<T>) -> Result<(), Error> {
        let factors = factors.into_array();
        match &mut self.to.0 {
            Goal::Host(to) | Goal::New(to) => write(to, &factors),
            Goal::Stored(kept) => {
                let (rows, columns) = factors.dim();
                let grain = kept.grain().rows.max(1);
                let height = (WRITTEN / (columns * size_of::<T>()).max(1)).max(1).next_multiple_of(grain);
                for tile in Extents::new(rows, columns).tiles(Extents::new(height, columns)) {
                    kept.write(&tile, &factors.slice(s![tile.rows.clone(), ..]).as_standard_layout().to_owned())?;
                }
                kept.commit()
            }
            Goal::Gpu(_) => Ok(()),
        }
    }
}

impl<T, R, W, S> Route<R> for FactoredInto<'_, T, W, S>
where
    T: Streamed + Multiplicand,
    W: FnMut(&Place, MatRef<'_, T>) -> Result<(Dense<T>, R), Error>,
    S: FnMut(Into<'_>) -> Result<(Dense<T>, R), Error>,
{
    fn whole(&mut self, place: &Place) -> Result<R, Error> {
        let bytes = self.a.shape().bytes::<T>()?.0 as u64;
        let _permit = self.host.try_acquire(if is_stored(&self.a) { bytes.saturating_mul(2) } else { bytes })?;
        let copy = read(&self.a)?;
        let Some(a) = here(self.a, &copy) else { unreachable!("diagonals, and what is on a GPU, were refused") };
        let (factors, found) = (self.whole)(place, a)?;
        self.put(factors)?;
        Ok(found)
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<R, Error> {
        let Some(a) = Fed::of(self.a) else { return Err(gpu.lacks_room()) };
        let _host = self.host.try_acquire(self.a.shape().bytes::<T>()?.0 as u64)?;
        let (budgets, _permit) = gpu.smaller(scale)?;
        // Products alone are verified.
        let control = Control { verify: None, ..control };
        let (factors, found) = (self.streamed)(Into { a: a.factor(), gpu: &gpu.gpu, budgets: &budgets, control })?;
        self.put(factors)?;
        Ok(found)
    }
}
