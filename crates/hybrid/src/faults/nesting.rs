//! Which attempts are under way on a thread, so that none can call itself without end.

use std::cell::RefCell;

use crate::Error;
use crate::Side;

thread_local! {
    static UNDER_WAY: RefCell<Vec<(&'static str, Side)>> = const { RefCell::new(Vec::new()) };
}

/// An attempt under way on this thread, until it is dropped.
pub(super) struct Under(());

impl Under {
    /// [`Error::Nested`] if the operation is under way on this thread already.
    pub(super) fn begin(operation: &'static str, side: Side) -> Result<Self, Error> {
        UNDER_WAY.with_borrow_mut(|stack| {
            if stack.iter().any(|(name, _)| *name == operation) {
                return Err(Error::Nested { operation });
            }
            stack.push((operation, side));
            Ok(Self(()))
        })
    }

    /// Where the innermost attempt of this thread is, if there is one.
    pub(super) fn outer() -> Option<Side> {
        UNDER_WAY.with_borrow(|stack| stack.last().map(|(_, side)| *side))
    }

    /// Says that it goes on elsewhere.
    pub(super) fn move_to(&self, side: Side) {
        UNDER_WAY.with_borrow_mut(|stack| {
            if let Some(last) = stack.last_mut() {
                last.1 = side;
            }
        });
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        UNDER_WAY.with_borrow_mut(|stack| stack.pop());
    }
}
