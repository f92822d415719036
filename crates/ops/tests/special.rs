//! Special functions: on the GPU the CPU's bits, for arguments of every size.

use crate::support::{Random, assert_same, gpu};
use tilewright_dims::dims;
use tilewright_expr::{In, f16};
use tilewright_ops::{Tensor, fuse};
use tilewright_special as special;

dims! { X }

/// Arguments of a function.
const COUNT: usize = 6000;

/// A number of any bits, near 0, of moderate size, or a whole one.
fn number(r: &mut Random) -> f64 {
    match r.below(5) {
        0 => f64::from_bits(r.bits()),
        1 => f64::from(f32::from_bits(r.bits() as u32)),
        2 => r.unit() * 2.0 - 1.0,
        3 => r.unit() * 80.0 - 40.0,
        _ => r.below(60) as f64 - 20.0,
    }
}

fn edges() -> Vec<f64> {
    let all = [0.0, 1.0, 0.5, 2.0, 1.5, 1e-300, 1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN];
    all.iter().flat_map(|v| [*v, -*v]).collect()
}

/// Numbers for both formats.
fn numbers(seed: u64) -> (Tensor<f32, (X,)>, Tensor<f64, (X,)>) {
    let mut values = edges();
    values.extend(Random(seed).vec(COUNT - values.len(), number));
    let single = values.iter().map(|v| *v as f32).collect();
    (Tensor::from_vec([COUNT], single).unwrap(), Tensor::from_vec([COUNT], values).unwrap())
}

macro_rules! same {
    ($device:expr, $what:expr, $f:expr, $($x:expr),*) => {{
        let f = $f;
        let on_gpu = f.call($(&$x.to($device).unwrap()),*).unwrap().to_vec().unwrap();
        assert_same($what, &on_gpu, &f.call($($x),*).unwrap().to_vec().unwrap());
    }};
}

macro_rules! one {
    ($test:ident: $($f:ident)*) => {
        #[test]
        fn $test() {
            let Some((device, _lock)) = gpu(concat!("special::", stringify!($test))) else { return };
            let (single, double) = numbers(1);
            $(
                let what = stringify!($f);
                same!(&device, what, fuse(|x: In<f32, (X,)>| special::$f::of(x).store::<(X,)>()), &single);
                same!(&device, what, fuse(|x: In<f64, (X,)>| special::$f::of(x).store::<(X,)>()), &double);
            )*
        }

        pub(crate) mod $test {
            use super::*;

            /// The kernels for f32.
            pub(crate) fn sources() -> Vec<(&'static str, String)> {
                let (x, _) = numbers(1);
                vec![$((stringify!($f), fuse(|x: In<f32, (X,)>| special::$f::of(x).store::<(X,)>()).cuda_source(&x).unwrap())),*]
            }
        }
    };
}

macro_rules! two {
    ($test:ident: $($f:ident)*) => {
        #[test]
        fn $test() {
            let Some((device, _lock)) = gpu(concat!("special::", stringify!($test))) else { return };
            let ((a, c), (b, d)) = (numbers(2), numbers(3));
            $(
                let what = stringify!($f);
                let f = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| special::$f::of(x, y).store::<(X,)>());
                same!(&device, what, f, &a, &b);
                let f = fuse(|x: In<f64, (X,)>, y: In<f64, (X,)>| special::$f::of(x, y).store::<(X,)>());
                same!(&device, what, f, &c, &d);
            )*
        }

        pub(crate) mod $test {
            use super::*;

            /// The kernels for f32.
            pub(crate) fn sources() -> Vec<(&'static str, String)> {
                let (x, _) = numbers(1);
                vec![$((stringify!($f), {
                    let f = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| special::$f::of(x, y).store::<(X,)>());
                    f.cuda_source(&x, &x).unwrap()
                })),*]
            }
        }
    };
}

macro_rules! complex {
    ($test:ident: $($f:ident)*) => {
        #[test]
        fn $test() {
            let Some((device, _lock)) = gpu(concat!("special::", stringify!($test))) else { return };
            let ((a, c), (b, d)) = (numbers(4), numbers(5));
            $(
                let what = stringify!($f);
                let f = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| {
                    let (re, im) = special::$f::of(x, y);
                    (re.store::<(X,)>(), im.store::<(X,)>())
                });
                let (on_gpu, on_cpu) = (f.call(&a.to(&device).unwrap(), &b.to(&device).unwrap()).unwrap(), f.call(&a, &b).unwrap());
                assert_same(what, &on_gpu.0.to_vec().unwrap(), &on_cpu.0.to_vec().unwrap());
                assert_same(what, &on_gpu.1.to_vec().unwrap(), &on_cpu.1.to_vec().unwrap());
                let f = fuse(|x: In<f64, (X,)>, y: In<f64, (X,)>| {
                    let (re, im) = special::$f::of(x, y);
                    (re.store::<(X,)>(), im.store::<(X,)>())
                });
                let (on_gpu, on_cpu) = (f.call(&c.to(&device).unwrap(), &d.to(&device).unwrap()).unwrap(), f.call(&c, &d).unwrap());
                assert_same(what, &on_gpu.0.to_vec().unwrap(), &on_cpu.0.to_vec().unwrap());
                assert_same(what, &on_gpu.1.to_vec().unwrap(), &on_cpu.1.to_vec().unwrap());
            )*
        }

        pub(crate) mod $test {
            use super::*;

            /// The kernels for f32.
            pub(crate) fn sources() -> Vec<(&'static str, String)> {
                let (x, _) = numbers(1);
                vec![$((stringify!($f), {
                    let f = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| {
                        let (re, im) = special::$f::of(x, y);
                        (re.store::<(X,)>(), im.store::<(X,)>())
                    });
                    f.cuda_source(&x, &x).unwrap()
                })),*]
            }
        }
    };
}

macro_rules! whole {
    ($($gcd:ident $lcm:ident $t:ident)*) => {
        #[test]
        fn divisors_and_multiples() {
            let Some((device, _lock)) = gpu("special::divisors_and_multiples") else { return };
            $(
                let mut random = Random(7);
                let mut draw = |seed: u64| {
                    let values = random.vec(COUNT, |r| match r.below(4) {
                        0 => $t::MIN,
                        1 => r.below(40 + seed) as $t,
                        _ => r.bits() as $t,
                    });
                    Tensor::<$t, (X,)>::from_vec([COUNT], values).unwrap()
                };
                let (a, b) = (draw(0), draw(9));
                let f = fuse(|x: In<$t, (X,)>, y: In<$t, (X,)>| special::$gcd::of(x, y).store::<(X,)>());
                same!(&device, stringify!($gcd), f, &a, &b);
                let f = fuse(|x: In<$t, (X,)>, y: In<$t, (X,)>| special::$lcm::of(x, y).store::<(X,)>());
                same!(&device, stringify!($lcm), f, &a, &b);
            )*
        }
    };
}

/// Small floats and integers compute in f32, in one kernel.
#[test]
fn other_types_compute_in_f32() {
    let halves: Vec<f16> = Random(3).vec(500, |r| f16::from_f64(r.unit() * 20.0 - 5.0));
    let x = Tensor::<f16, (X,)>::from_vec([500], halves.clone()).unwrap();
    let f = fuse(|x: In<f16, (X,)>| special::digamma::of(x.wide()).to::<f16>().store::<(X,)>());
    let expected: Vec<f16> = halves.iter().map(|x| f16::from_f32(special::digamma(x.to_f32()))).collect();
    assert_same("f16", &f.call(&x).unwrap().to_vec().unwrap(), &expected);

    let whole: Vec<i32> = (-20..480).collect();
    let n = Tensor::<i32, (X,)>::from_vec([500], whole.clone()).unwrap();
    let g = fuse(|n: In<i32, (X,)>| special::lgamma::of(n.wide()).store::<(X,)>());
    let expected: Vec<f32> = whole.iter().map(|n| special::lgamma(*n as f32)).collect();
    assert_same("i32", &g.call(&n).unwrap().to_vec().unwrap(), &expected);

    if let Some((device, _lock)) = gpu("special::other_types_compute_in_f32") {
        same!(&device, "f16", f, &x);
        same!(&device, "i32", g, &n);
    }
}

one!(gamma_family: digamma trigamma lgamma gamma);
one!(error_family: erf erfc erfcx erfinv ndtr log_ndtr ndtri);
one!(circle: sinc sin_pi cos_pi entr logit);
one!(bessel_family: bessel_j0 bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 airy_ai);
one!(modified_bessel_family: i0 i1 i0e i1e k0 k1 k0e k1e);
two!(two_arguments: zeta polygamma beta log_beta xlogy xlog1py kaiser);
two!(chebyshev_polynomials: chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w);
two!(other_polynomials: hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p);
two!(complex_to_real: complex_abs complex_angle);
complex!(complex_numbers: complex_exp complex_ln complex_sqrt complex_sin complex_cos complex_tan complex_sinh complex_cosh
    complex_tanh complex_asin complex_acos complex_atan complex_asinh complex_acosh complex_atanh);
whole!(gcd_i8 lcm_i8 i8 gcd_i16 lcm_i16 i16 gcd_i32 lcm_i32 i32 gcd_i64 lcm_i64 i64 gcd_u8 lcm_u8 u8 gcd_u16 lcm_u16 u16
    gcd_u32 lcm_u32 u32 gcd_u64 lcm_u64 u64);
