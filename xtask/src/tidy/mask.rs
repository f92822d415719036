//! Blanks out what is not code in a Rust file, so that a word in a comment or a string breaks no rule.

/// What to blank out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blank {
    /// Comments alone.
    Comments,
    /// Comments and what stands in strings and characters.
    CommentsAndText,
}

/// The same text with the blanked characters as spaces: lines and columns stay where they are.
pub(super) fn mask(source: &str, blank: Blank) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut masked = characters.clone();
    let mut at = 0;
    while at < characters.len() {
        let (end, is_comment) = piece(&characters, at);
        if is_comment == Some(true) || (is_comment == Some(false) && blank == Blank::CommentsAndText) {
            masked[at..end].iter_mut().filter(|character| **character != '\n').for_each(|character| *character = ' ');
        }
        at = end;
    }
    masked.into_iter().collect()
}

/// Where the piece that begins at `at` ends, and whether it is a comment (`Some(true)`), a literal text
/// (`Some(false)`) or code (`None`).
fn piece(all: &[char], at: usize) -> (usize, Option<bool>) {
    let next = all.get(at + 1);
    match all[at] {
        '/' if next == Some(&'/') => (find(all, at, |c| c == '\n'), Some(true)),
        '/' if next == Some(&'*') => (block_comment(all, at), Some(true)),
        '"' => (quoted(all, at, '"'), Some(false)),
        '\'' if next == Some(&'\\') || all.get(at + 2) == Some(&'\'') => (quoted(all, at, '\''), Some(false)),
        c if is_word(c) => word(all, at),
        _ => (at + 1, None),
    }
}

/// A word is code, unless it is the prefix of a raw string.
fn word(all: &[char], at: usize) -> (usize, Option<bool>) {
    let end = find(all, at, |c| !is_word(c));
    let is_raw = matches!(all[at..end], ['r'] | ['b', 'r'] | ['c', 'r']);
    let quote = find(all, end, |c| c != '#');
    if !is_raw || all.get(quote) != Some(&'"') {
        return (end, None);
    }
    let hashes = quote - end;
    let closes = |place: &usize| {
        all[*place] == '"' && all[place + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    ((quote + 1..all.len()).find(closes).map_or(all.len(), |place| place + 1 + hashes), Some(false))
}

fn quoted(all: &[char], at: usize, quote: char) -> usize {
    let mut place = at + 1;
    while place < all.len() {
        match all[place] {
            '\\' => place += 2,
            c if c == quote => return place + 1,
            _ => place += 1,
        }
    }
    all.len()
}

fn block_comment(all: &[char], at: usize) -> usize {
    let (mut depth, mut place) = (0, at);
    while place + 1 < all.len() {
        match (all[place], all[place + 1]) {
            ('/', '*') => (depth, place) = (depth + 1, place + 2),
            ('*', '/') => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            return place;
        }
    }
    all.len()
}

fn find(all: &[char], from: usize, is_end: impl Fn(char) -> bool) -> usize {
    (from..all.len()).find(|place| is_end(all[*place])).unwrap_or(all.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `word` stands in `line` as a whole word.
pub(super) fn find_word(line: &str, word: &str) -> Option<usize> {
    let is_alone = |start: &usize| {
        !line[..*start].chars().next_back().is_some_and(is_word)
            && !line[start + word.len()..].chars().next().is_some_and(is_word)
    };
    line.match_indices(word).map(|(start, _)| start).find(is_alone)
}
