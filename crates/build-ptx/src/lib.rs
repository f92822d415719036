#![doc = include_str!("../README.md")]

pub mod budgets;
pub mod build;
pub mod catalogue;
pub mod command;
pub mod table;
pub mod targets;
