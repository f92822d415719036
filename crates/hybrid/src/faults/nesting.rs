//! Which attempts are under way on a thread, so that none can call itself without end.

use std::cell::RefCell;

use super::Place;
use crate::Error;

thread_local! {
    static UNDER_WAY: RefCell<Vec<(&'static str, Place)>> = const { RefCell::new(Vec::new()) };
}

/// An attempt under way on this thread, until it is dropped.
pub(super) struct Under(());

impl Under {
    /// [`Error::Nested`] if the operation is under way on this thread already.
    pub(super) fn begin(operation: &'static str, place: Place) -> Result<Self, Error> {
        UNDER_WAY.with_borrow_mut(|stack| {
            if stack.iter().any(|(name, _)| *name == operation) {
                return Err(Error::Nested { operation });
            }
            stack.push((operation, place));
            Ok(Self(()))
        })
    }

    /// Where the innermost attempt of this thread is, if there is one.
    pub(super) fn outer() -> Option<Place> {
        UNDER_WAY.with_borrow(|stack| stack.last().map(|(_, place)| *place))
    }

    /// Says that it goes on elsewhere.
    pub(super) fn move_to(&self, place: Place) {
        UNDER_WAY.with_borrow_mut(|stack| {
            if let Some(last) = stack.last_mut() {
                last.1 = place;
            }
        });
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        UNDER_WAY.with_borrow_mut(|stack| stack.pop());
    }
}
