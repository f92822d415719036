//! Batches of products whose operands lie anywhere: one product after the other.

use super::multiplicand::Multiplicand;
use super::product::Multiplication;
use super::run::Route;
use crate::Error;
use crate::linear::Place;

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
