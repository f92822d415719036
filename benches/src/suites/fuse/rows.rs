//! Rows of numbers: where arithmetic begins to cost, what a kernel of few operations costs, sizes, and element types.

use super::vertical::OneByOne;
use super::{close, same_ends};
use crate::Result;
use crate::cases::{Line, Random, X};
use crate::pipelines::{Row, additions as additions_of, multiplications, normalised, normalised_f64, row};
use crate::report::Report;
use crate::session::Session;
use tilewright_ops::{Item, Tensor};

/// Elements of the long rows.
const LONG: usize = 3840 * 2160 * 8;
/// Elements at each end that are compared.
const SAMPLE: usize = 4096;
/// Operations of `per_kernel` in all.
const OPERATIONS: usize = 500;
/// Pairs of `size`.
const PAIRS: usize = 100;
/// Elements of `type`: fifty pictures of 60 x 120.
const SMALL: usize = 50 * 60 * 120;

/// Rows of numbers: the host's part of them is drawn once and repeated.
fn long_row(seed: u64) -> Result<Line> {
    let pattern = Random::new(seed).floats(1 << 20);
    Ok(Line::from_vec([LONG], pattern.into_iter().cycle().take(LONG).collect())?)
}

/// Both ends of what a handle computes for a row, on the host.
fn ends(handle: &Row<f32, f32>, x: &Line) -> Result<[Vec<f32>; 2]> {
    let part = |at| -> Result<Vec<f32>> { Ok(handle.call(&x.narrow::<X>(at, SAMPLE)?)?.to_vec()?) };
    Ok([part(0)?, part(x.len() - SAMPLE)?])
}

/// Measures `additions/K`: additions hide behind memory until there are too many.
pub fn additions(session: &Session, k: usize, report: &mut Report) -> Result<()> {
    let handle = additions_of(k);
    let host = long_row(k as u64)?;
    let input = host.to(&session.device)?;
    let mut result = Line::from_vec([LONG], vec![f32::NAN; LONG])?.to(&session.device)?;
    handle.call_into(&mut result, &input)?;
    let [begin, end] = ends(&handle, &host)?;
    same_ends(&result.to_vec()?, &begin, &end)?;
    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &input)?))?;
    let limit = session.limit_us(2 * LONG * size_of::<f32>())?;
    report.add("fuse", &format!("additions/{k}"), "device_us", us, "us").limited(limit);
    Ok(())
}

/// Measures `per_kernel/K`: 500 multiplications, `k` of them in a kernel.
pub fn per_kernel(session: &Session, k: usize, report: &mut Report) -> Result<()> {
    if k == 0 || !OPERATIONS.is_multiple_of(k) {
        return Err(format!("{k} in a kernel do not make {OPERATIONS}").into());
    }
    let handle = multiplications(k);
    let whole = multiplications(OPERATIONS);
    let host = long_row(k as u64)?;
    let mut there = [host.to(&session.device)?, Line::from_vec([LONG], vec![f32::NAN; LONG])?.to(&session.device)?];
    let launches = OPERATIONS / k;
    queue(&handle, &mut there, launches)?;
    let [begin, end] = ends(&whole, &host)?;
    same_ends(&there[launches % 2].to_vec()?, &begin, &end)?;
    // The rows are not set anew: what grows by 1.65 in a measurement stays in range.
    let us = session.clock.long_us(&mut |_| queue(&handle, &mut there, launches))?;
    report.add("fuse", &format!("per_kernel/{k}"), "device_us", us, "us");
    Ok(())
}

/// Queues a chain of kernels from one row to the other and back.
fn queue(handle: &Row<f32, f32>, [a, b]: &mut [Line; 2], launches: usize) -> Result<()> {
    for launch in 0..launches {
        let (from, to) = if launch % 2 == 0 { (&*a, &mut *b) } else { (&*b, &mut *a) };
        handle.call_into(to, from)?;
    }
    Ok(())
}

/// Measures `size/N`: 100 pairs over `len` numbers, in one kernel and in a kernel for each operation.
pub fn size(session: &Session, len: usize, report: &mut Report) -> Result<()> {
    let bytes = len * (1 + size_of::<f32>());
    let handle = row(PAIRS);
    let mut random = Random::new(len as u64);
    let host = Tensor::<u8, (X,)>::from_vec([len], random.pixels(len))?;
    let (mut inputs, mut results) = (Vec::new(), Vec::new());
    // The smallest ones stay in the cache: there is no time to fill thousands of sets.
    for _ in 0..session.sets(bytes).min(64) {
        inputs.push(host.to(&session.device)?);
        results.push(Line::from_vec([len], vec![f32::NAN; len])?.to(&session.device)?);
    }
    handle.call_into(&mut results[0], &inputs[0])?;
    let sample = SAMPLE.min(len);
    let part = |at| -> Result<Vec<f32>> { Ok(handle.call(&host.narrow::<X>(at, sample)?)?.to_vec()?) };
    let (begin, end) = (part(0)?, part(len - sample)?);
    same_ends(&results[0].to_vec()?, &begin, &end)?;
    let mut one_by_one = OneByOne::new(session, &host.to_vec()?)?;
    one_by_one.queue(PAIRS)?;
    close(&one_by_one.x.to_vec()?[..sample], &begin, 2 * PAIRS)?;

    let count = inputs.len();
    let us = session
        .clock
        .device_us(&mut |call| Ok(handle.call_into(&mut results[call % count], &inputs[call % count])?))?;
    let peers = [("a kernel per operation", session.clock.long_us(&mut |_| one_by_one.queue(PAIRS))?)];
    let limit = session.limit_us(bytes)?;
    report.add_against(["fuse", &format!("size/{len}"), "device_us"], us, "us", Some(limit), &peers);
    Ok(())
}

/// Measures `type/T-U`: cast, multiply, subtract, divide from elements of `T` to elements of `U`.
pub fn types(session: &Session, name: &str, report: &mut Report) -> Result<()> {
    match name {
        "u8-f32" => typed(session, name, normalised::<u8>(), |bits| bits as u8, report),
        "i8-f32" => typed(session, name, normalised::<i8>(), |bits| bits as i8, report),
        "u16-f32" => typed(session, name, normalised::<u16>(), |bits| bits as u16, report),
        "i16-f32" => typed(session, name, normalised::<i16>(), |bits| bits as i16, report),
        "i32-f32" => typed(session, name, normalised::<i32>(), |bits| bits as i32, report),
        "f32-f32" => typed(session, name, normalised::<f32>(), |bits| bits as u16 as f32, report),
        "u8-f64" => typed(session, name, normalised_f64::<u8>(), |bits| bits as u8, report),
        "i8-f64" => typed(session, name, normalised_f64::<i8>(), |bits| bits as i8, report),
        "u16-f64" => typed(session, name, normalised_f64::<u16>(), |bits| bits as u16, report),
        "i16-f64" => typed(session, name, normalised_f64::<i16>(), |bits| bits as i16, report),
        "i32-f64" => typed(session, name, normalised_f64::<i32>(), |bits| bits as i32, report),
        "f32-f64" => typed(session, name, normalised_f64::<f32>(), |bits| bits as u16 as f32, report),
        other => Err(format!("no element types `{other}`").into()),
    }
}

fn typed<T: Item, U: Item + PartialEq>(
    session: &Session,
    name: &str,
    handle: Row<T, U>,
    make: fn(u64) -> T,
    report: &mut Report,
) -> Result<()> {
    let mut random = Random::new(9);
    let bytes = SMALL * (size_of::<T>() + size_of::<U>());
    let host = Tensor::<T, (X,)>::from_vec([SMALL], (0..SMALL).map(|_| make(random.bits() >> 8)).collect())?;
    let expected = handle.call(&host)?.to_vec()?;
    let (mut inputs, mut results) = (Vec::new(), Vec::new());
    for _ in 0..session.sets(bytes) {
        inputs.push(host.to(&session.device)?);
        results.push(Tensor::<U, (X,)>::zeros([SMALL], &session.device)?);
    }
    handle.call_into(&mut results[0], &inputs[0])?;
    // No number of these is NaN or zero of either sign.
    if results[0].to_vec()? != expected {
        return Err("results differ from the CPU's".into());
    }
    let count = inputs.len();
    let us = session
        .clock
        .device_us(&mut |call| Ok(handle.call_into(&mut results[call % count], &inputs[call % count])?))?;
    report.add("fuse", &format!("type/{name}"), "device_us", us, "us").limited(session.limit_us(bytes)?);
    Ok(())
}
