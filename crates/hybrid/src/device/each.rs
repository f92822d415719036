//! Batches of products whose operands lie anywhere: one product after the other.

use super::multiplicand::Multiplicand;
use super::product::Multiplication;
use super::run::Route;
use crate::Error;
use crate::dispatch::Job;
use crate::linear::Place;
use crate::matrix::expect;

/// Products of one size. Each is whole before the next one begins.
pub(super) struct Each<'a, T: Multiplicand> {
    products: Vec<Multiplication<'a, T>>,
    /// How many are done: what fails on one processor goes on, on the other, with the next.
    done: usize,
}

impl<'a, T: Multiplicand> Each<'a, T> {
    pub(super) fn of(products: Vec<Multiplication<'a, T>>) -> Self {
        Each { products, done: 0 }
    }

    /// What all of them ask of a machine with this GPU; nothing where there are none. Refuses those that are not of one size.
    pub(super) fn job(&self, ordinal: Option<usize>) -> Result<Option<Job>, Error> {
        let Some(first) = self.products.first() else { return Ok(None) };
        let mut all = first.job_with(ordinal)?;
        for product in &self.products[1..] {
            let shapes = |it: &Multiplication<'a, T>| [it.factors.a.shape(), it.factors.b.shape()];
            let ([a, b], [own_a, own_b], operation) = (shapes(first), shapes(product), product.factors.operation);
            expect(operation, "rows of a", a.rows.0, own_a.rows.0)?;
            expect(operation, "columns of a", a.columns.0, own_a.columns.0)?;
            expect(operation, "columns of b", b.columns.0, own_b.columns.0)?;
            all = all.then(product.job_with(ordinal)?);
        }
        Ok(Some(all))
    }
}

impl<T: Multiplicand> Route<()> for Each<'_, T> {
    fn whole(&mut self, place: &Place) -> Result<(), Error> {
        while let Some(product) = self.products.get_mut(self.done) {
            product.whole(place)?;
            self.done += 1;
        }
        Ok(())
    }
}
