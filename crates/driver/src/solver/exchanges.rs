use crate::{DeviceBuffer, Error, Stream};

/// Exchanges of rows, one after the other, on a device: what a factorisation did, to be done to other columns.
#[derive(Debug)]
pub struct Exchanges {
    /// Counted from 1, as LAPACK does.
    rows: DeviceBuffer<i32>,
    reach: usize,
}

impl Exchanges {
    /// At step i row i and row `rows[i]`, counted from 0, are exchanged. [`Error::Matrix`] for rows from 2^31 - 1 on.
    pub fn new(stream: &Stream, rows: &[usize]) -> Result<Self, Error> {
        let reach = rows.iter().map(|row| row + 1).max().unwrap_or(0).max(rows.len());
        if i32::try_from(reach).is_err() {
            let (call, what) = ("laswp", "rows that are exchanged");
            return Err(Error::Matrix { call, what, expected: i32::MAX as usize, got: reach });
        }
        let counted: Vec<i32> = rows.iter().map(|row| *row as i32 + 1).collect();
        Ok(Self { rows: stream.upload(&counted)?, reach })
    }

    /// Rows that a matrix has at least.
    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    pub(crate) fn rows(&self) -> &DeviceBuffer<i32> {
        &self.rows
    }
}
