use ndarray::ArrayViewMut2;

use crate::Error;
use crate::store::{Extents, MemorySink, MemorySource};

/// Words of 64 bits from which rows begin at a multiple: 16 bytes, which is what a tensor map asks of rows in device memory.
const WORDS_OF_ALIGNMENT: usize = 2;

/// A matrix of bits, packed: rows x columns, 64 elements a word.
///
/// Element (row, column) is bit `column % 64` of word `column / 64` of its row. Rows are padded to a multiple of 128 bits (2 words), the same
/// on the host and on a device, and padding is always zero: whatever bits come in from outside, those behind the last column are cleared.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BitMatrix {
    rows: usize,
    columns: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    /// A matrix of zeros.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there is no memory for it.
    pub fn zeros(rows: usize, columns: usize) -> Result<Self, Error> {
        let too_large = Error::TooLarge { rows, columns, element_bits: 1 };
        let per_row = columns.div_ceil(64).checked_next_multiple_of(WORDS_OF_ALIGNMENT);
        let words = per_row.and_then(|row| row.checked_mul(rows)).filter(|&words| is_there(words));
        words.map(|words| Self { rows, columns, words: vec![0; words] }).ok_or(too_large)
    }

    /// A matrix of ones.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn ones(rows: usize, columns: usize) -> Result<Self, Error> {
        Ok(!Self::zeros(rows, columns)?)
    }

    /// The identity: ones where row and column are the same.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn identity(size: usize) -> Result<Self, Error> {
        let mut identity = Self::zeros(size, size)?;
        for at in 0..size {
            identity.set(at, at, true);
        }
        Ok(identity)
    }

    /// The matrix whose element (row, column) is `element(row, column)`.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`].
    pub fn from_fn(rows: usize, columns: usize, mut element: impl FnMut(usize, usize) -> bool) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        for row in 0..rows {
            for (index, word) in matrix.row_words_mut(row).iter_mut().enumerate() {
                let columns = (64 * index..columns).take(64);
                *word = columns.rev().fold(0, |word, column| word << 1 | u64::from(element(row, column)));
            }
        }
        Ok(matrix)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Words of a row, padding included.
    pub fn words_per_row(&self) -> usize {
        self.columns.div_ceil(64).next_multiple_of(WORDS_OF_ALIGNMENT)
    }

    /// All words, row behind row.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of a row, padding included; empty if there is no such row.
    pub fn row_words(&self, row: usize) -> &[u64] {
        let per_row = self.words_per_row();
        self.words.get(row.saturating_mul(per_row)..).and_then(|rest| rest.get(..per_row)).unwrap_or(&[])
    }

    /// All rows, each as its words.
    pub fn row_iter(&self) -> impl ExactSizeIterator<Item = &[u64]> + Clone {
        (0..self.rows).map(|row| self.row_words(row))
    }

    /// The columns of a row that are set, in order.
    pub fn ones_of_row(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.row_words(row).iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |&left| {
                let rest = left & (left - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |left| 64 * index + left.trailing_zeros() as usize)
        })
    }

    /// The element, or `None` where there is none.
    pub fn get(&self, row: usize, column: usize) -> Option<bool> {
        (row < self.rows && column < self.columns)
            .then(|| self.words[row * self.words_per_row() + column / 64] >> (column % 64) & 1 == 1)
    }

    /// Sets the element, and says whether there is one.
    pub fn set(&mut self, row: usize, column: usize, value: bool) -> bool {
        if row >= self.rows || column >= self.columns {
            return false;
        }
        let at = row * self.words_per_row() + column / 64;
        let bit = 1 << (column % 64);
        self.words[at] = if value { self.words[at] | bit } else { self.words[at] & !bit };
        true
    }

    /// The rows from `from` on, `count` of them, as a matrix.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are fewer.
    pub fn row_range(&self, from: usize, count: usize) -> Result<Self, Error> {
        let end = from.saturating_add(count);
        if end > self.rows {
            return Err(Error::Shape {
                operation: "bits::row_range",
                what: "the end of the range of rows",
                expected: self.rows,
                got: end,
            });
        }
        let per_row = self.words_per_row();
        Ok(Self { rows: count, columns: self.columns, words: self.words[from * per_row..end * per_row].to_vec() })
    }

    /// A matrix of these words, row behind row with [`BitMatrix::words_per_row`] each. Bits behind the last column are cleared.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are more or fewer words.
    pub fn from_words(rows: usize, columns: usize, words: Vec<u64>) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        if words.len() != matrix.words.len() {
            return Err(Error::Shape {
                operation: "bits::from_words",
                what: "words",
                expected: matrix.words.len(),
                got: words.len(),
            });
        }
        matrix.words = words;
        matrix.clear_padding();
        Ok(matrix)
    }

    /// All words, row behind row.
    pub(crate) fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Its words as a source of tiles: rows of [`BitMatrix::words_per_row`] elements of u64.
    pub fn source(&self) -> MemorySource<'_, u64> {
        let extents = Extents::new(self.rows, self.words_per_row());
        MemorySource::from_slice(&self.words, extents).unwrap_or_else(|_| unreachable!("its own shape"))
    }

    /// Its words as a sink; who writes to it keeps padding zero.
    pub(crate) fn sink(&mut self) -> MemorySink<'_, u64> {
        let shape = (self.rows, self.words_per_row());
        let words = ArrayViewMut2::from_shape(shape, &mut self.words);
        MemorySink::new(words.unwrap_or_else(|_| unreachable!("its own shape")))
    }

    pub(super) fn row_words_mut(&mut self, row: usize) -> &mut [u64] {
        let per_row = self.words_per_row();
        &mut self.words[row * per_row..(row + 1) * per_row]
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Clears all bits behind the last column.
    pub(super) fn clear_padding(&mut self) {
        let (columns, per_row) = (self.columns, self.words_per_row());
        if columns == 64 * per_row {
            return;
        }
        for row in self.words.chunks_exact_mut(per_row.max(1)) {
            if columns % 64 != 0 {
                row[columns / 64] &= (1 << (columns % 64)) - 1;
            }
            row[columns.div_ceil(64)..].fill(0);
        }
    }
}

/// Whether the system would give so many words. It is asked first, because a vector of zeros that it refuses ends the program, and because
/// one that it gives comes without being written to.
fn is_there(words: usize) -> bool {
    Vec::<u64>::new().try_reserve_exact(words).is_ok()
}
