//! The tests of xtask: among them the one that holds the rules of the house in this workspace.

mod cache;
mod mirrors;
mod plots;
mod ptx;
mod run_script;
mod skips;
mod tidy;
