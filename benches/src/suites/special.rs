//! Special functions over 2^24 numbers, and greatest common divisors.

use super::same_bits;
use crate::Result;
use crate::cases::{Random, X};
use crate::report::Report;
use crate::session::Session;
use tilewright_expr::{In, Out};
use tilewright_ops::{Device, Fused, Item, Tensor, fuse};
use tilewright_special as special;

/// The cases.
pub const CASES: [&str; 11] = [
    "memory",
    "digamma/2^24",
    "lgamma/2^24",
    "i0/2^24",
    "i1/2^24",
    "ndtri/2^24",
    "erfcx/2^24",
    "bessel_j0/2^24",
    "zeta/2^24",
    "gcd/2^24",
    "gcd/2^16",
];

/// Numbers of a case, but for one of divisors.
const COUNT: usize = 1 << 24;
/// Numbers that are compared with the host's.
const SAMPLE: usize = 1 << 16;

type Line<T> = Tensor<T, (X,)>;
type Unary = Fused<(In<f32, (X,)>,), Out<f32, (X,)>>;

macro_rules! unary {
    ($f:ident) => {
        fuse(|x: In<f32, (X,)>| special::$f::of(x).store::<(X,)>())
    };
}

/// Measures one case.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let plain = |x: f32| x;
    match case {
        "memory" => memory(session, report),
        "digamma/2^24" => of_floats(session, case, &unary!(digamma), plain, report),
        "lgamma/2^24" => of_floats(session, case, &unary!(lgamma), plain, report),
        "i0/2^24" => of_floats(session, case, &unary!(i0), plain, report),
        "i1/2^24" => of_floats(session, case, &unary!(i1), plain, report),
        "ndtri/2^24" => of_floats(session, case, &unary!(ndtri), |x| x / 11.0, report),
        "erfcx/2^24" => of_floats(session, case, &unary!(erfcx), plain, report),
        "bessel_j0/2^24" => of_floats(session, case, &unary!(bessel_j0), plain, report),
        "zeta/2^24" => {
            let zeta = fuse(|x: In<f32, (X,)>| special::zeta::of(x + 1.5, x).store::<(X,)>());
            of_floats(session, case, &zeta, plain, report)
        }
        "gcd/2^24" => divisors(session, case, COUNT, report),
        "gcd/2^16" => divisors(session, case, 1 << 16, report),
        other => Err(format!("no case `{other}`").into()),
    }
}

/// Device memory that functions take before they are called, and the first of them afterwards.
fn memory(session: &Session, report: &mut Report) -> Result<()> {
    let free = || -> Result<f64> { Ok(session.gpu.device().memory_info()?.0 as f64 / 1024.0) };
    let x = Tensor::<f32, (X,)>::from_vec([4], vec![1.0, 2.0, 3.0, 4.0])?.to(&session.device)?;
    let mut result = x.to(&Device::Cpu)?.to(&session.device)?;
    let before = free()?;
    let all =
        [unary!(erfinv), unary!(trigamma), unary!(bessel_y1), unary!(airy_ai), unary!(k0), unary!(spherical_bessel_j0)];
    let unused = before - free()?;
    all[0].call_into(&mut result, &x)?;
    session.gpu.synchronize()?;
    report.add("special", "memory", "unused_kib", unused, "KiB");
    report.add("special", "memory", "first_used_kib", before - free()?, "KiB");
    Ok(())
}

/// Operands that rotate over more memory than the level-2 cache holds, and results.
fn rotating<T: Item + Copy>(
    session: &Session,
    mut make: impl FnMut(u64) -> Vec<T>,
    bytes: usize,
) -> Result<Vec<Line<T>>> {
    let sets = session.sets(bytes) as u64;
    let tensor = |seed| {
        let values = make(seed);
        Ok(Tensor::from_vec([values.len()], values)?.to(&session.device)?)
    };
    (0..sets).map(tensor).collect()
}

/// A function of 2^24 numbers between 0.1 and 10, or of what `given` makes of them.
fn of_floats(session: &Session, case: &str, f: &Unary, given: fn(f32) -> f32, report: &mut Report) -> Result<()> {
    let draw = |seed: u64| -> Vec<f32> {
        Random::new(seed).floats(COUNT).into_iter().map(|unit| given(0.1 + 9.9 * unit.abs())).collect()
    };
    let bytes = 2 * COUNT * size_of::<f32>();
    let xs = rotating(session, draw, bytes)?;
    let mut result = Tensor::<f32, (X,)>::from_vec([COUNT], vec![f32::NAN; COUNT])?.to(&session.device)?;
    f.call_into(&mut result, &xs[0])?;
    let sample = Tensor::<f32, (X,)>::from_vec([SAMPLE], draw(0)[..SAMPLE].to_vec())?;
    same_bits(&result.to_vec()?[..SAMPLE], &f.call(&sample)?.to_vec()?)?;
    let us = session.clock.device_us(&mut |call| Ok(f.call_into(&mut result, &xs[call % xs.len()])?))?;
    report.add("special", case, "device_us", us, "us").limited(session.limit_us(bytes)?);
    Ok(())
}

/// Greatest common divisors of numbers below 2^40.
fn divisors(session: &Session, case: &str, count: usize, report: &mut Report) -> Result<()> {
    let f = fuse(|a: In<i64, (X,)>, b: In<i64, (X,)>| special::gcd_i64::of(a, b).store::<(X,)>());
    let draw = |seed: u64| -> Vec<i64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| (random.bits() >> 24) as i64).collect()
    };
    let bytes = 3 * count * size_of::<i64>();
    let (left, right) = (rotating(session, draw, bytes)?, rotating(session, |seed| draw(seed + 100), bytes)?);
    let mut result = Tensor::<i64, (X,)>::from_vec([count], vec![-1; count])?.to(&session.device)?;
    f.call_into(&mut result, &left[0], &right[0])?;
    let expected = draw(0).into_iter().zip(draw(100)).map(|(a, b)| special::gcd_i64(a, b));
    if let Some(at) = result.to_vec()?.iter().zip(expected).position(|(got, expected)| *got != expected) {
        return Err(format!("a divisor differs at {at}").into());
    }
    let sets = left.len();
    let us = session
        .clock
        .device_us(&mut |call| Ok(f.call_into(&mut result, &left[call % sets], &right[call % sets])?))?;
    report.add("special", case, "device_us", us, "us").limited(session.limit_us(bytes)?);
    Ok(())
}
