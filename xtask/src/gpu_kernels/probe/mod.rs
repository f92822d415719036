//! What a back end needs, and what to say when it is not there.

pub mod checkout;
pub mod cuda;
pub mod libclang;
pub mod llvm;
pub mod toolchain;

use std::fmt;

/// One thing that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is.
    pub what: String,
    /// Where it was looked for and what was found instead.
    pub tried: Vec<String>,
    /// What brings it, each line alone.
    pub mends: Vec<String>,
}

impl Need {
    /// A need with one place that was looked at and one way to mend it.
    pub fn new(what: impl Into<String>, tried: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { what: what.into(), tried: vec![tried.into()], mends: vec![mend.into()] }
    }
}

/// All that a back end lacks on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The back end.
    pub backend: &'static str,
    /// What it lacks.
    pub needs: Vec<Need>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the back end {} cannot run on this machine; it lacks", self.backend)?;
        for (number, need) in self.needs.iter().enumerate() {
            write!(f, "\n  {}. {}", number + 1, need.what)?;
            need.tried.iter().try_for_each(|tried| write!(f, "\n       {tried}"))?;
            let these = if need.mends.len() > 1 { "any one of these mends it" } else { "this mends it" };
            write!(f, "\n     {these}:")?;
            need.mends.iter().try_for_each(|mend| write!(f, "\n       {mend}"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Missing {}
