//! What was measured: rows, files of them, and rows that say the same made one.

mod file;
mod table;

pub use file::{append, read};

use std::collections::BTreeMap;

/// Integers with names: a problem's sizes, or a configuration.
pub type Named = BTreeMap<String, i64>;

/// Makes [`Named`] of pairs.
pub fn named<const N: usize>(pairs: [(&str, i64); N]) -> Named {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// One configuration of one problem, timed on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The operation.
    pub op: String,
    /// The problem.
    pub problem: Named,
    /// The configuration.
    pub configuration: Named,
    /// The device's name.
    pub device: String,
    /// Its clock meanwhile, in MHz.
    pub clock_mhz: f32,
    /// Its power meanwhile, in watts.
    pub power_w: f32,
    /// The median of the times, in microseconds.
    pub median_us: f32,
    /// How far the times lie apart, per median.
    pub spread: f32,
}

/// Rows of the same operation, problem, configuration and device made one: medians of their figures, and a spread that covers all. The
/// order is that of the first of each.
pub fn merged(rows: Vec<Row>) -> Vec<Row> {
    let mut places = BTreeMap::new();
    let mut runs: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        let key = (row.op.clone(), row.problem.clone(), row.configuration.clone(), row.device.clone());
        let place = *places.entry(key).or_insert(runs.len());
        if place == runs.len() {
            runs.push(Vec::new());
        }
        runs[place].push(row);
    }
    runs.into_iter().map(one).collect()
}

/// One row of several about the same; there is at least one.
fn one(mut runs: Vec<Row>) -> Row {
    let median_of = |pick: fn(&Row) -> f32| median(runs.iter().map(pick).collect());
    let (clock_mhz, power_w) = (median_of(|row| row.clock_mhz), median_of(|row| row.power_w));
    let median_us = median_of(|row| row.median_us);
    let apart = |row: &Row| row.spread.max((row.median_us - median_us).abs() / median_us);
    let spread = runs.iter().map(apart).fold(0.0, f32::max);
    let first = runs.swap_remove(0);
    if runs.is_empty() { first } else { Row { clock_mhz, power_w, median_us, spread, ..first } }
}

fn median(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    low / 2.0 + high / 2.0
}
