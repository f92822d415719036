//! The functions against correctly rounded values.

mod accuracy;
mod measure;
