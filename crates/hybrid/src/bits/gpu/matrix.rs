use tilewright_driver::{DeviceBuffer, Stream};

use super::rows::{DeviceRows, words_per_row};
use super::text::{Combine, combine_kernel};
use crate::{
    Error,
    bits::{BitMatrix, elementwise::same},
    dispatch,
    kernel::{Kernel, Name, in_order},
};

/// A [`BitMatrix`] in the memory of a GPU, with the same words in the same places.
#[derive(Debug)]
pub struct DeviceBitMatrix {
    rows: usize,
    columns: usize,
    words: DeviceBuffer<u64>,
}

impl DeviceBitMatrix {
    /// A matrix of zeros on the stream's device.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 2^31 - 1 rows or columns; [`Error::Driver`], a lack of memory among them.
    pub fn zeros(stream: &Stream, rows: usize, columns: usize) -> Result<Self, Error> {
        let words = stream.alloc_zeroed(words(rows, columns)?)?;
        Ok(Self { rows, columns, words })
    }

    /// A copy of `matrix` on the stream's device. Returns when it has been read.
    ///
    /// # Errors
    /// As [`DeviceBitMatrix::zeros`].
    pub fn upload(stream: &Stream, matrix: &BitMatrix) -> Result<Self, Error> {
        words(matrix.rows(), matrix.columns())?;
        let words = stream.upload(matrix.words())?;
        dispatch::to_gpu(size_of_val(matrix.words()));
        Ok(Self { rows: matrix.rows(), columns: matrix.columns(), words })
    }

    /// Has the words of a matrix of its size.
    pub(crate) fn take(&mut self, matrix: &BitMatrix) -> Result<(), Error> {
        self.words.copy_from_slice(matrix.words())?;
        dispatch::to_gpu(size_of_val(matrix.words()));
        Ok(())
    }

    /// A copy in the host's memory. Waits for what was queued on the matrix's stream.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn download(&self) -> Result<BitMatrix, Error> {
        let words = self.words.to_vec()?;
        dispatch::to_host(size_of_val(&words[..]));
        BitMatrix::from_words(self.rows, self.columns, words)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The stream that its memory belongs to.
    pub fn stream(&self) -> &Stream {
        self.words.stream()
    }

    /// Two matrices element by element, on this one's stream.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two are not of the same shape; [`Error::Driver`], also if they are on two devices.
    pub fn combined(&self, combine: Combine, other: &Self) -> Result<Self, Error> {
        let operation = "bits::gpu::combined";
        same(operation, "rows of the second matrix", self.rows, other.rows)?;
        same(operation, "columns of the second matrix", self.columns, other.columns)?;
        let result = Self { words: self.stream().alloc(self.words.len())?, rows: self.rows, columns: self.columns };
        if self.words.is_empty() {
            return Ok(result);
        }
        let runs = self.words.len() / 2;
        let addresses = [self, other, &result].map(|matrix| matrix.words.device_ptr());
        let block: Vec<u8> = addresses.into_iter().chain([runs as u64]).flat_map(u64::to_ne_bytes).collect();
        in_order(self.stream(), other.words.stream(), || {
            let kernel = Kernel::get(self.stream(), Name::Combine(combine), || combine_kernel(combine))?;
            kernel.launch(self.stream(), kernel.tiles(runs, 1)?, &block)
        })?;
        Ok(result)
    }

    /// How many elements of each row are set. Waits for what was queued on the matrix's stream.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn row_counts(&self) -> Result<Vec<u64>, Error> {
        if self.words.is_empty() {
            return Ok(vec![0; self.rows]);
        }
        let counts = self.as_rows()?.ones(self.stream())?.to_vec()?;
        Ok(counts.into_iter().map(|count| u64::from(count as u32)).collect())
    }

    /// How many elements are set. Waits as [`DeviceBitMatrix::row_counts`].
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn count_ones(&self) -> Result<u64, Error> {
        Ok(self.row_counts()?.iter().sum())
    }

    /// The transposed matrix, on the same stream.
    ///
    /// # Errors
    /// As [`DeviceBitMatrix::zeros`].
    pub fn transposed(&self) -> Result<Self, Error> {
        let mut result = Self::zeros(self.stream(), self.columns, self.rows)?;
        if self.words.is_empty() || result.words.is_empty() {
            return Ok(result);
        }
        self.as_rows()?.transpose(&mut result.words)?;
        Ok(result)
    }

    /// Words of 32 bits of a row.
    pub(super) fn words_per_row(&self) -> usize {
        words_per_row(self.columns)
    }

    pub(super) fn as_rows(&self) -> Result<DeviceRows<'_, u64>, Error> {
        DeviceRows::new(&self.words, self.rows, self.columns)
    }

    pub(super) fn buffer(&self) -> &DeviceBuffer<u64> {
        &self.words
    }
}

/// Words of 64 bits; a kernel counts rows and columns in 31 bits.
fn words(rows: usize, columns: usize) -> Result<usize, Error> {
    let limit = i32::MAX as usize - 1024;
    let words = (columns.div_ceil(128) * 2).checked_mul(rows).filter(|_| rows <= limit && columns <= limit);
    words.ok_or(Error::TooLarge { rows, columns, element_bits: 1 })
}
