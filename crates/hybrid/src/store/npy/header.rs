//! The header of an NPY file (NumPy's `numpy.lib.format`, versions 1.0, 2.0 and 3.0), read strictly: what NumPy would not write
//! is refused.

use super::{super::Element, Order};

/// What stands in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) element: Element,
    /// Whether the most significant byte of a word comes first.
    pub(super) big_endian: bool,
    pub(super) order: Order,
    pub(super) shape: Vec<usize>,
    /// Bits at the end of a row, or of a column in Fortran order, that mean nothing: 0 but for packed bits. NumPy writes spaces behind the text; here the last
    /// [`MARKS`] of them are this number in binary, a tab for a one, so that it comes and goes with the elements and other readers see space.
    pub(super) unused_bits: u8,
}

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Bytes before the length of the text.
const PREAMBLE: usize = 8;
/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// A text is never longer: NumPy itself refuses those above 10,000.
pub(super) const LONGEST_TEXT: usize = 1 << 16;
/// Spaces and tabs before the end of the line.
const MARKS: usize = 8;
/// As many as NumPy has.
const MOST_DIMENSIONS: usize = 64;

/// Bytes that say how long the header is.
pub(super) const FIXED: usize = PREAMBLE + 4;

/// Where the text is, and so where elements begin, from the first [`FIXED`] bytes of a file, or fewer if it is that short.
pub(super) fn text_range(start: &[u8]) -> Result<std::ops::Range<usize>, String> {
    if start.len() < PREAMBLE || &start[..MAGIC.len()] != MAGIC {
        return Err("it does not begin as an NPY file does".into());
    }
    let (major, minor) = (start[6], start[7]);
    let length = |bytes: usize| start.get(PREAMBLE..PREAMBLE + bytes).ok_or("it ends within its header");
    let (begin, length) = match (major, minor) {
        (1, 0) => (PREAMBLE + 2, length(2)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))),
        (2 | 3, 0) => (PREAMBLE + 4, length(4)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))),
        _ => return Err(format!("version {major}.{minor} of the format is not known; 1.0, 2.0 and 3.0 are")),
    };
    if length > LONGEST_TEXT {
        return Err(format!("its header has {length} bytes, the limit is {LONGEST_TEXT}"));
    }
    Ok(begin..begin + length)
}

impl Header {
    /// Reads the text.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let (mut parser, unused_bits) = (Parser { rest: text }, unused_bits(text));
        let (mut descr, mut order, mut shape) = (None, None, None);
        parser.expect(b'{')?;
        while !parser.take(b'}') {
            let key = parser.string()?;
            parser.expect(b':')?;
            let twice = match key {
                b"descr" => descr.replace(parser.descr()?).is_some(),
                b"fortran_order" => order.replace(parser.order()?).is_some(),
                b"shape" => shape.replace(parser.shape()?).is_some(),
                other => return Err(format!("its header has an unknown key '{}'", other.escape_ascii())),
            };
            if twice {
                return Err(format!("its header has '{}' twice", key.escape_ascii()));
            }
            if !parser.take(b',') {
                parser.expect(b'}')?;
                break;
            }
        }
        parser.end()?;
        let missing = |key: &str| format!("its header lacks '{key}'");
        let (element, big_endian) = descr.ok_or_else(|| missing("descr"))?;
        let order = order.ok_or_else(|| missing("fortran_order"))?;
        Ok(Self { element, big_endian, order, shape: shape.ok_or_else(|| missing("shape"))?, unused_bits })
    }

    /// All bytes before the elements, as version 1.0; little-endian. How many does not depend on the bits that are not used.
    pub(super) fn print(&self) -> Vec<u8> {
        let dimensions: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let comma = if dimensions.len() == 1 { "," } else { "" };
        let order = if self.order == Order::Fortran { "True" } else { "False" };
        let text = format!(
            "{{'descr': '{}', 'fortran_order': {order}, 'shape': ({}{comma}), }}",
            descr(self.element),
            dimensions.join(", ")
        );
        let begin = PREAMBLE + 2;
        let bytes = (begin + text.len() + MARKS + 1).next_multiple_of(ALIGNMENT);
        let mut header = MAGIC.to_vec();
        header.extend([1, 0]);
        // 64 dimensions of 20 digits are below 2,000 bytes.
        header.extend(((bytes - begin) as u16).to_le_bytes());
        header.extend(text.bytes());
        header.resize(bytes - MARKS - 1, b' ');
        header.extend((0..MARKS).rev().map(|bit| if self.unused_bits >> bit & 1 == 1 { b'\t' } else { b' ' }));
        header.push(b'\n');
        header
    }
}

/// What the end of a text says of bits that are not used; 0 where it is of another writer.
fn unused_bits(text: &[u8]) -> u8 {
    let marks = text.strip_suffix(b"\n").and_then(|line| line.last_chunk::<MARKS>());
    let digits = marks.filter(|marks| marks.iter().all(|mark| matches!(mark, b' ' | b'\t')));
    digits.map_or(0, |digits| digits.iter().fold(0, |number, digit| number << 1 | u8::from(*digit == b'\t')))
}

/// What NumPy calls an element, in the machine's order of bytes.
fn descr(element: Element) -> &'static str {
    match element {
        Element::F16 => "<f2",
        Element::F32 => "<f4",
        Element::F64 => "<f8",
        Element::C64 => "<c8",
        Element::C128 => "<c16",
        Element::I8 => "|i1",
        Element::I16 => "<i2",
        Element::I32 => "<i4",
        Element::I64 => "<i8",
        Element::U8 => "|u1",
        Element::Bf16 | Element::U16 => "<u2",
        Element::U32 => "<u4",
        Element::U64 => "<u8",
        Element::Bool => "|b1",
    }
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) { Ok(()) } else { Err(self.odd(&format!("'{}'", byte.escape_ascii()))) }
    }

    fn odd(&self, expected: &str) -> String {
        let near = &self.rest[..self.rest.len().min(20)];
        format!("its header has \"{}\" where {expected} should be", near.escape_ascii())
    }

    fn end(&mut self) -> Result<(), String> {
        self.skip_space();
        if self.rest.is_empty() { Ok(()) } else { Err(self.odd("its end")) }
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        self.skip_space();
        let (quote, rest) = match self.rest {
            [quote @ (b'\'' | b'"'), rest @ ..] => (*quote, rest),
            _ => return Err(self.odd("a string")),
        };
        let end = rest.iter().position(|byte| *byte == quote).ok_or("its header has a string without an end")?;
        self.rest = &rest[end + 1..];
        Ok(&rest[..end])
    }

    fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let end = self.rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn descr(&mut self) -> Result<(Element, bool), String> {
        self.skip_space();
        if self.rest.first() == Some(&b'[') {
            return Err("its elements are structures; only numbers can be read".into());
        }
        let text = self.string()?;
        let unknown = || format!("its element type '{}' is not known", text.escape_ascii());
        let element = Element::ALL
            .into_iter()
            .filter(|element| *element != Element::Bf16)
            .find(|element| text.get(1..) == descr(*element).as_bytes().get(1..))
            .ok_or_else(unknown)?;
        match (text[0], element.bytes()) {
            (b'<', _) | (b'|', 1) => Ok((element, false)),
            (b'>', _) => Ok((element, true)),
            _ => Err(unknown()),
        }
    }

    fn order(&mut self) -> Result<Order, String> {
        match self.word() {
            b"False" => Ok(Order::C),
            b"True" => Ok(Order::Fortran),
            _ => Err(self.odd("True or False")),
        }
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            if shape.len() == MOST_DIMENSIONS {
                return Err(format!("it has more than {MOST_DIMENSIONS} dimensions"));
            }
            shape.push(self.extent()?);
            if !self.take(b',') {
                self.expect(b')')?;
                // Python takes a number in parentheses for the number.
                return if shape.len() > 1 { Ok(shape) } else { Err("its shape is a number, not a list".into()) };
            }
        }
        Ok(shape)
    }

    fn extent(&mut self) -> Result<usize, String> {
        let word = self.word();
        // Old versions of Python end long numbers in L.
        let digits = word.strip_suffix(b"L").unwrap_or(word);
        let leading_zero = digits.len() > 1 && digits[0] == b'0';
        if digits.is_empty() || leading_zero || !digits.iter().all(u8::is_ascii_digit) {
            return Err(format!("its shape has \"{}\" where a number should be", word.escape_ascii()));
        }
        let number = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| format!("its shape has {}, which no address reaches", digits.escape_ascii()))
    }
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
