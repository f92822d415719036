//! Where two texts differ.

/// The first line of two texts that is not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its number, from 1.
    pub line: usize,
    /// What the first text has there; nothing behind its end.
    pub old: Option<String>,
    /// What the second text has there; nothing behind its end.
    pub new: Option<String>,
}

impl Difference {
    /// The first difference, byte for byte; nothing when the texts are the same.
    pub fn first(old: &str, new: &str) -> Option<Self> {
        let (mut olds, mut news) = (old.split('\n'), new.split('\n'));
        for line in 1.. {
            let (old, new) = (olds.next(), news.next());
            if old != new {
                return Some(Self { line, old: old.map(str::to_owned), new: new.map(str::to_owned) });
            }
            old?;
        }
        None
    }
}
