//! NPY files, a format that NumPy and most others read: a header of text, then all elements without gaps.
//!
//! An array of more than two dimensions is a matrix: in C order its last dimension makes the columns and all others the rows, in
//! Fortran order its first makes the rows. One of one dimension is a row. There are no checksums: a flipped bit of an element is not
//! noticed, a file of another length than its header says is.

mod grid;
mod header;
mod sink;
mod source;

pub use grid::Order;
pub use sink::NpySink;
pub use source::NpySource;
