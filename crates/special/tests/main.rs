//! The functions against correctly rounded values.

mod accuracy;
mod edges;
mod integers;
mod measure;
