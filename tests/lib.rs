//! Nothing but tests: see `main.rs`.
