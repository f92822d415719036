//! A square matrix, doubled and transposed: neighbours are apart on one side.

use crate::Result;
use crate::cases::{Random, X, Y};
use crate::pipelines::transposed;
use crate::report::Report;
use crate::session::Session;
use crate::suites::same_bits;
use tilewright_ops::Tensor;

/// Measures `transposed/N`, of `N` x `N` numbers.
pub fn run(session: &Session, n: usize, report: &mut Report) -> Result<()> {
    let handle = transposed();
    let host = Tensor::<f32, (Y, X)>::from_vec([n, n], Random::new(n as u64).floats(n * n))?;
    let x = host.to(&session.device)?;
    let mut result = Tensor::<f32, (X, Y)>::from_vec([n, n], vec![f32::NAN; n * n])?.to(&session.device)?;
    handle.call_into(&mut result, &x)?;
    same_bits(&result.to_vec()?, &handle.call(&host)?.to_vec()?)?;
    let limit = session.limit_us(2 * n * n * size_of::<f32>())?;
    let us = session.clock.device_us(&mut |_| Ok(handle.call_into(&mut result, &x)?))?;
    report.add("fuse", &format!("transposed/{n}"), "device_us", us, "us").limited(limit);
    Ok(())
}
