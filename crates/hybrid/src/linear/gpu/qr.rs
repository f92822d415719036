//! QR factors on the GPU.

use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::Operation;

use super::{DeviceMat, Gpu};
use crate::linear::Scalar;
use crate::matrix::{Columns, Dense, Rows, Shape};
use crate::{Error, MatRef};

#[derive(Debug)]
pub(crate) struct QrFactors<T: Scalar> {
    factors: DeviceMat<T>,
    tau: DeviceBuffer<T>,
}

impl<T: Scalar> QrFactors<T> {
    /// For a matrix with elements.
    pub(crate) fn factor(gpu: &Gpu, a: MatRef<'_, T>) -> Result<Self, Error> {
        let mut factors = DeviceMat::bring(gpu, a)?;
        let mut tau = gpu.stream().alloc(a.rows().min(a.columns()))?;
        gpu.solver()?.geqrf(factors.matrix_mut()?, &mut tau)?;
        Ok(Self { factors, tau })
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factors.download_dense()
    }

    /// Columns with reflections below their diagonal.
    fn reflections(&self) -> Result<DeviceMat<T>, Error> {
        let Shape { rows, .. } = self.factors.shape();
        let part = self.factors.view().part(Rows(0)..rows, Columns(0)..Columns(self.tau.len()))?;
        let gpu = self.factors.gpu();
        let mut copy = DeviceMat::uninitialised(gpu, part.shape())?;
        gpu.blas()?.copy_scaled(T::ONE, (Operation::Plain, part.stored()?), copy.matrix_mut()?)?;
        Ok(copy)
    }

    pub(crate) fn q(&self) -> Result<Dense<T>, Error> {
        let mut q = self.reflections()?;
        self.factors.gpu().solver()?.orgqr(q.matrix_mut()?, &self.tau)?;
        q.download_dense()
    }

    pub(crate) fn apply_adjoint(&self, right: Dense<T>) -> Result<Dense<T>, Error> {
        let gpu = self.factors.gpu();
        let mut target = DeviceMat::upload(gpu, right.view())?;
        gpu.solver()?.ormqr_adjoint(self.reflections()?.matrix()?, &self.tau, target.matrix_mut()?)?;
        target.download_dense()
    }
}
