//! The elementary functions on the host, straight-line code printed from the graph's compositions: a file for each.
#![allow(unused_imports, clippy::all, reason = "nobody reads them")]

use crate::arith::{Arith, CastTo};

#[rustfmt::skip]
pub(super) mod acos;
#[rustfmt::skip]
pub(super) mod acosh;
#[rustfmt::skip]
pub(super) mod asin;
#[rustfmt::skip]
pub(super) mod asinh;
#[rustfmt::skip]
pub(super) mod atan;
#[rustfmt::skip]
pub(super) mod atan2;
#[rustfmt::skip]
pub(super) mod atanh;
#[rustfmt::skip]
pub(super) mod cbrt;
#[rustfmt::skip]
pub(super) mod cos;
#[rustfmt::skip]
pub(super) mod cosh;
#[rustfmt::skip]
pub(super) mod erf;
#[rustfmt::skip]
pub(super) mod erfc;
#[rustfmt::skip]
pub(super) mod exp;
#[rustfmt::skip]
pub(super) mod exp10;
#[rustfmt::skip]
pub(super) mod exp2;
#[rustfmt::skip]
pub(super) mod exp_m1;
#[rustfmt::skip]
pub(super) mod hypot;
#[rustfmt::skip]
pub(super) mod ln;
#[rustfmt::skip]
pub(super) mod ln_1p;
#[rustfmt::skip]
pub(super) mod log10;
#[rustfmt::skip]
pub(super) mod log2;
#[rustfmt::skip]
pub(super) mod powf;
#[rustfmt::skip]
pub(super) mod sigmoid;
#[rustfmt::skip]
pub(super) mod sin;
#[rustfmt::skip]
pub(super) mod sinh;
#[rustfmt::skip]
pub(super) mod softplus;
#[rustfmt::skip]
pub(super) mod tan;
#[rustfmt::skip]
pub(super) mod tanh;
