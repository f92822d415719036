//! Products of integers.

use super::Device;
use super::asked::integers;
use super::copies::{Copies, Download};
use super::operand::{Form, Operand, Target};
use super::run::Route;
use super::target::Away;
use crate::Error;
use crate::MatMut;
use crate::budget::Budget;
use crate::dispatch::Decision;
use crate::linear::{IntegerElement, Overflow, Place, matmul_integer};
use crate::matrix::Dense;
use crate::stream::Control;

impl Device {
    /// `c = a * b` of integers, exactly, as [`crate::linear::matmul_integer`] has it. A GPU multiplies i8 where no sum can overflow.
    ///
    /// Operands and results lie anywhere, as those of [`matmul`](Device::matmul) do, diagonals excepted ([`Error::Unsupported`]). What is not in host memory comes
    /// there whole, within its budget ([`falling_back_within`](Device::falling_back_within)), and so is a result made that is wanted elsewhere. What lies on the GPU, or
    /// is wanted there, the CPU multiplies: cuBLAS takes integers in padded columns, which the host makes. Who asks for the GPU gets [`Error::Unsupported`] then.
    pub fn matmul_integer<T: IntegerElement>(
        &self,
        overflow: Overflow,
        a: Operand<'_, T>,
        b: Operand<'_, T>,
        c: Target<'_, T::Sum>,
    ) -> Result<(), Error> {
        let job = integers(&a, &b, &c)?;
        self.run(&job, Integers { overflow, operands: [a, b], c, host: self.host.clone() }).map(|ran| ran.value)
    }

    /// Where such a product would run, why, and what that is expected to take. Reads none of its operands, and leaves no record.
    pub fn plan_integers<T: IntegerElement>(
        &self,
        [a, b]: [Operand<'_, T>; 2],
        c: &Target<'_, T::Sum>,
    ) -> Result<Decision, Error> {
        self.plan(&integers(&a, &b, c)?)
    }
}

struct Integers<'a, T: IntegerElement> {
    overflow: Overflow,
    operands: [Operand<'a, T>; 2],
    c: Target<'a, T::Sum>,
    host: Budget,
}

impl<T: IntegerElement> Route<()> for Integers<'_, T> {
    fn whole(&mut self, place: &Place, _: Control<'_>) -> Result<(), Error> {
        let shape = self.c.shape();
        let sums = match self.c.away() {
            Ok(Away::Host(_)) => 0,
            Ok(Away::Stored(_)) | Err(_) => shape.bytes::<T::Sum>()?.0 as u64,
        };
        let elsewhere = |form: &Form<'_, T>| !matches!(form, Form::Host(_));
        let copies = Copies::of((&self.host, sums), self.operands, elsewhere, Download::WHOLE)?;
        let [a, b] = copies.operands(self.operands).map(|operand| match operand.0 {
            Form::Host(matrix) => matrix,
            Form::Gpu(_) | Form::Stored(_) | Form::Diagonal(_) => unreachable!("diagonals were refused"),
        });
        let multiply = |c: MatMut<'_, T::Sum>| matmul_integer(place, self.overflow, a, b, c);
        let away = match self.c.away() {
            Ok(Away::Host(c)) => return multiply(c.reborrow()),
            away => away,
        };
        let mut sums = Dense::zeros(shape)?;
        multiply(sums.view_mut())?;
        match away {
            Ok(away) => away.put(&sums.into_array()),
            Err(there) => there.take(sums.view()),
        }
    }
}
