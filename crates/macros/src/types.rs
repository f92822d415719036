//! The types of scalar functions, and what C++ calls them.

use syn::{Error, Ident, Result, Type};

/// What is known of a value's type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A type by its name.
    Named(&'static str),
    /// The function's type parameter.
    Generic,
    /// Whatever another function gives.
    Unknown,
}

pub(crate) const BOOL: Kind = Kind::Named("bool");
pub(crate) const I32: Kind = Kind::Named("i32");
pub(crate) const U32: Kind = Kind::Named("u32");

/// Types with their names in C++.
const TYPES: [(&str, &str); 13] = [
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
    ("f16", "tw::f16"),
    ("bf16", "tw::bf16"),
];

const ALLOWED: &str = "a scalar function computes with `bool`, `u8` to `u64`, `i8` to `i64`, `f32` and `f64`";

impl Kind {
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::Generic | Kind::Named("f32" | "f64"))
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Kind::Named(name) if name.starts_with(['u', 'i']))
    }

    /// The name in C++; of what is not known, `auto`.
    pub(crate) fn cuda(self) -> &'static str {
        match self {
            Kind::Generic => "T",
            Kind::Unknown => "auto",
            Kind::Named(name) => TYPES.iter().find(|t| t.0 == name).map_or("auto", |t| t.1),
        }
    }

    /// The first of two that is known.
    pub(crate) fn or(self, other: Kind) -> Kind {
        if self == Kind::Unknown { other } else { self }
    }
}

/// The type that is written `ty`, in a function with this type parameter.
pub(crate) fn kind(ty: &Type, generic: Option<&Ident>) -> Result<Kind> {
    let advice = |more: &str| Err(Error::new_spanned(ty, format!("{ALLOWED}{more}")));
    let Type::Path(path) = ty else {
        return match ty {
            Type::Reference(_) => advice("; pass the value, not a reference"),
            Type::Array(_) | Type::Slice(_) => advice("; a table is a `const` in the body"),
            Type::Tuple(_) => advice("; several results are a tuple of these"),
            _ => advice(""),
        };
    };
    let Some(name) = path.path.get_ident() else {
        let last = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        return match TYPES.iter().find(|t| t.0 == last) {
            Some(t) if t.0.ends_with("16") => advice("; write `f32`, and convert the expression with `.to::<f32>()`"),
            Some(_) => advice("; write the name alone"),
            None => advice(""),
        };
    };
    if Some(name) == generic {
        return Ok(Kind::Generic);
    }
    let name = name.to_string();
    match name.as_str() {
        "f16" | "bf16" => advice("; write `f32`, and convert the expression with `.to::<f32>()`"),
        "usize" => advice("; write `u32` or `u64`: tables take any integer as index"),
        "isize" => advice("; write `i32` or `i64`"),
        _ => match TYPES.iter().find(|t| t.0 == name) {
            Some(t) => Ok(Kind::Named(t.0)),
            None => advice(""),
        },
    }
}

/// As [`kind`], of texts by hand, which have halves too.
pub(crate) fn kind_by_hand(ty: &Type) -> Result<Kind> {
    let last = match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    };
    match last.and_then(|last| TYPES.iter().find(|t| t.0 == last)) {
        Some(t) => Ok(Kind::Named(t.0)),
        None => kind(ty, None),
    }
}
