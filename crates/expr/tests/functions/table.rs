//! The functions, each with what it is in f64 and the errors that its documentation states.

use super::erf::{erf, erfc};
use tilewright_expr::graph::{Graph, NodeId};

/// A function of one or of two arguments: in the graph, and by the standard library.
#[derive(Clone, Copy)]
pub(super) enum Of {
    One(fn(&mut Graph, NodeId) -> NodeId, fn(f64) -> f64),
    Two(fn(&mut Graph, NodeId, NodeId) -> NodeId, fn(f64, f64) -> f64),
}

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) of: Of,
    /// The largest error in f32 and in f64, in units in the last place.
    pub(super) limits: (f64, f64),
    /// Where f32 arguments are drawn from, beside all bits.
    pub(super) interval: (f64, f64),
}

const fn row(name: &'static str, limits: (f64, f64), interval: (f64, f64), of: Of) -> Row {
    Row { name, of, limits, interval }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn weighted(x: f64, p: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { x * p }
}

fn softplus(x: f64) -> f64 {
    if x.is_nan() { x } else { x.max(0.0) + (-x.abs()).exp().ln_1p() }
}

fn gelu_tanh(x: f64) -> f64 {
    let w = 2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    weighted(x, sigmoid(w))
}

/// The standard library's overflow, or lose digits at the ends of their domains.
fn asinh(x: f64) -> f64 {
    let size = x.abs();
    let far = if size > 1e10 { size.ln() + std::f64::consts::LN_2 } else { size.asinh() };
    far.copysign(x)
}

fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    match x {
        x if x < 1.0 => f64::NAN,
        x if x > 1e10 => x.ln() + std::f64::consts::LN_2,
        _ => (t + (t * (t + 2.0)).sqrt()).ln_1p(),
    }
}

fn atanh(x: f64) -> f64 {
    let size = x.abs();
    let far = if size > 0.5 { 0.5 * (size.ln_1p() - (1.0 - size).ln()) } else { size.atanh() };
    far.copysign(x)
}

use Of::{One, Two};

pub(super) const TABLE: [Row; 31] = [
    row("exp", (1.0, 0.8), (-104.0, 89.0), One(Graph::exp, f64::exp)),
    row("exp2", (0.8, 0.8), (-150.0, 128.0), One(Graph::exp2, f64::exp2)),
    row("exp10", (0.8, 0.8), (-46.0, 38.6), One(Graph::exp10, |x| 10f64.powf(x))),
    row("exp_m1", (0.9, 0.9), (-20.0, 20.0), One(Graph::exp_m1, f64::exp_m1)),
    row("ln", (0.6, 0.6), (0.5, 2.0), One(Graph::ln, f64::ln)),
    row("log2", (0.6, 0.6), (0.5, 2.0), One(Graph::log2, f64::log2)),
    row("log10", (0.6, 0.6), (0.5, 2.0), One(Graph::log10, f64::log10)),
    row("ln_1p", (0.7, 0.7), (-1.0, 1.0), One(Graph::ln_1p, f64::ln_1p)),
    row("cbrt", (0.6, 0.6), (-8.0, 8.0), One(Graph::cbrt, f64::cbrt)),
    row("sin", (0.8, 0.8), (-100.0, 100.0), One(Graph::sin, f64::sin)),
    row("cos", (0.8, 0.8), (-100.0, 100.0), One(Graph::cos, f64::cos)),
    row("tan", (1.1, 0.9), (-100.0, 100.0), One(Graph::tan, f64::tan)),
    row("asin", (0.7, 0.7), (-1.0, 1.0), One(Graph::asin, f64::asin)),
    row("acos", (0.7, 0.7), (-1.0, 1.0), One(Graph::acos, f64::acos)),
    row("atan", (0.7, 0.7), (-8.0, 8.0), One(Graph::atan, f64::atan)),
    row("sinh", (0.8, 0.7), (-90.0, 90.0), One(Graph::sinh, f64::sinh)),
    row("cosh", (0.7, 0.7), (-90.0, 90.0), One(Graph::cosh, f64::cosh)),
    row("tanh", (0.7, 0.7), (-10.0, 10.0), One(Graph::tanh, f64::tanh)),
    row("asinh", (0.6, 0.6), (-4.0, 4.0), One(Graph::asinh, asinh)),
    row("acosh", (0.6, 0.6), (1.0, 4.0), One(Graph::acosh, acosh)),
    row("atanh", (0.6, 0.6), (-1.0, 1.0), One(Graph::atanh, atanh)),
    row("sigmoid", (0.8, 0.8), (-104.0, 20.0), One(Graph::sigmoid, sigmoid)),
    row("softplus", (0.8, 0.8), (-104.0, 20.0), One(Graph::softplus, softplus)),
    row("silu", (0.8, 0.8), (-104.0, 20.0), One(Graph::silu, |x| weighted(x, sigmoid(x)))),
    row("erf", (0.9, 0.8), (-4.0, 4.0), One(Graph::erf, erf)),
    row("erfc", (1.0, 1.0), (-4.0, 10.5), One(Graph::erfc, erfc)),
    row("gelu", (1.0, 1.0), (-14.5, 6.0), One(Graph::gelu, |x| weighted(x, 0.5 * erfc(-x / std::f64::consts::SQRT_2)))),
    row("gelu_tanh", (0.8, 0.8), (-14.5, 6.0), One(Graph::gelu_tanh, gelu_tanh)),
    row("pow", (0.8, 0.8), (0.0, 20.0), Two(Graph::pow, f64::powf)),
    row("hypot", (0.8, 0.8), (-9.0, 9.0), Two(Graph::hypot, f64::hypot)),
    row("atan2", (0.8, 0.8), (-9.0, 9.0), Two(Graph::atan2, f64::atan2)),
];
