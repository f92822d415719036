//! Types of CUDA C++ as far as a caller has to know them: which Rust values they are, how many bytes, how aligned.

use std::fmt;

/// A number that both languages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// One byte, 0 or 1.
    Bool,
    /// `char`, whose sign is the compiler's choice: `i8` and `u8` both fit.
    Char,
    /// `unsigned char`.
    U8,
    /// `signed char`.
    I8,
    /// `unsigned short`.
    U16,
    /// `short`.
    I16,
    /// `unsigned`.
    U32,
    /// `int`.
    I32,
    /// `unsigned long long`, and `unsigned long` and `size_t` where NVRTC runs.
    U64,
    /// `long long`, and `long` where NVRTC runs.
    I64,
    /// `float`.
    F32,
    /// `double`.
    F64,
}

impl Scalar {
    /// The Rust type's name.
    pub const fn rust(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Char => "i8 or u8",
            Scalar::U8 => "u8",
            Scalar::I8 => "i8",
            Scalar::U16 => "u16",
            Scalar::I16 => "i16",
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::U64 => "u64",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// Bytes of one, which is its alignment too.
    pub const fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::Char | Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 | Scalar::I16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
        }
    }
}

/// A type as it is written in CUDA C++, qualifiers aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CudaType {
    /// A number.
    Scalar(Scalar),
    /// One of CUDA's short vectors, `float4` say: what it is made of, and how many (1 to 4).
    Vector(Scalar, usize),
    /// A number that Rust has no type for, such as `__half`: its name and its bytes.
    Narrow(String, usize),
    /// `void`: behind a pointer, memory of any type.
    Void,
    /// Anything else: a struct, a declared tensor, a pointer.
    Other(String),
}

impl CudaType {
    /// The type of this text: `unsigned long long`, `float4`, `std::uint8_t`, `Params`.
    pub fn read(text: &str) -> CudaType {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(built_in) = built_in(&words) {
            return built_in;
        }
        let name = text.strip_prefix("::").unwrap_or(text);
        let name = name.strip_prefix("std::").or_else(|| name.strip_prefix("cuda::std::")).unwrap_or(name);
        const NAMES: [(&str, Scalar); 14] = [
            ("uint8_t", Scalar::U8),
            ("int8_t", Scalar::I8),
            ("uint16_t", Scalar::U16),
            ("int16_t", Scalar::I16),
            ("uint32_t", Scalar::U32),
            ("int32_t", Scalar::I32),
            ("uint64_t", Scalar::U64),
            ("int64_t", Scalar::I64),
            ("size_t", Scalar::U64),
            ("ptrdiff_t", Scalar::I64),
            ("uintptr_t", Scalar::U64),
            ("intptr_t", Scalar::I64),
            ("CUdeviceptr", Scalar::U64),
            ("cudaTextureObject_t", Scalar::U64),
        ];
        const NARROW: [(&str, usize); 8] = [
            ("__half", 2),
            ("half", 2),
            ("__half2", 4),
            ("half2", 4),
            ("__nv_bfloat16", 2),
            ("__nv_bfloat162", 4),
            ("__nv_fp8_e4m3", 1),
            ("__nv_fp8_e5m2", 1),
        ];
        if let Some((_, scalar)) = NAMES.iter().find(|(known, _)| *known == name) {
            return CudaType::Scalar(*scalar);
        }
        if let Some((_, bytes)) = NARROW.iter().find(|(known, _)| *known == name) {
            return CudaType::Narrow(text.to_owned(), *bytes);
        }
        vector(name).unwrap_or_else(|| CudaType::Other(text.to_owned()))
    }

    /// Bytes of one; `None` where only the compiler knows.
    pub fn bytes(&self) -> Option<usize> {
        match self {
            CudaType::Scalar(scalar) => Some(scalar.bytes()),
            CudaType::Vector(scalar, lanes) => Some(scalar.bytes() * lanes),
            CudaType::Narrow(_, bytes) => Some(*bytes),
            CudaType::Void | CudaType::Other(_) => None,
        }
    }

    /// The alignment of its address in bytes, a power of two; 1 where only the compiler knows.
    pub fn alignment(&self) -> usize {
        match self {
            CudaType::Vector(scalar, 3) => scalar.bytes(),
            CudaType::Vector(scalar, lanes) => (scalar.bytes() * lanes).min(16),
            _ => self.bytes().unwrap_or(1),
        }
    }
}

impl fmt::Display for CudaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CudaType::Scalar(scalar) => f.write_str(written(*scalar)),
            CudaType::Vector(scalar, lanes) => write!(f, "{}{lanes}", stem(*scalar)),
            CudaType::Narrow(name, _) | CudaType::Other(name) => f.write_str(name),
            CudaType::Void => f.write_str("void"),
        }
    }
}

fn written(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::Char => "char",
        Scalar::U8 => "unsigned char",
        Scalar::I8 => "signed char",
        Scalar::U16 => "unsigned short",
        Scalar::I16 => "short",
        Scalar::U32 => "unsigned",
        Scalar::I32 => "int",
        Scalar::U64 => "unsigned long long",
        Scalar::I64 => "long long",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// What the vectors' names begin with.
const STEMS: [(&str, Scalar); 12] = [
    ("uchar", Scalar::U8),
    ("char", Scalar::I8),
    ("ushort", Scalar::U16),
    ("short", Scalar::I16),
    ("uint", Scalar::U32),
    ("int", Scalar::I32),
    ("ulonglong", Scalar::U64),
    ("longlong", Scalar::I64),
    ("ulong", Scalar::U64),
    ("long", Scalar::I64),
    ("float", Scalar::F32),
    ("double", Scalar::F64),
];

fn stem(scalar: Scalar) -> &'static str {
    STEMS.iter().find(|(_, s)| *s == scalar).map_or("", |(stem, _)| stem)
}

fn vector(name: &str) -> Option<CudaType> {
    let (at, lanes) = name.char_indices().next_back().filter(|(_, c)| ('1'..='4').contains(c))?;
    let (_, scalar) = STEMS.iter().find(|(stem, _)| *stem == &name[..at])?;
    Some(CudaType::Vector(*scalar, lanes.to_digit(10)? as usize))
}

/// A type of C++'s own words, which may stand in any order.
fn built_in(words: &[&str]) -> Option<CudaType> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let known = ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void"];
    if words.is_empty() || words.iter().any(|word| !known.contains(word)) {
        return None;
    }
    let unsigned = count("unsigned") > 0;
    let pick = |without, with| if unsigned { with } else { without };
    let scalar = match words {
        ["void"] => return Some(CudaType::Void),
        ["bool"] => Scalar::Bool,
        ["float"] => Scalar::F32,
        ["double"] => Scalar::F64,
        ["char"] => Scalar::Char,
        _ if ["void", "bool", "float", "double"].iter().any(|word| count(word) > 0) => return None,
        _ if count("char") > 0 => pick(Scalar::I8, Scalar::U8),
        _ if count("short") > 0 => pick(Scalar::I16, Scalar::U16),
        _ if count("long") > 0 => pick(Scalar::I64, Scalar::U64),
        _ => pick(Scalar::I32, Scalar::U32),
    };
    Some(CudaType::Scalar(scalar))
}
