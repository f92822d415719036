//! Layouts as they are written: `K/8: 4, I: 4 => 40, K%8`.

use super::{Axis, Layout, LayoutError};
use std::str::FromStr;

impl FromStr for Layout {
    type Err = LayoutError;

    /// Reads axes in the syntax of `tilewright_dims::tensor!`, outermost first, in brackets or without.
    fn from_str(text: &str) -> Result<Layout, LayoutError> {
        let mut reader = Reader { text: text.chars().collect(), at: 0 };
        let bracket = reader.takes("[");
        let mut written = Vec::new();
        while !(reader.is_at_end() || bracket && reader.sees("]")) {
            written.push(reader.axis()?);
            if !reader.takes(",") {
                break;
            }
        }
        if bracket && !reader.takes("]") {
            return Err(reader.expected("`,` or `]`"));
        }
        if !reader.is_at_end() {
            return Err(reader.expected("`,` or the end"));
        }
        // Strides from the innermost axis out.
        let mut next = 1i64;
        for (axis, given) in written.iter_mut().rev() {
            axis.stride = given.unwrap_or(next);
            next = axis.stride.checked_mul(i64::from(axis.size)).ok_or(LayoutError::TooLarge)?;
        }
        Layout::new(written.into_iter().map(|(axis, _)| axis).collect())
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn skip_spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.text.len()
    }

    fn sees(&mut self, sign: &str) -> bool {
        self.skip_spaces();
        sign.chars().enumerate().all(|(i, c)| self.text.get(self.at + i) == Some(&c))
    }

    fn takes(&mut self, sign: &str) -> bool {
        let seen = self.sees(sign);
        self.at += if seen { sign.chars().count() } else { 0 };
        seen
    }

    fn expected(&mut self, what: &str) -> LayoutError {
        self.skip_spaces();
        let found = match self.text.get(self.at) {
            Some(c) => format!("`{c}`"),
            None => "the end".into(),
        };
        LayoutError::Syntax { column: self.at + 1, message: format!("expected {what}, found {found}") }
    }

    fn run(&mut self, belongs: impl Fn(char) -> bool) -> String {
        self.skip_spaces();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| belongs(*c)) {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    fn name(&mut self) -> Result<String, LayoutError> {
        self.skip_spaces();
        if !self.text.get(self.at).is_some_and(|c| c.is_alphabetic() || *c == '_') {
            return Err(self.expected("the name of a dimension"));
        }
        Ok(self.run(|c| c.is_alphanumeric() || c == '_'))
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, LayoutError> {
        self.skip_spaces();
        let start = self.at;
        let digits = self.run(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let large = || LayoutError::Syntax { column: start + 1, message: format!("{what} {digits} is too large") };
        digits.parse().map_err(|_| large())
    }

    /// One axis, and its stride if that is given.
    fn axis(&mut self) -> Result<(Axis, Option<i64>), LayoutError> {
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
