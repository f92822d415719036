//! Eigenvalues on the GPU.

use tilewright_driver::solver::Outcome;
use tilewright_driver::{DeviceBuffer, Error as DriverError};

use super::DeviceMat;
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::Dense;

/// cuSOLVER says how many values did not converge, not after how many iterations.
pub(super) fn converged(operation: &'static str, size: usize, outcome: Outcome) -> Result<(), Error> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Stopped(_) => Err(Error::NotConverged { operation, iterations: 30 * size }),
    }
}

/// Absolute values, from the device.
pub(super) fn reals<T: Scalar, M: bytemuck::Pod + Into<f64>>(values: &DeviceBuffer<M>) -> Result<Vec<T::Real>, Error> {
    Ok(values.to_vec()?.into_iter().map(|value| T::Real::from_f64(value.into())).collect())
}

const HERMITIAN: &str = "eigenvalues of a Hermitian matrix";

/// Of a matrix with elements, which is used up, as in all of these.
pub(crate) fn eigen_hermitian<T: Scalar>(mut vectors: DeviceMat<T>) -> Result<(Vec<T::Real>, Dense<T>), Error> {
    let (gpu, size) = (vectors.gpu().clone(), vectors.shape().rows.0);
    let mut values = gpu.stream().alloc(size)?;
    let outcome = gpu.solver()?.syevd(vectors.matrix_mut()?, &mut values)?;
    converged(HERMITIAN, size, outcome)?;
    Ok((reals::<T, _>(&values)?, vectors.download_dense()?))
}

pub(crate) fn eigenvalues_hermitian<T: Scalar>(mut used: DeviceMat<T>) -> Result<Vec<T::Real>, Error> {
    let (gpu, size) = (used.gpu().clone(), used.shape().rows.0);
    let mut values = gpu.stream().alloc(size)?;
    let outcome = gpu.solver()?.syevd_values(used.matrix_mut()?, &mut values)?;
    converged(HERMITIAN, size, outcome)?;
    reals::<T, _>(&values)
}

/// As `Backend::eigen_general`.
pub(crate) fn eigen<T: Scalar>(mut used: DeviceMat<T>, vectors: Option<&mut Dense<T>>) -> Result<[Vec<T>; 2], Error> {
    let (gpu, size) = (used.gpu().clone(), used.shape().rows.0);
    let mut values = gpu.stream().alloc::<T>(if T::COMPLEX { size } else { 2 * size })?;
    let mut right = match &vectors {
        Some(vectors) => Some(DeviceMat::uninitialised(&gpu, vectors.shape())?),
        None => None,
    };
    let target = right.as_mut().map(DeviceMat::matrix_mut).transpose()?;
    let outcome = gpu.solver()?.geev(used.matrix_mut()?, &mut values, target).map_err(unsupported::<T>)?;
    converged("eigenvalues", size, outcome)?;
    if let (Some(vectors), Some(right)) = (vectors, right) {
        *vectors = right.download_dense()?;
    }
    let mut real = values.to_vec()?;
    let imaginary = real.split_off(size);
    Ok([real, imaginary])
}

fn unsupported<T: Scalar>(error: DriverError) -> Error {
    match error {
        DriverError::OldLibrary { .. } => Error::Unsupported {
            operation: "eigen",
            element: T::NAME,
            place: "GPU",
            why: format!("{error}; install a newer one, or use the CPU"),
        },
        other => other.into(),
    }
}
