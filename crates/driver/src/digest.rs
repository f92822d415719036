//! What a header's text is hashed to, and which headers it names: once for texts that live as long as the program.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use crate::include::Named;

pub(crate) struct Digest {
    pub(crate) hash: [u8; 32],
    pub(crate) named: Arc<Named>,
}

/// By place and length.
type Known = HashMap<(usize, usize), Arc<Digest>>;

/// A key is asked for at every look-up, and most of what it covers are the headers of this program, which cannot change. Where a
/// borrowed text lies tells which it is: nothing else comes to lie there while the program runs.
#[expect(clippy::ptr_arg, reason = "a `&str` does not tell for how long the text lives")]
pub(crate) fn of(text: &Cow<'static, str>) -> Arc<Digest> {
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let Cow::Borrowed(text) = text else { return Arc::new(Digest::compute(text)) };
    let place = (text.as_ptr().addr(), text.len());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(place).or_insert_with(|| Arc::new(Digest::compute(text))).clone()
}

impl Digest {
    fn compute(text: &str) -> Self {
        Self { hash: *blake3::hash(text.as_bytes()).as_bytes(), named: Arc::new(Named::of(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrowed_and_owned_texts_are_alike() {
        for text in ["", "#include \"a.h\"\n", "int x;"] {
            let (borrowed, owned) = (of(&Cow::Borrowed(text)), of(&Cow::Owned(text.to_owned())));
            assert_eq!(borrowed.hash, owned.hash);
            assert_eq!(format!("{:?}", borrowed.named), format!("{:?}", owned.named));
            assert!(Arc::ptr_eq(&borrowed, &of(&Cow::Borrowed(text))), "hashed once");
        }
        let text = "int x; int y;";
        assert_ne!(of(&Cow::Borrowed(text)).hash, of(&Cow::Borrowed(&text[..6])).hash, "one start, two lengths");
    }
}
