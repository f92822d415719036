//! Budgets: permits, rings, and what the system says.

mod permits;
mod rings;
mod system;

pub(crate) use system::{child_in_group, child_product_in_group};
