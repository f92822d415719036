use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::{Error, bits::BitMatrix};

impl BitMatrix {
    /// Elements that both have.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two are not of the same shape.
    pub fn and(&self, other: &Self) -> Result<Self, Error> {
        self.combined("bits::and", other, BitAnd::bitand)
    }

    /// Elements that one of them has, or both.
    ///
    /// # Errors
    /// As [`BitMatrix::and`].
    pub fn or(&self, other: &Self) -> Result<Self, Error> {
        self.combined("bits::or", other, BitOr::bitor)
    }

    /// Elements that exactly one of them has: the sum in GF(2).
    ///
    /// # Errors
    /// As [`BitMatrix::and`].
    pub fn xor(&self, other: &Self) -> Result<Self, Error> {
        self.combined("bits::xor", other, BitXor::bitxor)
    }

    /// Elements that `self` has and `other` has not.
    ///
    /// # Errors
    /// As [`BitMatrix::and`].
    pub fn and_not(&self, other: &Self) -> Result<Self, Error> {
        self.combined("bits::and_not", other, |a, b| a & !b)
    }

    fn combined(&self, operation: &'static str, other: &Self, words: impl Fn(u64, u64) -> u64) -> Result<Self, Error> {
        let mut result = self.clone();
        result.combine(operation, other, words)?;
        Ok(result)
    }

    /// `words` maps zeros to zero, so that padding stays zero.
    pub(super) fn combine(
        &mut self,
        operation: &'static str,
        other: &Self,
        words: impl Fn(u64, u64) -> u64,
    ) -> Result<(), Error> {
        same(operation, "rows of the second matrix", self.rows(), other.rows())?;
        same(operation, "columns of the second matrix", self.columns(), other.columns())?;
        self.words_mut().iter_mut().zip(other.words()).for_each(|(a, &b)| *a = words(*a, b));
        Ok(())
    }
}

pub(super) fn same(operation: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { operation, what, expected, got }) }
}

impl Not for BitMatrix {
    type Output = Self;

    fn not(mut self) -> Self {
        self.words_mut().iter_mut().for_each(|word| *word = !*word);
        self.clear_padding();
        self
    }
}

impl Not for &BitMatrix {
    type Output = BitMatrix;

    fn not(self) -> BitMatrix {
        !self.clone()
    }
}
