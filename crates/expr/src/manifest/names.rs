//! Names in manifests: of dimensions, types, operations.

use super::lex::{Line, Parsed, mistake, nearest};
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, Unary};
use crate::reduce::Reduction;
use crate::scatter::Collision;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

pub(super) const UNARY: [(&str, Unary); 10] = [
    ("neg", Unary::Neg),
    ("abs", Unary::Abs),
    ("sqrt", Unary::Sqrt),
    ("floor", Unary::Floor),
    ("ceil", Unary::Ceil),
    ("trunc", Unary::Trunc),
    ("round", Unary::Round),
    ("not", Unary::Not),
    ("count_ones", Unary::CountOnes),
    ("leading_zeros", Unary::LeadingZeros),
];

pub(super) const BINARY: [(&str, Binary); 18] = [
    ("add", Binary::Add),
    ("sub", Binary::Sub),
    ("mul", Binary::Mul),
    ("div", Binary::Div),
    ("rem", Binary::Rem),
    ("min", Binary::Min),
    ("max", Binary::Max),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
    ("shl", Binary::Shl),
    ("shr", Binary::Shr),
    ("lt", Binary::Lt),
    ("le", Binary::Le),
    ("gt", Binary::Gt),
    ("ge", Binary::Ge),
    ("eq", Binary::Eq),
    ("ne", Binary::Ne),
];

pub(super) const REDUCTIONS: [(&str, Reduction); 4] =
    [("sum", Reduction::Sum), ("product", Reduction::Product), ("min", Reduction::Min), ("max", Reduction::Max)];

pub(super) const COLLISIONS: [(&str, Collision); 7] = [
    ("sum", Collision::Sum),
    ("min", Collision::Min),
    ("max", Collision::Max),
    ("and", Collision::And),
    ("or", Collision::Or),
    ("xor", Collision::Xor),
    ("unique", Collision::Unique),
];

/// What something is called in a table of names.
pub(super) fn name_in<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, v)| v == value).map_or("?", |(name, _)| name)
}

/// Reads one of a table's names.
pub(super) fn one_of<T: Copy>(line: &mut Line<'_>, what: &str, table: &[(&str, T)]) -> Parsed<T> {
    let word = line.word(what)?;
    match table.iter().find(|(name, _)| *name == word) {
        Some((_, value)) => Ok(*value),
        None => line.refuse(format!("`{word}` is no {what}; {}", nearest(word, table.iter().map(|(name, _)| *name)))),
    }
}

pub(super) fn dtype_of(word: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|d| d.name() == word)
}

/// Reads the type of a value.
pub(super) fn read_dtype(line: &mut Line<'_>) -> Parsed<DType> {
    let word = line.word("a type")?;
    match dtype_of(word) {
        Some(dtype) => Ok(dtype),
        None => {
            let near = nearest(word, DType::ALL.into_iter().map(DType::name));
            line.refuse(format!("`{word}` is no type of a value; {near}"))
        }
    }
}

/// A name that lives as long as the program; each text is kept once.
pub(super) fn kept(name: &str) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}

/// What a plan's text calls its dimensions.
///
/// Ids are kept as they are: loops that no layout puts in order are in the order of ids, and a source text is to come out as it was.
#[derive(Debug, Default)]
pub(super) struct Dims {
    labels: Vec<String>,
    ids: HashMap<String, DimId>,
    names: HashMap<DimId, (String, &'static str)>,
}

/// Longest name of a dimension.
const LONGEST: usize = 200;

impl Dims {
    /// Labels for these dimensions: their names, told apart by numbers where several have one name.
    pub(super) fn of(graph: &Graph, ids: impl IntoIterator<Item = DimId>) -> Dims {
        let mut dims = Dims::default();
        for id in ids {
            if dims.names.contains_key(&id) {
                continue;
            }
            let name = graph.dim_name(id);
            let word = word_of(name);
            let mut label = word.clone();
            for number in 2.. {
                if !dims.ids.contains_key(&label) {
                    break;
                }
                label = format!("{word}_{number}");
            }
            dims.insert(label, id, name);
        }
        dims
    }

    fn insert(&mut self, label: String, id: DimId, name: &'static str) {
        self.ids.insert(label.clone(), id);
        self.names.insert(id, (label.clone(), name));
        self.labels.push(label);
    }

    /// What a dimension is called.
    pub(super) fn label(&self, id: DimId) -> &str {
        self.names.get(&id).map_or("?", |(label, _)| label)
    }

    /// The texts that say which dimension each label is.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |label: &String| {
            let id = self.ids[label];
            let name = self.names[&id].1;
            let mut text = format!("{label} = 0x{id:016x}");
            if name != label {
                let name: String = name.chars().take(LONGEST).collect();
                let _ = write!(text, " \"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"));
            }
            text
        };
        self.labels.iter().map(text).collect()
    }

    /// Reads what a label stands for: `Y = 0x5d1c`, and the name where it is another one.
    pub(super) fn declare(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        let label = line.word("the name of a dimension")?;
        let at = line.last();
        line.sign('=')?;
        let digits = line.digits("the id of a dimension")?;
        let id = digits.strip_prefix("0x").and_then(|d| u64::from_str_radix(d, 16).ok());
        let Some(id) = id else { return line.refuse("the id of a dimension is `0x` and up to 16 hexadecimal digits") };
        let other = self.names.get(&id).map(|(label, _)| label.clone());
        if let Some(other) = other {
            return line.refuse(format!("dimension `{other}` has this id"));
        }
        let name = match line.peek()? {
            super::lex::Token::Quoted(_) => line.text("a name")?,
            _ => label.to_string(),
        };
        if name.len() > LONGEST * 4 || label.len() > LONGEST * 4 {
            return line.refuse(format!("a dimension has a name of up to {LONGEST} characters"));
        }
        line.end()?;
        if self.ids.contains_key(label) {
            return mistake(at, format!("dimension `{label}` stands here twice"));
        }
        self.insert(label.to_string(), id, kept(&name));
        Ok(())
    }

    /// Every dimension with its name.
    pub(super) fn all(&self) -> impl Iterator<Item = (DimId, &'static str)> + '_ {
        self.labels.iter().map(|label| (self.ids[label], self.names[&self.ids[label]].1))
    }

    /// Reads a dimension.
    pub(super) fn read(&self, line: &mut Line<'_>) -> Parsed<DimId> {
        let word = line.word("a dimension")?;
        self.named(line, word)
    }

    /// The dimension of a word that was read.
    pub(super) fn named(&self, line: &Line<'_>, word: &str) -> Parsed<DimId> {
        match self.ids.get(word) {
            Some(id) => Ok(*id),
            None => {
                let near = nearest(word, self.labels.iter().map(String::as_str));
                line.refuse(format!("the plan has no dimension `{word}`; {near}"))
            }
        }
    }

    /// Reads dimensions between brackets, each once.
    pub(super) fn list(&self, line: &mut Line<'_>) -> Parsed<Vec<DimId>> {
        let mut seen = Vec::new();
        line.list(|line| {
            let dim = self.read(line)?;
            if seen.contains(&dim) {
                return line.refuse("this dimension stands here twice");
            }
            seen.push(dim);
            Ok(dim)
        })
    }
}

/// A name as one word.
pub(super) fn word_of(name: &str) -> String {
    let word = name.chars().take(LONGEST).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let word: String = word.collect();
    if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { word } else { format!("_{word}") }
}

/// Whether a text is one word, as [`Line`] reads them.
pub(super) fn is_word(text: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(first) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
