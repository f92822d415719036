//! What the tests of tilewright-expr compute with: the naive evaluator, tensors in any memory, and random graphs.

// Tests read the code; nobody reads pages of it.
#![allow(missing_docs)]

pub mod layout;
pub mod naive;
pub mod random;
pub mod tensor;
