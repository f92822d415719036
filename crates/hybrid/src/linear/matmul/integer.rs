use rayon::prelude::*;

use super::check_shapes;
use crate::budget::Budget;
use crate::linear::Place;
use crate::linear::cpu::Backend;
use crate::linear::gpu::{self, IntegerFactor, IntegerSums};
use crate::matrix::{Dense, Element};
use crate::store::Stored;
use crate::{Columns, Error, MatMut, MatRef, Rows};

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

    /// What holds every sum.
    #[doc(hidden)]
    type Exact: Copy + Into<i128> + Send + Sync;

    /// The sums of a product with elements, column by column.
    #[doc(hidden)]
    fn exact(a: MatRef<'_, Self>, b: MatRef<'_, Self>) -> Result<Vec<Self::Exact>, Error>;

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

/// Rows and columns of a part of the result whose exact sums are there at a time.
const PART: [usize; 2] = [4096, 1024];

impl<T: IntegerElement> IntegerProduct<'_, T> {
    fn on_cpu(&mut self, overflow: Overflow) -> Result<(), Error> {
        let (rows, columns, depth) = (self.a.rows(), self.b.columns(), Columns(self.a.columns()));
        let mut sums = Dense::<T::Sum>::zeros(self.c.shape())?;
        for left in (0..columns).step_by(PART[1]) {
            let right = columns.min(left + PART[1]);
            let b = self.b.part(Rows(0)..Rows(depth.0), Columns(left)..Columns(right))?;
            let mut refused = None;
            for top in (0..rows).step_by(PART[0]) {
                let height = PART[0].min(rows - top);
                let exact = T::exact(self.a.part(Rows(top)..Rows(top + height), Columns(0)..depth)?, b)?;
                let columns = sums.values_mut()[left * rows..right * rows].par_chunks_mut(rows);
                let found = columns.zip(exact.par_chunks(height)).enumerate().filter_map(|(column, (sums, exact))| {
                    let row = keep::<T>(overflow, &mut sums[top..][..height], exact)?;
                    Some((left + column, top + row))
                });
                refused = refused.into_iter().chain(found.min()).min();
            }
            if let Some((column, row)) = refused {
                return Err(Error::Overflow { operation: OPERATION, element: T::Sum::NAME, row, column });
            }
        }
        self.c.elements().fill(|index| sums.values()[index]);
        Ok(())
    }
}

/// Keeps sums; the first one that is refused.
fn keep<T: IntegerElement>(overflow: Overflow, sums: &mut [T::Sum], exact: &[T::Exact]) -> Option<usize> {
    sums.iter_mut().zip(exact).position(|(sum, exact)| {
        let value = kept::<T>(overflow, (*exact).into());
        *sum = value.unwrap_or(T::Sum::ZERO);
        value.is_none()
    })
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

/// Rows or columns from which on factors become numbers of 32 bits.
const THIN: usize = 32;

/// Each sum by itself, of a row and a column without gaps.
fn by_dots<T: Element, E: Copy + Default + Send>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    dot: impl Fn(&[T], &[T]) -> E + Sync,
) -> Result<Vec<E>, Error> {
    let (rows, depth, left, right) = (a.rows(), a.columns(), a.t().to_dense()?, b.to_dense()?);
    let mut exact = vec![E::default(); rows * b.columns()];
    exact.par_chunks_mut(rows).enumerate().for_each(|(column, exact)| {
        let right = &right.values()[column * depth..][..depth];
        exact.iter_mut().enumerate().for_each(|(row, it)| *it = dot(&left.values()[row * depth..][..depth], right));
    });
    Ok(exact)
}

/// Numbers from which on threads share what is done to each.
const SHARED: usize = 1 << 14;

/// Scaled in i8 first, where halves (`promoted`) are scaled in the larger type.
fn widened(part: MatRef<'_, i8>) -> Result<Dense<f32>, Error> {
    let (part, mut wide) = (part.to_dense()?, Dense::zeros(part.shape())?);
    let each = wide.values_mut().par_iter_mut().zip(part.values()).with_min_len(SHARED);
    each.for_each(|(wide, value)| *wide = f32::from(*value));
    Ok(wide)
}

impl IntegerElement for i8 {
    type Sum = i32;
    const RANGE: [i128; 2] = [i32::MIN as i128, i32::MAX as i128];

    type Exact = i64;

    /// By products of f32, which holds every sum of so many products: 2^14 each, and 2^24 together. Of thin ones in i32, as long as it holds every
    /// sum, which the compiler makes vectors of.
    fn exact(a: MatRef<'_, i8>, b: MatRef<'_, i8>) -> Result<Vec<i64>, Error> {
        const DEPTH: usize = 1 << 10;
        const SAFE: usize = 1 << 16;
        if a.rows().min(b.columns()) < THIN {
            let part =
                |(x, y): (&[i8], &[i8])| -> i32 { x.iter().zip(y).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum() };
            return by_dots(a, b, |x, y| x.chunks(SAFE).zip(y.chunks(SAFE)).map(|pair| i64::from(part(pair))).sum());
        }
        let mut product = Dense::<f32>::new(a.rows(), b.columns())?;
        let mut exact = vec![0; product.values().len()];
        for first in (0..a.columns()).step_by(DEPTH) {
            let last = a.columns().min(first + DEPTH);
            let left = widened(a.part(Rows(0)..Rows(a.rows()), Columns(first)..Columns(last))?)?;
            let right = widened(b.part(Rows(first)..Rows(last), Columns(0)..Columns(b.columns()))?)?;
            let (left, right) = (left.view().elements(), right.view().elements());
            f32::multiply(product.view_mut().elements(), false, 1.0, (left, false), (right, false));
            exact
                .par_iter_mut()
                .zip(product.values())
                .with_min_len(SHARED)
                .for_each(|(sum, part)| *sum += *part as i64);
        }
        Ok(exact)
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

    type Exact = i128;

    /// Products of 62 bits as a high and a low half, so that sums of 2^31 of them stay in 64 bits.
    fn exact(a: MatRef<'_, i32>, b: MatRef<'_, i32>) -> Result<Vec<i128>, Error> {
        const SAFE: usize = 1 << 30;
        let part = |(x, y): (&[i32], &[i32])| {
            let products = x.iter().zip(y).map(|(x, y)| i64::from(*x) * i64::from(*y));
            let (high, low) = products
                .fold((0_i64, 0_i64), |(high, low), product| (high + (product >> 32), low + (product & 0xffff_ffff)));
            (i128::from(high) << 32) + i128::from(low)
        };
        by_dots(a, b, |x, y| x.chunks(SAFE).zip(y.chunks(SAFE)).map(part).sum())
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
