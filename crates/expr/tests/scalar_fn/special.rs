//! The special functions: the same bits from kernels.

use super::{X, case};
use crate::emitted::{check_all, check_kernels, prepare};
use tilewright_expr::{In, trace};
use tilewright_special as special;

/// Each function of one argument, at any bits and at numbers up to 30; three to a kernel.
macro_rules! unary {
    ($t:ident: $([$a:ident $b:ident $c:ident])*) => { [$({
        let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
            let y = y.sin() * 30.0;
            ((special::$a::of(x).store::<(X,)>(), special::$b::of(x).store::<(X,)>(), special::$c::of(x).store::<(X,)>()),
             (special::$a::of(y).store::<(X,)>(), special::$b::of(y).store::<(X,)>(), special::$c::of(y).store::<(X,)>()))
        });
        case(concat!(stringify!($t), ", ", stringify!($a), ", ", stringify!($b), ", ", stringify!($c)), t.graph)
    }),*] };
}

#[test]
fn of_one_argument() {
    macro_rules! both {
        ($($names:tt)*) => { (unary!(f32: $($names)*), unary!(f64: $($names)*)) };
    }
    let (single, double) = both! {
        [digamma trigamma lgamma] [gamma sin_pi cos_pi] [sinc erf erfc] [erfcx ndtr log_ndtr] [ndtri erfinv entr]
        [bessel_j0 bessel_j1 spherical_bessel_j0] [bessel_y0 bessel_y1 airy_ai] [i0 i1 i0e] [i1e k0 k1] [k0e k1e logit]
    };
    check_all("scalar_fn::special::of_one_argument", single.into_iter().chain(double));
}

/// Each function of two, at any bits, and at numbers up to 30 with orders up to 12.
macro_rules! binary {
    ($t:ident: $([$a:ident $b:ident])*) => { [$({
        let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
            let (v, n) = (x.sin() * 30.0, (y.sin() * 12.0).round());
            ((special::$a::of(x, y).store::<(X,)>(), special::$b::of(x, y).store::<(X,)>()),
             (special::$a::of(v, n).store::<(X,)>(), special::$b::of(n, v).store::<(X,)>()))
        });
        case(concat!(stringify!($t), ", ", stringify!($a), ", ", stringify!($b)), t.graph)
    }),*] };
}

#[test]
fn of_two_arguments() {
    macro_rules! both {
        ($($names:tt)*) => { (binary!(f32: $($names)*), binary!(f64: $($names)*)) };
    }
    let (single, double) = both! {
        [beta log_beta] [xlogy xlog1py] [kaiser zeta] [hermite_polynomial_h polygamma] [laguerre_polynomial_l hermite_polynomial_he]
        [legendre_polynomial_p beta] [chebyshev_polynomial_t chebyshev_polynomial_u] [chebyshev_polynomial_v chebyshev_polynomial_w]
        [shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u]
        [shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w]
    };
    check_all("scalar_fn::special::of_two_arguments", single.into_iter().chain(double));
}

#[test]
fn of_integers() {
    macro_rules! cases {
        ($($t:ident $gcd:ident $lcm:ident),*) => { [$({
            let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
                (special::$gcd::of(x, y).store::<(X,)>(), special::$lcm::of(x, y).store::<(X,)>())
            });
            case(concat!(stringify!($t), ", divisors"), t.graph)
        }),*] };
    }
    let cases = cases! { u8 gcd_u8 lcm_u8, u16 gcd_u16 lcm_u16, u32 gcd_u32 lcm_u32, u64 gcd_u64 lcm_u64,
    i8 gcd_i8 lcm_i8, i16 gcd_i16 lcm_i16, i32 gcd_i32 lcm_i32, i64 gcd_i64 lcm_i64 };
    check_all("scalar_fn::special::of_integers", cases.into_iter());
}

/// Divisors on a GPU with few units of f64, which has another text for them.
#[test]
fn divisors_without_f64() {
    let t = trace(|x: In<u64, (X,)>, y: In<u64, (X,)>, n: In<u64, (X,)>| {
        let (x, y, n) = (x >> 20, y >> 20, n >> 50);
        (special::gcd_u64::of(x * n, y * n).store::<(X,)>(), special::gcd_u64::of(n, y).store::<(X,)>())
    });
    let (name, case) = case("u64, divisors by shifts", t.graph);
    let mut prepared = prepare(name, &case, 0).expect("few loops");
    let source = &mut prepared.kernel.source;
    *source = source.replacen("\nstruct Params", "#undef TW_SLOW_F64\n#define TW_SLOW_F64 1\nstruct Params", 1);
    assert!(source.contains("#define TW_SLOW_F64"));
    check_kernels("scalar_fn::special::divisors_without_f64", &[prepared]);
}

/// Complex functions, at any bits and at numbers up to 3.
#[test]
fn of_complex_numbers() {
    macro_rules! cases {
        ($t:ident: $([$a:ident $b:ident])*) => { [$({
            let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
                let (v, w) = (x.sin() * 3.0, y.sin() * 3.0);
                let (a, b) = special::$a::of(x, y);
                let (c, d) = special::$a::of(v, w);
                let (p, q) = special::$b::of(x, y);
                let (r, s) = special::$b::of(v, w);
                ((a.store::<(X,)>(), b.store::<(X,)>(), c.store::<(X,)>(), d.store::<(X,)>()),
                 (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()))
            });
            case(concat!(stringify!($t), ", ", stringify!($a), ", ", stringify!($b)), t.graph)
        }),*] };
    }
    macro_rules! both {
        ($($names:tt)*) => { (cases!(f32: $($names)*), cases!(f64: $($names)*)) };
    }
    let (single, double) = both! {
        [complex_exp complex_ln] [complex_sqrt complex_sinh] [complex_cosh complex_tanh] [complex_sin complex_cos]
        [complex_tan complex_asin] [complex_acos complex_atan] [complex_asinh complex_acosh] [complex_atanh complex_atanh]
    };
    check_all("scalar_fn::special::of_complex_numbers", single.into_iter().chain(double));
}
