//! What a parameter takes.

use super::Misfit;
use super::element::fits_value;
use super::memory::{check_axes, check_length, check_memory, is_dense};
use std::fmt;
use tilewright_driver::Argument;
use tilewright_driver::argument::{Given, Shape};
use tilewright_headers::cuda_type::CudaType;
use tilewright_headers::layout::{Axis, DeclaredTensor};
use tilewright_headers::signature::{Parameter, ParameterKind};

/// Bytes of an address, and of a declared tensor, which is one.
const POINTER_BYTES: usize = 8;

/// What a parameter takes.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Tensor { tensor: DeclaredTensor, dims: Vec<(String, i64)> },
    Pointer { to: CudaType, constant: bool },
    Value(CudaType),
}

impl Wanted {
    pub(super) fn new(parameter: Parameter, tensors: &[DeclaredTensor]) -> Wanted {
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
    pub(super) fn bytes(&self) -> Option<usize> {
        match &self.kind {
            Kind::Tensor { .. } | Kind::Pointer { .. } => Some(POINTER_BYTES),
            Kind::Value(of) => of.bytes(),
        }
    }

    pub(super) fn check(&self, device: usize, bytes: Option<usize>, argument: &Argument<'_>) -> Result<(), Misfit> {
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
        // Those of the axes: what is stored. Dimensions that are computed from others have no elements of their own.
        let mut dims: Vec<(String, i64)> = Vec::new();
        for axis in tensor.layout.axes() {
            let end = i64::from(axis.fold) * i64::from(axis.size);
            match dims.iter_mut().find(|(dim, _)| *dim == axis.dim) {
                Some((_, extent)) => *extent = end.max(*extent),
                None => dims.push((axis.dim.clone(), end)),
            }
        }
        Kind::Tensor { tensor: tensor.clone(), dims }
    }
}

/// A type in Rust's words, as far as Rust has any.
pub(super) fn rust(of: &CudaType) -> String {
    match of {
        CudaType::Scalar(scalar) => scalar.rust().to_owned(),
        CudaType::Vector(scalar, lanes) => format!("[{}; {lanes}]", scalar.rust()),
        other => other.to_string(),
    }
}
