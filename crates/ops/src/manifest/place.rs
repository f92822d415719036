//! Places in a manifest, for messages: values of TOML with where they stand.

use crate::error::Error;
use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A manifest's text, and what messages call it.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl File<'_> {
    /// What is wrong at this byte of the text.
    pub(super) fn error(self, at: usize, message: impl Display) -> Error {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        tilewright_expr::Error::Manifest {
            file: self.name.into(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.to_string(),
        }
        .into()
    }
}

/// A string, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    /// Where its first character is; where the value begins, if characters are escaped in it.
    start: usize,
    escaped: bool,
}

impl Text {
    /// The place of a byte of it.
    pub(super) fn at(&self, byte: usize) -> usize {
        if self.escaped { self.start } else { self.start + byte }
    }

    /// The text of other files. Where it stands as it is, line ends are this file's, whatever they were.
    pub(super) fn source(&self) -> String {
        if self.escaped { self.text.clone() } else { self.text.replace("\r\n", "\n") }
    }
}

/// A table of a manifest: `[[plan]]`.
pub(super) struct Table<'f, 't> {
    file: File<'f>,
    kind: &'static str,
    span: Range<usize>,
    entries: &'t DeTable<'f>,
}

impl<'f, 't> Table<'f, 't> {
    /// A table that has none but these keys.
    pub(super) fn new(
        file: File<'f>,
        kind: &'static str,
        value: &'t Spanned<DeValue<'f>>,
        keys: &[&str],
    ) -> Result<Table<'f, 't>, Error> {
        let span = value.span();
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(file.error(span.start, format!("`{kind}` is a table: `[[{kind}]]`")));
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| !keys.contains(&&**key.get_ref())) {
            let message = format!("a {kind} has no `{}`; it has {}", key.get_ref(), keys.join(", "));
            return Err(file.error(key.span().start, message));
        }
        Ok(Table { file, kind, span, entries })
    }

    /// Where the table begins.
    pub(super) fn start(&self) -> usize {
        self.span.start
    }

    fn text_of(&self, key: &str, value: &Spanned<DeValue<'f>>) -> Result<Text, Error> {
        let span = value.span();
        let DeValue::String(text) = value.get_ref() else {
            let message = format!("`{key}` holds text, not {}", value.get_ref().type_str());
            return Err(self.file.error(span.start, message));
        };
        // What is not escaped is a piece of the file.
        let start = match text {
            Cow::Borrowed(text) => text.as_ptr().addr().checked_sub(self.file.text.as_ptr().addr()),
            Cow::Owned(_) => None,
        };
        let start = start.filter(|start| span.contains(start) || text.is_empty());
        Ok(Text { text: text.to_string(), start: start.unwrap_or(span.start), escaped: start.is_none() })
    }

    /// A string that may be absent.
    pub(super) fn optional(&self, key: &str) -> Result<Option<Text>, Error> {
        self.entries.get(key).map(|value| self.text_of(key, value)).transpose()
    }

    /// A string that has to be there.
    pub(super) fn text(&self, key: &str) -> Result<Text, Error> {
        let missing = || self.file.error(self.span.start, format!("this {} has no `{key}`", self.kind));
        self.optional(key)?.ok_or_else(missing)
    }

    /// Strings; none where the key is absent.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<Text>, Error> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let DeValue::Array(list) = value.get_ref() else {
            let message = format!("`{key}` holds a list of texts, not {}", value.get_ref().type_str());
            return Err(self.file.error(value.span().start, message));
        };
        list.iter().map(|value| self.text_of(key, value)).collect()
    }
}
