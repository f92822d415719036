//! The word in which a kernel reports what it found to be wrong.

use crate::error::Error;

/// The bit of a kernel's error word that says that a coordinate is reported, and not the index of a box.
pub(crate) const COORDINATE: u32 = 1 << 31;

impl Error {
    /// What a kernel's error word, which is not 0, says: 1 more than the index of a box, or a coordinate of 31 bits below a set
    /// bit.
    pub fn of_word(word: u32) -> Error {
        match word & COORDINATE {
            0 => Error::Guard { index: word.wrapping_sub(1) },
            _ => Error::Coordinate { coordinate: (word << 1) as i32 >> 1 },
        }
    }
}
