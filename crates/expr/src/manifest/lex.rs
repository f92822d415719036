//! Words of a manifest's lines, and mistakes in them.

use std::fmt::Display;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Bytes from the start of the text.
    pub at: usize,
    /// What was found, and what would be legal.
    pub message: String,
}

/// A result, or what is wrong with the text.
pub(super) type Parsed<T> = Result<T, Mistake>;

pub(super) fn mistake<T>(at: usize, message: impl Display) -> Parsed<T> {
    Err(Mistake { at, message: message.to_string() })
}

/// A word of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// `%7`: a node.
    Node(u32),
    /// A name.
    Word(&'a str),
    /// What begins like a number.
    Number(&'a str),
    /// Text between quotes.
    Quoted(String),
    /// A bracket, a comma, an equality sign, an at sign.
    Sign(char),
    /// The end of the line.
    End,
}

impl Token<'_> {
    fn shown(&self) -> String {
        match self {
            Token::Node(n) => format!("`%{n}`"),
            Token::Word(word) | Token::Number(word) => format!("`{}`", short(word)),
            Token::Quoted(text) => format!("{:?}", short(text)),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the line".into(),
        }
    }
}

/// As much of a text as a message shows.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 48;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.into(),
    }
}

/// A line, read word by word.
pub(super) struct Line<'a> {
    text: &'a str,
    /// Bytes before the line in the text that it is of.
    start: usize,
    at: usize,
    /// The word that was read ahead, and where it ends.
    ahead: Option<(Token<'a>, usize)>,
    /// Where the last word that was taken begins.
    last: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str, start: usize) -> Line<'a> {
        Line { text, start, at: 0, ahead: None, last: 0 }
    }

    /// Where the word that was taken last begins.
    pub(super) fn last(&self) -> usize {
        self.start + self.last
    }

    /// Refuses the word that was taken last.
    pub(super) fn refuse<T>(&self, message: impl Display) -> Parsed<T> {
        mistake(self.last(), message)
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        if self.text[self.at..].starts_with('#') {
            self.at = self.text.len();
        }
    }

    /// The next word.
    pub(super) fn peek(&mut self) -> Parsed<&Token<'a>> {
        if self.ahead.is_none() {
            self.skip();
            self.ahead = Some(self.read()?);
        }
        Ok(self.ahead.as_ref().map_or(&Token::End, |(token, _)| token))
    }

    /// Takes the next word.
    pub(super) fn take(&mut self) -> Parsed<Token<'a>> {
        self.peek()?;
        let Some((token, end)) = self.ahead.take() else { return Ok(Token::End) };
        self.last = self.at;
        self.at = end;
        Ok(token)
    }

    fn read(&self) -> Parsed<(Token<'a>, usize)> {
        let rest = &self.text[self.at..];
        let length = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let Some(first) = rest.chars().next() else { return Ok((Token::End, self.at)) };
        let (token, length) = match first {
            '%' => {
                let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
                match rest[1..1 + digits].parse() {
                    Ok(number) => (Token::Node(number), 1 + digits),
                    Err(_) => return mistake(self.start + self.at, "a node is `%` and a number up to 4294967295"),
                }
            }
            '(' | ')' | ',' | '=' | '@' => (Token::Sign(first), 1),
            '"' => {
                let (text, length) = self.quoted(rest)?;
                (Token::Quoted(text), length)
            }
            c if c.is_ascii_digit() || c == '-' => {
                let length = number(rest);
                (Token::Number(&rest[..length]), length)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = length(|c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Word(&rest[..length]), length)
            }
            other => return mistake(self.start + self.at, format!("{other:?} has no meaning here")),
        };
        Ok((token, self.at + length))
    }

    fn quoted(&self, rest: &str) -> Parsed<(String, usize)> {
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return Ok((text, at + 1)),
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    _ => return mistake(self.start + self.at + at, "a backslash stands before `\"`, `\\` or `n`"),
                },
                c => text.push(c),
            }
        }
        mistake(self.start + self.at, "this text has no closing `\"` on its line")
    }

    /// Takes the next word, which has to be this sign.
    pub(super) fn sign(&mut self, sign: char) -> Parsed<()> {
        let token = self.take()?;
        if token == Token::Sign(sign) {
            return Ok(());
        }
        self.refuse(format!("expected `{sign}`, found {}", token.shown()))
    }

    /// Takes the next word if it is this sign.
    pub(super) fn sign_if(&mut self, sign: char) -> Parsed<bool> {
        let found = *self.peek()? == Token::Sign(sign);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes the next word if it is this name.
    pub(super) fn word_if(&mut self, word: &str) -> Parsed<bool> {
        let found = *self.peek()? == Token::Word(word);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes a name; `what` says which in messages.
    pub(super) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.take()? {
            Token::Word(word) => Ok(word),
            other => self.refuse(format!("expected {what}, found {}", other.shown())),
        }
    }

    /// Takes a text between quotes.
    pub(super) fn text(&mut self, what: &str) -> Parsed<String> {
        match self.take()? {
            Token::Quoted(text) => Ok(text),
            other => self.refuse(format!("expected {what} between quotes, found {}", other.shown())),
        }
    }

    /// Takes the number of a node.
    pub(super) fn node(&mut self) -> Parsed<u32> {
        match self.take()? {
            Token::Node(number) => Ok(number),
            other => self.refuse(format!("expected a node such as `%3`, found {}", other.shown())),
        }
    }

    /// Takes what begins like a number.
    pub(super) fn digits(&mut self, what: &str) -> Parsed<&'a str> {
        match self.take()? {
            Token::Number(digits) => Ok(digits),
            other => self.refuse(format!("expected {what}, found {}", other.shown())),
        }
    }

    /// Takes an integer within these limits.
    pub(super) fn integer(&mut self, what: &str, (low, high): (i64, i64)) -> Parsed<i64> {
        let digits = self.digits(what)?;
        match digits.parse::<i64>() {
            Ok(n) if (low..=high).contains(&n) => Ok(n),
            _ => self.refuse(format!("{what} is a number from {low} to {high}, not `{}`", short(digits))),
        }
    }

    /// Takes the end of the line.
    pub(super) fn end(&mut self) -> Parsed<()> {
        match self.take()? {
            Token::End => Ok(()),
            other => self.refuse(format!("the line ends before {}", other.shown())),
        }
    }

    /// Takes what stands between brackets, separated by commas.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.sign('(')?;
        let mut items = Vec::new();
        while !self.sign_if(')')? {
            if !items.is_empty() {
                self.sign(',')?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// How long the number is that a text begins with: digits, and the sign of an exponent.
fn number(text: &str) -> usize {
    let hexadecimal = text.starts_with("0x");
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = matches!(before, 'e' | 'E') && !hexadecimal;
        let sign = matches!(c, '-' | '+') && (at == 0 || exponent);
        if !(c.is_ascii_alphanumeric() || c == '.' || sign) {
            return at;
        }
        before = c;
    }
    text.len()
}

/// The legal name that is nearest to a wrong one, and all of them where they are few.
pub(super) fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    const FEW: usize = 8;
    let mut names: Vec<&str> = names.into_iter().collect();
    let wrong: Vec<char> = wrong.chars().take(64).collect();
    names.sort_by_cached_key(|name| distance(&wrong, name));
    if names.is_empty() {
        return "there is none".into();
    }
    let first = names[0];
    if names.len() <= FEW {
        names.sort_unstable();
        return format!("there is {}", names.join(", "));
    }
    format!("did you mean `{first}`?")
}

/// How many letters are to be changed, added or left out.
fn distance(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, c) in b.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, d) in a.iter().enumerate() {
            let changed = diagonal + usize::from(*d != c);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[a.len()]
}
