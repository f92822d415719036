//! Scalar functions: each is defined once, before what calls it.

use crate::error::Error;
use crate::extend::{Text, definitions};
use crate::program::{Inst, Program};

/// Defines every function that the programs call. Says whether there is one.
pub(super) fn define(source: &mut String, programs: [Option<&Program>; 2]) -> Result<bool, Error> {
    let mut known: Vec<&'static Text> = Vec::new();
    for program in programs.into_iter().flatten() {
        for v in program.values() {
            if let Inst::Call(function, _) = program.inst(v)
                && !known.contains(&function.text())
            {
                known.push(function.text());
            }
        }
    }
    source.push_str(&definitions(&known)?);
    Ok(!known.is_empty())
}
