//! Promotion: the element type in which operands of several types meet, as PyTorch has it.
//!
//! There are no complex element types here, so that the rows of complex numbers are absent from the table.

use crate::dtype::DType;

/// What kind of number an element is. A kind outweighs those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// `bool`.
    Boolean,
    /// Integers, signed or not.
    Integral,
    /// Floats.
    Floating,
}

/// How much say an operand has in the type of a result: more than those before it, whose types count by their category alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// A literal.
    Literal,
    /// A tensor without dimensions.
    Single,
    /// A tensor with dimensions.
    Dimensioned,
}

impl DType {
    /// The kind of number.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Boolean,
            _ if self.is_float() => Category::Floating,
            _ => Category::Integral,
        }
    }

    /// The type in which both meet: the wider of two signed integers or of `u8` and one; `i16` for `u8` and `i8`; the float of a float
    /// and anything else; the wider of two floats, and `f32` for `f16` and `bf16`. `u16`, `u32` and `u64` meet floats and
    /// themselves: `None` beside `bool` and other integers.
    ///
    /// ```
    /// # use tilewright_expr::DType;
    /// assert_eq!(DType::U8.promote(DType::I8), Some(DType::I16));
    /// assert_eq!(DType::I64.promote(DType::F16), Some(DType::F16));
    /// assert_eq!(DType::U16.promote(DType::I32), None);
    /// ```
    pub fn promote(self, other: DType) -> Option<DType> {
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        let unsigned = |t: DType| matches!(t, DType::U16 | DType::U32 | DType::U64);
        match (low.category(), high.category()) {
            _ if low == high => Some(low),
            (Category::Floating, _) if low.size() == high.size() => Some(DType::F32),
            (Category::Floating, _) => Some(if low.size() > high.size() { low } else { high }),
            (_, Category::Floating) => Some(high),
            _ if unsigned(low) || unsigned(high) => None,
            (Category::Boolean, _) => Some(high),
            _ if low.size() == high.size() => Some(DType::I16),
            _ => Some(if low.size() > high.size() { low } else { high }),
        }
    }

    /// What a type becomes beside one that has less say: itself, unless the other's category outweighs its own. `None` as for
    /// [`DType::promote`].
    pub fn adopt(self, lesser: DType) -> Option<DType> {
        match self.category() {
            Category::Boolean => self.promote(lesser),
            Category::Integral if lesser.category() == Category::Floating => self.promote(lesser),
            _ => Some(self),
        }
    }

    /// What a literal of this type stands for: `bool`, `i64` or `f32`, by its category.
    pub const fn of_literal(self) -> DType {
        match self.category() {
            Category::Boolean => DType::Bool,
            Category::Integral => DType::I64,
            Category::Floating => DType::F32,
        }
    }

    /// The type of a float function of such elements, and of a true division: `f32` for integers and `bool`, else itself.
    pub const fn real(self) -> DType {
        if self.is_float() { self } else { DType::F32 }
    }
}

/// The type of a result of these operands: those with most say meet each other, and adopt what the others bring. `None` where two
/// types do not meet (see [`DType::promote`]), and for no operands.
///
/// ```
/// # use tilewright_expr::{DType, Standing, result_type};
/// let (tensor, single, literal) = (Standing::Dimensioned, Standing::Single, Standing::Literal);
/// assert_eq!(result_type(&[(DType::I32, tensor), (DType::F64, literal)]), Some(DType::F32));
/// assert_eq!(result_type(&[(DType::F32, tensor), (DType::F64, single)]), Some(DType::F32));
/// ```
pub fn result_type(operands: &[(DType, Standing)]) -> Option<DType> {
    let mut result: Option<DType> = None;
    for standing in [Standing::Literal, Standing::Single, Standing::Dimensioned] {
        let mut here: Option<DType> = None;
        for (dtype, _) in operands.iter().filter(|(_, s)| *s == standing) {
            let dtype = if standing == Standing::Literal { dtype.of_literal() } else { *dtype };
            here = Some(here.map_or(Some(dtype), |known| known.promote(dtype))?);
        }
        result = match (here, result) {
            (Some(here), Some(lesser)) => Some(here.adopt(lesser)?),
            (here, lesser) => here.or(lesser),
        };
    }
    result
}
