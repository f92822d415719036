//! Texts of device functions: what they call, the tables that they read, and how they become CUDA C++.

use super::cuda;
use super::elementary::Elementary;
use crate::error::Error;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// The text of a device function, and what it needs. Kernels define each text once, after those that it calls.
#[derive(Debug)]
pub struct Text {
    /// What kernels and explanations call it.
    pub name: &'static str,
    /// The text itself.
    pub source: Source,
    /// The functions that it calls.
    pub callees: &'static [&'static Text],
    /// The constants that it reads, with their names.
    pub constants: &'static [(&'static str, &'static dyn Constant)],
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// One function that [`scalar_fn`](super::scalar_fn) wrote. `$f` stands for its name, `$q` for its qualifiers, `$0`, `$1`,
    /// .. for the names of callees, and `$c` for the constants.
    Written(&'static str),
    /// CUDA C++ by hand: one or more functions, the last of which is the entry.
    Cuda(&'static str),
    /// A composition of the graph's operations.
    Elementary(Elementary),
}

/// A constant that texts read: a scalar, or a table of scalars.
#[diagnostic::on_unimplemented(
    message = "scalar functions read no constants of `{Self}`",
    label = "expected a scalar, or an array of scalars",
    note = "write `u32` or `u64` for `usize`: tables take any integer as index"
)]
pub trait Constant: Sync + std::fmt::Debug {
    /// The declaration of a constant of this name.
    fn declaration(&self, name: &str) -> String;
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        let constants = |text: &Text| text.constants.iter().map(|(name, c)| c.declaration(name)).collect::<Vec<_>>();
        std::ptr::eq(self, other)
            || self.name == other.name
                && self.source == other.source
                && self.callees == other.callees
                && constants(self) == constants(other)
    }
}
impl Eq for Text {}

/// A text whose names are settled.
#[derive(Debug)]
pub(crate) struct Linked {
    /// What calls name. Functions of one name with different texts can be called in one kernel.
    pub(crate) symbol: String,
    /// The definition.
    pub(crate) definition: String,
    /// How many characters a call adds to its caller: 0 of what is out of line.
    weight: usize,
}

/// Characters of a function that is out of line: about fifty statements.
const HEAVY: usize = 2000;

impl Text {
    /// The text with its names. Each is put together once in a process.
    pub(crate) fn linked(&'static self) -> Result<Arc<Linked>, Error> {
        static KNOWN: Mutex<Option<HashMap<usize, Arc<Linked>>>> = Mutex::new(None);
        let place = std::ptr::from_ref(self).addr();
        let known = |linked: Option<Arc<Linked>>| {
            let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            let all = all.get_or_insert_default();
            match linked {
                Some(linked) => all.insert(place, linked),
                None => all.get(&place).cloned(),
            }
        };
        if let Some(linked) = known(None) {
            return Ok(linked);
        }
        let linked = Arc::new(self.link()?);
        known(Some(linked.clone()));
        Ok(linked)
    }

    fn link(&self) -> Result<Linked, Error> {
        let callees = self.callees.iter().map(|t| t.linked()).collect::<Result<Vec<_>, Error>>()?;
        match self.source {
            Source::Written(text) => Ok(self.written(text, &callees)),
            Source::Cuda(text) => {
                let functions = cuda::functions(self.name, text)?;
                let space = self.symbol(text);
                let definition = format!(
                    "namespace {space} {{\n#line 1 \"{}\"\n{}\n#line 1 \"kernel\"\n}}\n",
                    identifier(self.name),
                    functions.text
                );
                Ok(Linked { symbol: format!("{space}::{}", functions.entry), definition, weight: text.len() })
            }
            Source::Elementary(function) => {
                let (symbol, definition, weight) = function.text();
                Ok(Linked { symbol, definition, weight })
            }
        }
    }

    fn written(&self, text: &str, callees: &[Arc<Linked>]) -> Linked {
        let constants: String = self.constants.iter().map(|(name, c)| format!("  {}\n", c.declaration(name))).collect();
        let size = text.len() + callees.iter().map(|c| c.weight).sum::<usize>();
        let qualifiers = if size > HEAVY { "static TW_NOINLINE" } else { "static TW_DEVICE" };
        let mut pieces = text.split('$');
        let mut body = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let digits = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
            match piece[..digits].parse::<usize>() {
                Ok(number) => {
                    body.push_str(&callees[number].symbol);
                    body.push_str(&piece[digits..]);
                }
                Err(_) => match piece.split_at(1) {
                    ("q", rest) => body.extend([qualifiers, rest]),
                    ("c", rest) => body.extend([&constants, rest]),
                    // The name is a function of everything else.
                    (_, rest) => body.extend(["$f", rest]),
                },
            }
        }
        let symbol = self.symbol(&body);
        let definition = body.replace("$f", &symbol);
        Linked { symbol, definition, weight: if size > HEAVY { 0 } else { size } }
    }

    fn symbol(&self, text: &str) -> String {
        // FNV-1a: the same in every process, so that a kernel keeps its key.
        let hash = text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        format!("own_{}_{hash:016x}", identifier(self.name))
    }
}

fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The definitions of `texts`, each once, after those that it calls.
pub(crate) fn definitions(texts: &[&'static Text]) -> Result<String, Error> {
    fn visit(text: &'static Text, done: &mut Vec<Arc<Linked>>, out: &mut String) -> Result<(), Error> {
        let linked = text.linked()?;
        // Texts of two types may have one name.
        if done.iter().any(|d| d.definition == linked.definition) {
            return Ok(());
        }
        for callee in text.callees {
            visit(callee, done, out)?;
        }
        let _ = write!(out, "\n{}", linked.definition);
        done.push(linked);
        Ok(())
    }
    let (mut done, mut out) = (Vec::new(), String::new());
    for text in texts {
        visit(text, &mut done, &mut out)?;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    Ok(out)
}
