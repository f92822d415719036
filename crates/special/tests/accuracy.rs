//! Each function on its points: at most 4 ulp for 95 of 100 and 8 for all in f64, 2.5 and 4 in f32. `SPECIAL_POINTS=file` reads
//! other points, as tests/data/own.py prints them.

#![allow(clippy::print_stdout, reason = "the figures are there to be read")]

use crate::measure::{Case, Points, points};
use std::collections::HashMap;
use tilewright_expr::extend::Float;
use tilewright_special as special;

const GRID: &str = include_str!("data/grid.txt");
const OWN: &str = include_str!("data/own.txt");
const PEERS: &str = include_str!("data/peers.txt");

fn nothing(_: &[f64]) -> f64 {
    0.0
}

macro_rules! case {
    ($name:ident) => {
        case!($name, nothing)
    };
    ($name:ident, $size:expr) => {
        Case { name: stringify!($name), double: |x| special::$name(x[0]), single: |x| special::$name(x[0]), size: $size }
    };
    ($name:ident as $other:expr) => {
        Case { name: $other, double: |x| special::$name(x[0]), single: |x| special::$name(x[0]), size: nothing }
    };
    ($name:ident of 2) => {
        case!($name of 2, nothing)
    };
    ($name:ident of 2, $size:expr) => {
        Case {
            name: stringify!($name),
            double: |x| special::$name(x[0], x[1]),
            single: |x| special::$name(x[0], x[1]),
            size: $size,
        }
    };
}

/// Three significant digits, or fewer.
fn figure(v: f64) -> String {
    if v >= 1000.0 { format!("{v:.0e}") } else { format!("{}", (v * 100.0).round() / 100.0) }
}

/// `median / 95th percentile / worst`.
fn row(figures: &[f64]) -> String {
    figures.iter().map(|v| figure(*v)).collect::<Vec<_>>().join(" / ")
}

/// The peer's figures in the same form; empty where it has no such function.
fn peer_row(words: &[&str]) -> String {
    let figures: Option<Vec<f64>> = words.iter().map(|w| w.parse().ok()).collect();
    figures.map_or(String::new(), |f| row(&f))
}

fn check(cases: &[Case]) {
    let text: &str = match std::env::var("SPECIAL_POINTS") {
        Ok(file) => std::fs::read_to_string(file).expect("a readable file").leak(),
        Err(_) => [GRID, OWN].concat().leak(),
    };
    let grid: HashMap<&str, Points> = points(text);
    let peers: HashMap<&str, &str> = PEERS.lines().filter_map(|l| l.split_once(' ')).collect();
    let mut failed = Vec::new();
    for case in cases {
        let name = case.name;
        let Some(points) = grid.get(name) else {
            assert!(std::env::var_os("SPECIAL_POINTS").is_some(), "no points of {name}");
            continue;
        };
        let (double, single) = case.measure(points);
        let peer: Vec<&str> = peers.get(name).map_or(Vec::new(), |line| line.split(' ').collect());
        let peer: Vec<String> = peer.chunks(3).map(peer_row).collect();
        let peer = if peer.is_empty() { " | | ".to_string() } else { peer.join(" | ") };
        println!("| `{name}` | {} | {} | {peer} |", row(&double.figures), row(&single.figures));
        let [_, typical, worst] = double.figures;
        let [_, typical32, worst32] = single.figures;
        if !(typical <= 4.0 && worst <= 8.0 && typical32 <= 2.5 && worst32 <= 4.0) {
            failed.push(format!("{name}: f64 at {:?}, f32 at {:?}", double.worst, single.worst));
        }
    }
    assert!(failed.is_empty(), "past the bar: {failed:#?}");
}

#[test]
fn gamma_family() {
    let left = |x: &[f64]| if x[0] < 0.0 { special::digamma(1.0 - x[0]) } else { 0.0 };
    let log_left = |x: &[f64]| if x[0] < 0.0 { special::lgamma(x[0].abs()).abs().max(1.0) } else { 0.0 };
    // B(a, b) is 1 at (1, 1).
    let one = |_: &[f64]| 1.0;
    check(&[
        case!(digamma, left),
        case!(trigamma),
        case!(lgamma, log_left),
        case!(gamma),
        case!(beta of 2),
        case!(log_beta of 2, one),
    ]);
}

#[test]
fn circle() {
    check(&[case!(sinc), case!(sin_pi), case!(cos_pi)]);
}

#[test]
fn error_family() {
    check(&[case!(erfc), case!(erfcx), case!(ndtr), case!(log_ndtr), case!(erfinv), case!(ndtri), case!(erf)]);
}

/// The oscillation's amplitude, from where it has started.
fn bessel_amplitude(x: &[f64]) -> f64 {
    let size = x[0].abs();
    if size < 1.0 { 0.0 } else { (2.0 / (std::f64::consts::PI * size)).sqrt() }
}

#[test]
fn bessel_family() {
    let airy = |x: &[f64]| if x[0] < -1.0 { x[0].abs().powf(-0.25) / std::f64::consts::PI.sqrt() } else { 0.0 };
    let sine = |x: &[f64]| if x[0].abs() > 2.0 { 1.0 / x[0].abs() } else { 0.0 };
    check(&[
        case!(bessel_j0, bessel_amplitude),
        case!(bessel_j1, bessel_amplitude),
        case!(bessel_y0, bessel_amplitude),
        case!(bessel_y1, bessel_amplitude),
        case!(spherical_bessel_j0, sine),
        case!(airy_ai, airy),
    ]);
}

#[test]
fn modified_bessel_family() {
    check(&[
        case!(i0),
        case!(i1),
        case!(i0e),
        case!(i1e),
        case!(i0 as "modified_bessel_i0"),
        case!(i1 as "modified_bessel_i1"),
        case!(k0 as "modified_bessel_k0"),
        case!(k1 as "modified_bessel_k1"),
        case!(k0e as "scaled_modified_bessel_k0"),
        case!(k1e as "scaled_modified_bessel_k1"),
        case!(kaiser of 2),
    ]);
}

#[test]
fn products_with_logarithms() {
    let exp2 = Case { name: "exp2", double: |x| Float::exp2(x[0]), single: |x| Float::exp2(x[0]), size: nothing };
    check(&[exp2, case!(entr), case!(xlogy of 2), case!(xlog1py of 2), case!(logit)]);
}

#[test]
fn zeta_family() {
    // Left of 0, the sum of the terms above 0 and that of those below may cancel.
    let left =
        |x: &[f64]| if x[1] < 0.0 { special::zeta(x[0], (x[1].ceil() - x[1]).min(x[1] - x[1].floor())) } else { 0.0 };
    let derivative = |x: &[f64]| {
        if x[1] >= 0.0 {
            return 0.0;
        }
        let part = x[1] - x[1].floor();
        special::polygamma(x[0], part.min(1.0 - part)).abs()
    };
    check(&[case!(zeta of 2, left), case!(polygamma of 2, derivative)]);
}

#[test]
fn orthogonal_polynomials() {
    check(&[
        case!(chebyshev_polynomial_t of 2),
        case!(chebyshev_polynomial_u of 2),
        case!(chebyshev_polynomial_v of 2),
        case!(chebyshev_polynomial_w of 2),
        case!(shifted_chebyshev_polynomial_t of 2),
        case!(shifted_chebyshev_polynomial_u of 2),
        case!(shifted_chebyshev_polynomial_v of 2),
        case!(shifted_chebyshev_polynomial_w of 2),
        case!(hermite_polynomial_h of 2),
        case!(hermite_polynomial_he of 2),
        case!(laguerre_polynomial_l of 2),
        case!(legendre_polynomial_p of 2),
    ]);
}

/// Real and imaginary part, each relative to itself.
macro_rules! complex {
    ($($name:ident),*) => { [$(
        Case {
            name: concat!(stringify!($name), ".re"),
            double: |x| special::$name(x[0], x[1]).0,
            single: |x| special::$name(x[0], x[1]).0,
            size: nothing,
        },
        Case {
            name: concat!(stringify!($name), ".im"),
            double: |x| special::$name(x[0], x[1]).1,
            single: |x| special::$name(x[0], x[1]).1,
            size: nothing,
        },
    )*] };
}

#[test]
fn complex_numbers() {
    check(&[case!(complex_abs of 2), case!(complex_angle of 2)]);
    check(&complex![
        complex_exp,
        complex_ln,
        complex_sqrt,
        complex_sin,
        complex_cos,
        complex_tan,
        complex_sinh,
        complex_cosh,
        complex_tanh,
        complex_asin,
        complex_acos,
        complex_atan,
        complex_asinh,
        complex_acosh,
        complex_atanh
    ]);
}
