//! Boxes, from a file or scattered over the picture.

use super::failure::Failure;
use std::path::Path;
use tilewright::Rect;

const HEADER: [&str; 4] = ["x", "y", "width", "height"];

/// Boxes made when no file names some: number, columns, rows.
const SCATTERED: (usize, usize, usize) = (150, 60, 120);

/// Reads a CSV file.
pub(crate) fn read(file: &Path) -> Result<Vec<Rect>, Failure> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
    parse(&bytes).map_err(|reason| Failure::Input(format!("{name}, {reason}")))
}

/// Boxes in the order of their lines; an error begins with the line's number.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Rect>, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(bytes);
    let mut records = reader.byte_records();
    let at = |record: &csv::ByteRecord| line_of(bytes, record.position().map_or(0, |position| position.byte()));
    let fields = |record: &csv::ByteRecord| -> Vec<String> {
        record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    };

    let expected = HEADER.join(",");
    let header = records.next().ok_or(format!("line 1: nothing there, expected the header {expected}"))?;
    let header = header.map_err(|error| error.to_string())?;
    let got = fields(&header);
    if got != HEADER {
        return Err(format!("line {}: expected the header {expected}, got {}", at(&header), got.join(",")));
    }
    let mut boxes = Vec::new();
    for record in records {
        let record = record.map_err(|error| error.to_string())?;
        let numbers = numbers(&fields(&record)).map_err(|reason| format!("line {}: {reason}", at(&record)))?;
        let [x, y, width, height] = numbers;
        boxes.push(Rect::new(x, y, width, height));
    }
    Ok(boxes)
}

fn numbers(fields: &[String]) -> Result<[i32; 4], String> {
    if fields.len() != HEADER.len() {
        return Err(format!("expected 4 numbers {}, got {}", HEADER.join(","), fields.len()));
    }
    let mut numbers = [0; 4];
    for ((number, field), name) in numbers.iter_mut().zip(fields).zip(HEADER) {
        *number = field.parse().map_err(|_| format!("{name} is `{field}`, expected a whole number of 32 bits"))?;
    }
    Ok(numbers)
}

/// The line on which the record that begins at or behind `byte` stands: the reader's own count stays behind at empty lines
/// and at line ends of two characters.
fn line_of(bytes: &[u8], byte: u64) -> usize {
    let start = usize::try_from(byte).unwrap_or(usize::MAX).min(bytes.len());
    let blank = bytes[start..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    1 + bytes[..start + blank].iter().filter(|b| **b == b'\n').count()
}

/// Boxes at distinct places of a picture, the same ones every time; smaller ones, and fewer, where the picture is small.
pub(crate) fn scattered(picture_width: usize, picture_height: usize) -> Vec<Rect> {
    let (most, width, height) = SCATTERED;
    let (width, height) = (width.min(picture_width), height.min(picture_height));
    let (columns, rows) = (picture_width - width + 1, picture_height - height + 1);
    let places = columns * rows;
    let step = coprime_from(places * 618 / 1000, places);
    let place = |i: usize| {
        let at = (i as u128 * step as u128 % places as u128) as usize;
        Rect::new((at % columns) as i32, (at / columns) as i32, width as i32, height as i32)
    };
    (0..most.min(places)).map(place).collect()
}

/// The first number from `start` that shares no factor with `n`: its multiples meet every residue once.
fn coprime_from(start: usize, n: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (start.max(1)..).find(|step| divisor(*step, n) == 1).unwrap_or(1)
}
