//! What a build is told of at its end.

use crate::build::Row;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Rows that are shown one by one; of more there is a line for each suite and target.
const SHOWN: usize = 40;

/// The columns of every kernel.
const COLUMNS: [&str; 7] = ["kernel", "target", "ms", "bytes", "registers", "shared", "spills"];

/// Every kernel, with tabs between columns; a kernel that was there already took no time, and PTX has no registers yet.
pub fn every_row(rows: &[Row], stored: &dyn Fn(&Row) -> u64) -> String {
    let mut text = COLUMNS.join("\t") + "\n";
    for row in rows {
        let _ = writeln!(text, "{}", cells(row, stored).join("\t"));
    }
    text
}

fn cells(row: &Row, stored: &dyn Fn(&Row) -> u64) -> [String; 7] {
    let or_none = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let ms = row.ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0}"));
    [
        row.entry.name(),
        row.target.to_string(),
        ms,
        stored(row).to_string(),
        or_none(row.registers()),
        or_none(row.shared_bytes()),
        or_none(row.spill_bytes()),
    ]
}

/// A line for each suite and target.
#[derive(Default)]
struct Sum {
    kernels: usize,
    ms: f64,
    bytes: u64,
    registers: u32,
    shared: u32,
    spilling: usize,
}

/// The table of the terminal.
pub fn shown(rows: &[Row], stored: &dyn Fn(&Row) -> u64) -> String {
    if rows.len() <= SHOWN {
        let all: Vec<[String; 7]> = rows.iter().map(|row| cells(row, stored)).collect();
        return aligned(&COLUMNS.map(str::to_owned), &all);
    }
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for row in rows {
        let suite = row.entry.suite.map_or("manifest".to_owned(), |suite| format!("{suite:?}").to_lowercase());
        let sum = sums.entry((suite, row.target.to_string())).or_default();
        sum.kernels += 1;
        sum.ms += row.ms.unwrap_or(0.0);
        sum.bytes += stored(row);
        sum.registers = sum.registers.max(row.registers().unwrap_or(0));
        sum.shared = sum.shared.max(row.shared_bytes().unwrap_or(0));
        sum.spilling += usize::from(row.spill_bytes().is_some_and(|bytes| bytes > 0));
    }
    let line = |((suite, target), s): ((String, String), Sum)| {
        let mean = s.bytes / s.kernels as u64;
        let most = |n: u32| if n == 0 { "-".to_owned() } else { n.to_string() };
        let counts = [s.kernels.to_string(), format!("{:.1}", s.ms / 1e3), s.bytes.to_string(), mean.to_string()];
        let [kernels, seconds, bytes, mean] = counts;
        [suite, target, kernels, seconds, bytes, mean, most(s.registers), most(s.shared), s.spilling.to_string()]
    };
    let head =
        ["suite", "target", "kernels", "compiler s", "bytes", "mean", "most registers", "most shared", "spilling"];
    aligned(&head.map(str::to_owned), &sums.into_iter().map(line).collect::<Vec<_>>())
}

/// Columns one below the other: names to the left, numbers to the right.
fn aligned<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> String {
    let all = || std::iter::once(head).chain(rows);
    let widths: [usize; N] = std::array::from_fn(|i| all().map(|row| row[i].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = if i < 2 { write!(line, "{cell:<width$}  ") } else { write!(line, "{cell:>width$}  ") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
