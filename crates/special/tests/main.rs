//! The functions against correctly rounded values.

mod accuracy;
mod complex_edges;
mod edges;
mod formats;
mod integers;
mod measure;
