use std::fmt;

use crate::bits::BitMatrix;

/// Rows and columns that a picture shows.
const SHOWN: usize = 64;

impl fmt::Display for BitMatrix {
    /// A picture: `#` for one, `.` for zero, a row a line; of large matrices the first 64 rows and columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.columns().min(SHOWN);
        for row in 0..self.rows().min(SHOWN) {
            let word = self.row_words(row).first().copied().unwrap_or(0);
            let line: String = (0..columns).map(|column| if word >> column & 1 == 1 { '#' } else { '.' }).collect();
            writeln!(f, "{line}{}", if columns < self.columns() { " .." } else { "" })?;
        }
        if self.rows() > SHOWN || self.columns() > SHOWN {
            writeln!(f, ".. {} x {}", self.rows(), self.columns())?;
        }
        Ok(())
    }
}

impl fmt::Debug for BitMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitMatrix {} x {}\n{self}", self.rows(), self.columns())
    }
}
