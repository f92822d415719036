//! Batches of products whose operands lie anywhere: one product after the other.

use super::multiplicand::Multiplicand;
use super::product::Multiplication;
use super::run::Route;
use crate::Error;
use crate::linear::Place;
use crate::stream::Control;

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
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<(), Error> {
        let steps = self.products.len() as u64;
        while let Some(product) = self.products.get_mut(self.done) {
            let done = self.done as u64;
            control.check(done, steps)?;
            // Tiles of one are no steps of all.
            product.whole(place, Control { progress: None, ..control }).map_err(|error| match error {
                Error::Cancelled { .. } => Error::Cancelled { done, steps },
                error => error,
            })?;
            self.done += 1;
            control.tell(done + 1, steps);
        }
        Ok(())
    }
}
