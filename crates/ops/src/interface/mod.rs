//! What a user's kernel takes, read from its source, and whether arguments fit. Needs no device.

mod element;
mod memory;
mod misfit;
mod wanted;

pub use misfit::Misfit;

use crate::error::Error;
use std::fmt;
use tilewright_driver::Argument;
use tilewright_headers::layout::{Declarations, DeclaredTensor};
use tilewright_headers::signature::{Signature, signatures};
use wanted::{Kind, Wanted};

/// What one kernel takes: its parameters, those that are declared tensors with their layouts.
///
/// ```
/// use tilewright_ops::Interface;
/// let source = r#"
/// #include "tilewright/layout.cuh"
/// /*@tilewright
/// dims! { Y, X }
/// tensor!(In: const f32, [Y: 4, X: 6]);
/// tensor!(Out: f32, [X: 6, Y: 4]);
/// @tilewright*/
/// extern "C" __global__ void transpose(In in, Out out) {
///   const Y y(threadIdx.y);
///   const X x(threadIdx.x);
///   *out.at(y + x) = *in.at(y + x);
/// }"#;
/// let interface = Interface::read("transpose.cu", source, None)?;
/// assert_eq!(interface.to_string(), "transpose(in: &f32 [Y: 4, X: 6], out: &mut f32 [X: 6, Y: 4])");
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Interface {
    kernel: String,
    text: String,
    wanted: Vec<Wanted>,
    tensors: Vec<DeclaredTensor>,
}

impl Interface {
    /// Reads what the kernel `entry` takes, or the only kernel of the source. `name` stands for the source in messages.
    ///
    /// # Errors
    /// [`Error::Declaration`] for a declaration block or parameters that cannot be read; [`Error::Entry`] when there is no such
    /// kernel, several to choose from, or one that cannot be found by its name; [`Error::Overlap`] for a tensor to write in which
    /// two coordinates share an element.
    pub fn read(name: &str, source: &str, entry: Option<&str>) -> Result<Interface, Error> {
        let in_file = |error| Error::Declaration { file: name.to_owned(), error };
        let declarations = Declarations::read(source).map_err(in_file)?;
        let signature = chosen(name, signatures(source).map_err(in_file)?, entry)?;
        let Signature { kernel, parameters, .. } = signature;
        let tensors = declarations.tensors;
        let wanted: Vec<Wanted> = parameters.into_iter().map(|p| Wanted::new(p, &tensors)).collect();
        for (index, parameter) in wanted.iter().enumerate() {
            if let Kind::Tensor { tensor, .. } = &parameter.kind
                && !tensor.constant
                && tensor.layout.overlaps()
            {
                let (tensor, parameter) = (tensor.name.clone(), parameter.name.clone());
                return Err(Error::Overlap { kernel, index, parameter, tensor });
            }
        }
        Ok(Interface { kernel, text: declarations.text, wanted, tensors })
    }

    /// The kernel's name.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// The tensors that the source declares; [`Layout::show`](tilewright_headers::layout::Layout::show) draws where their elements
    /// are.
    pub fn tensors(&self) -> &[DeclaredTensor] {
        &self.tensors
    }

    /// The source with C++ types in place of the declaration blocks.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.wanted.len()
    }

    /// Checks that the arguments fit: their number, and for each its type, dimensions, sizes, strides, alignment and place. `device`
    /// is the kernel's; `bytes` are the sizes of the compiled kernel's parameters, where they are known.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`], and [`Error::Argument`] with the first argument that does not fit, and why.
    pub fn check(&self, device: usize, bytes: Option<&[usize]>, arguments: &[Argument<'_>]) -> Result<(), Error> {
        if arguments.len() != self.wanted.len() {
            return Err(self.wrong_count(arguments.len()));
        }
        for (index, (wanted, argument)) in self.wanted.iter().zip(arguments).enumerate() {
            let bytes = bytes.and_then(|bytes| bytes.get(index).copied());
            if let Err(misfit) = wanted.check(device, bytes, argument) {
                return Err(self.misfit(index, misfit));
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_count(&self, got: usize) -> Error {
        Error::ArgumentCount { interface: self.to_string(), expected: self.wanted.len(), got }
    }

    #[cold]
    fn misfit(&self, index: usize, misfit: Misfit) -> Error {
        let parameter = self.wanted[index].name.clone();
        Error::Argument { kernel: self.kernel.clone(), index, parameter, misfit: Box::new(misfit) }
    }

    /// Compares what was read with what the compiler made of it: macros can hide parameters from the text.
    pub(crate) fn confirm(&self, bytes: &[usize]) -> Result<(), Error> {
        let differs = |(wanted, bytes): (&Wanted, &usize)| wanted.bytes().is_some_and(|known| known != *bytes);
        if bytes.len() == self.wanted.len() && !self.wanted.iter().zip(bytes).any(differs) {
            return Ok(());
        }
        Err(Error::Misread { interface: self.to_string(), expected: self.wanted.len(), got: bytes.to_vec() })
    }
}

impl fmt::Display for Interface {
    /// As a call would look.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters: Vec<String> = self.wanted.iter().map(Wanted::to_string).collect();
        write!(f, "{}({})", self.kernel, parameters.join(", "))
    }
}

/// The kernel that is meant.
fn chosen(file: &str, found: Vec<Signature>, entry: Option<&str>) -> Result<Signature, Error> {
    let names: Vec<String> = found.iter().map(|s| s.kernel.clone()).collect();
    let mut fitting = found.into_iter().filter(|s| entry.is_none_or(|entry| entry == s.kernel));
    let fail = |reason: String| Error::Entry { file: file.to_owned(), reason };
    let listed = || names.join(", ");
    let signature = match (fitting.next(), entry) {
        (Some(signature), _) => signature,
        (None, Some(entry)) if !names.is_empty() => {
            return Err(fail(format!("there is no kernel `{entry}`, there are: {}", listed())));
        }
        (None, _) => {
            return Err(fail("no kernel: write `extern \"C\" __global__ void NAME(..)`, not behind a macro".into()));
        }
    };
    match fitting.next() {
        Some(_) if entry.is_some() => {
            let reason = "is declared with different parameters; `#if` is not judged here: keep one declaration";
            Err(fail(format!("`{}` {reason}", signature.kernel)))
        }
        Some(_) => Err(fail(format!("several kernels, say which one: `.entry(\"..\")`; there are: {}", listed()))),
        None if signature.template || !signature.c_linkage => {
            let (kernel, line) = (&signature.kernel, signature.line);
            Err(fail(format!(
                "line {line}: `{kernel}` is not found by its name; declare it `extern \"C\" __global__`, no template"
            )))
        }
        None => Ok(signature),
    }
}
