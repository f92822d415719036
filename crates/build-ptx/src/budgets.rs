//! What kernels may use: registers and spilled bytes, by operation and target, in a committed table.

use crate::build::Row;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt;

/// The first line of the table.
const HEAD: &str = "operation\ttarget\tregisters\tspill_bytes";

/// The most that any kernel of an operation uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores and loads because registers ran out.
    pub spill_bytes: u32,
}

/// Budgets by operation and target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets(BTreeMap<(String, String), Budget>);

impl Budgets {
    /// Reads a table: columns with tabs between, as [`fmt::Display`] writes them. `name` is for messages.
    pub fn parse(text: &str, name: &str) -> Result<Budgets> {
        let mut budgets = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let place = || format!("{name}:{}", number + 1);
            if number == 0 {
                if line != HEAD {
                    bail!("{}: the columns are not `{}`", place(), HEAD.replace('\t', " "));
                }
                continue;
            }
            let [operation, target, registers, spill_bytes] = line.split('\t').collect::<Vec<_>>()[..] else {
                bail!("{}: a row has four columns with tabs between: {}", place(), HEAD.replace('\t', ", "));
            };
            let number = |text: &str| text.parse().with_context(|| format!("{}: `{text}` is no number", place()));
            let budget = Budget { registers: number(registers)?, spill_bytes: number(spill_bytes)? };
            if budgets.insert((operation.to_owned(), target.to_owned()), budget).is_some() {
                bail!("{}: `{operation}` has two budgets for {target}", place());
            }
        }
        Ok(Budgets(budgets))
    }

    /// What these kernels use.
    pub fn of(rows: &[Row]) -> Budgets {
        let mut budgets = Budgets::default();
        for (key, used, _) in rows.iter().filter_map(used) {
            let most = budgets.0.entry(key).or_default();
            most.registers = most.registers.max(used.registers);
            most.spill_bytes = most.spill_bytes.max(used.spill_bytes);
        }
        budgets
    }

    /// The same, with `other`'s for what that has.
    pub fn updated(mut self, other: Budgets) -> Budgets {
        self.0.extend(other.0);
        self
    }

    /// The kernels of the catalogue that use more than they may, a line each. What has no budget may use any number of registers, and
    /// spill nothing; with `complete` that is an excess, too. For a target without any budgets nothing is compared.
    pub fn excesses(&self, rows: &[Row], complete: bool) -> Vec<String> {
        let excess = |(key, used, name): ((String, String), Budget, String)| {
            let target = &key.1;
            let budget = match self.0.get(&key) {
                Some(budget) => *budget,
                None if !self.0.keys().any(|(_, known)| known == target) => return None,
                None if complete => return Some(format!("{name} for {target} has no budget")),
                None => Budget { registers: u32::MAX, spill_bytes: 0 },
            };
            let over = |what: &str, got: u32, limit: u32| {
                (got > limit).then(|| format!("{name} for {target}: {got} {what}, {limit} allowed"))
            };
            over("registers", used.registers, budget.registers)
                .or_else(|| over("bytes spilled", used.spill_bytes, budget.spill_bytes))
        };
        rows.iter().filter_map(used).filter_map(excess).collect()
    }

    /// Budgets of these targets that no kernel has any more.
    pub fn idle(&self, rows: &[Row]) -> Vec<String> {
        let there = Budgets::of(rows);
        let targets: Vec<&String> = there.0.keys().map(|(_, target)| target).collect();
        let idle = |key: &&(String, String)| targets.contains(&&key.1) && !there.0.contains_key(*key);
        self.0.keys().filter(idle).map(|(operation, target)| format!("{operation} for {target}")).collect()
    }
}

impl fmt::Display for Budgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.0.iter().try_for_each(|((operation, target), Budget { registers, spill_bytes })| {
            writeln!(f, "{operation}\t{target}\t{registers}\t{spill_bytes}")
        })
    }
}

/// What a kernel of the catalogue uses, where the compiler says it.
fn used(row: &Row) -> Option<((String, String), Budget, String)> {
    row.entry.suite?;
    let budget = Budget { registers: row.registers()?, spill_bytes: row.spill_bytes()? };
    Some(((row.entry.operation.clone(), row.target.to_string()), budget, row.entry.name()))
}
