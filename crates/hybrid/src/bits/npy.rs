//! Files: NPY of packed bytes, and beside it the number of columns, which the bytes do not tell.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ndarray::Array2;
use ndarray_npy::{ReadNpyError, ReadNpyExt, WriteNpyError, WriteNpyExt};
use serde_json::{Value, json};

use crate::{Error, bits::BitMatrix};

/// Writes a matrix as an NPY file of u8, rows x `columns.div_ceil(8)`, and its shape to a file of the same name with `.json` behind it.
///
/// In Python: `np.unpackbits(np.load(path), axis=1, count=columns, bitorder="little")`.
///
/// # Errors
/// [`Error::Io`], [`Error::StorageFull`].
pub fn write_npy(path: impl AsRef<Path>, matrix: &BitMatrix) -> Result<(), Error> {
    let path = path.as_ref();
    let shape = json!({ "rows": matrix.rows(), "columns": matrix.columns(), "bit_order": "little" });
    let packed = Array2::from_shape_vec((matrix.rows(), matrix.columns().div_ceil(8)), matrix.to_bytes())
        .map_err(|error| corrupt(path, error.to_string()))?;
    let mut bytes = Vec::new();
    packed.write_npy(&mut bytes).map_err(|error| not_written(path, error))?;
    fs::write(path, bytes).map_err(|error| failed(path, "write", error))?;
    let beside = shape_file(path);
    fs::write(&beside, format!("{shape}\n")).map_err(|error| failed(&beside, "write", error))
}

/// Reads what [`write_npy`] wrote. Where no file has the shape, columns are a multiple of 8, as many as the bytes hold.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`] if a file is not what it should be, or the two do not fit each other.
pub fn read_npy(path: impl AsRef<Path>) -> Result<BitMatrix, Error> {
    let path = path.as_ref();
    let file = fs::File::open(path).map_err(|error| failed(path, "open", error))?;
    let packed = Array2::<u8>::read_npy(io::BufReader::new(file)).map_err(|error| not_read(path, error))?;
    let (rows, bytes_per_row) = packed.dim();
    let columns = match columns_beside(path, rows)? {
        None => bytes_per_row.saturating_mul(8),
        Some(columns) if columns.div_ceil(8) == bytes_per_row => columns,
        Some(columns) => {
            let why = format!("{bytes_per_row} bytes a row, but its shape has {columns} columns; pack them along rows");
            return Err(corrupt(path, why));
        }
    };
    BitMatrix::from_bytes(rows, columns, &packed.into_iter().collect::<Vec<_>>())
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

fn not_read(path: &Path, error: ReadNpyError) -> Error {
    match error {
        ReadNpyError::Io(error) => failed(path, "read", error),
        other => corrupt(path, other.to_string()),
    }
}

fn not_written(path: &Path, error: WriteNpyError) -> Error {
    match error {
        WriteNpyError::Io(error) => failed(path, "write", error),
        other => corrupt(path, other.to_string()),
    }
}
