//! Scalar functions: each is defined once, before what calls it.

use super::body::Body;
use crate::error::Error;
use crate::extend::{Function, Text, definitions};
use crate::program::{Inst, Program};

/// Defines every function that the programs call. Says whether there is one.
pub(super) fn define<const N: usize>(source: &mut String, programs: [Option<&Program>; N]) -> Result<bool, Error> {
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

impl Body<'_> {
    /// A call. What gives several results is called once in a scope.
    pub(super) fn call(&mut self, function: Function, args: &[String]) -> String {
        // The text was linked when it was defined.
        let symbol = function.text().linked().map_or_else(|e| e.to_string(), |linked| linked.symbol.clone());
        let text = format!("{symbol}({})", args.join(", "));
        let Some(number) = function.number() else { return text };
        let name = match self.several.get(&text) {
            Some(name) => name.clone(),
            None => {
                let name = format!("t{}", self.several.len());
                self.line(format_args!("const auto {name} = {text}"));
                self.several.insert(text, name.clone());
                name
            }
        };
        format!("{name}.{}", ["a", "b", "c", "d"][usize::from(number)])
    }
}
