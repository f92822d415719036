//! Linear algebra on whichever processor is expected to be faster: each verb of [`linear`](crate::linear), without a place.

use super::Device;
use super::kept::{Factored, Kept};
use super::operand::{Form, Operand};
use super::placed::{Through, is_measured, passing, unstreamed};
use super::streamed::{self, in_memory};
use super::target::OnItsWay;
use crate::dispatch::{self, At, Decision, Job, Unit, Verb};
use crate::linear::{self, Cholesky, Eigen, HermitianEigen, LogDeterminant, Lu, Norm, Qr, Scalar, Svd};
use crate::linear::{Given, Made, Place, Refinable, Refined, Refinement};
use crate::matrix::Dense;
use crate::{Class, Error};
use ndarray::Array2;

/// Results and errors are those of [`linear`](crate::linear); each call leaves a decision ([`last_decision`](crate::dispatch::last_decision)). What fails
/// on the GPU for a lack of memory or by a fault of the device is computed on the CPU, as the policy says, from operands that nothing changed.
///
/// Operands lie anywhere, as those of products do. What is on the GPU is computed with there, from a copy where the verb would destroy it, and comes
/// to the host only where the CPU is chosen, with four exceptions, in parts of 64 MiB each: for the norm that conditions want ([`lu`](Device::lu),
/// [`reciprocal_condition`](Device::reciprocal_condition)), where there is no NVRTC for its kernel, or it is NaN; for [`solve_refined`](Device::solve_refined), since nothing converts on a device, where the matrix is in host
/// memory in the smaller type, and right-hand sides are too; to find which element is not finite, where one is; and to find two lines that are the same, where a pivot
/// of LU factors is so small that it may be the rounding of 0. Decisions count the second, and budgets the first two. What is stored is read whole, or, for LU and Cholesky's factors and
/// what follows from them, streamed where the GPU has no room for it, or, on the CPU, host memory none for it and its factors. What is brought to the host takes its budget, but for the two searches
/// ([`Device::falling_back_within`]): where that is short, [`Error::Budget`], or, where the GPU was chosen and not asked for, [`Error::FallbackWouldExceedBudget`] with that as its cause; nothing is
/// held against the GPU. Diagonals are [`Error::Unsupported`].
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::Device;
/// use tilewright_hybrid::store::MemorySource;
///
/// let a = array![[2.0, 0.0], [0.0, 8.0]];
/// let source = MemorySource::new(a.view()); // or an NpySource, or a DeviceMat
/// assert_eq!(Device::auto().svd::<f64>((&source).into())?.values, [8.0, 2.0]);
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
impl Device {
    /// LU factors ([`Lu::factor`]).
    pub fn lu<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Factored<Lu<T>>, Error> {
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| Lu::of(place, a)?.measured(a);
        self.factored(Verb::Lu, a, whole, streamed::measured_lu)
    }

    /// Cholesky's factor ([`Cholesky::factor`]).
    pub fn cholesky<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Factored<Cholesky<T>>, Error> {
        self.factored(Verb::Cholesky, a, |place, [a]| Cholesky::of(place, a), streamed::cholesky)
    }

    /// QR factors ([`Qr::factor`]).
    pub fn qr<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Factored<Qr<T>>, Error> {
        self.factored(Verb::Qr, a, |place, [a]| Qr::of(place, a), unstreamed)
    }

    /// x with `a x = b` ([`linear::solve`](crate::linear::solve)).
    pub fn solve<T: Scalar>(&self, a: Operand<'_, T>, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        let extents = (a.shape().columns.0, b.shape().columns.0);
        let whole = |place: &Place, [a, b]: [Given<'_, T>; 2]| {
            a.shape().square("solve")?;
            self.checked((a, Some(b)), Lu::of(place, a)?.solution(b)?).and_then(array)
        };
        let streamed = |through: Through<'_, 2>| in_memory(extents, |sink| streamed::solve::<T>(through, sink));
        self.verb(Verb::Solve, [a, b], whole, streamed)
    }

    /// The same by factors in the smaller type, corrected ([`linear::solve_refined`](crate::linear::solve_refined)).
    pub fn solve_refined<T: Refinable>(
        &self,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        options: Refinement,
    ) -> Result<Refined<T>, Error> {
        self.verb(Verb::SolveRefined, [a, b], |place, [a, b]| linear::refined(place, a, b, options), unstreamed)
    }

    /// x with `a x = b` as precisely as [`solve`](Device::solve), in whichever way is expected to be faster: by factors of the element type, or
    /// by factors in f32 that are corrected ([`solve_refined`](Device::solve_refined)), which pays where f64 is far slower than f32. Where
    /// corrections do not converge, or lack memory, the former follows; it is the former where solutions are checked ([`verifying`](Device::verifying)).
    pub fn solve_auto<T: Refinable>(&self, a: Operand<'_, T>, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        let seconds = |verb| Ok::<_, Error>(self.plan(&self.job(verb, &[a, b])?)?.cost().wall);
        // Those that are corrected are not checked.
        let is_checked = self.watched.control().verify.is_some();
        if !is_checked && seconds(Verb::SolveRefined)? < seconds(Verb::Solve)? {
            match self.solve_refined(a, b, Refinement::default()) {
                Ok(refined) => return Ok(refined.solution),
                // What passes through the host for it has no room there; factors of the element type need none.
                Err(error) if error.class() == Class::Resource || matches!(error, Error::NotConverged { .. }) => {
                    tracing::debug!(target: "tilewright::dispatch", %error, "solved in the element type instead");
                }
                Err(error) => return Err(error),
            }
        }
        self.solve(a, b)
    }

    /// x that makes `b - a x` smallest ([`linear::least_squares`](crate::linear::least_squares)).
    pub fn least_squares<T: Scalar>(&self, a: Operand<'_, T>, b: Operand<'_, T>) -> Result<Array2<T>, Error> {
        let whole = |place: &Place, [a, b]: [Given<'_, T>; 2]| Qr::of(place, a)?.least_squares_of(b);
        self.verb(Verb::LeastSquares, [a, b], whole, unstreamed)
    }

    /// The inverse ([`linear::inverse`](crate::linear::inverse)).
    pub fn inverse<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Array2<T>, Error> {
        let extents = (a.shape().rows.0, a.shape().columns.0);
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| {
            a.shape().square("inverse")?;
            self.checked((a, None), Lu::of(place, a)?.inverted()?).and_then(array)
        };
        let streamed = |through: Through<'_, 1>| in_memory(extents, |sink| streamed::inverse::<T>(through, sink));
        self.verb(Verb::Inverse, [a], whole, streamed)
    }

    /// The determinant ([`linear::determinant`](crate::linear::determinant)).
    pub fn determinant<T: Scalar>(&self, a: Operand<'_, T>) -> Result<T, Error> {
        self.by_lu(Verb::Determinant, a, |lu| lu.determinant())
    }

    /// The determinant as sign and logarithm ([`linear::log_determinant`](crate::linear::log_determinant)).
    pub fn log_determinant<T: Scalar>(&self, a: Operand<'_, T>) -> Result<LogDeterminant<T>, Error> {
        self.by_lu(Verb::Determinant, a, |lu| lu.log_determinant())
    }

    /// An estimate of the reciprocal condition ([`linear::reciprocal_condition`](crate::linear::reciprocal_condition)).
    pub fn reciprocal_condition<T: Scalar>(&self, a: Operand<'_, T>) -> Result<f64, Error> {
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| {
            a.shape().square("reciprocal_condition")?;
            Lu::of(place, a)?.measured(a)?.reciprocal_condition()
        };
        let streamed = |through: Through<'_, 1>| streamed::measured_lu::<T>(through)?.reciprocal_condition();
        self.verb(Verb::Condition, [a], whole, streamed)
    }

    /// Eigenvalues and vectors of a Hermitian matrix ([`linear::eigen_hermitian`](crate::linear::eigen_hermitian)).
    pub fn eigen_hermitian<T: Scalar>(&self, a: Operand<'_, T>) -> Result<HermitianEigen<T>, Error> {
        self.verb(Verb::EigenHermitian, [a], |place, [a]| linear::eigen_hermitian_of(place, a), unstreamed)
    }

    /// Eigenvalues of a Hermitian matrix ([`linear::eigenvalues_hermitian`](crate::linear::eigenvalues_hermitian)).
    pub fn eigenvalues_hermitian<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Vec<T::Real>, Error> {
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| linear::eigenvalues_hermitian_of(place, a);
        self.verb(Verb::EigenvaluesHermitian, [a], whole, unstreamed)
    }

    /// Eigenvalues and vectors of a square matrix ([`linear::eigen`](crate::linear::eigen)).
    pub fn eigen<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Eigen<T>, Error> {
        self.verb(Verb::Eigen, [a], |place, [a]| linear::eigen_of(place, a), unstreamed)
    }

    /// Eigenvalues of a square matrix ([`linear::eigenvalues`](crate::linear::eigenvalues)).
    pub fn eigenvalues<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Vec<T::Complex>, Error> {
        self.verb(Verb::Eigenvalues, [a], |place, [a]| linear::eigenvalues_of(place, a), unstreamed)
    }

    /// The singular value decomposition ([`linear::svd`](crate::linear::svd)).
    pub fn svd<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Svd<T>, Error> {
        self.verb(Verb::Svd, [a], |place, [a]| linear::svd_of(place, a), unstreamed)
    }

    /// Singular values ([`linear::singular_values`](crate::linear::singular_values)).
    pub fn singular_values<T: Scalar>(&self, a: Operand<'_, T>) -> Result<Vec<T::Real>, Error> {
        self.verb(Verb::SingularValues, [a], |place, [a]| linear::values_of(place, a), unstreamed)
    }

    /// A norm ([`linear::norm`](crate::linear::norm())). Those that are sums or maxima of elements a GPU computes of what lies there, by kernels of its own; where it has
    /// no NVRTC, and of what lies elsewhere, the CPU does. Where the GPU is asked for, that is `NoNvrtc` of the driver's errors, or [`Error::Unsupported`].
    pub fn norm<T: Scalar>(&self, kind: Norm, a: Operand<'_, T>) -> Result<f64, Error> {
        let job = self.job_of_norm(kind, a)?;
        self.placed((&job, OnItsWay::NOTHING), [a], |place, [a]| linear::norm_of(place, kind, a), unstreamed)
            .map(|ran| ran.value)
    }

    /// Where a verb of `a`, and of right-hand sides where it has some, would run, why, and what that is expected to take, wherever they lie. Reads none of its operands, and
    /// leaves no record. As [`plan`](Device::plan) otherwise.
    ///
    /// ```
    /// use tilewright_hybrid::dispatch::{Rates, Verb};
    /// use tilewright_hybrid::{Device, Side};
    ///
    /// let a = ndarray::Array2::<f64>::eye(300);
    /// let plan = Device::cpu().rated(Rates::of_cores(8)).plan_verb(Verb::Svd, (&a).into(), None)?;
    /// assert_eq!((plan.operation, plan.side, plan.bytes), ("svd", Side::Cpu, 8 * (3 * 300 * 300 + 300)));
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn plan_verb<T: Scalar>(
        &self,
        verb: Verb,
        a: Operand<'_, T>,
        right: Option<Operand<'_, T>>,
    ) -> Result<Decision, Error> {
        let operands: Vec<_> = [Some(a), right].into_iter().flatten().collect();
        self.plan(&self.job_to_run(verb, &operands)?)
    }

    /// The same of a norm.
    pub fn plan_norm<T: Scalar>(&self, kind: Norm, a: Operand<'_, T>) -> Result<Decision, Error> {
        self.plan(&self.job_of_norm(kind, a)?)
    }

    /// A verb of operands whose result is handed over.
    fn verb<T: Scalar, R, const N: usize>(
        &self,
        verb: Verb,
        operands: [Operand<'_, T>; N],
        whole: impl FnMut(&Place, [Given<'_, T>; N]) -> Result<R, Error>,
        streamed: impl FnMut(Through<'_, N>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.placed((&self.job(verb, &operands)?, passing(verb, &operands)?), operands, whole, streamed)
            .map(|ran| ran.value)
    }

    /// What follows from LU factors of a square matrix, which need no norm for it.
    fn by_lu<T: Scalar, R>(
        &self,
        verb: Verb,
        a: Operand<'_, T>,
        then: impl Fn(Lu<T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let whole = |place: &Place, [a]: [Given<'_, T>; 1]| {
            a.shape().square(verb.name())?;
            then(Lu::of(place, a)?)
        };
        self.verb(verb, [a], whole, |through| then(streamed::unmeasured_lu(through)?))
    }

    fn factored<T: Scalar, F: Kept>(
        &self,
        verb: Verb,
        a: Operand<'_, T>,
        whole: impl FnMut(&Place, [Given<'_, T>; 1]) -> Result<F, Error>,
        streamed: impl FnMut(Through<'_, 1>) -> Result<F, Error>,
    ) -> Result<Factored<F>, Error> {
        let job = self.job_to_run(verb, &[a])?;
        let ran = self.placed((&job, passing(verb, &[a])?), [a], whole, streamed)?;
        Ok(Factored::new(self, ran))
    }

    /// What a verb asks of a machine whose result is handed over.
    fn job_to_run<T: Scalar>(&self, verb: Verb, operands: &[Operand<'_, T>]) -> Result<Job, Error> {
        let mut job = self.job(verb, operands)?;
        if let (Verb::Lu, [a]) = (verb, operands) {
            // Conditions want its norm.
            is_measured(&mut job, a)?;
        }
        Ok(job)
    }

    fn job_of_norm<T: Scalar>(&self, kind: Norm, a: Operand<'_, T>) -> Result<Job, Error> {
        let job = match kind {
            Norm::Spectral | Norm::Nuclear => self.job(Verb::SingularValues, &[a])?,
            Norm::One | Norm::Infinity | Norm::Frobenius | Norm::Max => self.of_elements(kind, a)?,
        };
        Ok(Job { operation: "norm", ..job })
    }

    /// Each element once, its absolute value, and an addition: a few operations. Squares are of numbers divided by the largest, which is found before.
    fn of_elements<T: Scalar>(&self, kind: Norm, a: Operand<'_, T>) -> Result<Job, Error> {
        let (shape, operation) = (a.shape(), "norm");
        let operand = |bytes| dispatch::Operand { bytes, at: At::Pageable };
        let (elements, bytes) = (shape.length::<T>()?.0 as u64, shape.bytes::<T>()?.0 as u64);
        let read = [Some(operand(bytes)), None, None];
        let mut job = Job::elementwise(operation, (T::NAME, Unit::F64), (elements, 4.0), read, operand(8));
        job.swept = if kind == Norm::Frobenius { bytes as f64 } else { 0.0 };
        self.place(&mut job, &[a])?;
        match a.0 {
            Form::Gpu(there) => (job.steps, job.device_bytes) = (KERNELS, there.bytes_of_norm()),
            _ => job.not_on_gpu = Some("elements take longer to come there than the CPU to sum them"),
        }
        Ok(job)
    }
}

/// Kernels of a norm, one after the other.
const KERNELS: u64 = 2;

pub(super) fn array<T: Scalar>(made: Made<T>) -> Result<Array2<T>, Error> {
    made.into_dense().map(Dense::into_array)
}
