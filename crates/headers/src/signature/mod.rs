//! What kernels take: the parameters of the `__global__` functions in a CUDA source, read from its text.
//!
//! This is no C++ compiler. Comments, attributes, templates in types, `using` and `typedef` are understood; macros and `#if` are
//! not, so a kernel whose `__global__` or whose parameters hide in a macro is not seen. Who launches compares what is found here
//! with what the compiler made of it.

mod parameter;
mod token;

use crate::cuda_type::CudaType;
use crate::layout::DeclarationError;
use parameter::Aliases;
use token::{Kind, Token, tokens};

/// A kernel as its source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The function's name.
    pub kernel: String,
    /// Whether it is `extern "C"`, so that it is found under its name.
    pub c_linkage: bool,
    /// Whether `template` stands before it.
    pub template: bool,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// The name's line, counted from 1.
    pub line: usize,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; empty if it has none.
    pub name: String,
    /// What it is.
    pub kind: ParameterKind,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// The address of elements.
    Pointer {
        /// An element.
        to: CudaType,
        /// Whether the kernel only reads them.
        constant: bool,
    },
    /// A value: a number, or a struct such as a declared tensor.
    Value(CudaType),
}

/// The kernels of a source, in their order. A kernel that is declared, and defined later with the same parameters, counts once.
///
/// ```
/// use tilewright_headers::cuda_type::{CudaType, Scalar};
/// use tilewright_headers::signature::{ParameterKind, signatures};
/// let source = r#"extern "C" __global__ void __launch_bounds__(256) scale(const float* __restrict__ x, float* y, int n) {}"#;
/// let kernels = signatures(source)?;
/// assert_eq!(kernels[0].kernel, "scale");
/// let float = CudaType::Scalar(Scalar::F32);
/// assert_eq!(kernels[0].parameters[0].kind, ParameterKind::Pointer { to: float, constant: true });
/// assert_eq!(kernels[0].parameters[2].name, "n");
/// # Ok::<(), tilewright_headers::layout::DeclarationError>(())
/// ```
pub fn signatures(source: &str) -> Result<Vec<Signature>, DeclarationError> {
    read(source).map_err(|Fault { at, message }| DeclarationError::at(source, at, message))
}

/// What is wrong, and how many bytes stand before it.
struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into() }
    }
}

fn read(source: &str) -> Result<Vec<Signature>, Fault> {
    let tokens = tokens(source)?;
    let aliases = Aliases::read(&tokens);
    let mut found: Vec<Signature> = Vec::new();
    // For each open brace, whether it is that of `extern "C" {`; and where the declaration at hand began.
    let (mut scopes, mut begin, mut i) = (Vec::new(), 0, 0);
    while let Some(token) = tokens.get(i) {
        match token.text {
            "{" if token.kind == Kind::Sign => scopes.push(is_extern_c(&tokens[begin..i])),
            "}" if token.kind == Kind::Sign => drop(scopes.pop()),
            "__global__" => {
                let (name, open) = name(&tokens, i)?;
                let close = closing(&tokens, open)?;
                let head = &tokens[begin..name];
                let signature = Signature {
                    kernel: tokens[name].text.to_owned(),
                    c_linkage: scopes.contains(&true) || is_extern_c(head),
                    template: head.iter().any(|t| t.is_word() && t.text == "template"),
                    parameters: aliases.parameters(&tokens[open + 1..close])?,
                    line: source[..tokens[name].at].matches('\n').count() + 1,
                };
                add(&mut found, signature);
                i = close;
            }
            _ => {}
        }
        if token.kind == Kind::Sign && matches!(token.text, ";" | "{" | "}") {
            begin = i + 1;
        }
        i += 1;
    }
    Ok(found)
}

/// A definition takes the place of an equal declaration before it: it has the parameters' names.
fn add(found: &mut Vec<Signature>, signature: Signature) {
    let same = |a: &Signature| {
        let kinds = a.parameters.iter().map(|p| &p.kind);
        a.kernel == signature.kernel && kinds.eq(signature.parameters.iter().map(|p| &p.kind))
    };
    match found.iter_mut().find(|a| same(a)) {
        Some(known) => {
            let c_linkage = known.c_linkage || signature.c_linkage;
            *known = Signature { c_linkage, ..signature };
        }
        None => found.push(signature),
    }
}

fn is_extern_c(head: &[Token<'_>]) -> bool {
    head.windows(2).any(|pair| pair[0].is_word() && pair[0].text == "extern" && pair[1].text == "\"C\"")
}

/// The kernel's name behind `__global__`, and the parenthesis behind that; attributes are passed over.
fn name(tokens: &[Token<'_>], global: usize) -> Result<(usize, usize), Fault> {
    let mut i = global + 1;
    while let Some(token) = tokens.get(i) {
        let next = tokens.get(i + 1);
        let opens = |sign| next.is_some_and(|t| t.is_sign(sign));
        i = match token.kind {
            Kind::Word if opens("(") && !is_attribute(token.text) => return Ok((i, i + 1)),
            Kind::Word if opens("(") => closing(tokens, i + 1)? + 1,
            Kind::Word if opens("<") => match tokens[i..].iter().position(|t| t.is_sign("(")) {
                Some(open) => return Ok((i, i + open)),
                None => break,
            },
            Kind::Sign if token.text == "[" => closing(tokens, i)? + 1,
            Kind::Sign if matches!(token.text, ";" | "{" | "}" | "(") => break,
            _ => i + 1,
        };
    }
    Err(Fault::new(tokens[global].at, "expected `void NAME(` behind `__global__`"))
}

fn is_attribute(word: &str) -> bool {
    word.starts_with("__") || matches!(word, "alignas" | "noexcept")
}

/// The index of the bracket that closes the one at `open`.
fn closing(tokens: &[Token<'_>], open: usize) -> Result<usize, Fault> {
    let mut expected = Vec::new();
    for (i, token) in tokens.iter().enumerate().skip(open).filter(|(_, t)| t.kind == Kind::Sign) {
        match token.text {
            "(" => expected.push(")"),
            "[" => expected.push("]"),
            "{" => expected.push("}"),
            ")" | "]" | "}" => {
                let wanted = expected.pop().unwrap_or_default();
                if token.text != wanted {
                    return Err(Fault::new(token.at, format!("expected `{wanted}`, found `{}`", token.text)));
                }
                if expected.is_empty() {
                    return Ok(i);
                }
            }
            _ => {}
        }
    }
    Err(Fault::new(tokens[open].at, format!("the `{}` here is not closed", tokens[open].text)))
}
