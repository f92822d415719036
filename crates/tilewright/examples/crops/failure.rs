//! Why the program ends early, as one line.

use std::fmt::Display;
use std::path::Path;

/// A reason to stop.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What was asked cannot be done: exit code 2.
    #[error("{0}")]
    Input(String),
    /// The machine failed: exit code 1.
    #[error("{0}")]
    Machine(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Machine(_) => 1,
        }
    }

    /// For errors of writing: the machine is at fault.
    pub(crate) fn file<E: Display>(doing: &str, path: &Path) -> impl FnOnce(E) -> Failure {
        move |error| Failure::Machine(one_line(&format!("cannot {doing} {}: {error}", path.display())))
    }
}

impl From<tilewright::Error> for Failure {
    fn from(error: tilewright::Error) -> Self {
        let text = one_line(&error.to_string());
        match error {
            tilewright::Error::Driver(_) => Failure::Machine(text),
            _ => Failure::Input(text),
        }
    }
}

impl From<tilewright::driver::Error> for Failure {
    fn from(error: tilewright::driver::Error) -> Self {
        Failure::Machine(one_line(&error.to_string()))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Machine(format!("cannot print: {error}"))
    }
}

/// The first and the last line of a message: between them stand a compiler's or pip's details.
pub(crate) fn one_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next_back()) {
        (Some(first), Some(last)) => format!("{first} .. {last}"),
        (Some(first), None) => first.to_string(),
        _ => String::new(),
    }
}
