//! What can be wrong: with what was found, and what was expected.

use std::path::PathBuf;

/// Why something was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter of a fit is outside its range.
    #[error("parameter `{name}` is {found}; give one in {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
        /// The legal values.
        expected: &'static str,
    },
    /// A table's parts do not fit each other.
    #[error("{what}: {found} given, {expected} expected; give a value for each row and column")]
    Shape {
        /// What was counted.
        what: &'static str,
        /// How many there were.
        found: usize,
        /// How many there should have been.
        expected: usize,
    },
    /// A value of a table is no finite number.
    #[error("{what} of row {row}, column {column} is {value}; only finite numbers can be learned from")]
    NotFinite {
        /// Feature or target.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A description of work that no kernel can have, or that the device cannot hold.
    #[error("{what} is {found}, the limit is {limit}; leave this configuration out")]
    Work {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The limit that it breaks.
        limit: f64,
    },
    /// Facts of a device that cannot be.
    #[error("the device's {what} is {found}; it has to be positive and finite")]
    Device {
        /// Which fact.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// A file of a model that cannot be used.
    #[error("model file refused: {what} is {found}, expected {expected}; train it again with `cargo xtask train`")]
    Model {
        /// Which part.
        what: &'static str,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// A data file that cannot be used.
    #[error("data file {path}: {what} (line {line}); mend or remove it")]
    Data {
        /// The file.
        path: PathBuf,
        /// The line, from 1; the first has the columns' names.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// A file that cannot be read or written.
    #[error("data file {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// Rows of a device whose facts were not given.
    #[error("rows were measured on `{name}`, which is none of the {known} devices given; give its facts too")]
    UnknownDevice {
        /// The device's name.
        name: String,
        /// How many devices were given.
        known: usize,
    },
    /// There is no model to ask.
    #[error("no model for `{op}`: {known} models are there; give an explicit configuration, or train one")]
    NoModel {
        /// The operation asked for.
        op: String,
        /// How many models there are, of other operations.
        known: usize,
    },
    /// A row that its operation cannot read, or a configuration that is illegal.
    #[error("{op}: {why}; leave this row out")]
    Refused {
        /// The operation.
        op: &'static str,
        /// What is wrong.
        why: String,
    },
    /// Nothing to choose from, or nothing to learn from.
    #[error("{what}: {found} given, at least {least} needed")]
    TooFew {
        /// Of what.
        what: &'static str,
        /// How many there were.
        found: usize,
        /// How many are needed.
        least: usize,
    },
    /// The library of learning refused.
    #[error("linfa: {0}")]
    Linfa(#[from] linfa::error::Error),
}
