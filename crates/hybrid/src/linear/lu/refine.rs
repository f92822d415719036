use ndarray::Array2;
use num_complex::{Complex32, Complex64};

use super::{Lu, solve::Equation};
use crate::linear::{DeviceMat, Given, Multiply, Place, Precision, Scalar, matmul, norm};
use crate::matrix::{Dense, expect};
use crate::{Error, MatRef};

const OPERATION: &str = "solve_refined";

/// Scalars with a smaller one in which a matrix can be factored faster.
pub trait Refinable: Scalar + Multiply<Factor = Self> {
    /// f32 of f64, c64 of c128.
    type Lower: Scalar;
}

impl Refinable for f64 {
    type Lower = f32;
}

impl Refinable for Complex64 {
    type Lower = Complex32;
}

/// When a refinement ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Most corrections.
    pub iterations: usize,
    /// The backward error that is good enough; `None`: the square root of the size times the precision of the element type.
    pub tolerance: Option<f64>,
}

impl Default for Refinement {
    fn default() -> Self {
        Self { iterations: 30, tolerance: None }
    }
}

/// A solution, and how it came about.
#[derive(Clone, Debug)]
pub struct Refined<T> {
    /// x with `a x = b`.
    pub solution: Array2<T>,
    /// The backward error before each correction and at the end: the largest of the columns, `norm(b - a x) / (norm(a) norm(x) + norm(b))`
    /// in the infinity norm.
    pub backward_errors: Vec<f64>,
}

/// x with `a x = b`: the matrix is factored in f32, and the solution corrected with residuals in f64 until it is as good as one from factors
/// in f64 (and c64 with c128 alike).
///
/// Converges for conditions up to about 10^7. Where it does not, [`Error::NotConverged`] says after how many corrections;
/// [`solve`](super::solve) then factors in f64. Other errors are those of `solve`.
pub fn solve_refined<T: Refinable>(
    place: &Place,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    options: Refinement,
) -> Result<Refined<T>, Error> {
    refined(place, Given::Host(a), Given::Host(b), options)
}

/// The same, wherever the matrices lie. Nothing converts on a device, so that what lies there comes to the host once: the matrix in parts.
pub(crate) fn refined<T: Refinable>(
    place: &Place,
    a: Given<'_, T>,
    b: Given<'_, T>,
    options: Refinement,
) -> Result<Refined<T>, Error> {
    let size = a.shape().square(OPERATION)?;
    expect(OPERATION, "rows of b", size, b.shape().rows.0)?;
    let mut solution = Dense::<T>::zeros(b.shape())?;
    if b.shape().is_empty() {
        return Ok(Refined { solution: solution.into_array(), backward_errors: vec![0.0] });
    }
    let here = match (place, a) {
        (Place::Cpu, Given::Gpu(there)) => Some(there.download_dense()?),
        _ => None,
    };
    let (a, b) = (here.as_ref().map_or(a, |here| Given::Host(here.view())), b.to_dense()?);
    let (lower, norm_a) = lowered(a)?;
    let factors = Lu::factor(place, lower.view())?;
    drop(lower);
    if factors.singular.is_some() {
        // It may be regular in the larger type.
        return Err(Error::NotConverged { operation: OPERATION, iterations: 0 });
    }
    let tolerance = options.tolerance.unwrap_or((size as f64).sqrt() * T::EPSILON);
    let norm_b = norms_of_columns(&b);
    let mut backward_errors = Vec::new();
    loop {
        let residual = residual(place, a, &solution, b.clone())?;
        let error = backward_error(norm_a, &norm_b, &residual, &solution);
        let stalled = backward_errors.last().is_some_and(|last: &f64| error > last / 2.0 || error.is_nan());
        backward_errors.push(error);
        if error <= tolerance {
            return Ok(Refined { solution: solution.into_array(), backward_errors });
        }
        let iterations = backward_errors.len() - 1;
        if stalled || iterations == options.iterations {
            return Err(Error::NotConverged { operation: OPERATION, iterations });
        }
        correct(&factors, &residual, &mut solution)?;
    }
}

/// `b - a x`, with `a` from where it lies.
fn residual<T: Refinable>(place: &Place, a: Given<'_, T>, x: &Dense<T>, mut b: Dense<T>) -> Result<Dense<T>, Error> {
    let less = T::from_f64(-1.0);
    match a {
        Given::Gpu(a) => {
            let gpu = a.gpu();
            let (x, mut sum) = (DeviceMat::upload(gpu, x.view())?, DeviceMat::upload(gpu, b.view())?);
            gpu.matmul(Precision::Auto, less, a, x.view(), T::ONE, &mut sum)?;
            sum.download_dense()
        }
        Given::Host(a) => {
            matmul(place, Precision::Auto, less, a, x.view(), T::ONE, b.view_mut())?;
            Ok(b)
        }
    }
}

/// A copy in host memory of the smaller type, and the norm of the matrix in which errors are measured.
fn lowered<T: Refinable>(a: Given<'_, T>) -> Result<(Dense<T::Lower>, f64), Error> {
    let mut lower = Dense::zeros(a.shape())?;
    let mut put = |first: usize, part: MatRef<'_, T>| {
        let values = &mut lower.values_mut()[first..];
        part.each(|index, value| values[index] = T::Lower::nearest(value.wide()));
    };
    let norm = match a {
        Given::Host(a) => {
            put(0, a);
            norm::infinity(a)
        }
        Given::Gpu(there) => {
            let mut sums = vec![0.0; there.shape().rows.0];
            there.each_part(|left, part| {
                put(left * part.rows(), part.view());
                part.view().each_at(|row, _, value| sums[row] += value.modulus());
                Ok(())
            })?;
            norm::largest(sums)
        }
    };
    Ok((lower, norm))
}

/// Adds the solution for the residual. It is solved for at the size of 1, since small residuals are beyond the range of the smaller type.
fn correct<T: Refinable>(factors: &Lu<T::Lower>, residual: &Dense<T>, solution: &mut Dense<T>) -> Result<(), Error> {
    let sizes: Vec<_> =
        norms_of_columns(residual).into_iter().map(|size| if size > 0.0 { size } else { 1.0 }).collect();
    let right = residual.map(|_, j, value| T::Lower::nearest(value.wide() / sizes[j]));
    let step = factors.solved_in(right, Equation::Plain)?;
    *solution = solution.map(|i, j, old| T::nearest(old.wide() + step.at(i, j).wide() * sizes[j]));
    Ok(())
}

fn backward_error<T: Scalar>(norm_a: f64, norm_b: &[f64], residual: &Dense<T>, solution: &Dense<T>) -> f64 {
    let columns = norms_of_columns(residual).into_iter().zip(norms_of_columns(solution)).zip(norm_b);
    let errors = columns.map(|((residual, solution), right)| match norm_a * solution + right {
        0.0 => 0.0,
        scale => residual / scale,
    });
    errors.fold(0.0, |largest, error| if error > largest || error.is_nan() { error } else { largest })
}

/// The largest absolute value of each column.
fn norms_of_columns<T: Scalar>(matrix: &Dense<T>) -> Vec<f64> {
    let columns = matrix.values().chunks(matrix.rows().max(1));
    columns.map(|column| norm::largest(column.iter().map(|value| value.modulus()))).collect()
}
