//! Tests by topic.

mod dispatch;
mod errors;
mod matmul_plan;
