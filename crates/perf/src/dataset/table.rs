//! Rows as lines of CSV and back.

use super::{Named, Row};
use std::collections::BTreeSet;

/// The columns that every operation has.
const FIXED: [&str; 6] = ["op", "device", "clock_mhz", "power_w", "median_us", "spread"];
const PROBLEM: &str = "problem.";
const CONFIGURATION: &str = "configuration.";

/// The names of the columns of some rows.
pub(super) fn columns(rows: &[Row]) -> Vec<String> {
    let own = |prefix: &str, pick: fn(&Row) -> &Named| -> BTreeSet<String> {
        rows.iter().flat_map(|row| pick(row).keys()).map(|name| format!("{prefix}{name}")).collect()
    };
    let fixed = FIXED.map(str::to_owned).into_iter();
    fixed.chain(own(PROBLEM, |row| &row.problem)).chain(own(CONFIGURATION, |row| &row.configuration)).collect()
}

/// The cells of a row under these columns; or the name that has none, or that the row lacks.
pub(super) fn cells(row: &Row, columns: &[String]) -> Result<Vec<String>, String> {
    let count = FIXED.len() + row.problem.len() + row.configuration.len();
    if count != columns.len() {
        return Err(format!("a row has {count} columns, the file has {}", columns.len()));
    }
    let sound = |value: f32| value.is_finite() && value >= 0.0;
    if !(sound(row.clock_mhz) && sound(row.power_w) && sound(row.spread) && sound(row.median_us) && row.median_us > 0.0)
    {
        return Err(format!("a row's figures are no measurement: {} us, spread {}", row.median_us, row.spread));
    }
    columns.iter().map(|column| cell(row, column).ok_or_else(|| format!("a row lacks column `{column}`"))).collect()
}

fn cell(row: &Row, column: &str) -> Option<String> {
    let own = |named: &Named, name| named.get(name).map(i64::to_string);
    if let Some(name) = column.strip_prefix(PROBLEM) {
        return own(&row.problem, name);
    }
    if let Some(name) = column.strip_prefix(CONFIGURATION) {
        return own(&row.configuration, name);
    }
    match column {
        "op" => Some(row.op.clone()),
        "device" => Some(row.device.clone()),
        "clock_mhz" => Some(row.clock_mhz.to_string()),
        "power_w" => Some(row.power_w.to_string()),
        "median_us" => Some(row.median_us.to_string()),
        "spread" => Some(row.spread.to_string()),
        _ => None,
    }
}

/// Refuses columns that no row can have.
pub(super) fn check(columns: &[String]) -> Result<(), String> {
    let missing = FIXED.iter().find(|fixed| !columns.iter().any(|column| column == *fixed));
    if let Some(fixed) = missing {
        return Err(format!("there is no column `{fixed}`"));
    }
    let own = |column: &str| column.starts_with(PROBLEM) || column.starts_with(CONFIGURATION);
    match columns.iter().find(|column| !FIXED.contains(&column.as_str()) && !own(column)) {
        Some(column) => Err(format!("nobody knows the column `{column}`")),
        None => Ok(()),
    }
}

/// The row of a line.
pub(super) fn row(columns: &[String], cells: &csv::StringRecord) -> Result<Row, String> {
    let mut row = Row {
        op: String::new(),
        problem: Named::new(),
        configuration: Named::new(),
        device: String::new(),
        clock_mhz: 0.0,
        power_w: 0.0,
        median_us: 0.0,
        spread: 0.0,
    };
    for (column, cell) in columns.iter().zip(cells) {
        put(&mut row, column, cell).ok_or_else(|| format!("`{cell}` is no value of `{column}`"))?;
    }
    Ok(row)
}

/// Puts a cell in its place; none if it has no such value.
fn put(row: &mut Row, column: &str, cell: &str) -> Option<()> {
    let number = || cell.parse::<f32>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    match column {
        "op" => cell.clone_into(&mut row.op),
        "device" => cell.clone_into(&mut row.device),
        "clock_mhz" => row.clock_mhz = number()?,
        "power_w" => row.power_w = number()?,
        "median_us" => row.median_us = number().filter(|us| *us > 0.0)?,
        "spread" => row.spread = number()?,
        own => {
            let value = cell.parse().ok()?;
            if let Some(name) = own.strip_prefix(PROBLEM) {
                row.problem.insert(name.to_owned(), value);
            } else {
                row.configuration.insert(own.strip_prefix(CONFIGURATION)?.to_owned(), value);
            }
        }
    }
    Some(())
}
