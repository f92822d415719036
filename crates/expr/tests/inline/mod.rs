//! Expressions inside of kernels that are written by hand: each such kernel here calls a function at all points, on the host model,
//! and makes the bits that the host evaluator makes of the same graph, the given operand being an ordinary tensor.

mod calls;
mod epilogues;
mod keys;
mod reads;
mod refused;
mod rows;
