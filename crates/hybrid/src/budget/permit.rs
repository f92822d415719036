use std::fmt;

use super::Budget;

/// Bytes of a budget that are the holder's until this is dropped.
#[must_use = "what it stands for is given back when it is dropped"]
pub struct Permit {
    budget: Budget,
    bytes: u64,
}

impl Permit {
    pub(super) fn new(budget: Budget, bytes: u64) -> Self {
        Self { budget, bytes }
    }

    /// Bytes granted.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The budget that they are of.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Gives back all but so many bytes, or nothing if there are no more than those.
    pub fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        self.budget.give_back(surplus);
    }

    /// Takes in another one of the same budget.
    pub(super) fn join(&mut self, mut other: Permit) {
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Takes so many bytes, at most all, into a permit of their own.
    pub fn split_off(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self::new(self.budget.clone(), bytes)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permit for {} bytes of {}", self.bytes, self.budget.memory().name())
    }
}
