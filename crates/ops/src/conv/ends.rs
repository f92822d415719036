//! [`Ends`]: what stands before and behind a row kernel's products.

use super::problem::Precision;
use std::fmt::Write as _;
use tilewright_expr::emit::Inlined;

/// Where a kernel has its image from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// Memory, in the order of its dimensions and without gaps.
    Stored,
    /// An expression, which threads evaluate.
    Computed,
}

/// What is read and what is written, as far as a configuration depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub(crate) reading: Reading,
    /// What results stand in memory as.
    pub(crate) written: Precision,
    /// Whether an epilogue loads something for each sum.
    pub(crate) loads: bool,
    /// Whether there is an epilogue.
    pub(crate) behind: bool,
}

impl Ends {
    /// A stored image.
    pub(crate) fn stored(written: Precision) -> Ends {
        Ends { reading: Reading::Stored, written, loads: false, behind: false }
    }
}

/// The expressions of a row kernel, and what it writes.
#[derive(Clone, Copy, Debug)]
pub struct Fusing<'a> {
    /// A function `image`, of a place and of as many channels at once as 16 bytes hold and divide all of them: what is convolved.
    pub image: Option<&'a Inlined>,
    /// A function `epilogue` of a sum: what is stored.
    pub epilogue: Option<&'a Inlined>,
    /// The type of results.
    pub written: Precision,
}

/// Where an image comes from that is an expression, or none.
pub(crate) fn reading<E>(expression: Option<E>) -> Reading {
    if expression.is_some() { Reading::Computed } else { Reading::Stored }
}

impl Fusing<'_> {
    /// No expressions.
    pub fn nothing(written: Precision) -> Self {
        Fusing { image: None, epilogue: None, written }
    }

    pub(crate) fn ends(&self) -> Ends {
        Ends {
            reading: reading(self.image),
            written: self.written,
            behind: self.epilogue.is_some(),
            loads: self.epilogue.is_some_and(|epilogue| epilogue.loads_ahead),
        }
    }
}

/// A function of this name, or parameters of it that are empty: both are a multiple of 16 bytes.
pub(crate) fn function(text: &mut String, name: &str, function: Option<&Inlined>) {
    match function {
        Some(function) => {
            headers(text, function);
            text.push_str(&function.source);
        }
        None => {
            let _ = writeln!(text, "struct alignas(16) {name}_Params {{}};\nstruct {name}_Ahead {{}};");
        }
    }
}

/// As [`function`], of the name `image`, in a namespace: a kernel with two images has two.
pub(crate) fn image_within(text: &mut String, namespace: &str, image: Option<&Inlined>) {
    image.iter().for_each(|it| headers(text, it));
    let _ = writeln!(text, "namespace {namespace} {{");
    match image {
        Some(image) => text.push_str(&image.source),
        None => text.push_str("struct alignas(16) image_Params {};\n"),
    }
    let _ = writeln!(text, "}}  // namespace {namespace}");
}

fn headers(text: &mut String, function: &Inlined) {
    for header in &function.headers {
        let _ = writeln!(text, "#include \"tilewright/{header}.cuh\"");
    }
}
