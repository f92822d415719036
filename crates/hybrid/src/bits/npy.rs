//! Files: NPY of packed bytes, and beside it the number of columns, which the bytes do not tell.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};

use crate::store::{Element, NpySink, NpySource, Order, Sink, Source, replace};
use crate::{Error, bits::BitMatrix};

/// Writes a matrix as an NPY file of u8, rows x `columns.div_ceil(8)`, and its shape to a file of the same name with `.json` behind it. Each
/// appears whole or not at all, the shape first.
///
/// In Python: `np.unpackbits(np.load(path), axis=1, count=columns, bitorder="little")`.
///
/// # Errors
/// [`Error::Io`], [`Error::StorageFull`].
pub fn write_npy(path: impl AsRef<Path>, matrix: &BitMatrix) -> Result<(), Error> {
    let path = path.as_ref();
    let shape = json!({ "rows": matrix.rows(), "columns": matrix.columns(), "bit_order": "little" });
    let bytes_per_row = matrix.columns().div_ceil(8);
    let sink = NpySink::create(path, &[matrix.rows(), bytes_per_row], Element::U8, Order::C)?;
    sink.write_tile(&sink.extents().whole(), &matrix.to_bytes())?;
    replace(&shape_file(path), format!("{shape}\n").as_bytes())?;
    Box::new(sink).commit()
}

/// Reads what [`write_npy`] wrote. Where no file has the shape, columns are a multiple of 8, as many as the bytes hold.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] if a file is not what it should be, or the two do not fit each other.
pub fn read_npy(path: impl AsRef<Path>) -> Result<BitMatrix, Error> {
    let path = path.as_ref();
    let source = NpySource::open(path)?;
    if source.element() != Element::U8 || source.shape().len() != 2 {
        let why = format!("{:?} of {}, bits are rows x bytes of u8", source.shape(), source.element().name());
        return Err(corrupt(path, why));
    }
    let (rows, bytes_per_row) = (source.extents().rows, source.extents().columns);
    let columns = match columns_beside(path, rows)? {
        None => bytes_per_row.saturating_mul(8),
        Some(columns) if columns.div_ceil(8) == bytes_per_row => columns,
        Some(columns) => {
            let why = format!("{bytes_per_row} bytes a row, but its shape has {columns} columns; pack them along rows");
            return Err(corrupt(path, why));
        }
    };
    let mut packed = vec![0; source.extents().byte_count(Element::U8)?];
    source.read_tile(&source.extents().whole(), &mut packed)?;
    BitMatrix::from_bytes(rows, columns, &packed)
}

fn columns_beside(path: &Path, rows: usize) -> Result<Option<usize>, Error> {
    let beside = shape_file(path);
    let text = match fs::read_to_string(&beside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| failed(&beside, "read", error))?,
    };
    let shape: Value = serde_json::from_str(&text).map_err(|error| corrupt(&beside, error.to_string()))?;
    let extent = |name: &str| {
        let number = shape[name].as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| corrupt(&beside, format!("no number called {name}")))
    };
    if shape["bit_order"] != "little" {
        return Err(corrupt(&beside, format!("bit_order is {}, expected \"little\"", shape["bit_order"])));
    }
    if extent("rows")? != rows {
        return Err(corrupt(&beside, format!("{} rows, but {} has {rows}", extent("rows")?, path.display())));
    }
    extent("columns").map(Some)
}

fn shape_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

fn corrupt(path: &Path, why: String) -> Error {
    Error::Corrupt { path: path.to_owned(), chunk: None, why }
}

fn failed(path: &Path, call: &'static str, error: io::Error) -> Error {
    Error::Io { path: path.to_owned(), call, error: Arc::new(error) }
}
