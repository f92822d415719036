//! A CUDA source cut into words and signs; comments and preprocessor lines are left out.

use super::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// A string or a character, quotation marks included.
    Text,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Bytes before it.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// The tokens of a source. What C++ would not take as a token becomes a sign of its own: judging it is the compiler's work.
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, Fault> {
    let (mut found, mut at, mut line_begins) = (Vec::new(), 0, true);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        if first == '\n' {
            line_begins = true;
        }
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("//") {
            at += end_of_line(rest);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").map(|end| end + 4);
            at += end.ok_or_else(|| Fault::new(at, "the comment that begins here does not end: `*/` is missing"))?;
        } else if first == '#' && line_begins {
            at += end_of_directive(rest);
        } else {
            let (kind, length) = token(rest, first);
            found.push(Token { kind, text: &rest[..length], at });
            line_begins = false;
            at += length;
        }
    }
    Ok(found)
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = |belongs: &dyn Fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    match first {
        '"' | '\'' => (Kind::Text, quoted(rest, first)),
        c if c.is_ascii_digit() => (Kind::Number, length(&|c| is_word(c) || c == '.' || c == '\'')),
        c if is_word(c) => {
            let word = length(&is_word);
            match rest[..word].ends_with('R') && rest[word..].starts_with('"') && word <= 3 {
                true => (Kind::Text, word + raw_string(&rest[word..])),
                false => (Kind::Word, word),
            }
        }
        c => (Kind::Sign, c.len_utf8()),
    }
}

/// Up to the closing mark, or to the line's end where it is missing (an apostrophe in code that `#if` leaves out).
fn quoted(rest: &str, mark: char) -> usize {
    let mut escaped = false;
    for (i, c) in rest.char_indices().skip(1) {
        match c {
            '\n' if !escaped => return i,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark => return i + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// `"delimiter( .. )delimiter"`.
fn raw_string(rest: &str) -> usize {
    let Some(open) = rest.find('(') else { return rest.len() };
    let close = format!("){}\"", &rest[1..open]);
    rest[open..].find(&close).map_or(rest.len(), |at| open + at + close.len())
}

/// Bytes up to the line's end; a backslash there continues the line.
fn end_of_line(rest: &str) -> usize {
    let ends = rest.match_indices('\n').map(|(at, _)| at);
    let is_end = |at: &usize| !rest[..*at].trim_end_matches('\r').ends_with('\\');
    ends.into_iter().find(is_end).unwrap_or(rest.len())
}

/// As [`end_of_line`], but a comment that begins on the line may go on behind it.
fn end_of_directive(rest: &str) -> usize {
    let end = end_of_line(rest);
    let line = &rest[..end];
    let line_comment = line.find("//").unwrap_or(end);
    match line[..line_comment].rfind("/*") {
        Some(open) if !line[open..].contains("*/") => open,
        _ => end,
    }
}
