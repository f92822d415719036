//! What the functions are at poles, infinities, NaN and zeros, in both formats.

use tilewright_special as special;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Alike with the sign of zero, and NaN like NaN.
fn same(got: f64, wanted: f64) -> bool {
    (got.is_nan() && wanted.is_nan()) || got.to_bits() == wanted.to_bits()
}

/// A frame for each call: the functions are inlined without optimization, too, and a test has hundreds of them.
#[inline(never)]
fn apart<T>(call: impl Fn() -> T) -> T {
    call()
}

macro_rules! edges {
    ($($function:ident: $(($($x:expr),+) => $y:expr),+;)*) => {
        $({
            $({
                let got = apart(|| special::$function($($x as f64),+));
                assert!(same(got, $y), "{}{:?}: {got:e}, not {:e}", stringify!($function), ($($x,)+), $y as f64);
                let got = f64::from(apart(|| special::$function($($x as f32),+)));
                let wanted = f64::from($y as f32);
                assert!(same(got, wanted), "{}{:?} in f32: {got:e}, not {wanted:e}", stringify!($function), ($($x,)+));
            })+
        })*
    };
}

#[test]
fn gamma_family() {
    edges! {
        digamma: (0.0) => -INF, (-0.0) => INF, (-1.0) => NAN, (-1e15) => NAN, (INF) => INF, (-INF) => NAN, (NAN) => NAN;
        trigamma: (0.0) => INF, (-0.0) => INF, (-3.0) => INF, (INF) => 0.0, (-INF) => NAN, (NAN) => NAN;
        polygamma: (2.0, 0.0) => -INF, (3.0, 0.0) => INF, (2.0, -4.0) => -INF, (3.0, -4.0) => INF, (2.0, INF) => -0.0,
            (3.0, INF) => 0.0, (2.0, -INF) => NAN, (2.0, NAN) => NAN, (-1.0, 1.0) => NAN, (2.5, 1.0) => NAN, (NAN, 1.0) => NAN,
            (0.0, -0.0) => INF, (1.0, 0.0) => INF;
        lgamma: (0.0) => INF, (-0.0) => INF, (-7.0) => INF, (INF) => INF, (-INF) => INF, (1.0) => 0.0, (2.0) => 0.0, (NAN) => NAN;
        gamma: (0.0) => INF, (-0.0) => -INF, (-2.0) => NAN, (INF) => INF, (-INF) => NAN, (NAN) => NAN, (1.0) => 1.0, (2.0) => 1.0,
            (5.0) => 24.0, (200.0) => INF, (-200.5) => -0.0, (-201.5) => 0.0;
        beta: (0.0, 2.0) => INF, (2.0, 0.0) => INF, (1.0, 1.0) => 1.0, (3.0, INF) => 0.0, (NAN, 1.0) => NAN, (1.0, NAN) => NAN;
        log_beta: (0.0, 2.0) => INF, (1.0, 1.0) => 0.0, (3.0, INF) => -INF, (NAN, 1.0) => NAN, (1.0, NAN) => NAN;
    }
}

#[test]
fn zeta() {
    edges! {
        zeta: (1.0, 3.0) => INF, (0.5, 3.0) => NAN, (-2.0, 3.0) => NAN, (2.0, 0.0) => INF, (2.0, -3.0) => INF, (2.5, -3.5) => NAN,
            (2.0, INF) => 0.0, (1.5, INF) => 0.0, (NAN, 1.0) => NAN, (NAN, -INF) => NAN, (2.0, NAN) => NAN, (1.0, NAN) => NAN,
            (INF, 2.0) => 0.0, (INF, 1.0) => 1.0, (INF, 0.5) => INF, (2.0, -1e15) => INF, (2000.0, 2.0) => 0.0;
    }
    // By the reflection: pi^2 - zeta(2, q + 1 / 2) at -q + 1 / 2.
    let far = special::zeta(2.0f64, -4e14 - 0.5);
    assert!((far - std::f64::consts::PI.powi(2)).abs() < 1e-14, "{far}");
    assert!((special::zeta(2.0f32, -1_000_000.5) - 9.869_603).abs() < 4e-6);
    assert!((special::zeta(1e300f64, 1.0) - 1.0).abs() == 0.0);
    assert!(special::zeta(1.5f64, 1e300) < 1e-149);
}

#[test]
fn error_family() {
    edges! {
        erf: (0.0) => 0.0, (-0.0) => -0.0, (INF) => 1.0, (-INF) => -1.0, (NAN) => NAN;
        erfc: (0.0) => 1.0, (INF) => 0.0, (-INF) => 2.0, (NAN) => NAN;
        erfcx: (0.0) => 1.0, (-INF) => INF, (-26.8) => INF, (INF) => 0.0, (NAN) => NAN;
        erfinv: (1.0) => INF, (-1.0) => -INF, (1.5) => NAN, (-2.0) => NAN, (0.0) => 0.0, (-0.0) => -0.0, (NAN) => NAN;
        ndtr: (-INF) => 0.0, (INF) => 1.0, (0.0) => 0.5, (NAN) => NAN;
        log_ndtr: (-INF) => -INF, (INF) => -0.0, (NAN) => NAN;
        ndtri: (0.0) => -INF, (1.0) => INF, (0.5) => 0.0, (-0.5) => NAN, (1.5) => NAN, (NAN) => NAN;
    }
    assert_eq!(special::erfcx(-9.5f32), f32::INFINITY);
    // Not a number below the normal ones is lost: ndtr has its digits where (1 + erf) / 2 is 0.
    assert!((special::ndtr(-10.0f64) / 7.619_853_024_160_527e-24 - 1.0).abs() < 1e-15);
}

#[test]
fn bessel_family() {
    edges! {
        bessel_j0: (0.0) => 1.0, (INF) => 0.0, (-INF) => 0.0, (NAN) => NAN;
        bessel_j1: (0.0) => 0.0, (-0.0) => -0.0, (INF) => 0.0, (-INF) => -0.0, (NAN) => NAN;
        bessel_y0: (0.0) => -INF, (-0.0) => -INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        bessel_y1: (0.0) => -INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        spherical_bessel_j0: (0.0) => 1.0, (INF) => 0.0, (-INF) => 0.0, (NAN) => NAN;
        i0: (0.0) => 1.0, (INF) => INF, (-INF) => INF, (1e5) => INF, (NAN) => NAN;
        i1: (0.0) => 0.0, (-0.0) => -0.0, (INF) => INF, (-INF) => -INF, (NAN) => NAN;
        i0e: (0.0) => 1.0, (INF) => 0.0, (-INF) => 0.0, (NAN) => NAN;
        i1e: (0.0) => 0.0, (INF) => 0.0, (-INF) => -0.0, (NAN) => NAN;
        k0: (0.0) => INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        k1: (0.0) => INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        k0e: (0.0) => INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        k1e: (0.0) => INF, (-1.0) => NAN, (INF) => 0.0, (NAN) => NAN;
        airy_ai: (INF) => 0.0, (-INF) => 0.0, (200.0) => 0.0, (NAN) => NAN;
        kaiser: (1.5, 2.0) => 0.0, (0.0, 5.0) => 1.0, (0.3, 0.0) => 1.0, (NAN, 1.0) => NAN;
    }
    // Past the range of the exponential alone.
    assert!((special::i0(713.9f64) / 1.648_845_180_404_7e308 - 1.0).abs() < 1e-2);
    assert!(special::i0(91.5f32).is_finite() && special::i1(-91.5f32).is_finite());
}

#[test]
fn circle_and_products() {
    edges! {
        sin_pi: (0.0) => 0.0, (-0.0) => -0.0, (3.0) => 0.0, (-3.0) => -0.0, (0.5) => 1.0, (1.5) => -1.0, (INF) => NAN, (NAN) => NAN;
        cos_pi: (0.0) => 1.0, (0.5) => 0.0, (1.5) => 0.0, (1.0) => -1.0, (INF) => NAN;
        sinc: (0.0) => 1.0, (2.0) => 0.0, (INF) => 0.0, (-INF) => 0.0, (NAN) => NAN;
        entr: (0.0) => 0.0, (-1.0) => -INF, (INF) => -INF, (NAN) => NAN;
        xlogy: (0.0, 0.0) => 0.0, (0.0, INF) => 0.0, (0.0, NAN) => NAN, (NAN, 1.0) => NAN, (1.0, 0.0) => -INF, (1.0, -1.0) => NAN;
        xlog1py: (0.0, -1.0) => 0.0, (0.0, NAN) => NAN, (1.0, -1.0) => -INF;
        logit: (0.0) => -INF, (1.0) => INF, (0.5) => 0.0, (-0.5) => NAN, (1.5) => NAN, (NAN) => NAN;
    }
}

#[test]
fn orthogonal_polynomials() {
    edges! {
        chebyshev_polynomial_t: (NAN, 0.0) => 1.0, (0.3, -1.0) => 0.0, (1.0, 1e15) => 1.0, (-1.0, 7.0) => -1.0, (2.0, 1e9) => INF,
            (-2.0, 5001.0) => -INF, (INF, 2.0) => INF, (-INF, 3.0) => -INF, (NAN, 2.0) => NAN, (0.5, 2.9) => -0.5;
        chebyshev_polynomial_u: (1.0, 7.0) => 8.0, (-1.0, 7.0) => -8.0, (NAN, 0.0) => 1.0, (0.3, -2.0) => 0.0;
        chebyshev_polynomial_v: (1.0, 7.0) => 1.0, (-1.0, 7.0) => -15.0;
        chebyshev_polynomial_w: (1.0, 7.0) => 15.0, (-1.0, 7.0) => -1.0;
        shifted_chebyshev_polynomial_t: (1.0, 9.0) => 1.0, (0.0, 9.0) => -1.0, (0.25, 2.0) => -0.5;
        shifted_chebyshev_polynomial_u: (1.0, 9.0) => 10.0, (0.0, 9.0) => -10.0;
        shifted_chebyshev_polynomial_v: (1.0, 4.0) => 1.0, (0.0, 4.0) => 9.0;
        shifted_chebyshev_polynomial_w: (1.0, 4.0) => 9.0, (0.0, 4.0) => 1.0;
        hermite_polynomial_h: (0.5, 0.0) => 1.0, (0.5, 1.0) => 1.0, (0.5, -1.0) => 0.0, (1e30, 400.0) => INF, (-1e30, 401.0) => -INF,
            (0.5, 1e9) => NAN, (NAN, 3.0) => NAN, (3.0, 900.0) => INF, (3.5, 901.0) => -INF;
        hermite_polynomial_he: (0.5, 1.0) => 0.5, (0.0, 2.0) => -1.0, (1e30, 300.0) => INF;
        laguerre_polynomial_l: (0.0, 50.0) => 1.0, (1.0, 1.0) => 0.0, (0.5, -3.0) => 0.0, (NAN, 2.0) => NAN, (-1e30, 300.0) => INF,
            (1e30, 301.0) => -INF;
        legendre_polynomial_p: (1.0, 77.0) => 1.0, (-1.0, 77.0) => -1.0, (0.0, 2.0) => -0.5, (1e30, 300.0) => INF, (-1e30, 301.0) => -INF,
            (NAN, 0.0) => 1.0, (NAN, 2.0) => NAN;
    }
}
