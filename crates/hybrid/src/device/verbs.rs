//! Linear algebra on whichever processor is expected to be faster: each verb of [`linear`], without a place.

use super::Device;
use super::run::Route;
use super::solution::Solution;
use super::streamed::{self, ByFactors, Through};
use crate::budget::Permit;
use crate::dispatch::{At, Job, Operand, Unit, Verb};
use crate::linear::{self, Cholesky, Eigen, HermitianEigen, LogDeterminant, Lu, Norm, Place, Qr, Scalar, Svd};
use crate::linear::{Refinable, Refined, Refinement};
use crate::matrix::{Columns, Shape};
use crate::{Error, MatRef, Side};
use ndarray::Array2;
use std::ops::Deref;

/// Factors, where they were computed: on a GPU they take memory of its budget for as long as they are kept. Those of a matrix that is larger
/// than that are computed by the GPU and kept in host memory.
///
/// What is asked of them (solutions, inverses, conditions) is computed where they are, and fails there if the device does.
#[derive(Debug)]
pub struct Factored<F> {
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

/// Results and errors are those of [`linear`]; each call leaves a decision ([`last_decision`](crate::dispatch::last_decision)). What fails on
/// the GPU for a lack of memory or by a fault of the device is computed on the CPU, as the policy says, from operands that nothing changed.
impl Device {
    /// LU factors ([`Lu::factor`]).
    pub fn lu<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Factored<Lu<T>>, Error> {
        let whole = |place: &Place| Lu::factor(place, a);
        self.factored(Verb::Lu, a, ByFactors { a, whole, streamed: streamed::lu }, Lu::side)
    }

    /// Cholesky's factor ([`Cholesky::factor`]).
    pub fn cholesky<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Factored<Cholesky<T>>, Error> {
        let whole = |place: &Place| Cholesky::factor(place, a);
        self.factored(Verb::Cholesky, a, ByFactors { a, whole, streamed: streamed::cholesky }, Cholesky::side)
    }

    /// QR factors ([`Qr::factor`]).
    pub fn qr<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Factored<Qr<T>>, Error> {
        self.factored(Verb::Qr, a, |place: &_| Qr::factor(place, a), Qr::side)
    }

    /// x with `a x = b` ([`linear::solve`]).
    pub fn solve<T: Scalar>(&self, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.with_right(Verb::Solve, a, b, Solution { a, b: Some(b) })
    }

    /// The same by factors in the smaller type, corrected ([`linear::solve_refined`]).
    pub fn solve_refined<T: Refinable>(
        &self,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        options: Refinement,
    ) -> Result<Refined<T>, Error> {
        self.with_right(Verb::SolveRefined, a, b, |place: &_| linear::solve_refined(place, a, b, options))
    }

    /// x with `a x = b` as precisely as [`solve`](Device::solve), in whichever way is expected to be faster: by factors of the element type, or
    /// by factors in f32 that are corrected ([`solve_refined`](Device::solve_refined)), which pays where f64 is far slower than f32. Where
    /// corrections do not converge, the former follows.
    pub fn solve_auto<T: Refinable>(&self, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        let seconds = |verb| {
            let plan = self.plan(&Job::verb::<T>(verb, a.shape(), b.shape().columns)?)?;
            Ok::<_, Error>(plan.cost().wall)
        };
        if seconds(Verb::SolveRefined)? < seconds(Verb::Solve)? {
            match self.solve_refined(a, b, Refinement::default()) {
                Ok(refined) => return Ok(refined.solution),
                Err(error @ Error::NotConverged { .. }) => {
                    tracing::debug!(target: "tilewright::dispatch", %error, "solved in the element type instead");
                }
                Err(error) => return Err(error),
            }
        }
        self.solve(a, b)
    }

    /// x that makes `b - a x` smallest ([`linear::least_squares`]).
    pub fn least_squares<T: Scalar>(&self, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.with_right(Verb::LeastSquares, a, b, |place: &_| linear::least_squares(place, a, b))
    }

    /// The inverse ([`linear::inverse`]).
    pub fn inverse<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Array2<T>, Error> {
        self.of_one(Verb::Inverse, a, Solution { a, b: None })
    }

    /// The determinant ([`linear::determinant`]).
    pub fn determinant<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<T, Error> {
        let whole = |place: &Place| linear::determinant(place, a);
        self.of_one(
            Verb::Determinant,
            a,
            ByFactors { a, whole, streamed: |it: Through<'_, T>| streamed::lu(it)?.determinant() },
        )
    }

    /// The determinant as sign and logarithm ([`linear::log_determinant`]).
    pub fn log_determinant<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<LogDeterminant<T>, Error> {
        let whole = |place: &Place| linear::log_determinant(place, a);
        self.of_one(
            Verb::Determinant,
            a,
            ByFactors { a, whole, streamed: |it: Through<'_, T>| streamed::lu(it)?.log_determinant() },
        )
    }

    /// An estimate of the reciprocal condition ([`linear::reciprocal_condition`]).
    pub fn reciprocal_condition<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<f64, Error> {
        let whole = |place: &Place| linear::reciprocal_condition(place, a);
        let streamed = |it: Through<'_, T>| streamed::lu(it)?.reciprocal_condition();
        self.of_one(Verb::Condition, a, ByFactors { a, whole, streamed })
    }

    /// Eigenvalues and vectors of a Hermitian matrix ([`linear::eigen_hermitian`]).
    pub fn eigen_hermitian<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<HermitianEigen<T>, Error> {
        self.of_one(Verb::EigenHermitian, a, |place: &_| linear::eigen_hermitian(place, a))
    }

    /// Eigenvalues of a Hermitian matrix ([`linear::eigenvalues_hermitian`]).
    pub fn eigenvalues_hermitian<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
        self.of_one(Verb::EigenvaluesHermitian, a, |place: &_| linear::eigenvalues_hermitian(place, a))
    }

    /// Eigenvalues and vectors of a square matrix ([`linear::eigen`]).
    pub fn eigen<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Eigen<T>, Error> {
        self.of_one(Verb::Eigen, a, |place: &_| linear::eigen(place, a))
    }

    /// Eigenvalues of a square matrix ([`linear::eigenvalues`]).
    pub fn eigenvalues<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Vec<T::Complex>, Error> {
        self.of_one(Verb::Eigenvalues, a, |place: &_| linear::eigenvalues(place, a))
    }

    /// The singular value decomposition ([`linear::svd`]).
    pub fn svd<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Svd<T>, Error> {
        self.of_one(Verb::Svd, a, |place: &_| linear::svd(place, a))
    }

    /// Singular values ([`linear::singular_values`]).
    pub fn singular_values<T: Scalar>(&self, a: MatRef<'_, T>) -> Result<Vec<T::Real>, Error> {
        self.of_one(Verb::SingularValues, a, |place: &_| linear::singular_values(place, a))
    }

    /// A norm ([`linear::norm`]). Those that are sums or maxima of elements are computed on the CPU: [`Error::Unsupported`] where the GPU is
    /// asked for.
    pub fn norm<T: Scalar>(&self, kind: Norm, a: MatRef<'_, T>) -> Result<f64, Error> {
        let job = match kind {
            Norm::Spectral | Norm::Nuclear => Job::verb::<T>(Verb::SingularValues, a.shape(), Columns(0))?,
            Norm::One | Norm::Infinity | Norm::Frobenius | Norm::Max => of_elements::<T>(a.shape())?,
        };
        let job = Job { operation: "norm", ..job };
        self.run(&job, |place: &_| linear::norm(place, kind, a)).map(|ran| ran.value)
    }

    fn of_one<T: Scalar, R>(&self, verb: Verb, a: MatRef<'_, T>, route: impl Route<R>) -> Result<R, Error> {
        self.run(&Job::verb::<T>(verb, a.shape(), Columns(0))?, route).map(|ran| ran.value)
    }

    fn with_right<T: Scalar, R>(
        &self,
        verb: Verb,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        route: impl Route<R>,
    ) -> Result<R, Error> {
        self.run(&Job::verb::<T>(verb, a.shape(), b.shape().columns)?, route).map(|ran| ran.value)
    }

    fn factored<T: Scalar, F>(
        &self,
        verb: Verb,
        a: MatRef<'_, T>,
        route: impl Route<F>,
        side: impl Fn(&F) -> Side,
    ) -> Result<Factored<F>, Error> {
        let ran = self.run(&Job::verb::<T>(verb, a.shape(), Columns(0))?, route)?;
        Ok(Factored { side: side(&ran.value), factors: ran.value, _permit: ran.permit })
    }
}

/// Each element once, its absolute value, and an addition: a few operations.
fn of_elements<T: Scalar>(shape: Shape) -> Result<Job, Error> {
    let operand = |bytes| Operand { bytes, at: At::Pageable };
    let (elements, bytes) = (shape.length::<T>()?.0 as u64, shape.bytes::<T>()?.0 as u64);
    let read = [Some(operand(bytes)), None, None];
    let mut job = Job::elementwise("norm", (T::NAME, Unit::F64), (elements, 4.0), read, operand(8));
    job.not_on_gpu = Some("norms of elements are sums on the CPU");
    Ok(job)
}
