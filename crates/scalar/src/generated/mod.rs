//! The elementary functions, straight-line code printed from the graph's compositions: a file for each.
#![allow(unused_imports, clippy::all, reason = "nobody reads them")]

pub(crate) use crate::arith::{Arith, CastTo};
pub(crate) use crate::machine::Rounded;

#[rustfmt::skip]
pub(crate) mod acos;
#[rustfmt::skip]
pub(crate) mod acosh;
#[rustfmt::skip]
pub(crate) mod asin;
#[rustfmt::skip]
pub(crate) mod asinh;
#[rustfmt::skip]
pub(crate) mod atan;
#[rustfmt::skip]
pub(crate) mod atan2;
#[rustfmt::skip]
pub(crate) mod atanh;
#[rustfmt::skip]
pub(crate) mod cbrt;
#[rustfmt::skip]
pub(crate) mod cos;
#[rustfmt::skip]
pub(crate) mod cosh;
#[rustfmt::skip]
pub(crate) mod erf;
#[rustfmt::skip]
pub(crate) mod erfc;
#[rustfmt::skip]
pub(crate) mod exp;
#[rustfmt::skip]
pub(crate) mod exp10;
#[rustfmt::skip]
pub(crate) mod exp2;
#[rustfmt::skip]
pub(crate) mod exp_m1;
#[rustfmt::skip]
pub(crate) mod hypot;
#[rustfmt::skip]
pub(crate) mod ln;
#[rustfmt::skip]
pub(crate) mod ln_1p;
#[rustfmt::skip]
pub(crate) mod log10;
#[rustfmt::skip]
pub(crate) mod log2;
#[rustfmt::skip]
pub(crate) mod powf;
#[rustfmt::skip]
pub(crate) mod sigmoid;
#[rustfmt::skip]
pub(crate) mod sin;
#[rustfmt::skip]
pub(crate) mod sinh;
#[rustfmt::skip]
pub(crate) mod softplus;
#[rustfmt::skip]
pub(crate) mod tan;
#[rustfmt::skip]
pub(crate) mod tanh;
