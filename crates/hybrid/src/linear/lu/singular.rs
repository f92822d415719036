//! Whether a matrix is singular, as far as that can be told from rounded factors.

use std::collections::HashMap;
use std::ops::Range;

use crate::linear::{DeviceRef, Given, Scalar};
use crate::matrix::{Columns, Rows, Shape};
use crate::{Error, MatRef};

/// What the diagonal of U says about a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// It is regular.
    None,
    /// This pivot is 0.
    Zero(usize),
    /// This pivot may be the rounding of a 0.
    Small(usize),
}

/// The first pivot that is 0, or, where none is, the first that is so small that rounding may have made it.
pub(crate) fn suspicion<T: Scalar>(diagonal: &[T]) -> Suspicion {
    if let Some(zero) = diagonal.iter().position(|pivot| *pivot == T::ZERO) {
        return Suspicion::Zero(zero);
    }
    let largest = diagonal.iter().map(|pivot| pivot.modulus()).fold(0.0, f64::max);
    // A complex division is some units off, and what is multiplied by it may be larger than all pivots.
    let rounding = 16.0 * diagonal.len() as f64 * T::EPSILON * largest;
    let small = diagonal.iter().position(|pivot| pivot.modulus() <= rounding);
    small.map_or(Suspicion::None, Suspicion::Small)
}

/// The first pivot by which a matrix is singular.
///
/// A pivot that is 0 says so by itself. Where two rows are the same, that pivot is 0 too in exact arithmetic, and rounding may leave a few
/// units in the last place, on one processor and not on another; so where a pivot is that small the matrix is asked for a line of zeros or
/// two lines that are the same. Nearly singular matrices without such lines are not singular: their condition says what they are.
pub(super) fn pivot<T: Scalar>(diagonal: &[T], matrix: Given<'_, T>) -> Result<Option<usize>, Error> {
    let shape = matrix.shape();
    Ok(match suspicion(diagonal) {
        Suspicion::None => None,
        Suspicion::Zero(at) => Some(at),
        Suspicion::Small(_) if shape.rows.0 != shape.columns.0 => None,
        Suspicion::Small(at) => {
            let is_so = match matrix {
                Given::Host(matrix) => has_dependent_lines(matrix),
                Given::Gpu(matrix) => has_dependent_lines_there(matrix)?,
            };
            is_so.then_some(at)
        }
    })
}

fn has_dependent_lines<T: Scalar>(matrix: MatRef<'_, T>) -> bool {
    has_dependent_columns(matrix) || has_dependent_columns(matrix.t())
}

/// Whether a column is 0 or there twice.
fn has_dependent_columns<T: Scalar>(matrix: MatRef<'_, T>) -> bool {
    let elements = matrix.elements();
    let column = |j: usize| (0..matrix.rows()).map(move |i| elements.at(i, j));
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    (0..matrix.columns()).any(|j| {
        if column(j).all(|element| element == T::ZERO) {
            return true;
        }
        let alike = seen.entry(column(j).fold(0, line_hash)).or_default();
        let twice = alike.iter().any(|earlier| column(*earlier).eq(column(j)));
        alike.push(j);
        twice
    })
}

/// A line of a matrix that is read part by part, as far as it was read.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    hash: u64,
    is_zero: bool,
}

impl Line {
    pub(crate) const NONE: Line = Line { hash: 0, is_zero: true };

    pub(crate) fn add<T: Scalar>(&mut self, element: T) {
        self.hash = line_hash(self.hash, element);
        self.is_zero &= element == T::ZERO;
    }
}

/// Whether a line is 0 or there twice. Those with the same hash are read, and compared themselves.
pub(crate) fn are_dependent<T: Scalar>(
    lines: &[Line],
    read: impl Fn(usize) -> Result<Vec<T>, Error>,
) -> Result<bool, Error> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if line.is_zero {
            return Ok(true);
        }
        let alike = seen.entry(line.hash).or_default();
        if !alike.is_empty() {
            let own = read(at)?;
            for earlier in alike.iter() {
                if read(*earlier)? == own {
                    return Ok(true);
                }
            }
        }
        alike.push(at);
    }
    Ok(false)
}

/// The same of a matrix on a GPU, which comes to the host in parts.
fn has_dependent_lines_there<T: Scalar>(matrix: DeviceRef<'_, T>) -> Result<bool, Error> {
    let Shape { rows: Rows(rows), columns: Columns(columns) } = matrix.shape();
    let (mut of_rows, mut of_columns) = (vec![Line::NONE; rows], vec![Line::NONE; columns]);
    matrix.each_part(|left, part| {
        for (column, line) in part.values().chunks(rows.max(1)).zip(&mut of_columns[left..]) {
            for (value, of_row) in column.iter().zip(&mut of_rows) {
                line.add(*value);
                of_row.add(*value);
            }
        }
        Ok(())
    })?;
    let read = |rows: Range<usize>, columns: Range<usize>| {
        let line = matrix.part(Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end))?;
        Ok(line.download_dense()?.values().to_vec())
    };
    Ok(are_dependent(&of_columns, |at| read(0..rows, at..at + 1))?
        || are_dependent(&of_rows, |at| read(at..at + 1, 0..columns))?)
}

/// The hash of a line with one more element; the same for numbers that compare equal.
fn line_hash<T: Scalar>(hash: u64, element: T) -> u64 {
    let wide = element.wide();
    let bits = |part: f64| (part + 0.0).to_bits();
    (hash ^ bits(wide.re) ^ bits(wide.im).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}
