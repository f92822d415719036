//! A GPU eliminates by cuBLAS and cuSOLVER.

use super::super::engine::{Divisor, Eliminator, Form, Pivoted};
use super::super::gpu::GpuEngine;
use crate::Error;
use crate::linear::Scalar;
use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::{Compute, Diagonal, Layout, Matrix, MatrixMut, Operation, Triangle};
use tilewright_driver::solver::{Exchanges, Outcome};

impl GpuEngine {
    /// The diagonal of a square part, on the host.
    fn diagonal<T: Scalar>(&self, (buffer, layout): (&DeviceBuffer<T>, Layout)) -> Result<Vec<T>, Error> {
        let count = layout.rows.min(layout.columns);
        let mut diagonal = self.gpu.stream().alloc(count)?;
        let to = MatrixMut::new(&mut diagonal, Layout::dense(count, 1))?;
        self.gpu.blas()?.diagonal(Matrix::new(buffer, layout)?, to)?;
        Ok(diagonal.to_vec()?)
    }
}

fn operation(form: Form) -> Operation {
    match form {
        Form::Plain => Operation::Plain,
        Form::Transposed => Operation::Transposed,
        Form::Adjoint => Operation::Adjoint,
    }
}

impl<T: Scalar> Eliminator<T> for GpuEngine
where
    GpuEngine: super::super::engine::Engine<T, Buffer = DeviceBuffer<T>>,
{
    type Exchanges = Exchanges;

    fn copy(
        &self,
        form: Form,
        from: (&DeviceBuffer<T>, Layout),
        to: (&mut DeviceBuffer<T>, Layout),
    ) -> Result<(), Error> {
        let from = (operation(form), Matrix::new(from.0, from.1)?);
        Ok(self.gpu.blas()?.copy_scaled(T::ONE, from, MatrixMut::new(to.0, to.1)?)?)
    }

    fn subtract(
        &self,
        forms: [Form; 2],
        [a, b]: [(&DeviceBuffer<T>, Layout); 2],
        c: (&mut DeviceBuffer<T>, Layout),
    ) -> Result<(), Error> {
        let (a, b) = (Matrix::new(a.0, a.1)?, Matrix::new(b.0, b.1)?);
        let (a, b) = ((operation(forms[0]), a), (operation(forms[1]), b));
        let c = MatrixMut::new(c.0, c.1)?;
        Ok(self.gpu.blas()?.gemm(Compute::Own, T::from_f64(-1.0), a, b, T::ONE, c)?)
    }

    fn divide(
        &self,
        divisor: Divisor,
        a: (&DeviceBuffer<T>, Layout),
        b: (&mut DeviceBuffer<T>, Layout),
    ) -> Result<(), Error> {
        let (part, operation) = match divisor {
            Divisor::Lower => ((Triangle::Lower, Diagonal::Stored), Operation::Plain),
            Divisor::UnitLower => ((Triangle::Lower, Diagonal::Ones), Operation::Plain),
            Divisor::Upper => ((Triangle::Upper, Diagonal::Stored), Operation::Plain),
            Divisor::LowerAdjoint => ((Triangle::Lower, Diagonal::Stored), Operation::Adjoint),
        };
        let a = (operation, Matrix::new(a.0, a.1)?);
        Ok(self.gpu.blas()?.trsm(part, T::ONE, a, MatrixMut::new(b.0, b.1)?)?)
    }

    fn divide_by_adjoint(&self, a: (&DeviceBuffer<T>, Layout), b: (&mut DeviceBuffer<T>, Layout)) -> Result<(), Error> {
        let a = (Operation::Adjoint, Matrix::new(a.0, a.1)?);
        let b = MatrixMut::new(b.0, b.1)?;
        Ok(self.gpu.blas()?.trsm_right((Triangle::Lower, Diagonal::Stored), T::ONE, a, b)?)
    }

    fn exchanges(&self, rows: &[usize]) -> Result<Exchanges, Error> {
        Ok(Exchanges::new(self.gpu.stream(), rows)?)
    }

    fn exchange(&self, exchanges: &Exchanges, a: (&mut DeviceBuffer<T>, Layout)) -> Result<(), Error> {
        Ok(self.gpu.solver()?.laswp(MatrixMut::new(a.0, a.1)?, exchanges)?)
    }

    fn lu(&self, (buffer, layout): (&mut DeviceBuffer<T>, Layout)) -> Result<Pivoted<T>, Error> {
        let mut pivots = self.gpu.stream().alloc(layout.columns)?;
        self.gpu.solver()?.getrf(MatrixMut::new(buffer, layout)?, &mut pivots)?;
        // What the device says is counted from 1; a row that is none is left where it is.
        let row = |(own, pivot): (usize, i64)| match usize::try_from(pivot) {
            Ok(pivot) if (1..=layout.rows).contains(&pivot) => pivot - 1,
            _ => own,
        };
        let rows = pivots.to_vec()?.into_iter().enumerate().map(row).collect();
        Ok(Pivoted { rows, diagonal: self.diagonal((buffer, layout))? })
    }

    fn cholesky(&self, (buffer, layout): (&mut DeviceBuffer<T>, Layout)) -> Result<Result<Vec<T>, usize>, Error> {
        match self.gpu.solver()?.potrf(MatrixMut::new(buffer, layout)?)? {
            Outcome::Stopped(order) => Ok(Err(order)),
            Outcome::Done => Ok(Ok(self.diagonal((buffer, layout))?)),
        }
    }
}
