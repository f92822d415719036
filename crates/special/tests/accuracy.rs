//! Each function on its points: at most 4 ulp for 95 of 100 and 8 for all in f64, 2.5 and 4 in f32. `SPECIAL_POINTS=file` reads
//! other points, as tests/data/own.py prints them.

#![allow(clippy::print_stdout, reason = "the figures are there to be read")]

use crate::measure::{Points, Size, Summary, error, points, row, size, summary};
use std::collections::HashMap;
use tilewright_expr::extend::Float;
use tilewright_special as special;

const GRID: &str = include_str!("data/grid.txt");
const OWN: &str = include_str!("data/own.txt");
const PEERS: &str = include_str!("data/peers.txt");

/// A function under test.
struct Case {
    /// Its name in the files.
    name: &'static str,
    /// In f64.
    double: fn(&[f64]) -> f64,
    /// In f32.
    single: fn(&[f32]) -> f32,
}

impl Case {
    /// Errors in f64 and in f32.
    fn measure(&self, points: &Points) -> (Summary, Summary) {
        let size = |x: &[f64]| match size(self.name, x) {
            Size::Number(size) => size,
            Size::Of(name, x, least) => at(name, &x).abs().max(least),
        };
        let double = points.rows.iter().map(|(x, y, _)| (error((self.double)(x), *y, size(x), false), x.clone()));
        let single = points.rows.iter().filter(|row| row.2).map(|(x, y, _)| {
            let narrow: Vec<f32> = x.iter().map(|v| *v as f32).collect();
            (error(f64::from((self.single)(&narrow)), *y, size(x), true), x.clone())
        });
        (summary(double.collect()), summary(single.collect()))
    }
}

/// The functions whose values are sizes.
fn at(name: &str, x: &[f64]) -> f64 {
    match name {
        "digamma" => special::digamma(x[0]),
        "lgamma" => special::lgamma(x[0]),
        "zeta" => special::zeta(x[0], x[1]),
        "polygamma" => special::polygamma(x[0], x[1]),
        other => panic!("no size of {other}"),
    }
}

macro_rules! case {
    ($name:ident) => {
        case!($name as stringify!($name))
    };
    ($name:ident as $other:expr) => {
        Case { name: $other, double: |x| special::$name(x[0]), single: |x| special::$name(x[0]) }
    };
    ($name:ident of 2) => {
        Case { name: stringify!($name), double: |x| special::$name(x[0], x[1]), single: |x| special::$name(x[0], x[1]) }
    };
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
    let grid: HashMap<&str, Points> = points(text).expect("a file of points");
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
    check(&[case!(digamma), case!(trigamma), case!(lgamma), case!(gamma), case!(beta of 2), case!(log_beta of 2)]);
}

#[test]
fn circle() {
    check(&[case!(sinc), case!(sin_pi), case!(cos_pi)]);
}

#[test]
fn error_family() {
    check(&[case!(erfc), case!(erfcx), case!(ndtr), case!(log_ndtr), case!(erfinv), case!(ndtri), case!(erf)]);
}

#[test]
fn bessel_family() {
    check(&[
        case!(bessel_j0),
        case!(bessel_j1),
        case!(bessel_y0),
        case!(bessel_y1),
        case!(spherical_bessel_j0),
        case!(airy_ai),
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
    let exp2 = Case { name: "exp2", double: |x| Float::exp2(x[0]), single: |x| Float::exp2(x[0]) };
    check(&[exp2, case!(entr), case!(xlogy of 2), case!(xlog1py of 2), case!(logit)]);
}

#[test]
fn zeta_family() {
    check(&[case!(zeta of 2), case!(polygamma of 2)]);
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
        },
        Case {
            name: concat!(stringify!($name), ".im"),
            double: |x| special::$name(x[0], x[1]).1,
            single: |x| special::$name(x[0], x[1]).1,
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
