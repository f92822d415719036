//! Which Rust types are which of the kernel's.

use super::Misfit;
use super::wanted::rust;
use tilewright_driver::argument::{ElementType, Shape};
use tilewright_headers::cuda_type::{CudaType, Scalar};

/// The number that a Rust type is.
fn scalar(element: &ElementType) -> Option<Scalar> {
    macro_rules! first {
        ($($t:ty => $s:ident),*) => { $(if element.is::<$t>() { return Some(Scalar::$s); })* };
    }
    first!(f32 => F32, u8 => U8, i32 => I32, u32 => U32, f64 => F64, i64 => I64, u64 => U64, usize => U64, isize => I64);
    first!(bool => Bool, i8 => I8, u16 => U16, i16 => I16);
    None
}

pub(super) fn wrong_type(of: &CudaType, element: &ElementType) -> Misfit {
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

pub(super) fn fits_value(of: &CudaType, bytes: Option<usize>, element: &ElementType) -> Result<(), Misfit> {
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
pub(super) fn fits_memory(of: &CudaType, element: &ElementType, shape: &Shape) -> bool {
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
