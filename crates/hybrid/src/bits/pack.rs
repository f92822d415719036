use ndarray::{Array2, ArrayView2};

use crate::{
    Error,
    bits::{BitMatrix, elementwise::same},
};

impl BitMatrix {
    /// The matrix of these elements.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn from_array(elements: ArrayView2<'_, bool>) -> Result<Self, Error> {
        let (rows, columns) = elements.dim();
        Self::from_fn(rows, columns, |row, column| elements[[row, column]])
    }

    /// The matrix of these elements, row behind row.
    ///
    /// # Errors
    /// [`Error::Shape`] if they are not rows x columns.
    pub fn from_bools(rows: usize, columns: usize, elements: &[bool]) -> Result<Self, Error> {
        same("bits::from_bools", "elements", rows.saturating_mul(columns), elements.len())?;
        Self::from_fn(rows, columns, |row, column| elements[row * columns + column])
    }

    /// The matrix of these bytes, row behind row, `columns.div_ceil(8)` bytes each, element 0 in the lowest bit: what
    /// `numpy.packbits(x, axis=1, bitorder="little")` makes. Bits behind the last column are not taken over.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are more or fewer bytes.
    pub fn from_bytes(rows: usize, columns: usize, bytes: &[u8]) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        let per_row = columns.div_ceil(8);
        same("bits::from_bytes", "bytes", rows * per_row, bytes.len())?;
        for (row, bytes) in bytes.chunks_exact(per_row.max(1)).enumerate() {
            for (word, bytes) in matrix.row_words_mut(row).iter_mut().zip(bytes.chunks(8)) {
                let mut all = [0; 8];
                all[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(all);
            }
        }
        matrix.clear_padding();
        Ok(matrix)
    }

    /// The elements as bytes: the inverse of [`BitMatrix::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let per_row = self.columns().div_ceil(8);
        let mut bytes = Vec::with_capacity(self.rows() * per_row);
        for row in self.row_iter() {
            bytes.extend(row.iter().flat_map(|word| word.to_le_bytes()).take(per_row));
        }
        bytes
    }

    /// The elements as an array.
    pub fn to_array(&self) -> Array2<bool> {
        Array2::from_shape_fn((self.rows(), self.columns()), |(row, column)| self.get(row, column) == Some(true))
    }
}
