//! Factors that are kept, and what is asked of them.

use super::Device;
use super::operand::{Operand, Target};
use super::placed::{is_copied, unstreamed};
use super::run::Ran;
use super::solved::solving;
use super::target::OnItsWay;
use super::verbs::array;
use crate::budget::Permit;
use crate::dispatch::{Job, Verb};
use crate::linear::{Cholesky, Given, Lu, Made, Place, Qr, Scalar};
use crate::matrix::{Columns, Rows, Shape};
use crate::{Error, Side};
use ndarray::Array2;
use std::cell::RefCell;
use std::ops::Deref;

/// Factors, where they were computed: on a GPU they take memory of its budget for as long as they are kept. Those of a matrix that is larger
/// than that are computed by the GPU and kept in host memory.
///
/// What is asked of them here leaves a decision, as operations of the [`Device`] that made them do: it is computed where they are ([`Reason::Kept`](crate::dispatch::Reason::Kept)), within
/// its budgets; right-hand sides lie anywhere, and a solution stays on the GPU where it is wanted there. Where the GPU lacks memory for it, the factors come to the host and the CPU goes on, as the
/// policy says; those on a GPU that is lost are lost. What they are themselves ([`Lu::l`], [`Lu::permutation`], [`Qr::r`], [`Lu::determinant`]) is read from where they are.
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::{Device, dispatch::{Reason, last_decision}};
///
/// let lu = Device::auto().lu((&array![[2.0, 1.0], [4.0, 4.0]]).into())?;
/// for b in [array![[3.0], [8.0]], array![[0.0], [4.0]]] {
///     let x = lu.solve((&b).into())?;
///     assert_eq!(b, array![[2.0, 1.0], [4.0, 4.0]].dot(&x));
///     assert_eq!(last_decision().unwrap().reason, Reason::Kept);
/// }
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
#[derive(Debug)]
pub struct Factored<F> {
    device: Device,
    factors: F,
    side: Side,
    _permit: Option<Permit>,
}

impl<F> Factored<F> {
    /// The processor that they are on.
    pub fn side(&self) -> Side {
        self.side
    }
}

impl<F> Deref for Factored<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.factors
    }
}

/// Factors of some kind.
pub trait Kept: Sized {
    /// The verb that makes them.
    const BY: Verb;

    /// Of the matrix.
    fn shape(&self) -> Shape;

    fn side(&self) -> Side;

    /// The same in host memory; nothing where they are there.
    fn to_host(&self) -> Result<Option<Self>, Error>;
}

macro_rules! kept {
    ($($factors:ident by $verb:ident of $shape:expr;)*) => { $(
        impl<T: Scalar> Kept for $factors<T> {
            const BY: Verb = Verb::$verb;

            fn shape(&self) -> Shape {
                let of: fn(&Self) -> Shape = $shape;
                of(self)
            }

            fn side(&self) -> Side {
                $factors::side(self)
            }

            fn to_host(&self) -> Result<Option<Self>, Error> {
                $factors::to_host(self)
            }
        }
    )* };
}

kept! {
    Lu by Lu of Lu::shape;
    Cholesky by Cholesky of |it| Shape::new(Rows(it.size()), Columns(it.size()));
    Qr by Qr of Qr::shape;
}

impl<F: Kept> Factored<F> {
    pub(super) fn new(device: &Device, Ran { value, permit }: Ran<F>) -> Self {
        Factored { device: device.clone(), side: value.side(), factors: value, _permit: permit }
    }

    /// What a verb asks of them, less what made them.
    fn job<T: Scalar>(&self, verb: Verb, b: &[Operand<'_, T>]) -> Result<Job, Error> {
        let right = b.first().map_or(Columns(0), |b| b.shape().columns);
        let mut job = Job::by_factors::<T>([verb, F::BY], (self.factors.shape(), self.side), right)?;
        self.device.place(&mut job, b)?;
        b.iter().try_for_each(|b| is_copied(&mut job, b, false))?;
        Ok(job)
    }

    /// Has them compute, where they are or, where that cannot, in host memory.
    fn ask<T: Scalar, R, const N: usize>(
        &self,
        (mut job, mut on_its_way): (Job, OnItsWay),
        b: [Operand<'_, T>; N],
        mut compute: impl FnMut(&F, [Given<'_, T>; N]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        if self.side == Side::Gpu {
            // Factors that come to the host take its memory when they come.
            let bytes = self.factors.shape().bytes::<T>()?.0 as u64;
            job.host_bytes = job.host_bytes.saturating_sub(bytes);
            on_its_way.by_cpu = on_its_way.by_cpu.saturating_add(bytes);
        }
        let whole = |place: &Place, b: [Given<'_, T>; N]| match place {
            Place::Gpu(_) => compute(&self.factors, b),
            Place::Cpu => match self.factors.to_host()? {
                Some(here) => compute(&here, b),
                None => compute(&self.factors, b),
            },
        };
        self.device.placed((&job, on_its_way), b, whole, unstreamed).map(|ran| ran.value)
    }

    /// Has them compute what is handed over.
    fn given<T: Scalar, R, const N: usize>(
        &self,
        verb: Verb,
        b: [Operand<'_, T>; N],
        compute: impl FnMut(&F, [Given<'_, T>; N]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.ask((self.job(verb, &b)?, OnItsWay::NOTHING), b, compute)
    }

    /// Has them compute what is put where it is wanted.
    fn put<T: Scalar, const N: usize>(
        &self,
        verb: Verb,
        b: [Operand<'_, T>; N],
        x: Target<'_, T>,
        compute: impl Fn(&F, [Given<'_, T>; N]) -> Result<Made<T>, Error>,
    ) -> Result<(), Error> {
        let (mut job, on_its_way) = (self.job(verb, &b)?, x.on_its_way()?);
        x.wanted_by(&mut job, self.device.ordinal())?;
        // The result is taken when it is made.
        job.host_bytes = job.host_bytes.saturating_sub(on_its_way.by_cpu);
        let x = RefCell::new(x);
        self.ask((job, on_its_way), b, |factors, b| x.borrow_mut().put(compute(factors, b)?))
    }

    /// Has them solve for `b`, or for the identity, into x.
    fn solved_into<T: Scalar>(
        &self,
        b: Operand<'_, T>,
        x: Target<'_, T>,
        solve: impl Fn(&F, Given<'_, T>) -> Result<Made<T>, Error>,
        invert: impl Fn(&F) -> Result<Made<T>, Error>,
    ) -> Result<(), Error> {
        let verb = solving(self.factors.shape(), &b, &x)?;
        match verb {
            Verb::Inverse => self.put(verb, [], x, |factors, []| invert(factors)),
            _ => self.put(verb, [b], x, |factors, [b]| solve(factors, b)),
        }
    }
}

impl<T: Scalar> Factored<Lu<T>> {
    /// x with `a x = b`, for all columns of `b`, wherever it lies. Errors are those of [`Lu::solve`].
    pub fn solve(&self, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        self.given(Verb::Solve, [b], |lu, [b]| lu.solution(b).and_then(array))
    }

    /// The same, wherever x is wanted; with the identity for `b` ([`Operand::identity`]) x is the inverse. A sink is committed when the result is whole, and what lies on the GPU is changed
    /// then. [`Error::Unsupported`] for other diagonals.
    pub fn solve_into(&self, b: Operand<'_, T>, x: Target<'_, T>) -> Result<(), Error> {
        self.solved_into(b, x, Lu::solution, Lu::inverted)
    }

    /// x with `conjugate(transpose(a)) x = b`.
    pub fn solve_adjoint(&self, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        self.given(Verb::Solve, [b], |lu, [b]| lu.solution_of_adjoint(b).and_then(array))
    }

    /// The inverse of the matrix that was factored.
    pub fn inverse(&self) -> Result<Array2<T>, Error> {
        self.given::<T, _, 0>(Verb::Inverse, [], |lu, []| lu.inverted().and_then(array))
    }

    /// An estimate of the reciprocal condition ([`linear::reciprocal_condition`](crate::linear::reciprocal_condition)).
    pub fn reciprocal_condition(&self) -> Result<f64, Error> {
        self.given::<T, _, 0>(Verb::Condition, [], |lu, []| lu.reciprocal_condition())
    }
}

impl<T: Scalar> Factored<Cholesky<T>> {
    /// x with `a x = b`, for all columns of `b`, wherever it lies. Errors are those of [`Cholesky::solve`].
    pub fn solve(&self, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        self.given(Verb::Solve, [b], |cholesky, [b]| cholesky.solution(b).and_then(array))
    }

    /// The same, wherever x is wanted, as of LU factors.
    pub fn solve_into(&self, b: Operand<'_, T>, x: Target<'_, T>) -> Result<(), Error> {
        self.solved_into(b, x, Cholesky::solution, Cholesky::inverted)
    }

    /// The inverse of the matrix that was factored.
    pub fn inverse(&self) -> Result<Array2<T>, Error> {
        self.given::<T, _, 0>(Verb::Inverse, [], |cholesky, []| cholesky.inverted().and_then(array))
    }
}

impl<T: Scalar> Factored<Qr<T>> {
    /// x that makes `b - a x` smallest, wherever `b` lies. Errors are those of [`linear::least_squares`](crate::linear::least_squares).
    pub fn least_squares(&self, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        self.given(Verb::LeastSquares, [b], |qr, [b]| qr.least_squares_of(b))
    }

    /// Q, of as many columns as the matrix has, or rows, if those are fewer.
    pub fn q(&self) -> Result<Array2<T>, Error> {
        self.given::<T, _, 0>(Verb::Orthogonal, [], |qr, []| qr.q())
    }
}
