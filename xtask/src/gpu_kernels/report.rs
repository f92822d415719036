//! What the command prints: a table of what kernels use, and where a file is not what it should be.

use super::budgets::{Budgets, spill_bytes};
use super::ptx;
use super::ptxas::Usage;
use crate::difference::Difference;

/// Prints a row for each kernel and target. `registers/18` is a budget that is not used up.
pub(super) fn print(usage: &Usage, budgets: &Budgets) {
    let widest = usage.keys().map(|(kernel, _)| kernel.len()).max().unwrap_or(0).max("kernel".len());
    println!("{:<widest$}  target  registers  spilled  stack  shared (bytes)", "kernel");
    for ((kernel, target), used) in usage {
        let target = target.to_string();
        let registers = match budgets.get(kernel, &target) {
            Some(budget) if budget.registers != used.registers => format!("{}/{}", used.registers, budget.registers),
            _ => used.registers.to_string(),
        };
        let (spilled, stack, shared) = (spill_bytes(used), used.stack_bytes, used.shared_bytes);
        println!("{kernel:<widest$}  {target:<6}  {registers:>9}  {spilled:>7}  {stack:>5}  {shared:>6}");
    }
}

/// A committed file that is not what was built, with what may be the reason.
pub(super) fn difference(name: &str, difference: &Difference, committed: &str, compiler: &str) -> String {
    let line =
        |text: &Option<String>| text.as_deref().map_or("(end of file)".to_owned(), |text| text.trim().to_owned());
    let (old, new) = (line(&difference.old), line(&difference.new));
    let mut text =
        format!("{name}:{}: not what the sources give\n  committed: {old}\n  built:     {new}", difference.line);
    match ptx::made_by(committed) {
        Some(before) if before != compiler => {
            text += &format!("\n  it was made by {before}, and this is {compiler}: the code may differ for that alone");
        }
        _ => {}
    }
    text
}
