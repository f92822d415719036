//! Relations that stay on a GPU while their closure is made.

use std::borrow::Cow;

use tilewright_driver::Stream;

use super::{DeviceBitMatrix, DeviceProduct, words_per_row};
use crate::{
    Error,
    bits::{
        BitMatrix,
        squares::{AT_ONCE, Multiplier},
    },
};

/// Products on a stream. Before each somebody is asked whether it is still wanted.
pub(crate) struct Resident<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) goes_on: &'a dyn Fn() -> Result<(), Error>,
}

impl Resident<'_> {
    /// Bytes of the GPU's memory that relations of so many elements take, and counts of their rows.
    pub(crate) fn device_bytes(size: usize) -> u64 {
        let bytes = AT_ONCE as u128 * size as u128 * 4 * words_per_row(size) as u128 + 4 * size as u128;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

impl Multiplier for Resident<'_> {
    type Relation = DeviceBitMatrix;

    fn bring(&self, relation: Cow<'_, BitMatrix>) -> Result<DeviceBitMatrix, Error> {
        DeviceBitMatrix::upload(self.stream, &relation)
    }

    fn transposed(&self, relation: &DeviceBitMatrix) -> Result<DeviceBitMatrix, Error> {
        relation.transposed()
    }

    fn paths(&self, left: &DeviceBitMatrix, transposed: &DeviceBitMatrix) -> Result<DeviceBitMatrix, Error> {
        (self.goes_on)()?;
        DeviceProduct::of_rows(left, transposed)?.paths()
    }

    fn count_ones(&self, relation: &DeviceBitMatrix) -> Result<u64, Error> {
        relation.count_ones()
    }
}
