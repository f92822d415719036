//! QR factors on the GPU.

use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::Operation;

use super::{DeviceMat, Gpu};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::{Columns, Dense, Rows, Shape};

/// Columns of the workspace in which reflections are applied.
const WORKSPACE: usize = 64;

/// Bytes that are copied in the time that a copy of its own takes to begin, some 10 us.
const SHORT: usize = 256 << 10;

/// Why cuSOLVER makes no QR factors of a matrix, or applies none: it counts elements in 32 bits.
pub(crate) fn refused_qr(Shape { rows, columns }: Shape) -> Option<&'static str> {
    let counted = rows.0.saturating_mul(columns.0.max(WORKSPACE));
    (counted > i32::MAX as usize).then_some("cuSOLVER counts the elements of QR factors in 32 bits")
}

#[derive(Debug)]
pub(crate) struct QrFactors<T: Scalar> {
    factors: DeviceMat<T>,
    tau: DeviceBuffer<T>,
}

impl<T: Scalar> QrFactors<T> {
    /// In place of a matrix with elements.
    pub(crate) fn factor(mut factors: DeviceMat<T>) -> Result<Self, Error> {
        let (gpu, Shape { rows, columns }) = (factors.gpu().clone(), factors.shape());
        let mut tau = gpu.stream().alloc(rows.0.min(columns.0))?;
        gpu.solver()?.geqrf(factors.matrix_mut()?, &mut tau)?;
        Ok(Self { factors, tau })
    }

    pub(crate) fn download(&self) -> Result<Dense<T>, Error> {
        self.factors.download_dense()
    }

    /// The rows that R is in, column by column, or, where columns are short, all.
    pub(crate) fn top(&self) -> Result<Dense<T>, Error> {
        let (Shape { rows, columns }, count) = (self.factors.shape(), self.tau.len());
        if (rows.0 - count) * size_of::<T>() < SHORT {
            return self.download();
        }
        let mut top = Dense::new(count, columns.0)?;
        for (number, column) in top.values_mut().chunks_mut(count).enumerate() {
            self.factors.download_values(number * rows.0, column)?;
        }
        Ok(top)
    }

    /// What each reflection is by.
    pub(crate) fn tau(&self) -> Result<Vec<T>, Error> {
        Ok(self.tau.to_vec()?)
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

    pub(crate) fn gpu(&self) -> &Gpu {
        self.factors.gpu()
    }

    pub(crate) fn apply_adjoint(&self, mut right: DeviceMat<T>) -> Result<Dense<T>, Error> {
        self.gpu().solver()?.ormqr_adjoint(self.reflections()?.matrix()?, &self.tau, right.matrix_mut()?)?;
        right.download_dense()
    }
}
