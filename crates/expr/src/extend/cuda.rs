//! CUDA C++ by hand: which functions a text defines, and that they are for the device.

use crate::error::Error;

/// A text whose functions are qualified.
pub(super) struct Functions {
    pub(super) text: String,
    /// The name of the last one.
    pub(super) entry: String,
}

/// The functions of a text, which are those of the outermost level; each gets the qualifiers of device functions where it has
/// none. `name` is for messages.
pub(super) fn functions(name: &'static str, text: &str) -> Result<Functions, Error> {
    let (mut out, mut entry, mut rest, mut open) = (String::new(), None, text, 0);
    while !rest.is_empty() {
        let (item, after) = rest.split_at(item(rest));
        let code = blanked(item);
        if !code.trim_start().starts_with('#') {
            open += code.chars().map(|c| i32::from(c == '{') - i32::from(c == '}')).sum::<i32>();
        }
        match defined(&code) {
            Some((start, function)) => {
                out.push_str(&item[..start]);
                if !code.contains("__device__") && !code.contains("TW_DEVICE") {
                    out.push_str("static TW_DEVICE ");
                }
                out.push_str(&item[start..]);
                entry = Some(item[function].to_string());
            }
            None => out.push_str(item),
        }
        rest = after;
    }
    match entry {
        Some(entry) if open == 0 => Ok(Functions { text: out, entry }),
        _ => Err(Error::NoEntry { function: name }),
    }
}

/// Refuses a text without a function.
pub(crate) fn check(text: &str) -> Result<(), Error> {
    functions("text", text).map(|_| ())
}

/// Bytes of the first item: up to the `;` or the `}` that ends it, or a line of the preprocessor.
fn item(text: &str) -> usize {
    let code = blanked(text);
    if let Some(line) = code.trim_start().strip_prefix('#') {
        return code.len() - line.len() + line.find('\n').map_or(line.len(), |at| at + 1);
    }
    let mut depth = 0usize;
    for (at, c) in code.bytes().enumerate() {
        match c {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(c, b'}' | b';') {
            return at + 1;
        }
    }
    text.len()
}

/// If an item defines a function: where its type begins, and where its name stands.
fn defined(code: &str) -> Option<(usize, std::ops::Range<usize>)> {
    let mut start = code.len() - code.trim_start().len();
    while let Some(template) = code[start..].strip_prefix("template") {
        let mut depth = 0i32;
        let close = template.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '<') - i32::from(*c == '>');
            depth == 0 && *c == '>'
        })?;
        let after = code.len() - template.len() + close.0 + 1;
        start = code.len() - code[after..].trim_start().len();
    }
    let body = start + code[start..].find('{')?;
    let open = start + code[start..body].find('(').filter(|open| !code[start..start + open].contains('='))?;
    let end = code[..open].trim_end().len();
    let name = code[..end].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')? + 1;
    (start < name && name < end).then_some((start, name..end))
}

/// The text with comments and literals blank, byte for byte.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = bytes.iter().map(|b| if b.is_ascii() { *b } else { b'_' }).collect();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'/', ..] => bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n),
            [b'/', b'*', ..] => text.get(at + 2..).and_then(|t| t.find("*/")).map_or(bytes.len(), |n| at + n + 4),
            [quote @ (b'"' | b'\''), rest @ ..] => {
                // A quote between digits separates them.
                let digits = *quote == b'\'' && at > 0 && bytes[at - 1].is_ascii_alphanumeric();
                let close = rest.iter().enumerate().position(|(i, b)| b == quote && (i == 0 || rest[i - 1] != b'\\'));
                if digits { at + 1 } else { close.map_or(bytes.len(), |n| at + n + 2) }
            }
            _ => {
                at += 1;
                continue;
            }
        };
        out[at..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}
