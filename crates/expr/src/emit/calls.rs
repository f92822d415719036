//! Functions that are given as text: each is defined once, before what calls it.

use crate::extend::Function;
use crate::program::{Inst, Program};
use std::fmt::Write as _;

/// What the arguments of a function are called in its text.
const PARAMETERS: [&str; 3] = ["x", "y", "z"];

/// Defines every function that the programs call.
pub(super) fn define(source: &mut String, programs: [Option<&Program>; 2]) {
    let mut known: Vec<Function> = Vec::new();
    for program in programs.into_iter().flatten() {
        for v in program.values() {
            if let Inst::Call(function, _) = program.inst(v)
                && !known.contains(function)
            {
                known.push(*function);
                definition(source, *function);
            }
        }
    }
}

fn definition(source: &mut String, function: Function) {
    let (kind, symbol) = (function.result().cuda(), function.symbol());
    let parameters: Vec<String> =
        function.arguments().iter().zip(PARAMETERS).map(|(t, name)| format!("const {} {name}", t.cuda())).collect();
    let _ = writeln!(source, "\nstatic TW_DEVICE {kind} {symbol}({}) {{", parameters.join(", "));
    for line in function.cuda().trim().lines() {
        let _ = writeln!(source, "  {}", line.trim_end());
    }
    source.push_str("}\n");
}
