//! Factors in a scratch, as matrices of their own.

use crate::Error;
use crate::linear::Scalar;
use crate::store::{Element, Extents, Scratch, Source, Stored, Tile};
use std::fmt;
use std::marker::PhantomData;

/// A triangular factor: zeros in the other triangle.
///
/// It is read from the scratch, column by column: tiles of full height are read without reading more than they are.
pub struct FactorPart<'a, T> {
    scratch: &'a dyn Scratch,
    part: Part,
    element: PhantomData<fn() -> T>,
}

pub(super) enum Part {
    /// Below the diagonal, with ones on it. Rows of the columns in each block stand where exchanges up to this block left them: row i of L is
    /// row `order[i]` of the scratch.
    UnitLower { block: usize, orders: Vec<Vec<usize>> },
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

impl Part {
    /// L of LU factors whose blocks' exchanges these are.
    pub(super) fn unit_lower(block: usize, size: usize, exchanges: &[Vec<usize>]) -> Part {
        Part::UnitLower { block, orders: orders(block, size, exchanges) }
    }
}

/// Of each block of columns, which row of the scratch is row i of L.
pub(super) fn orders(block: usize, size: usize, exchanges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..size).collect();
    let mut orders = Vec::with_capacity(exchanges.len());
    // From the last block on, behind which nothing was exchanged: earlier exchanges come first.
    for (number, rows) in exchanges.iter().enumerate().rev() {
        orders.push(order.clone());
        let top = number * block;
        let mut exchanged: Vec<usize> = (0..size).collect();
        rows.iter().enumerate().for_each(|(row, other)| exchanged.swap(top + row, top + other));
        order = order.into_iter().map(|row| exchanged[row]).collect();
    }
    orders.reverse();
    orders
}

impl<'a, T: Scalar + Stored> FactorPart<'a, T> {
    pub(super) fn new(scratch: &'a dyn Scratch, part: Part) -> Self {
        FactorPart { scratch, part, element: PhantomData }
    }

    /// Elements of a column in the scratch.
    fn line(&self, column: usize, rows: std::ops::Range<usize>) -> Result<Vec<T>, Error> {
        let mut line = vec![T::ZERO; rows.len()];
        let tile = Tile { rows: column..column + 1, columns: rows };
        T::fill(&mut line, &mut |bytes| self.scratch.read_tile(&tile, bytes))?;
        Ok(line)
    }

    /// A column's elements in these rows.
    fn column(&self, column: usize, rows: std::ops::Range<usize>) -> Result<Vec<T>, Error> {
        match &self.part {
            Part::UnitLower { block, orders } => {
                let order = &orders[column / block][rows.clone()];
                let first = order.iter().copied().min().unwrap_or(0);
                let end = order.iter().copied().max().map_or(0, |last| last + 1);
                let stored = self.line(column, first..end)?;
                let value = |(row, from): (usize, &usize)| match row.cmp(&column) {
                    std::cmp::Ordering::Less => T::ZERO,
                    std::cmp::Ordering::Equal => T::ONE,
                    std::cmp::Ordering::Greater => stored[from - first],
                };
                Ok(rows.zip(order).map(value).collect())
            }
            Part::Lower | Part::Upper => {
                let mut line = self.line(column, rows.clone())?;
                let is_zero = |row: usize| if matches!(self.part, Part::Lower) { row < column } else { row > column };
                line.iter_mut().zip(rows).filter(|(_, row)| is_zero(*row)).for_each(|(value, _)| *value = T::ZERO);
                Ok(line)
            }
        }
    }
}

impl<T: Scalar + Stored> Source for FactorPart<'_, T> {
    fn extents(&self) -> Extents {
        self.scratch.extents()
    }

    fn element(&self) -> Element {
        self.scratch.element()
    }

    fn grain(&self) -> Extents {
        Extents::new(self.extents().rows.max(1), 1)
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents(), self.element(), out.len())?;
        let (size, width) = (T::ELEMENT.bytes(), tile.columns.len());
        for (j, column) in tile.columns.clone().enumerate() {
            let values = self.column(column, tile.rows.clone())?;
            for (i, value) in T::bytes(&values).chunks_exact(size).enumerate() {
                out[(i * width + j) * size..][..size].copy_from_slice(value);
            }
        }
        Ok(())
    }
}

impl<T> fmt::Debug for FactorPart<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.part {
            Part::UnitLower { .. } => "L with ones on its diagonal",
            Part::Lower => "L",
            Part::Upper => "U",
        };
        let Extents { rows, columns } = self.scratch.extents();
        write!(f, "{name}, {rows} x {columns}, in a scratch")
    }
}
