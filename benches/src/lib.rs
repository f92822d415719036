//! The device benchmark of tilewright, and what it shares with the host benchmarks. `README.md` beside says what is measured.

pub mod cases;
pub mod clock;
pub mod convolutions;
pub mod kernels;
pub mod machine;
pub mod pipelines;
pub mod report;
pub mod session;
pub mod shapes;
pub mod suites;
pub mod table;
pub mod tuning;

/// A result whose error is shown and never matched on.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
