//! What the command prints: a table of what kernels use, and where a file is not what it should be.

use super::budgets::{Budgets, spill_bytes};
use super::ptx;
use super::ptxas::Usage;
use crate::difference::Difference;
use std::collections::BTreeSet;
use tilewright_driver::{Arch, KernelResources};

/// Prints a row for each kernel: registers for each target, `18/20` where the budget of 20 is not used up; then the most bytes
/// of all targets.
pub(super) fn print(usage: &Usage, budgets: &Budgets) {
    let kernels: BTreeSet<&str> = usage.keys().map(|(kernel, _)| kernel.as_str()).collect();
    let targets: BTreeSet<Arch> = usage.keys().map(|(_, target)| *target).collect();
    let widest = kernels.iter().map(|kernel| kernel.len()).max().unwrap_or(0).max("registers".len());
    let heads: String = targets.iter().map(|target| format!("{:>8}", target.to_string())).collect();
    println!("{:<widest$}{heads}  bytes spilled   stack  shared", "registers");
    for kernel in kernels {
        let rows: Vec<_> = targets.iter().map(|target| usage.get(&(kernel.to_owned(), *target))).collect();
        let registers = targets.iter().zip(&rows).map(|(target, used)| {
            let used = used.map(|used| used.registers);
            let most = budgets.get(kernel, &target.to_string()).map(|budget| budget.registers);
            let cell = match (used, most) {
                (None, _) => String::new(),
                (Some(used), Some(most)) if used != most => format!("{used}/{most}"),
                (Some(used), _) => used.to_string(),
            };
            format!("{cell:>8}")
        });
        let registers: String = registers.collect();
        let most =
            |bytes: fn(&KernelResources) -> u32| rows.iter().flatten().map(|used| bytes(used)).max().unwrap_or(0);
        let (stack, shared) = (most(|used| used.stack_bytes), most(|used| used.shared_bytes));
        println!("{kernel:<widest$}{registers}  {:>13}  {stack:>6}  {shared:>6}", most(spill_bytes));
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
