//! f32 against f64, whose coefficients are others: many points where tables have few.

use crate::measure::error;
use tilewright_special as special;

/// Steps through all positive and negative f32 of a range, and evenly through it.
fn arguments(low: f32, high: f32, mut visit: impl FnMut(f32)) {
    let count = 3001;
    for k in 0..=count {
        visit(low + (high - low) * (k as f32 / count as f32));
    }
    let mut bits = 0x0080_0000u32;
    while bits < 0x7f00_0000 {
        for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
            if x >= low && x <= high {
                visit(x);
            }
        }
        bits += 700_001;
    }
}

macro_rules! compare {
    ($($name:ident $low:literal $high:literal $bar:literal $size:expr;)*) => {
        let mut failed = Vec::new();
        $({
            let size: fn(f64) -> f64 = $size;
            let mut worst = (0.0, 0.0);
            arguments($low, $high, |x| {
                let wanted = special::$name(f64::from(x));
                if wanted.abs() > 2f64.powi(-126) || wanted.is_nan() {
                    let e = error(f64::from(special::$name(x)), wanted, size(f64::from(x)), true);
                    if e > worst.0 {
                        worst = (e, x);
                    }
                }
            });
            if worst.0 > $bar {
                failed.push((stringify!($name), worst));
            }
        })*
        assert!(failed.is_empty(), "past the bar: {failed:#?}");
    };
}

#[test]
fn agree() {
    fn alone(_: f64) -> f64 {
        0.0
    }
    fn wave(x: f64) -> f64 {
        if x.abs() < 0.5 { 0.0 } else { (2.0 / (std::f64::consts::PI * x.abs())).sqrt() }
    }
    compare! {
        digamma -20.0 1e30 4.0 |x| if x < 0.0 { special::digamma(1.0 - x).abs() } else { 0.0 };
        trigamma -20.0 1e18 4.0 alone;
        lgamma -20.0 1e30 4.0 |x| if x < 0.0 { special::lgamma(x.abs()).abs().max(1.0) } else { 0.0 };
        gamma -30.0 35.0 4.0 alone;
        erf -6.0 6.0 4.0 alone;
        erfc -6.0 9.0 4.0 alone;
        erfcx -9.0 1e30 4.0 alone;
        erfinv -1.0 1.0 4.0 alone;
        ndtr -12.0 9.0 4.0 alone;
        log_ndtr -1e15 12.0 4.0 alone;
        ndtri 0.0 1.0 4.0 alone;
        entr 0.0 1e30 4.0 alone;
        logit 0.0 1.0 4.0 alone;
        sinc -1e6 1e6 4.0 |x| if x.abs() > 0.5 { 1.0 / (std::f64::consts::PI * x.abs()) } else { 0.0 };
        bessel_j0 -60.0 1e6 4.0 wave;
        bessel_j1 -60.0 1e6 4.0 wave;
        bessel_y0 0.0 60.0 4.0 wave;
        bessel_y1 0.0 60.0 4.0 wave;
        spherical_bessel_j0 -60.0 1e6 4.0 |x| if x.abs() > 2.0 { 1.0 / x.abs() } else { 0.0 };
        airy_ai -60.0 28.0 4.0 |x| if x < -1.0 { 0.56 * x.abs().powf(-0.25) } else { 0.0 };
        i0 -90.0 90.0 4.0 alone;
        i1 -90.0 90.0 4.0 alone;
        i0e -1e30 1e30 4.0 alone;
        i1e -1e30 1e30 4.0 alone;
        k0 0.0 80.0 4.0 alone;
        k1 0.0 80.0 4.0 alone;
        k0e 0.0 1e30 4.0 alone;
        k1e 0.0 1e30 4.0 alone;
    }
}
