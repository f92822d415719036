//! Reductions: whole tensors, rows that are normalised, many short rows.

use super::same_bits;
use crate::Result;
use crate::cases::{L, N, Random, X, Y};
use crate::report::Report;
use crate::session::Session;
use std::collections::BTreeSet;
use tilewright_expr::{In, Out, f16};
use tilewright_ops::{Fused, Tensor, fuse};

/// The cases.
pub const CASES: [&str; 10] = [
    "sum/2^28",
    "sum/2^24",
    "sum/2^16",
    "softmax/8192x32768",
    "layernorm/16384x1024",
    "rowsum/2^20x32",
    "cumsum/4096x16384",
    "cumsum/1x2^26",
    "histogram/8x4k",
    "gauss5/4k",
];

/// A handle over rows.
type Rows = Fused<(In<f32, (Y, X)>,), Out<f32, (Y, X)>>;

/// Rows of a large tensor that are compared with the host's.
const SAMPLE: usize = 8;
/// Numbers that the host draws; longer tensors repeat them.
const PATTERN: usize = (1 << 20) + 7;

/// Measures one case.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    match case {
        "sum/2^28" => sum(session, 28, report),
        "sum/2^24" => sum(session, 24, report),
        "sum/2^16" => sum(session, 16, report),
        "softmax/8192x32768" => by_row(session, case, &softmax(), (8192, 32768), SAMPLE, report),
        "cumsum/4096x16384" => by_row(session, case, &cumsum(), (4096, 16384), 4096, report),
        "cumsum/1x2^26" => by_row(session, case, &cumsum(), (1, 1 << 26), 1, report),
        "layernorm/16384x1024" => layer_norm(session, (16384, 1024), report),
        "rowsum/2^20x32" => row_sum(session, (1 << 20, 32), report),
        "histogram/8x4k" => histogram(session, [8, 2160, 3840], report),
        other => Err(format!("no case `{other}`").into()),
    }
}

fn numbers(seed: u64, len: usize) -> Vec<f32> {
    Random::new(seed).floats(PATTERN.min(len)).into_iter().cycle().take(len).collect()
}

fn sum(session: &Session, log: u32, report: &mut Report) -> Result<()> {
    let len = 1usize << log;
    let handle = fuse(|x: In<f32, (X,)>| x.sum::<X>().store::<()>());
    let host = Tensor::<f32, (X,)>::from_vec([len], numbers(u64::from(log), len))?;
    let x = host.to(&session.device)?;
    let mut result = Tensor::<f32, ()>::from_vec([], vec![f32::NAN])?.to(&session.device)?;
    handle.call_into(&mut result, &x)?;
    same_bits(&result.to_vec()?, &handle.call(&host)?.to_vec()?)?;
    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &x)?))?;
    let limit = session.limit_us(len * size_of::<f32>())?;
    report.add("reduce", &format!("sum/2^{log}"), "device_us", us, "us").limited(limit);
    Ok(())
}

fn softmax() -> Rows {
    fuse(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>())
}

fn cumsum() -> Rows {
    fuse(|x: In<f32, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>())
}

/// A function of rows that gives as many values as it is given. The first and the last `sample` rows are compared.
fn by_row(
    session: &Session,
    case: &str,
    handle: &Rows,
    (rows, n): (usize, usize),
    sample: usize,
    report: &mut Report,
) -> Result<()> {
    let host = Tensor::<f32, (Y, X)>::from_vec([rows, n], numbers(5, rows * n))?;
    let x = host.to(&session.device)?;
    let mut result = Tensor::<f32, (Y, X)>::from_vec([rows, n], vec![f32::NAN; rows * n])?.to(&session.device)?;
    handle.call_into(&mut result, &x)?;
    let got = result.to_vec()?;
    for start in BTreeSet::from([0, rows - sample]) {
        let expected = handle.call(&host.narrow::<Y>(start, sample)?)?.to_vec()?;
        same_bits(&got[start * n..(start + sample) * n], &expected)?;
    }
    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &x)?))?;
    let limit = session.limit_us(2 * rows * n * size_of::<f32>())?;
    report.add("reduce", case, "device_us", us, "us").limited(limit);
    Ok(())
}

/// How often each value of a byte occurs in each of some pictures.
fn histogram(session: &Session, [count, height, width]: [usize; 3], report: &mut Report) -> Result<()> {
    let handle = fuse(|x: In<u8, (N, Y, X)>| x.histogram::<(Y, X), L>(256).store::<(N, L)>());
    let len = count * height * width;
    let host = Tensor::<u8, (N, Y, X)>::from_vec([count, height, width], Random::new(8).pixels(len))?;
    let pictures = [host.to(&session.device)?, host.to(&session.device)?];
    let mut result = Tensor::<i64, (N, L)>::from_vec([count, 256], vec![-1; count * 256])?.to(&session.device)?;
    handle.call_into(&mut result, &pictures[0])?;
    let (got, expected) = (result.to_vec()?, handle.call(&host)?.to_vec()?);
    if got != expected {
        return Err(format!("{} counts differ", got.iter().zip(&expected).filter(|(a, b)| a != b).count()).into());
    }
    let us = session.clock.device_us(&mut |i| Ok(handle.call_into(&mut result, &pictures[i % 2])?))?;
    report.add("reduce", "histogram/8x4k", "device_us", us, "us").limited(session.limit_us(len)?);
    Ok(())
}

fn layer_norm(session: &Session, (rows, n): (usize, usize), report: &mut Report) -> Result<()> {
    let handle = fuse(|x: In<f16, (Y, X)>| x.layer_norm::<X>(f16::from_f32(1e-3)).store::<(Y, X)>());
    let values: Vec<f16> = numbers(6, rows * n).into_iter().map(f16::from_f32).collect();
    let host = Tensor::<f16, (Y, X)>::from_vec([rows, n], values)?;
    // More than the cache keeps, so that memory is read.
    let inputs = [host.to(&session.device)?, host.to(&session.device)?, host.to(&session.device)?];
    let empty = || Tensor::<f16, (Y, X)>::from_vec([rows, n], vec![f16::NAN; rows * n]);
    let mut results = [empty()?.to(&session.device)?, empty()?.to(&session.device)?, empty()?.to(&session.device)?];
    handle.call_into(&mut results[0], &inputs[0])?;
    let got: Vec<f32> = results[0].to_vec()?.into_iter().map(f32::from).collect();
    for start in [0, rows - SAMPLE] {
        let expected: Vec<f32> =
            handle.call(&host.narrow::<Y>(start, SAMPLE)?)?.to_vec()?.into_iter().map(f32::from).collect();
        same_bits(&got[start * n..(start + SAMPLE) * n], &expected)?;
    }
    let us = session.clock.device_us(&mut |i| Ok(handle.call_into(&mut results[i % 3], &inputs[i % 3])?))?;
    let limit = session.limit_us(2 * rows * n * size_of::<f16>())?;
    report.add("reduce", &format!("layernorm/{rows}x{n}"), "device_us", us, "us").limited(limit);
    Ok(())
}

fn row_sum(session: &Session, (rows, n): (usize, usize), report: &mut Report) -> Result<()> {
    let handle = fuse(|x: In<f32, (Y, X)>| x.sum::<X>().store::<(Y,)>());
    let host = Tensor::<f32, (Y, X)>::from_vec([rows, n], numbers(7, rows * n))?;
    let x = host.to(&session.device)?;
    let mut result = Tensor::<f32, (Y,)>::from_vec([rows], vec![f32::NAN; rows])?.to(&session.device)?;
    handle.call_into(&mut result, &x)?;
    let got = result.to_vec()?;
    for start in [0, rows - 1000] {
        same_bits(&got[start..start + 1000], &handle.call(&host.narrow::<Y>(start, 1000)?)?.to_vec()?)?;
    }
    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &x)?))?;
    let limit = session.limit_us((rows * n + rows) * size_of::<f32>())?;
    report.add("reduce", &format!("rowsum/2^{}x{n}", rows.ilog2()), "device_us", us, "us").limited(limit);
    Ok(())
}
