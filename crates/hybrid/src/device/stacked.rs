//! Batches in slices: products of matrices that lie anywhere in host memory, each by itself.

use super::Accelerated;
use super::delivered::{committed, write};
use super::multiplicand::Multiplicand;
use super::own::HostMemory;
use super::run::Route;
use super::source::MatrixSource;
use crate::faults::Scale;
use crate::linear::{Arithmetic, Place, Precision, check_batch, matmul, matmul_batched};
use crate::matrix::{Columns, Element, Rows};
use crate::store::{self, Extents, MemorySink, Sink, Source, Tile};
use crate::stream::{Control, Factor};
use crate::{Error, MatMut, MatRef};
use ndarray::{Array2, s};

const OPERATION: &str = "matmul_batched";

/// Products of one size.
pub(super) struct Products<'a, 'b, 'c, T: Multiplicand> {
    pub(super) precision: Precision,
    pub(super) alpha: T::Factor,
    pub(super) a: &'a [MatRef<'b, T>],
    pub(super) b: &'a [MatRef<'b, T>],
    pub(super) beta: T::Factor,
    pub(super) c: &'a mut [MatMut<'c, T>],
    /// For what is gathered for a GPU, and for results that are whole before they take their places.
    pub(super) room: HostMemory,
    /// How many are done, where they are not done by one call: what fails on one processor goes on, on the other, with the next.
    pub(super) done: usize,
}

impl<T: Multiplicand> Products<'_, '_, '_, T> {
    /// Each is whole, and in its place, before the next one begins.
    fn one_by_one(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        let Products { precision, alpha, a, b, beta, c, room, done } = self;
        check_batch(OPERATION, a, b, c)?;
        let (precision, alpha, beta, steps) = (*precision, *alpha, *beta, a.len() as u64);
        for ((a, b), c) in a.iter().zip(*b).zip(c.iter_mut()).skip(*done) {
            control.check(*done as u64, steps)?;
            committed((room, place.gpu()), c, beta != T::Factor::ZERO, |c| {
                matmul(place, precision, alpha, *a, *b, beta, c)
            })?;
            *done += 1;
            control.tell(*done as u64, steps);
        }
        Ok(())
    }

    /// Bytes of host memory in which operands of one call are gathered, or results come back, and of a copy of one of them.
    fn gathered(&self) -> Result<u64, Error> {
        let mut most = 0u64;
        if let (Some(a), Some(b), Some(c)) = (self.a.first(), self.b.first(), self.c.first()) {
            for shape in [a.shape(), b.shape(), c.shape()] {
                most = most.max(shape.bytes::<T>()?.0 as u64);
            }
        }
        Ok(most.saturating_mul((self.a.len() - self.done + 1) as u64))
    }
}

impl<T: Multiplicand> Route<()> for Products<'_, '_, '_, T> {
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        let arithmetic = self.precision.arithmetic::<T>(OPERATION)?;
        if let (Place::Gpu(_), false) = (place, are_one_call::<T>(arithmetic)) {
            return self.one_by_one(place, control);
        }
        let gathered = if let Place::Gpu(_) = place { self.gathered()? } else { 0 };
        let _host = self.room.host.try_acquire(gathered)?;
        let Products { precision, alpha, a, b, beta, c, done, .. } = self;
        matmul_batched(place, *precision, *alpha, &a[*done..], &b[*done..], *beta, &mut c[*done..])
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<(), Error> {
        let Products { precision, alpha, a, b, beta, c, room, done } = self;
        let (a, b, c) = (&a[*done..], &b[*done..], &mut c[*done..]);
        check_batch(OPERATION, a, b, c)?;
        let before: Vec<_> = c.iter().map(MatMut::read).collect();
        let [of_a, of_b, added] = [a, b, &before[..]].map(Stacked);
        let _result = room.host.try_acquire(added.extents().byte_count(T::ELEMENT)? as u64)?;
        let mut result = Array2::from_elem((added.extents().rows, 1), T::ZERO);
        let (sink, (budgets, _permit)) = (MemorySink::new(result.view_mut()), gpu.smaller(scale)?);
        let factors = (*alpha, Factor::plain(&of_a), Factor::plain(&of_b));
        T::stream(&gpu.gpu, &budgets, *precision, factors, (*beta, Some(&added)), &sink, control)?;
        Box::new(sink).commit()?;
        let rows = c.first().map_or(0, MatMut::rows);
        c.iter_mut().enumerate().try_for_each(|(i, c)| write(c, &result.slice(s![i * rows..(i + 1) * rows, ..])))
    }
}

/// Whether products are one call on a GPU; else they are made there one after the other.
pub(super) fn are_one_call<T: Multiplicand>(arithmetic: Arithmetic) -> bool {
    T::IN_BATCHES && arithmetic != Arithmetic::Wide
}

/// Matrices of one size as one, below one another.
struct Stacked<'a, 'b, T>(&'a [MatRef<'b, T>]);

impl<T: Element + store::Stored> Source for Stacked<'_, '_, T> {
    fn extents(&self) -> Extents {
        let [rows, columns] = self.0.first().map_or([0, 0], |one| [one.rows(), one.columns()]);
        Extents::new(self.0.len() * rows, columns)
    }

    fn element(&self) -> store::Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), T::ELEMENT, out.len())?;
        let (Some(one), columns) = (self.0.first(), &tile.columns) else { return Ok(()) };
        let (rows, width) = (one.rows(), columns.len() * size_of::<T>());
        let (mut row, mut rest) = (tile.rows.start, out);
        while row < tile.rows.end {
            let (number, first) = (row / rows, row % rows);
            let last = rows.min(first + tile.rows.end - row);
            let part = self.0[number].part(Rows(first)..Rows(last), Columns(columns.start)..Columns(columns.end))?;
            let (own, others) = rest.split_at_mut((last - first) * width);
            MatrixSource(part).read_tile(&Extents::new(last - first, columns.len()).whole(), own)?;
            (row, rest) = (row + last - first, others);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ReadTyped;

    #[test]
    fn matrices_below_one_another_are_read_across_their_ends() {
        let all = Array2::from_shape_fn((15, 4), |(i, j)| (i * 4 + j) as f64);
        let turned: Vec<_> = (0..3).map(|i| all.slice(s![i * 5..(i + 1) * 5, ..]).t().to_owned()).collect();
        let refs: Vec<_> = turned.iter().map(|one| MatRef::from(one).t()).collect();
        let stacked = Stacked(&refs);
        assert_eq!(stacked.extents(), Extents::new(15, 4));
        for tile in [Tile { rows: 0..15, columns: 0..4 }, Tile { rows: 3..12, columns: 1..3 }] {
            let mut values = vec![f64::NAN; tile.rows.len() * tile.columns.len()];
            stacked.read(&tile, &mut values).unwrap();
            let expected = all.slice(s![tile.rows.clone(), tile.columns.clone()]);
            assert_eq!(values, expected.iter().copied().collect::<Vec<_>>(), "{tile:?}");
        }
        assert!(stacked.read(&Tile { rows: 10..16, columns: 0..4 }, &mut [0.0; 24]).is_err());
        assert_eq!(Stacked::<f64>(&[]).extents(), Extents::new(0, 0));
    }
}
