//! Products whose result is bits, by tables: of every 8 rows of the right operand all 256 unions (or sums), of which a row of the result
//! takes one, named by 8 of its bits. An eighth of the work of adding rows, and no transposition.

use rayon::prelude::*;

use crate::{
    Error,
    bits::{BitMatrix, Path},
    raw::bits::{self, TABLES},
};

/// What becomes of rows that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Their union.
    Or,
    /// Their sum in GF(2).
    Xor,
}

/// Entries of a table: one for each byte.
const ENTRIES: usize = 256;
/// Words of a row that a table has: tables of four groups take 512 KiB, in the second cache.
const WIDTH: usize = 64;
/// Rows of the result for which tables are made once.
const ROWS: usize = 4096;
/// Fewer rows than this are joined one by one: tables would cost more than they save.
const FEW: usize = 192;

pub(super) fn product(left: &BitMatrix, right: &BitMatrix, join: Join, path: Path) -> Result<BitMatrix, Error> {
    let mut result = BitMatrix::zeros(left.rows(), right.columns())?;
    join_into(&mut result, left, right, join, path);
    Ok(result)
}

/// Joins the product to what `result` has.
pub(crate) fn join_into(result: &mut BitMatrix, left: &BitMatrix, right: &BitMatrix, join: Join, path: Path) {
    let per_row = result.words_per_row();
    if per_row == 0 || result.rows() == 0 {
        return;
    }
    let rows = ROWS.min(left.rows().div_ceil(rayon::current_num_threads()).max(FEW));
    result.words_mut().par_chunks_mut(rows * per_row).enumerate().for_each(|(strip, words)| {
        if words.len() < FEW * per_row {
            one_by_one(left, strip * rows, right, join, words);
        } else {
            by_tables(left, strip * rows, right, join, path, words);
        }
    });
}

/// For each one of a row of `left`, from row `first` on, a row of `right`.
fn one_by_one(left: &BitMatrix, first: usize, right: &BitMatrix, join: Join, words: &mut [u64]) {
    for (index, result) in words.chunks_mut(right.words_per_row()).enumerate() {
        for at in left.ones_of_row(first + index) {
            let row = result.iter_mut().zip(right.row_words(at));
            match join {
                Join::Or => row.for_each(|(to, from)| *to |= from),
                Join::Xor => row.for_each(|(to, from)| *to ^= from),
            }
        }
    }
}

fn by_tables(left: &BitMatrix, first: usize, right: &BitMatrix, join: Join, path: Path, words: &mut [u64]) {
    let per_row = right.words_per_row();
    let mut tables = vec![0; TABLES * ENTRIES * WIDTH];
    for from in (0..per_row).step_by(WIDTH) {
        let columns = from..per_row.min(from + WIDTH);
        let width = columns.len();
        for group in 0..left.columns().div_ceil(8 * TABLES) {
            for (table, entries) in tables.chunks_exact_mut(ENTRIES * width).take(TABLES).enumerate() {
                fill(entries, right, 8 * (TABLES * group + table), columns.clone(), join);
            }
            let keys = left.row_iter().skip(first).map(|row| key(row, group));
            let rows = words.chunks_exact_mut(per_row).map(|row| &mut row[columns.clone()]);
            bits::join_entries(path, join, rows.zip(keys), &tables[..TABLES * ENTRIES * width]);
        }
    }
}

/// The 32 bits of a row that name the entries of a group of tables.
fn key(row: &[u64], group: usize) -> u32 {
    (row[group / 2] >> (32 * (group % 2))) as u32
}

/// Entry e joins the rows whose bits e has: that of e without its lowest bit, and one row more.
fn fill(entries: &mut [u64], right: &BitMatrix, first: usize, columns: std::ops::Range<usize>, join: Join) {
    let width = columns.len();
    entries[..width].fill(0);
    for entry in 1..ENTRIES {
        let (known, rest) = entries.split_at_mut(entry * width);
        let before = &known[(entry & (entry - 1)) * width..][..width];
        let added = right.row_words(first + entry.trailing_zeros() as usize);
        let target = &mut rest[..width];
        let Some(added) = added.get(columns.clone()) else {
            target.copy_from_slice(before);
            continue;
        };
        let parts = target.iter_mut().zip(before.iter().zip(added));
        match join {
            Join::Or => parts.for_each(|(to, (a, b))| *to = a | b),
            Join::Xor => parts.for_each(|(to, (a, b))| *to = a ^ b),
        }
    }
}
