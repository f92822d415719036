//! Matrices in memory as operations see them: elements behind strides of any sign, with what an operation has to do to each of them.

mod copied;
mod dense;
mod element;
mod extent;
mod overlap;
mod view;
mod view_mut;

pub(crate) use copied::{copied, copied_for_a_device};
pub(crate) use dense::Dense;
pub use element::Element;
pub(crate) use extent::expect;
pub use extent::{Bytes, ColumnStride, Columns, Leading, Length, RowStride, Rows, Shape};
pub use view::MatRef;
pub use view_mut::MatMut;
