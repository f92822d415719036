use rayon::prelude::*;

use super::check_shapes;
use crate::budget::Budget;
use crate::linear::Place;
use crate::linear::gpu::{self, IntegerFactor, IntegerSums};
use crate::matrix::{Dense, Element};
use crate::store::Stored;
use crate::{Error, MatMut, MatRef};

const OPERATION: &str = "matmul_integer";

/// What becomes of a sum that its type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Its lowest bits, as two's complement has them.
    Wrap,
    /// The nearest number that the type holds.
    Saturate,
    /// [`Error::Overflow`], with the place of the first such sum in the order of columns; nothing is written.
    Error,
}

/// Integers that can be multiplied exactly: i8 with sums in i32, i32 with sums in i64.
pub trait IntegerElement: Element + Stored {
    /// The type of the result.
    type Sum: Element + Stored;
    /// The smallest and the largest sum that the result holds.
    #[doc(hidden)]
    const RANGE: [i128; 2];

    #[doc(hidden)]
    fn dot(x: &[Self], y: &[Self]) -> i128;

    /// The lowest bits.
    #[doc(hidden)]
    fn wrapped(sum: i128) -> Self::Sum;

    #[doc(hidden)]
    fn multiply_on_gpu(
        gpu: &gpu::Gpu,
        overflow: Overflow,
        factors: [IntegerFactor<'_, Self>; 2],
        sums: IntegerSums<'_, '_, Self::Sum>,
        host: Option<&Budget>,
    ) -> Result<(), Error>;
}

/// An integer product whose operands fit each other.
struct IntegerProduct<'a, T: IntegerElement> {
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
    c: MatMut<'a, T::Sum>,
}

/// `c = a * b` of integers, exactly: i8 into i32, i32 into i64.
///
/// Every sum is computed as if integers had no end; `overflow` says what becomes of one that the type of `c` does not hold. An i32 holds
/// sums of up to 131,071 products of i8, whatever they are; a GPU multiplies longer ones in parts, which the host adds. It multiplies no i32
/// ([`Error::Unsupported`]). Everything else is as for [`matmul`](super::matmul).
pub fn matmul_integer<T: IntegerElement>(
    place: &Place,
    overflow: Overflow,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    c: MatMut<'_, T::Sum>,
) -> Result<(), Error> {
    check_shapes(OPERATION, a.shape(), b.shape(), c.shape())?;
    c.refuse_overlap(OPERATION, "a", a)?;
    c.refuse_overlap(OPERATION, "b", b)?;
    let mut product = IntegerProduct { a, b, c };
    if product.c.shape().is_empty() {
        return Ok(());
    }
    match place {
        Place::Cpu => product.on_cpu(overflow),
        Place::Gpu(gpu) => {
            let IntegerProduct { a, b, mut c } = product;
            T::multiply_on_gpu(gpu, overflow, [a, b].map(IntegerFactor::Host), IntegerSums::Host(&mut c), None)
        }
    }
}

impl<T: IntegerElement> IntegerProduct<'_, T> {
    fn on_cpu(&mut self, overflow: Overflow) -> Result<(), Error> {
        let (depth, rows) = (self.a.columns(), self.a.rows());
        // Rows of a and columns of b without gaps.
        let (left, right) = (self.a.t().to_dense()?, self.b.to_dense()?);
        let mut sums = Dense::<T::Sum>::zeros(self.c.shape())?;
        let columns = sums.values_mut().par_chunks_mut(rows).enumerate();
        let refused = columns.filter_map(|(column, sums)| {
            let right = &right.values()[column * depth..][..depth];
            let row = sums.iter_mut().enumerate().position(|(row, sum)| {
                let exact = T::dot(&left.values()[row * depth..][..depth], right);
                let value = kept::<T>(overflow, exact);
                *sum = value.unwrap_or(T::Sum::ZERO);
                value.is_none()
            });
            row.map(|row| (column, row))
        });
        if let Some((column, row)) = refused.min() {
            return Err(Error::Overflow { operation: OPERATION, element: T::Sum::NAME, row, column });
        }
        self.c.elements().fill(|index| sums.values()[index]);
        Ok(())
    }
}

/// What becomes of a sum; nothing where it is refused.
pub(crate) fn kept<T: IntegerElement>(overflow: Overflow, exact: i128) -> Option<T::Sum> {
    let [low, high] = T::RANGE;
    match overflow {
        Overflow::Wrap => Some(T::wrapped(exact)),
        Overflow::Saturate => Some(T::wrapped(exact.clamp(low, high))),
        Overflow::Error => (low..=high).contains(&exact).then(|| T::wrapped(exact)),
    }
}

impl IntegerElement for i8 {
    type Sum = i32;
    const RANGE: [i128; 2] = [i32::MIN as i128, i32::MAX as i128];

    /// In i32 as long as it holds every sum, which the compiler makes vectors of.
    fn dot(x: &[Self], y: &[Self]) -> i128 {
        const SAFE: usize = 1 << 16;
        let part =
            |(x, y): (&[i8], &[i8])| -> i32 { x.iter().zip(y).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum() };
        x.chunks(SAFE).zip(y.chunks(SAFE)).map(|pair| i128::from(part(pair))).sum()
    }

    fn wrapped(sum: i128) -> i32 {
        sum as i32
    }

    fn multiply_on_gpu(
        gpu: &gpu::Gpu,
        overflow: Overflow,
        factors: [IntegerFactor<'_, Self>; 2],
        sums: IntegerSums<'_, '_, i32>,
        host: Option<&Budget>,
    ) -> Result<(), Error> {
        gpu::multiply_integers(gpu, overflow, factors, sums, host)
    }
}

impl IntegerElement for i32 {
    type Sum = i64;
    const RANGE: [i128; 2] = [i64::MIN as i128, i64::MAX as i128];

    /// Products of 62 bits as a high and a low half, so that sums of 2^31 of them stay in 64 bits.
    fn dot(x: &[Self], y: &[Self]) -> i128 {
        const SAFE: usize = 1 << 30;
        let part = |(x, y): (&[i32], &[i32])| {
            let products = x.iter().zip(y).map(|(x, y)| i64::from(*x) * i64::from(*y));
            let (high, low) = products
                .fold((0_i64, 0_i64), |(high, low), product| (high + (product >> 32), low + (product & 0xffff_ffff)));
            (i128::from(high) << 32) + i128::from(low)
        };
        x.chunks(SAFE).zip(y.chunks(SAFE)).map(part).sum()
    }

    fn wrapped(sum: i128) -> i64 {
        sum as i64
    }

    fn multiply_on_gpu(
        _: &gpu::Gpu,
        _: Overflow,
        _: [IntegerFactor<'_, Self>; 2],
        _: IntegerSums<'_, '_, i64>,
        _: Option<&Budget>,
    ) -> Result<(), Error> {
        let why = "cuBLAS multiplies no integers of 32 bits; use the CPU".into();
        Err(Error::Unsupported { operation: OPERATION, element: Self::NAME, place: "GPU", why })
    }
}
