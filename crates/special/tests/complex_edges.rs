//! Complex functions at zeros of either sign, ones, infinities and NaN, against NumPy's.

use tilewright_special as special;

fn float(text: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(&format!("{text:0<16}"), 16).expect("sixteen digits"))
}

/// The same special value, or the same number but for rounding.
fn same(got: f64, wanted: f64, near: f64) -> bool {
    if got.is_nan() || wanted.is_nan() {
        return got.is_nan() && wanted.is_nan();
    }
    let special = wanted == 0.0 || wanted.is_infinite();
    let equal = if special { got == wanted } else { (got - wanted).abs() < near * wanted.abs() };
    equal && got.is_sign_negative() == wanted.is_sign_negative()
}

macro_rules! value {
    ($name:expr, $x:expr, $y:expr, $($function:ident)*) => {
        match $name {
            $(stringify!($function) => special::$function($x, $y),)*
            other => panic!("no function {other}"),
        }
    };
}

macro_rules! of {
    ($name:expr, $x:expr, $y:expr) => {
        value!($name, $x, $y, complex_exp complex_ln complex_sqrt complex_sinh complex_cosh complex_tanh complex_sin complex_cos
            complex_tan complex_asin complex_acos complex_atan complex_asinh complex_acosh complex_atanh)
    };
}

#[test]
fn agree_with_numpy() {
    let (mut name, mut count) = ("", 0);
    for line in include_str!("data/complex_edges.txt").lines().filter(|l| !l.starts_with('#')) {
        if let Some(next) = line.strip_prefix("= ") {
            name = next;
            continue;
        }
        let v: Vec<f64> = line.split(' ').map(float).collect();
        let got = of!(name, v[0], v[1]);
        assert!(
            same(got.0, v[2], 1e-15) && same(got.1, v[3], 1e-15),
            "{name}{:?}: {got:?}, not {:?}",
            &v[..2],
            &v[2..]
        );
        let got = of!(name, v[0] as f32, v[1] as f32);
        let (a, b) = (f64::from(got.0), f64::from(got.1));
        assert!(same(a, v[2], 4e-7) && same(b, v[3], 4e-7), "{name}{:?} in f32: {got:?}, not {:?}", &v[..2], &v[2..]);
        count += 1;
    }
    assert!(count > 600, "{count} rows");
}

/// A processor's NaN may have either sign: nothing but another NaN may come of it.
#[test]
fn the_sign_of_nan_says_nothing() {
    const NAMES: [&str; 15] = [
        "complex_exp",
        "complex_ln",
        "complex_sqrt",
        "complex_sinh",
        "complex_cosh",
        "complex_tanh",
        "complex_sin",
        "complex_cos",
        "complex_tan",
        "complex_asin",
        "complex_acos",
        "complex_atan",
        "complex_asinh",
        "complex_acosh",
        "complex_atanh",
    ];
    let others = [0.0, 1.0, 0.5, 3.0, 1e-300, 1e300, 800.0, f64::MAX, f64::INFINITY, f64::NAN];
    let alike = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for name in NAMES {
        for v in others.iter().flat_map(|v| [*v, -*v]) {
            let (first, second) = (of!(name, f64::NAN, v), of!(name, -f64::NAN, v));
            assert!(alike(first.0, second.0) && alike(first.1, second.1), "{name}(NaN, {v}): {first:?}, {second:?}");
            let (first, second) = (of!(name, v, f64::NAN), of!(name, v, -f64::NAN));
            assert!(alike(first.0, second.0) && alike(first.1, second.1), "{name}({v}, NaN): {first:?}, {second:?}");
        }
    }
}

#[test]
fn nothing_is_lost_at_the_ends_of_the_floats() {
    let (a, b) = special::complex_sqrt(1.5e308f64, 1.5e308);
    assert!(
        (a / 1.345_607_733_249e154 - 1.0).abs() < 1e-9 && (b / 5.573_689_727_459e153 - 1.0).abs() < 1e-9,
        "{a} {b}"
    );
    let (a, b) = special::complex_sqrt(3e-320f64, -4e-320);
    assert!((a / 2e-160 - 1.0).abs() < 1e-3 && (b / -1e-160 - 1.0).abs() < 1e-3, "{a} {b}");
    let (a, _) = special::complex_ln(1e308f64, 1e308);
    assert!((a - (1e308f64.ln() + 0.5 * 2f64.ln())).abs() < 1e-12, "{a}");
    let (a, b) = special::complex_exp(710.0f64, 1.57);
    assert!(a.is_finite() && b.is_infinite(), "{a} {b}");
    let (a, b) = special::complex_atanh(1.0f64, 1e-200);
    assert!((a - 0.5 * (2e200f64).ln()).abs() < 1e-12 && (b - std::f64::consts::FRAC_PI_4).abs() < 1e-15, "{a} {b}");
    let (a, b) = special::complex_acos(2.0f64, 1e-200);
    assert!(
        (a / 5.773_502_691_896_258e-201 - 1.0).abs() < 1e-14 && (b + 1.316_957_896_924_816_6).abs() < 1e-14,
        "{a} {b}"
    );
    let (a, b) = special::complex_asin(1e300f64, 1e300);
    assert!(
        (a - std::f64::consts::FRAC_PI_4).abs() < 1e-15
            && (b - (690.775_527_898_213_7 + 1.5 * 2f64.ln())).abs() < 1e-12,
        "{a} {b}"
    );
}
