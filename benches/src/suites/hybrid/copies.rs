//! Copies of matrices in ordinary memory to the GPU and back, as the library makes them and as the driver does.

use super::add;
use super::operands::fill;
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use ndarray::Array2;
use std::time::Instant;
use tilewright_hybrid::linear::{DeviceMat, Gpu};

/// Seconds of runs of a figure, and the fewest runs.
const SECONDS: f64 = 0.15;
const RUNS: usize = 5;

/// Measures `copies/4M` and others: gigabytes a second of a matrix of so many bytes.
pub(super) fn run(session: &Session, case: &str, bytes: usize, report: &mut Report) -> Result<()> {
    let (stream, columns) = (session.gpu.stream(), 256);
    let gpu = Gpu::new(stream);
    let mut matrix = Array2::<f64>::zeros((columns, bytes / 8 / columns));
    matrix.as_slice_mut().into_iter().for_each(|values| fill(values, 1));
    let by_columns = matrix.t();
    let there = DeviceMat::upload(&gpu, (&by_columns).into())?;
    let values = matrix.as_slice().unwrap_or_default();
    let (mut plain, mut back) = (stream.upload(values)?, vec![0.0; values.len()]);
    let rate = |run: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        let (begin, mut least, mut runs) = (Instant::now(), f64::INFINITY, 0);
        while runs < RUNS || begin.elapsed().as_secs_f64() < SECONDS {
            let begin = Instant::now();
            run()?;
            stream.synchronize()?;
            least = least.min(begin.elapsed().as_secs_f64());
            runs += 1;
        }
        Ok(bytes as f64 / least / 1e9)
    };
    let up = rate(&mut || DeviceMat::upload(&gpu, (&by_columns).into()).map(drop).map_err(Into::into))?;
    let turned = rate(&mut || DeviceMat::bring(&gpu, (&matrix).into()).map(drop).map_err(Into::into))?;
    let by_driver = rate(&mut || Ok(plain.copy_from_slice(values)?))?;
    let down = rate(&mut || there.download().map(drop).map_err(Into::into))?;
    let down_by_driver = rate(&mut || Ok(plain.copy_to_slice(&mut back)?))?;
    if there.download()? != by_columns {
        return Err("what came back is not what went there".into());
    }
    let to_gpu = [("to_gpu", up, "GB/s"), ("to_gpu_turned", turned, "GB/s"), ("to_gpu_by_driver", by_driver, "GB/s")];
    let to_host = [("to_host_new", down, "GB/s"), ("to_host_by_driver", down_by_driver, "GB/s")];
    add(report, case, &[&to_gpu[..], &to_host[..]].concat());
    Ok(())
}
