//! Matrices where operations find and leave them: in host memory, or on a GPU.

use super::Scalar;
use super::gpu::{DeviceMat, DeviceRef, Gpu};
use crate::matrix::{Dense, Shape};
use crate::{Error, MatRef};

/// A matrix to read. The CPU copies what lies on a GPU; a GPU has it where it needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Given<'a, T: Scalar> {
    Host(MatRef<'a, T>),
    Gpu(DeviceRef<'a, T>),
}

impl<T: Scalar> Given<'_, T> {
    pub(crate) fn shape(&self) -> Shape {
        match self {
            Given::Host(matrix) => matrix.shape(),
            Given::Gpu(matrix) => matrix.shape(),
        }
    }

    /// The conjugated and transposed matrix.
    pub(super) fn h(self) -> Self {
        match self {
            Given::Host(matrix) => Given::Host(matrix.h()),
            Given::Gpu(matrix) => Given::Gpu(matrix.h()),
        }
    }

    /// A copy in host memory.
    pub(crate) fn to_dense(self) -> Result<Dense<T>, Error> {
        match self {
            Given::Host(matrix) => matrix.to_dense(),
            Given::Gpu(matrix) => matrix.download_dense(),
        }
    }

    /// A copy on a GPU: on this one, or on that where it lies.
    pub(super) fn on_gpu(self, gpu: &Gpu) -> Result<DeviceMat<T>, Error> {
        match self {
            Given::Host(matrix) => DeviceMat::bring(gpu, matrix),
            Given::Gpu(matrix) => matrix.copied(),
        }
    }
}

/// A matrix as an operation made it, where it made it.
#[derive(Debug)]
pub(crate) enum Made<T: Scalar> {
    Host(Dense<T>),
    Gpu(DeviceMat<T>),
}

impl<T: Scalar> Made<T> {
    /// In host memory.
    pub(crate) fn into_dense(self) -> Result<Dense<T>, Error> {
        match self {
            Made::Host(matrix) => Ok(matrix),
            Made::Gpu(matrix) => matrix.download_dense(),
        }
    }
}
