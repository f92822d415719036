//! Layouts as they are written: `K/8: 4, I: 4 => 40, K%8`.

use super::{Axis, Layout, LayoutError, Map};
use std::str::FromStr;

impl FromStr for Layout {
    type Err = LayoutError;

    /// Reads axes in the syntax of `tilewright_dims::tensor!`, outermost first, in brackets or without.
    fn from_str(text: &str) -> Result<Layout, LayoutError> {
        let (axes, maps) = read(text, |reader| Ok((reader.axes()?, reader.maps()?)))?;
        lay_out(axes, maps)
    }
}

/// The maps that are written behind a layout.
pub(super) fn maps(text: &str) -> Result<Vec<Map>, LayoutError> {
    read(text, Reader::maps)
}

fn read<T>(text: &str, what: impl FnOnce(&mut Reader) -> Result<T, Fault>) -> Result<T, LayoutError> {
    let mut reader = Reader::new(text);
    let read = what(&mut reader).and_then(|value| match reader.is_at_end() {
        true => Ok(value),
        false => Err(reader.expected("`,`, `via` or the end")),
    });
    read.map_err(|Fault { at, message }| LayoutError::Syntax { column: at + 1, message })
}

/// The layout of axes whose strides are given or follow from those inside, behind maps.
pub(super) fn lay_out(mut written: Vec<Written>, maps: Vec<Map>) -> Result<Layout, LayoutError> {
    let mut next = 1i64;
    for (axis, given) in written.iter_mut().rev() {
        axis.stride = given.unwrap_or(next);
        next = axis.stride.checked_mul(i64::from(axis.size)).ok_or(LayoutError::TooLarge)?;
    }
    Layout::through(written.into_iter().map(|(axis, _)| axis).collect(), maps)
}

/// An axis, and its stride if that is given.
pub(super) type Written = (Axis, Option<i64>);

/// What is wrong with a text, and at which character.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
}

/// Reads a text sign by sign.
pub(super) struct Reader {
    text: Vec<char>,
    pub(super) at: usize,
}

impl Reader {
    pub(super) fn new(text: &str) -> Reader {
        Reader { text: text.chars().collect(), at: 0 }
    }

    pub(super) fn skip_spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// The line of the sign at hand, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.text[..self.at].iter().filter(|c| **c == '\n').count() + 1
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.text.len()
    }

    pub(super) fn sees(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        sign.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c))
    }

    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let seen = self.sees(sign);
        self.at += if seen { sign.chars().count() } else { 0 };
        seen
    }

    pub(super) fn expected(&mut self, what: &str) -> Fault {
        self.skip_spaces();
        let found = match self.text.get(self.at) {
            Some(c) => format!("`{c}`"),
            None => "the end".into(),
        };
        Fault { at: self.at, message: format!("expected {what}, found {found}") }
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> String {
        self.skip_spaces();
        self.run_from_here(belongs)
    }

    fn run_from_here(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| belongs(*c)) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    pub(super) fn name(&mut self) -> Result<String, Fault> {
        self.skip_spaces();
        if !self.text.get(self.at).is_some_and(|c| c.is_alphabetic() || *c == '_') {
            return Err(self.expected("the name of a dimension"));
        }
        Ok(self.run(|c| c.is_alphanumeric() || c == '_'))
    }

    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, Fault> {
        self.skip_spaces();
        let start = self.at;
        let digits = self.run(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        digits.parse().map_err(|_| Fault { at: start, message: format!("{what} {digits} is too large") })
    }

    /// Takes a sign that must be there.
    pub(super) fn wants(&mut self, sign: &str) -> Result<(), Fault> {
        if self.takes(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Everything up to `end`, which is taken too. It must not be empty.
    pub(super) fn until(&mut self, end: char) -> Result<String, Fault> {
        let start = self.at;
        let found = self.run_from_here(|c| c != end);
        match self.text.get(self.at) {
            Some(_) if !found.trim().is_empty() => {
                self.at += 1;
                Ok(found.trim().to_owned())
            }
            _ => Err(Fault { at: start, message: format!("expected a type and `{end}` behind it") }),
        }
    }

    /// Axes with commas between them, in brackets or without.
    pub(super) fn axes(&mut self) -> Result<Vec<Written>, Fault> {
        let bracket = self.takes("[");
        let mut written = Vec::new();
        while !(self.is_at_end() || bracket && self.sees("]")) {
            written.push(self.axis()?);
            if !self.takes(",") {
                break;
            }
        }
        if bracket && !self.takes("]") {
            return Err(self.expected("`,` or `]`"));
        }
        Ok(written)
    }

    /// Maps, each behind `via`.
    pub(super) fn maps(&mut self) -> Result<Vec<Map>, Fault> {
        let mut maps = Vec::new();
        while self.sees("via") {
            self.takes("via");
            self.skip_spaces();
            let at = self.at;
            match self.name()?.as_str() {
                "checkerboard" => maps.push(self.checkerboard()?),
                "index" => maps.push(self.index()?),
                other => {
                    let message = format!("there is no map `{other}`: known are `checkerboard(..)` and `index(..)`");
                    return Err(Fault { at, message });
                }
            }
        }
        Ok(maps)
    }

    /// `(8: I%16, K/8%2 -> CELL)`
    fn checkerboard(&mut self) -> Result<Map, Fault> {
        self.wants("(")?;
        let ranks = self.number("a number of ranks")?;
        self.wants(":")?;
        let pair = self.read_by_map(|a| a.fold == 1, "a remainder, as in `I%16`")?;
        self.wants(",")?;
        let colour = self.read_by_map(|a| a.size == 2, "a remainder by 2, as in `K/8%2`")?;
        self.wants("->")?;
        let cell = self.name()?;
        self.wants(")")?;
        Ok(Map::Checkerboard { ranks, pair, colour, cell })
    }

    /// `(LANE -> [K/8: 2, I: 16])`
    fn index(&mut self) -> Result<Map, Fault> {
        self.wants("(")?;
        let dim = self.name()?;
        self.wants("->")?;
        if !self.sees("[") {
            return Err(self.expected("`[`"));
        }
        let axes = self.axes()?.into_iter().map(|(axis, _)| axis).collect();
        self.wants(")")?;
        Ok(Map::Index { dim, axes })
    }

    /// What a map reads of a dimension.
    fn read_by_map(&mut self, fits: impl Fn(&Axis) -> bool, what: &str) -> Result<Axis, Fault> {
        self.skip_spaces();
        let at = self.at;
        match self.axis()? {
            (axis, None) if axis.wraps && fits(&axis) => Ok(axis),
            (axis, _) => Err(Fault { at, message: format!("expected {what}, found `{axis}`") }),
        }
    }

    /// One axis.
    fn axis(&mut self) -> Result<Written, Fault> {
        let dim = self.name()?;
        let fold = if self.takes("/") { self.number("a fold")? } else { 1 };
        let wraps = self.takes("%");
        if !wraps && !self.takes(":") {
            return Err(self.expected(if fold == 1 { "`:`, `/` or `%`" } else { "`:` or `%`" }));
        }
        let size = self.number("a size")?;
        let stride = if self.takes("=>") { Some(self.number("a stride")?) } else { None };
        Ok((Axis { dim, fold, size, stride: 0, wraps }, stride))
    }
}
