use crate::Error;

/// How many rows a matrix has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rows(pub usize);

/// How many columns a matrix has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Columns(pub usize);

/// How many elements a matrix or a vector has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(pub usize);

/// How many bytes elements take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub usize);

/// Elements from the start of one row (or column) of a matrix that is stored row by row (column by column) to the start of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leading(pub usize);

/// Elements from one row to the next, of either sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowStride(pub isize);

/// Elements from one column to the next, of either sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnStride(pub isize);

/// Rows and columns of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Its rows.
    pub rows: Rows,
    /// Its columns.
    pub columns: Columns,
}

impl Shape {
    /// A shape.
    pub const fn new(rows: Rows, columns: Columns) -> Self {
        Self { rows, columns }
    }

    /// Of the transposed matrix.
    pub const fn transposed(self) -> Self {
        Self { rows: Rows(self.columns.0), columns: Columns(self.rows.0) }
    }

    /// Whether there are no elements.
    pub const fn is_empty(self) -> bool {
        self.rows.0 == 0 || self.columns.0 == 0
    }

    /// How many elements. More than memory of `T` can have are [`Error::TooLarge`].
    pub fn length<T>(self) -> Result<Length, Error> {
        let length = self.rows.0.checked_mul(self.columns.0).ok_or_else(|| self.too_large::<T>())?;
        self.bytes_of::<T>(length).map(|_| Length(length))
    }

    /// How many bytes, without gaps.
    pub fn bytes<T>(self) -> Result<Bytes, Error> {
        let Length(length) = self.length::<T>()?;
        self.bytes_of::<T>(length)
    }

    fn bytes_of<T>(self, length: usize) -> Result<Bytes, Error> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
        bytes.map(Bytes).ok_or_else(|| self.too_large::<T>())
    }

    /// The error of a matrix that no memory holds.
    pub(crate) fn too_large<T>(self) -> Error {
        Error::TooLarge { rows: self.rows.0, columns: self.columns.0, element_bits: 8 * size_of::<T>() }
    }

    /// The side of a square, or [`Error::NotSquare`].
    pub(crate) fn square(self, operation: &'static str) -> Result<usize, Error> {
        let (rows, columns) = (self.rows.0, self.columns.0);
        if rows == columns { Ok(rows) } else { Err(Error::NotSquare { operation, rows, columns }) }
    }
}

/// Whether `got` is `expected`; if not, an error that names both.
pub(crate) fn expect(operation: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { operation, what, expected, got }) }
}
