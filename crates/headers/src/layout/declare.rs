//! Declarations inside a CUDA source: a block of dimensions, folds and tensors becomes the C++ types that the kernel uses.

use super::parse::{Fault, Reader, lay_out};
use super::{Layout, Map, declare_dims};
use crate::cuda_type::CudaType;
use std::collections::HashMap;
use std::fmt::Write as _;
use thiserror::Error;

const OPEN: &str = "/*@tilewright";
const CLOSE: &str = "@tilewright*/";

/// What is wrong with a declaration, and where in the source.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct DeclarationError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl DeclarationError {
    /// The place is that of byte number `at`.
    pub(crate) fn at(source: &str, at: usize, message: String) -> DeclarationError {
        let before = &source[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        DeclarationError { line, column, message }
    }
}

/// A tensor that a source declares with `tensor!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredTensor {
    /// The name of its type in the source.
    pub name: String,
    /// An element.
    pub element: CudaType,
    /// Whether kernels only read it.
    pub constant: bool,
    /// Where its elements are.
    pub layout: Layout,
    /// Where it is declared, counted from 1.
    pub line: usize,
}

/// A source after [`expand`], and what its blocks declare.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// The source with C++ types in place of the blocks.
    pub text: String,
    /// The tensors, in their order.
    pub tensors: Vec<DeclaredTensor>,
}

/// The source with each declaration block replaced by C++ types. Lines keep their numbers in what the compiler says.
///
/// A block holds what Rust would: `dims! { I, K }`, `folds! { K8 = K / 8 }`, `tensor!(A: f32, [K/8: 4, I: 4, K%8]);`. Names declared
/// in one block are known in those after it. An element type is a Rust type (`u8` to `f64`, `bool`) or, in quotation marks, any C++
/// type; `const` may stand before it.
///
/// ```
/// let source = "#include \"tilewright/layout.cuh\"
/// /*@tilewright
/// dims! { I, K }
/// tensor!(A: const f32, [K/8: 4, I: 4, K%8]);
/// @tilewright*/
/// ";
/// let text = tilewright_headers::layout::expand(source)?;
/// assert!(text.contains("struct K : tw::Dim<K>"));
/// assert!(text.contains("using A = tw::Tensor<const float, tw::Layout<tw::Axis<K, 8, 4, 32, false>"));
/// # Ok::<(), tilewright_headers::layout::DeclarationError>(())
/// ```
pub fn expand(source: &str) -> Result<String, DeclarationError> {
    Declarations::read(source).map(|declarations| declarations.text)
}

impl Declarations {
    /// What a source declares, and its text with C++ types in place of the blocks.
    ///
    /// ```
    /// use tilewright_headers::layout::Declarations;
    /// let source = "/*@tilewright dims! { X } tensor!(A: const f32, [X: 100]); @tilewright*/";
    /// let declared = Declarations::read(source)?;
    /// let a = &declared.tensors[0];
    /// assert_eq!((a.name.as_str(), a.constant, a.layout.extent("X")), ("A", true, Some(100)));
    /// # Ok::<(), tilewright_headers::layout::DeclarationError>(())
    /// ```
    pub fn read(source: &str) -> Result<Declarations, DeclarationError> {
        expanded(source)
    }
}

fn expanded(source: &str) -> Result<Declarations, DeclarationError> {
    let mut names = Names::default();
    let (mut text, mut done) = (String::with_capacity(source.len()), 0);
    while let Some(open) = source[done..].find(OPEN).map(|at| done + at) {
        let start = open + OPEN.len();
        let fail = |at: usize, message: String| {
            let bytes: usize = source[start..].chars().take(at).map(char::len_utf8).sum();
            DeclarationError::at(source, start + bytes, message)
        };
        let Some(length) = source[start..].find(CLOSE) else {
            return Err(fail(0, format!("the block that begins here does not end: `{CLOSE}` is missing")));
        };
        names.lines_before = source[..start].matches('\n').count();
        let mut reader = Reader::new(&source[start..start + length]);
        let types = names.block(&mut reader).map_err(|Fault { at, message }| fail(at, message))?;
        text.push_str(&source[done..open]);
        done = start + length + CLOSE.len();
        let line = source[..done].matches('\n').count() + 1;
        let _ = write!(text, "\n{types}#line {line}\n");
    }
    text.push_str(&source[done..]);
    Ok(Declarations { text, tensors: names.tensors })
}

/// What the blocks so far have declared.
#[derive(Default)]
struct Names {
    dims: Vec<String>,
    /// Dimension and unit of each fold.
    folds: HashMap<String, (String, i32)>,
    tensors: Vec<DeclaredTensor>,
    /// Of the source, before the block at hand.
    lines_before: usize,
}

impl Names {
    fn block(&mut self, reader: &mut Reader) -> Result<String, Fault> {
        let mut text = String::new();
        while !reader.is_at_end() {
            let at = reader.at;
            let what = reader.name()?;
            reader.wants("!")?;
            match what.as_str() {
                "dims" => self.entries(reader, |names, reader| names.dim(reader, &mut text))?,
                "folds" => self.entries(reader, |names, reader| names.fold(reader, &mut text))?,
                "tensor" => self.tensor(reader, &mut text)?,
                other => {
                    return Err(Fault {
                        at,
                        message: format!("expected `dims!`, `folds!` or `tensor!`, found `{other}!`"),
                    });
                }
            }
            reader.takes(";");
        }
        Ok(text)
    }

    /// A name that is not taken.
    fn new_name(&self, reader: &mut Reader) -> Result<String, Fault> {
        reader.skip_spaces();
        let at = reader.at;
        let name = reader.name()?;
        match self.dims.contains(&name) || self.folds.contains_key(&name) || self.tensors.iter().any(|t| t.name == name)
        {
            true => Err(Fault { at, message: format!("`{name}` is declared twice: give one of the two another name") }),
            false => Ok(name),
        }
    }

    /// Entries in braces, with commas between them.
    fn entries(
        &mut self,
        reader: &mut Reader,
        mut entry: impl FnMut(&mut Self, &mut Reader) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        reader.wants("{")?;
        while !reader.takes("}") {
            entry(self, reader)?;
            if !reader.takes(",") {
                return reader.wants("}");
            }
        }
        Ok(())
    }

    fn dim(&mut self, reader: &mut Reader, text: &mut String) -> Result<(), Fault> {
        let name = self.new_name(reader)?;
        text.push_str(&declare_dims([name.as_str()]));
        self.dims.push(name);
        Ok(())
    }

    fn fold(&mut self, reader: &mut Reader, text: &mut String) -> Result<(), Fault> {
        let name = self.new_name(reader)?;
        reader.wants("=")?;
        reader.skip_spaces();
        let at = reader.at;
        let of = reader.name()?;
        let (dim, unit) = match self.folds.get(&of) {
            Some(known) => known.clone(),
            None if self.dims.contains(&of) => (of, 1),
            None => return Err(self.unknown(at, &of)),
        };
        reader.wants("/")?;
        reader.skip_spaces();
        let at = reader.at;
        let by: i32 = reader.number("a fold")?;
        let Some(unit) = unit.checked_mul(by).filter(|unit| *unit > 0) else {
            return Err(Fault { at, message: format!("a fold by {by} is not between 1 and 2^31 - 1 in all") });
        };
        let _ = writeln!(text, "using {name} = tw::Fold<{dim}, {unit}>;");
        self.folds.insert(name, (dim, unit));
        Ok(())
    }

    fn tensor(&mut self, reader: &mut Reader, text: &mut String) -> Result<(), Fault> {
        reader.wants("(")?;
        let name = self.new_name(reader)?;
        let line = self.lines_before + reader.line();
        reader.wants(":")?;
        let written = element(reader)?;
        reader.wants(",")?;
        reader.skip_spaces();
        let at = reader.at;
        if !reader.sees("[") {
            return Err(reader.expected("`[`"));
        }
        let (axes, maps) = (reader.axes()?, reader.maps()?);
        reader.wants(")")?;
        let mapped = maps.iter().flat_map(Map::dims);
        if let Some(dim) = axes.iter().map(|(a, _)| a.dim.as_str()).chain(mapped).find(|dim| !self.knows(dim)) {
            return Err(self.unknown(at, dim));
        }
        let both = lay_out(axes, maps).and_then(|layout| Ok((layout.cuda()?, layout)));
        let (cuda, layout) = both.map_err(|error| Fault { at, message: error.to_string() })?;
        let _ = writeln!(text, "using {name} = tw::Tensor<{written}, {cuda}, struct {name}_>;");
        let element = written.strip_prefix("const ").unwrap_or(&written).trim();
        let (element, constant) = (CudaType::read(element), element.len() < written.len());
        self.tensors.push(DeclaredTensor { name, element, constant, layout, line });
        Ok(())
    }

    fn knows(&self, dim: &str) -> bool {
        self.dims.iter().any(|known| known == dim)
    }

    fn unknown(&self, at: usize, name: &str) -> Fault {
        let known = match self.dims.as_slice() {
            [] => "none is declared yet".to_owned(),
            dims => format!("declared are {}", dims.join(", ")),
        };
        Fault { at, message: format!("there is no dimension `{name}`: {known}; add it with `dims! {{ {name} }}`") }
    }
}

/// An element type in C++.
fn element(reader: &mut Reader) -> Result<String, Fault> {
    const TYPES: [(&str, &str); 11] = [
        ("bool", "bool"),
        ("u8", "unsigned char"),
        ("i8", "signed char"),
        ("u16", "unsigned short"),
        ("i16", "short"),
        ("u32", "unsigned"),
        ("i32", "int"),
        ("u64", "unsigned long long"),
        ("i64", "long long"),
        ("f32", "float"),
        ("f64", "double"),
    ];
    reader.skip_spaces();
    let (mut at, mut qualifier) = (reader.at, "");
    if reader.takes("\"") {
        return reader.until('"');
    }
    let mut name = reader.name()?;
    if name == "const" {
        qualifier = "const ";
        reader.skip_spaces();
        if reader.takes("\"") {
            return reader.until('"').map(|name| format!("const {name}"));
        }
        at = reader.at;
        name = reader.name()?;
    }
    match TYPES.iter().find(|(rust, _)| *rust == name) {
        Some((_, cuda)) => Ok(format!("{qualifier}{cuda}")),
        None => {
            let known = TYPES.map(|(rust, _)| rust).join(", ");
            let message = format!("`{name}` is no element type; known are {known}, or any C++ type in quotation marks");
            Err(Fault { at, message })
        }
    }
}
