//! Tests by topic.

mod errors;
