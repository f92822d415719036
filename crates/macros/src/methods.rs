//! The methods that bodies may call, and what stands for them in both texts.

use crate::types::{BOOL, Kind, U32};

/// What a method gives.
#[derive(Clone, Copy)]
pub(crate) enum Gives {
    /// What it is called on.
    Same,
    /// A condition.
    Condition,
    /// A `u32`.
    Count,
    /// The unsigned type of the same size.
    Unsigned,
    /// The bits of a float.
    Bits,
}

/// What a method takes beside what it is called on.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Takes {
    /// Values of the same type.
    Same(usize),
    /// A count, of any integer type.
    Count,
}

/// A method.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    /// The trait in `scalar`, and the name there.
    pub(crate) host: (&'static str, &'static str),
    /// The function in C++.
    pub(crate) cuda: &'static str,
}

const fn method(takes: Takes, gives: Gives, host: (&'static str, &'static str), cuda: &'static str) -> Option<Method> {
    Some(Method { takes, gives, host, cuda })
}

/// Functions that the graph defines, with their number of arguments beside the first.
const ELEMENTARY: [(&str, usize); 28] = [
    ("exp", 0), ("exp2", 0), ("exp10", 0), ("exp_m1", 0), ("ln", 0), ("log2", 0), ("log10", 0), ("ln_1p", 0), ("powf", 1),
    ("cbrt", 0), ("hypot", 1), ("sin", 0), ("cos", 0), ("tan", 0), ("asin", 0), ("acos", 0), ("atan", 0), ("atan2", 1),
    ("sinh", 0), ("cosh", 0), ("tanh", 0), ("asinh", 0), ("acosh", 0), ("atanh", 0), ("sigmoid", 0), ("softplus", 0),
    ("erf", 0), ("erfc", 0),
];

/// How many arguments beside the first an elementary function takes.
pub(crate) fn elementary(name: &str) -> Option<usize> {
    ELEMENTARY.iter().find(|e| e.0 == name).map(|e| e.1)
}

/// What stands for method `name`.
pub(crate) fn find(name: &str) -> Option<Method> {
    use Gives::{Bits, Condition, Count, Same, Unsigned};
    use Takes::{Count as Counted, Same as Of};
    match name {
        "abs" => method(Of(0), Same, ("Arith", "abs"), "tw::abs"),
        "min" => method(Of(1), Same, ("Arith", "minimum"), "tw::minimum"),
        "max" => method(Of(1), Same, ("Arith", "maximum"), "tw::maximum"),
        "clamp" => method(Of(2), Same, ("", "clamp"), "tw::clamp"),
        "sqrt" => method(Of(0), Same, ("Arith", "sqrt"), "tw::sqrt"),
        "floor" => method(Of(0), Same, ("Arith", "floor"), "tw::floor"),
        "ceil" => method(Of(0), Same, ("Arith", "ceil"), "tw::ceil"),
        "trunc" => method(Of(0), Same, ("Arith", "trunc"), "tw::trunc"),
        "round_ties_even" => method(Of(0), Same, ("Arith", "round"), "tw::round"),
        "round" => method(Of(0), Same, ("Float", "round_away"), "tw::round_away"),
        "mul_add" => method(Of(2), Same, ("Float", "mul_add"), "tw::mul_add"),
        "copysign" => method(Of(1), Same, ("Float", "copysign"), "tw::copysign"),
        "recip" => method(Of(0), Same, ("Float", "recip"), "tw::recip"),
        "fract" => method(Of(0), Same, ("Float", "fract"), "tw::fract"),
        "to_degrees" => method(Of(0), Same, ("Float", "to_degrees"), "tw::to_degrees"),
        "to_radians" => method(Of(0), Same, ("Float", "to_radians"), "tw::to_radians"),
        "is_nan" => method(Of(0), Condition, ("Float", "is_nan"), "tw::is_nan"),
        "is_infinite" => method(Of(0), Condition, ("Float", "is_infinite"), "tw::is_infinite"),
        "is_finite" => method(Of(0), Condition, ("Float", "is_finite"), "tw::is_finite"),
        "is_sign_negative" => method(Of(0), Condition, ("Float", "is_sign_negative"), "tw::is_sign_negative"),
        "is_sign_positive" => method(Of(0), Condition, ("Float", "is_sign_positive"), "tw::is_sign_positive"),
        "to_bits" => method(Of(0), Bits, ("Bits", "to_bits"), ""),
        "wrapping_add" => method(Of(1), Same, ("Arith", "add"), "tw::add"),
        "wrapping_sub" => method(Of(1), Same, ("Arith", "sub"), "tw::sub"),
        "wrapping_mul" => method(Of(1), Same, ("Arith", "mul"), "tw::mul"),
        "wrapping_div" => method(Of(1), Same, ("Arith", "div"), "tw::div"),
        "wrapping_rem" => method(Of(1), Same, ("Arith", "rem"), "tw::rem"),
        "wrapping_neg" => method(Of(0), Same, ("Arith", "neg"), "tw::neg"),
        "wrapping_abs" => method(Of(0), Same, ("Arith", "abs"), "tw::abs"),
        "saturating_add" => method(Of(1), Same, ("Integer", "saturating_add"), "tw::saturating_add"),
        "saturating_sub" => method(Of(1), Same, ("Integer", "saturating_sub"), "tw::saturating_sub"),
        "abs_diff" => method(Of(1), Unsigned, ("Integer", "abs_diff"), "tw::abs_diff"),
        "unsigned_abs" => method(Of(0), Unsigned, ("Integer", "unsigned_abs"), "tw::unsigned_abs"),
        "leading_zeros" => method(Of(0), Count, ("Integer", "leading_zeros"), "tw::zeros_before"),
        "trailing_zeros" => method(Of(0), Count, ("Integer", "trailing_zeros"), "tw::zeros_behind"),
        "count_ones" => method(Of(0), Count, ("Integer", "count_ones"), "tw::ones"),
        "wrapping_shl" => method(Counted, Same, ("Integer", "left"), "tw::left"),
        "wrapping_shr" => method(Counted, Same, ("Integer", "right"), "tw::right"),
        "rotate_left" => method(Counted, Same, ("Integer", "rotate_left"), "tw::rotate_left"),
        "rotate_right" => method(Counted, Same, ("Integer", "rotate_right"), "tw::rotate_right"),
        "pow" => method(Counted, Same, ("Integer", "pow"), "tw::pow"),
        _ => None,
    }
}

impl Gives {
    /// The type of the result of a method called on `receiver`.
    pub(crate) fn kind(self, receiver: Kind) -> Kind {
        match (self, receiver) {
            (Gives::Same, _) => receiver,
            (Gives::Condition, _) => BOOL,
            (Gives::Count, _) => U32,
            (Gives::Unsigned, Kind::Named("i8" | "u8")) => Kind::Named("u8"),
            (Gives::Unsigned, Kind::Named("i16" | "u16")) => Kind::Named("u16"),
            (Gives::Unsigned, Kind::Named("i32" | "u32")) | (Gives::Bits, Kind::Named("f32")) => U32,
            (Gives::Unsigned, Kind::Named("i64" | "u64")) | (Gives::Bits, Kind::Named("f64")) => Kind::Named("u64"),
            _ => Kind::Unknown,
        }
    }
}

/// What to write instead of a method that is not there.
pub(crate) fn instead(name: &str) -> &'static str {
    match name {
        "powi" => "write the products, or `powf`: how `powi` multiplies is not specified",
        "pow2" => "write `x * x`",
        "sin_cos" => "write `(x.sin(), x.cos())`",
        "exp1m" | "expm1" => "write `exp_m1`",
        "log" => "write `x.ln() / base.ln()`",
        "signum" => "write `1.0_f32.copysign(x)`, or an `if`",
        "rem_euclid" | "div_euclid" => "write it with `%` and an `if`",
        "mul_assign" | "add" | "sub" | "mul" | "div" => "write the operator",
        "into" | "try_into" => "write `as` with the type",
        "checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "overflowing_add" => {
            "integers wrap here: write the operator and compare"
        }
        "len" => "write the number: a table says its length",
        "iter" | "map" | "fold" | "sum" => "write a loop: `for i in 0..n`",
        "unwrap" | "expect" | "ok" => "there is no `Option` here: return a flag beside the value",
        _ => {
            "it is none of `abs`, `min`, `max`, `clamp`, `sqrt`, `floor`, `ceil`, `trunc`, `round`, `round_ties_even`, `fract`, `recip`, \
             `mul_add`, `copysign`, `is_nan`, `is_infinite`, `is_finite`, `is_sign_negative`, `to_bits`, `polynomial`, the integers' \
             `wrapping_..`, `saturating_add`, `abs_diff`, `unsigned_abs`, `leading_zeros`, `trailing_zeros`, `count_ones`, `rotate_left`, \
             `pow`, nor an elementary function; write a `#[scalar_fn]` and call it"
        }
    }
}
