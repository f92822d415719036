//! What a user's kernel takes, read from its source, and whether arguments fit. Needs no device.

use crate::error::Error;
use std::fmt;
use tilewright_driver::Argument;
use tilewright_driver::argument::{Access, Axes, ElementType, Given, MOST_AXES, Memory, Shape};
use tilewright_headers::cuda_type::{CudaType, Scalar};
use tilewright_headers::layout::{Axis, Declarations, DeclaredTensor};
use tilewright_headers::signature::{Parameter, ParameterKind, Signature, signatures};

/// Bytes of an address, and of a declared tensor, which is one.
const POINTER_BYTES: usize = 8;

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

/// What a parameter takes.
#[derive(Clone, Debug)]
struct Wanted {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Tensor { tensor: DeclaredTensor, dims: Vec<(String, i64)> },
    Pointer { to: CudaType, constant: bool },
    Value(CudaType),
}

/// Why an argument does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Elements or a value of another type.
    #[error("the kernel takes `{expected}`, got `{got}`; give {needed}")]
    Element {
        /// The type in the kernel.
        expected: String,
        /// The Rust type given.
        got: String,
        /// The Rust type that fits.
        needed: String,
    },
    /// A value where memory is wanted.
    #[error("the kernel takes memory, got a value of type `{got}`; give `&tensor` or `&mut tensor`")]
    NotMemory {
        /// The Rust type given.
        got: String,
    },
    /// Memory where a value is wanted.
    #[error("the kernel takes a value of type `{expected}`, got memory; give the number or the struct itself")]
    NotValue {
        /// The type in the kernel.
        expected: String,
    },
    /// The dimensions are not those that are declared.
    #[error("it is declared over ({expected}), got a tensor over ({got}); rename its dimensions, or declare those")]
    Dimensions {
        /// The declared dimensions.
        expected: String,
        /// Those given.
        got: String,
    },
    /// Another size along a dimension.
    #[error("`{dim}` is declared {expected} long, got {got}; give a tensor of that size, or change the declaration")]
    Extent {
        /// The dimension.
        dim: String,
        /// The declared size.
        expected: i64,
        /// The size given.
        got: i64,
    },
    /// The elements lie elsewhere in memory.
    #[error(
        "axis `{axis}` is declared with {expected} elements from one step to the next, got {got}; \
         give a tensor stored like that, or declare the axis with `=> {got}`"
    )]
    Stride {
        /// The axis as it is declared.
        axis: String,
        /// The declared stride.
        expected: i64,
        /// What the tensor has for such a step.
        got: i64,
    },
    /// Several coordinates share an element, which no tensor of named axes does.
    #[error(
        "`{dim}` is declared in units of {fold} alone, so no plain tensor is stored like that; give a `DeviceBuffer`"
    )]
    Coarse {
        /// The dimension.
        dim: String,
        /// The finest fold.
        fold: i32,
    },
    /// A view with gaps for a parameter that is a bare address.
    #[error("the kernel takes an address, and this view has gaps; copy it first, or declare its layout with `tensor!`")]
    Gaps,
    /// Too little memory.
    #[error("the layout spans {expected} bytes, the memory has {got}; allocate {expected} bytes at least")]
    Length {
        /// Bytes from the first element to the end of the last.
        expected: u64,
        /// Bytes given.
        got: u64,
    },
    /// No memory at all.
    #[error("the memory has no elements; launch nothing, or give it at least one")]
    Empty,
    /// An address that the element type does not allow.
    #[error(
        "the address {address:#x} is no multiple of {alignment}, which `{element}` needs; begin the view elsewhere"
    )]
    Alignment {
        /// The address.
        address: u64,
        /// Bytes.
        alignment: usize,
        /// The type in the kernel.
        element: String,
    },
    /// Memory to read where the kernel may write.
    #[error("the kernel may write it: give `&mut`, or declare it `const`")]
    ReadOnly,
    /// Memory to write that another tensor has too.
    #[error(
        "its memory is shared with another tensor (a clone or a view); what a kernel writes needs memory of its own"
    )]
    Shared,
    /// Memory of the host, or of another GPU.
    #[error("it is on {got}, the kernel on {expected}; move it: `.to(&device)`")]
    Place {
        /// Where it is.
        got: String,
        /// Where the kernel is.
        expected: String,
    },
    /// A struct of another size.
    #[error(
        "`{element}` has {expected} bytes in the compiled kernel, `{got_type}` has {got}; give both the same fields (`repr(C)`)"
    )]
    Bytes {
        /// The type in the kernel.
        element: String,
        /// Its size.
        expected: usize,
        /// The Rust type given.
        got_type: String,
        /// Its size.
        got: usize,
    },
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

impl Wanted {
    fn new(parameter: Parameter, tensors: &[DeclaredTensor]) -> Wanted {
        let kind = match parameter.kind {
            ParameterKind::Pointer { to, constant } => Kind::Pointer { to, constant },
            ParameterKind::Value(CudaType::Other(name)) => match tensors.iter().find(|t| t.name == name) {
                Some(tensor) => Kind::tensor(tensor),
                None => Kind::Value(CudaType::Other(name)),
            },
            ParameterKind::Value(of) => Kind::Value(of),
        };
        Wanted { name: parameter.name, kind }
    }

    /// The size, where the source says it.
    fn bytes(&self) -> Option<usize> {
        match &self.kind {
            Kind::Tensor { .. } | Kind::Pointer { .. } => Some(POINTER_BYTES),
            Kind::Value(of) => of.bytes(),
        }
    }

    fn check(&self, device: usize, bytes: Option<usize>, argument: &Argument<'_>) -> Result<(), Misfit> {
        let element = &argument.element;
        match (&self.kind, &argument.given) {
            (Kind::Value(of), Given::Value(_)) => fits_value(of, bytes, element),
            (Kind::Value(of), Given::Memory(_)) => Err(Misfit::NotValue { expected: of.to_string() }),
            (_, Given::Value(_)) => Err(Misfit::NotMemory { got: element.name.to_owned() }),
            (Kind::Pointer { to, constant }, Given::Memory(memory)) => {
                check_memory(to, *constant, device, element, memory)?;
                match &memory.shape {
                    Shape::Axes(axes) if !is_dense(axes) => Err(Misfit::Gaps),
                    _ => Ok(()),
                }
            }
            (Kind::Tensor { tensor, dims }, Given::Memory(memory)) => {
                check_memory(&tensor.element, tensor.constant, device, element, memory)?;
                if let Shape::Axes(axes) = &memory.shape {
                    check_axes(tensor, dims, axes)?;
                }
                check_length(tensor, element, memory)
            }
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = |constant: bool| if constant { "&" } else { "&mut " };
        if !self.name.is_empty() {
            write!(f, "{}: ", self.name)?;
        }
        match &self.kind {
            Kind::Tensor { tensor, .. } => {
                let axes: Vec<String> = tensor.layout.axes().iter().map(Axis::to_string).collect();
                write!(f, "{}{} [{}]", reference(tensor.constant), rust(&tensor.element), axes.join(", "))
            }
            Kind::Pointer { to, constant } => write!(f, "{}[{}]", reference(*constant), rust(to)),
            Kind::Value(of) => write!(f, "{}", rust(of)),
        }
    }
}

impl Kind {
    fn tensor(tensor: &DeclaredTensor) -> Kind {
        let layout = &tensor.layout;
        let dims = layout.dims().into_iter().map(|dim| (dim.to_owned(), layout.extent(dim).unwrap_or(0))).collect();
        Kind::Tensor { tensor: tensor.clone(), dims }
    }
}

/// A type in Rust's words, as far as Rust has any.
fn rust(of: &CudaType) -> String {
    match of {
        CudaType::Scalar(scalar) => scalar.rust().to_owned(),
        CudaType::Vector(scalar, lanes) => format!("[{}; {lanes}]", scalar.rust()),
        other => other.to_string(),
    }
}

/// The number that a Rust type is.
fn scalar(element: &ElementType) -> Option<Scalar> {
    macro_rules! first {
        ($($t:ty => $s:ident),*) => { $(if element.is::<$t>() { return Some(Scalar::$s); })* };
    }
    first!(f32 => F32, u8 => U8, i32 => I32, u32 => U32, f64 => F64, i64 => I64, u64 => U64, usize => U64, isize => I64);
    first!(bool => Bool, i8 => I8, u16 => U16, i16 => I16);
    None
}

fn wrong_type(of: &CudaType, element: &ElementType) -> Misfit {
    let needed = match of {
        CudaType::Other(name) if !name.ends_with('*') => format!("a struct named `{name}`"),
        CudaType::Other(_) => "a buffer of addresses, `u64`".to_owned(),
        CudaType::Narrow(_, bytes) => format!("a type of its own with {bytes} bytes, or `u{}`", 8 * bytes),
        of => format!("`{}`", rust(of)),
    };
    Misfit::Element { expected: of.to_string(), got: element.name.to_owned(), needed }
}

/// Whether a number of this type is one of the kernel's.
fn is_number(expected: Scalar, element: &ElementType) -> bool {
    let got = scalar(element);
    got == Some(expected) || expected == Scalar::Char && matches!(got, Some(Scalar::I8 | Scalar::U8))
}

/// Bits without a meaning of their own: a type that is no number, or an unsigned one.
fn is_plain(element: &ElementType) -> bool {
    matches!(scalar(element), None | Some(Scalar::U8 | Scalar::U16 | Scalar::U32))
}

fn fits_value(of: &CudaType, bytes: Option<usize>, element: &ElementType) -> Result<(), Misfit> {
    let fits = match of {
        CudaType::Scalar(expected) => is_number(*expected, element),
        CudaType::Vector(expected, 1) if is_number(*expected, element) => true,
        CudaType::Vector(..) => scalar(element).is_none(),
        CudaType::Narrow(..) => is_plain(element),
        CudaType::Void | CudaType::Other(_) => true,
    };
    if !fits {
        return Err(wrong_type(of, element));
    }
    match bytes.or(of.bytes()) {
        Some(expected) if expected != element.bytes => Err(Misfit::Bytes {
            element: of.to_string(),
            expected,
            got_type: element.name.to_owned(),
            got: element.bytes,
        }),
        _ => Ok(()),
    }
}

/// Whether memory of such elements is memory of the kernel's type.
fn fits_memory(of: &CudaType, element: &ElementType, shape: &Shape) -> bool {
    let whole = of.bytes() == Some(element.bytes);
    match of {
        CudaType::Scalar(Scalar::Bool) => element.is::<bool>() || element.is::<u8>(),
        CudaType::Scalar(expected) => is_number(*expected, element),
        // A row of numbers is a row of vectors; named axes count whole vectors.
        CudaType::Vector(expected, _) => {
            whole && scalar(element).is_none() || is_number(*expected, element) && (whole || *shape == Shape::Flat)
        }
        CudaType::Narrow(..) => whole && is_plain(element),
        CudaType::Void => true,
        CudaType::Other(name) if name.ends_with('*') => element.is::<u64>(),
        CudaType::Other(name) => last_word(name) == last_word(element.name),
    }
}

/// `Particle` of `demo::Particle<float>`.
fn last_word(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain).trim()
}

fn check_memory(
    of: &CudaType,
    constant: bool,
    device: usize,
    element: &ElementType,
    memory: &Memory<'_>,
) -> Result<(), Misfit> {
    if !fits_memory(of, element, &memory.shape) {
        return Err(wrong_type(of, element));
    }
    if memory.device != Some(device) {
        let got = memory.device.map_or("the CPU".to_owned(), |number| format!("GPU {number}"));
        return Err(Misfit::Place { got, expected: format!("GPU {device}") });
    }
    match memory.access {
        Access::Read if !constant => return Err(Misfit::ReadOnly),
        Access::Shared if !constant => return Err(Misfit::Shared),
        _ => {}
    }
    let no_elements = |axes: &Axes| axes.iter().any(|(_, extent, _)| extent == 0);
    if memory.len == 0 || memory.address == 0 || matches!(&memory.shape, Shape::Axes(axes) if no_elements(axes)) {
        return Err(Misfit::Empty);
    }
    // A struct's own alignment is known to its Rust twin's allocation only; numbers inside have 8 bytes at most.
    let alignment = of.alignment();
    if !memory.address.is_multiple_of(alignment as u64) {
        return Err(Misfit::Alignment { address: memory.address, alignment, element: of.to_string() });
    }
    Ok(())
}

fn check_axes(tensor: &DeclaredTensor, dims: &[(String, i64)], axes: &Axes) -> Result<(), Misfit> {
    let declared = |name: &str| dims.iter().any(|(dim, _)| dim == name);
    if dims.len() != axes.names.len() || !axes.names.iter().all(|name| declared(name)) {
        let expected: Vec<&str> = dims.iter().map(|(dim, _)| dim.as_str()).collect();
        return Err(Misfit::Dimensions { expected: expected.join(", "), got: axes.names.join(", ") });
    }
    for (dim, expected) in dims {
        let given = axes.iter().find(|(name, ..)| name == dim);
        let (_, got, stride) = given.unwrap_or(("", 0, 0));
        if got != *expected {
            return Err(Misfit::Extent { dim: dim.clone(), expected: *expected, got });
        }
        check_strides(tensor, dim, stride)?;
    }
    Ok(())
}

/// An axis that counts in units of `fold` is where a plain one would be if its step is as long as `fold` plain steps.
fn check_strides(tensor: &DeclaredTensor, dim: &str, stride: i64) -> Result<(), Misfit> {
    let axes = || tensor.layout.axes().iter().filter(|a| a.dim == dim);
    let finest = axes().map(|a| a.fold).min().unwrap_or(1);
    if finest > 1 {
        return Err(Misfit::Coarse { dim: dim.to_owned(), fold: finest });
    }
    let step = |a: &Axis| stride.saturating_mul(i64::from(a.fold));
    match axes().find(|a| a.size > 1 && a.stride != step(a)) {
        Some(a) => Err(Misfit::Stride { axis: a.to_string(), expected: a.stride, got: step(a) }),
        None => Ok(()),
    }
}

fn check_length(tensor: &DeclaredTensor, element: &ElementType, memory: &Memory<'_>) -> Result<(), Misfit> {
    let bytes = tensor.element.bytes().unwrap_or(element.bytes) as u64;
    let expected = tensor.layout.storage().unsigned_abs().saturating_mul(bytes);
    let got = (memory.len as u64).saturating_mul(element.bytes as u64);
    if got < expected { Err(Misfit::Length { expected, got }) } else { Ok(()) }
}

/// Whether the elements lie one behind the other, the last axis fastest.
fn is_dense(axes: &Axes) -> bool {
    let (rank, mut expected) = (axes.names.len().min(MOST_AXES), 1i64);
    axes.extents[..rank].iter().zip(&axes.strides[..rank]).rev().all(|(extent, stride)| {
        let fits = *extent == 1 || *stride == expected;
        expected = expected.saturating_mul(*extent);
        fits
    })
}
