//! The special functions, of both floats, and of integers.

use super::{Entries, MANY, Suite, zeros};
use tilewright_dims::dims;
use tilewright_expr::{Element, In, Out};
use tilewright_ops::{Error, Fused, Item, Tensor, fuse};
use tilewright_special as special;

dims! { X }

type Row<T> = In<T, (X,)>;

type OfOne<T> = Fused<(Row<T>,), Out<T, (X,)>>;
type OfTwo<T> = Fused<(Row<T>, Row<T>), Out<T, (X,)>>;

/// How elements follow each other, and a row of which they do so.
type Placed<T> = (&'static str, Tensor<T, (X,)>);

/// The three ways in which rows lie in memory.
fn rows<T: Item>() -> Result<[Placed<T>; 3], Error> {
    let whole = zeros::<T, (X,), 1>([MANY])?;
    let strided = whole.step_by::<X>(2)?;
    Ok([("vectors", whole), ("vectors and a rest", zeros([MANY + 1])?), ("strided", strided)])
}

/// Adds all of them.
pub(super) fn add(entries: &mut Entries) -> Result<(), Error> {
    macro_rules! of_one {
        ($($f:ident)*) => { $(
            one(entries, (concat!("special::", stringify!($f)), "f32"), &fuse(|x: Row<f32>| special::$f::of(x).store::<(X,)>()))?;
            one(entries, (concat!("special::", stringify!($f)), "f64"), &fuse(|x: Row<f64>| special::$f::of(x).store::<(X,)>()))?;
        )* };
    }
    macro_rules! of_two {
        ($($f:ident)*) => { of_two!(@f32 $($f)*); of_two!(@f64 $($f)*); };
        (@$t:ident $($f:ident)*) => { $(
            let f = fuse(|x: Row<$t>, y: Row<$t>| special::$f::of(x, y).store::<(X,)>());
            two(entries, (concat!("special::", stringify!($f)), stringify!($t)), &f)?;
        )* };
    }
    macro_rules! of_complex {
        ($($f:ident)*) => { of_complex!(@f32 $($f)*); of_complex!(@f64 $($f)*); };
        (@$t:ident $($f:ident)*) => { $(
            let f = fuse(|x: Row<$t>, y: Row<$t>| {
                let (re, im) = special::$f::of(x, y);
                (re.store::<(X,)>(), im.store::<(X,)>())
            });
            for (memory, x) in rows::<$t>()? {
                let variant = format!("{}, {memory}", stringify!($t));
                entries.plan(Suite::Functions, (concat!("special::", stringify!($f)), &variant), &f.plan(&x, &x)?)?;
            }
        )* };
    }
    macro_rules! of_integers {
        ($($f:ident $t:ident)*) => { $(
            let f = fuse(|x: Row<$t>, y: Row<$t>| special::$f::of(x, y).store::<(X,)>());
            two(entries, (concat!("special::", stringify!($f)), stringify!($t)), &f)?;
        )* };
    }
    of_one!(digamma trigamma lgamma gamma erf erfc erfcx erfinv ndtr log_ndtr ndtri sinc sin_pi cos_pi entr logit bessel_j0
        bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 airy_ai i0 i1 i0e i1e k0 k1 k0e k1e);
    of_two!(zeta polygamma beta log_beta xlogy xlog1py kaiser chebyshev_polynomial_t chebyshev_polynomial_u
        chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
        shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
        laguerre_polynomial_l legendre_polynomial_p complex_abs complex_angle);
    of_complex!(complex_acos complex_acosh complex_asin complex_asinh complex_atan complex_atanh complex_cos complex_cosh
        complex_exp complex_ln complex_sin complex_sinh complex_sqrt complex_tan complex_tanh);
    of_integers!(gcd_i8 i8 gcd_i16 i16 gcd_i32 i32 gcd_i64 i64 gcd_u8 u8 gcd_u16 u16 gcd_u32 u32 gcd_u64 u64);
    of_integers!(lcm_i8 i8 lcm_i16 i16 lcm_i32 i32 lcm_i64 i64 lcm_u8 u8 lcm_u16 u16 lcm_u32 u32 lcm_u64 u64);
    Ok(())
}

fn one<T: Item + Element>(entries: &mut Entries, (name, dtype): (&str, &str), f: &OfOne<T>) -> Result<(), Error> {
    for (memory, x) in rows::<T>()? {
        entries.plan(Suite::Functions, (name, &format!("{dtype}, {memory}")), &f.plan(&x)?)?;
    }
    Ok(())
}

fn two<T: Item + Element>(entries: &mut Entries, (name, dtype): (&str, &str), f: &OfTwo<T>) -> Result<(), Error> {
    for (memory, x) in rows::<T>()? {
        entries.plan(Suite::Functions, (name, &format!("{dtype}, {memory}")), &f.plan(&x, &x)?)?;
    }
    Ok(())
}
