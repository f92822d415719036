//! The error function in f64, slowly: its series, and the continued fraction of its complement.

pub(super) fn erf(x: f64) -> f64 {
    if x.abs() < 2.0 { series(x) } else { x.signum() * (1.0 - fraction(x.abs())) }
}

pub(super) fn erfc(x: f64) -> f64 {
    match x {
        x if x < 1.0 => 1.0 - erf(x),
        x => fraction(x),
    }
}

/// `2 / sqrt(pi) e^(-x^2) sum of x (2 x^2)^k / (1 3 5 ..)`: no term is negative.
fn series(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..120 {
        term *= 2.0 * x * x / f64::from(2 * k + 1);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// Of an `x` of at least 1 (Laplace). `x` has few enough bits for an exact square.
fn fraction(x: f64) -> f64 {
    if x > 30.0 {
        return if x.is_nan() { x } else { 0.0 };
    }
    let mut f = x;
    for k in (1..400).rev() {
        f = x + f64::from(k) / 2.0 / f;
    }
    let square = x * x;
    let low = x.mul_add(x, -square);
    (-square).exp() * (1.0 - low) / (std::f64::consts::PI.sqrt() * f)
}

#[test]
fn the_two_meet() {
    for x in [1.0, 1.3, 1.7, 2.0, 2.5] {
        let difference = (1.0 - series(x) - fraction(x)).abs();
        assert!(difference < 1e-14, "{x}: {difference}");
    }
    assert!((erf(1.0) - 0.842_700_792_949_714_9).abs() < 1e-15);
}
