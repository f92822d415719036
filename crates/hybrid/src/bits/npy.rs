//! Files: NPY of packed bytes, whose header says how many bits of a row are not used.

use std::path::Path;

use crate::store::{Element, NpySink, NpySource, Order, Sink, Source, Tile};
use crate::{Error, bits::BitMatrix};

/// Writes a matrix as an NPY file of u8, rows x `columns.div_ceil(8)`, which appears whole or not at all.
///
/// The number of columns stands in the header, as space that other readers skip: before the end of its line, in eight spaces (0) and tabs (1), is the
/// number of bits of a row that are not used. In Python, where that number is known,
/// `np.unpackbits(np.load(path), axis=1, count=columns, bitorder="little")`.
///
/// # Errors
/// [`Error::Io`], [`Error::StorageFull`].
pub fn write_npy(path: impl AsRef<Path>, matrix: &BitMatrix) -> Result<(), Error> {
    let shape = [matrix.rows(), matrix.columns().div_ceil(8)];
    write(NpySink::create(path, &shape, Element::U8, Order::C)?, matrix)
}

/// The same to a file of a shape that fits.
pub(crate) fn write(sink: NpySink, matrix: &BitMatrix) -> Result<(), Error> {
    sink.holds_bits(matrix.columns())?;
    sink.write_tile(&sink.extents().whole(), &matrix.to_bytes())?;
    Box::new(sink).commit()
}

/// Reads what [`write_npy`] or a streamed product wrote, as u8. Of a file that somebody else wrote columns are a multiple of 8, as many as the bytes hold.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] if a file is not what it should be.
pub fn read_npy(path: impl AsRef<Path>) -> Result<BitMatrix, Error> {
    let path = path.as_ref();
    let source = NpySource::open(path)?;
    if source.element() != Element::U8 || source.shape().len() != 2 {
        let (shape, element) = (source.shape(), source.element().name());
        let why = format!("{shape:?} of {element}, bits are rows x bytes of u8");
        return Err(Error::Corrupt { path: path.to_owned(), chunk: None, why });
    }
    let (rows, columns) = (source.extents().rows, source.columns_of_bits());
    let tile = Tile { rows: 0..rows, columns: 0..columns.div_ceil(8) };
    let mut packed = vec![0; tile.extents().byte_count(Element::U8)?];
    source.read_tile(&tile, &mut packed)?;
    BitMatrix::from_bytes(rows, columns, &packed)
}
