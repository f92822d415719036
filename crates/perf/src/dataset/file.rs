//! Files of rows: CSV, compressed by gzip. Each run appends a member of its own, so that a run that is cut short loses its own rows at
//! most, and what stood before is never written again.

use super::{Row, merged, table};
use crate::Error;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

/// The rows of a file, merged; none if there is no file. A file whose end is missing gives what stands whole before. Refuses other
/// damage, and lines that are no rows, with their number.
pub fn read(path: &Path) -> Result<Vec<Row>, Error> {
    Ok(merged(Text::of(path)?.rows(path)?.1))
}

/// Appends rows of one operation to a file, which is made if there is none. A file whose end is missing is first written anew without
/// it. Refuses rows with other columns than the file's, and figures that are no measurement; the file is then as it was.
pub fn append(path: &Path, rows: &[Row]) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let text = Text::of(path)?;
    let (columns, known) = text.rows(path)?;
    let starts = columns.is_empty();
    let columns = if starts { table::columns(rows) } else { columns };
    let line = known.len() as u64 + 2;
    let refused = |what| Error::Data { path: path.to_owned(), line, what };
    let new = lines(&columns, rows, starts).map_err(refused)?;
    if !text.whole {
        let old = if starts { Vec::new() } else { lines(&columns, &known, true).map_err(refused)? };
        replace(path, &packed(&old)).map_err(|source| in_file(path, source))?;
    }
    let write = || OpenOptions::new().create(true).append(true).open(path)?.write_all(&packed(&new));
    write().map_err(|source| in_file(path, source))
}

/// What a file says, up to its last whole line.
struct Text {
    text: String,
    /// Nothing was missing.
    whole: bool,
}

impl Text {
    fn of(path: &Path) -> Result<Self, Error> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(in_file(path, source)),
        };
        let mut text = Vec::new();
        let mut whole = true;
        if !bytes.is_empty() {
            match MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => whole = false,
                Err(source) => return Err(in_file(path, source)),
            }
        }
        let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        whole &= end == text.len();
        text.truncate(end);
        let foreign = |_| Error::Data { path: path.to_owned(), line: 1, what: "no text".to_owned() };
        Ok(Self { text: String::from_utf8(text).map_err(foreign)?, whole })
    }

    /// The columns and the rows.
    fn rows(&self, path: &Path) -> Result<(Vec<String>, Vec<Row>), Error> {
        let refused = |line, what| Error::Data { path: path.to_owned(), line, what };
        let mut reader = csv::Reader::from_reader(self.text.as_bytes());
        let header = reader.headers().map_err(|error| refused(1, error.to_string()))?;
        let columns: Vec<String> = header.iter().map(str::to_owned).collect();
        if !columns.is_empty() {
            table::check(&columns).map_err(|what| refused(1, what))?;
        }
        let mut rows = Vec::new();
        for (index, cells) in reader.records().enumerate() {
            let line = index as u64 + 2;
            let cells = cells.map_err(|error| refused(line, error.to_string()))?;
            rows.push(table::row(&columns, &cells).map_err(|what| refused(line, what))?);
        }
        Ok((columns, rows))
    }
}

fn in_file(path: &Path, source: std::io::Error) -> Error {
    Error::File { path: path.to_owned(), source }
}

fn lines(columns: &[String], rows: &[Row], header: bool) -> Result<Vec<u8>, String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| error.to_string();
    if header {
        writer.write_record(columns).map_err(failed)?;
    }
    for row in rows {
        writer.write_record(table::cells(row, columns)?).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}

/// Writing into memory does not fail.
fn packed(lines: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(lines).and_then(|()| packer.finish()).unwrap_or_default()
}

/// Puts a file in the place of another, whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}
