//! Products of bit matrices: by the tensor cores as counts and as bits, by the population count, and the transposition before them.

use crate::Result;
use crate::clock::Call;
use crate::report::Report;
use crate::session::Session;
use tilewright_hybrid::bits::BitMatrix;
use tilewright_hybrid::bits::gpu::{DeviceBitMatrix, DeviceProduct, GpuPath, WgmmaShape};

/// Products of this many rows take the population count seconds; larger ones are left out.
const LARGEST_POPCOUNT: usize = 16_384;

/// Measures square products of `size` rows; AND and addition count as two operations.
pub(super) fn run(session: &Session, case: &str, size: usize, report: &mut Report) -> Result<()> {
    let stream = session.gpu.stream();
    let upload = |seed| -> Result<DeviceBitMatrix> {
        Ok(DeviceBitMatrix::upload(stream, &BitMatrix::random(size, size, 0.5, seed)?)?)
    };
    let (left, right) = (upload(1)?, upload(2)?);
    let mut pops = |metric: &str, call: &mut Call<'_>| -> Result<()> {
        let us = session.clock.device_us(call)?;
        report.add("hybrid", case, metric, 2.0 * (size as f64).powi(3) / us * 1e-9, "POPS");
        Ok(())
    };
    pops("pops", &mut |_| Ok(DeviceProduct::of_rows(&left, &right)?.paths().map(drop)?))?;
    pops("pops_counts", &mut |_| Ok(DeviceProduct::of_rows(&left, &right)?.counts().map(drop)?))?;
    pops("pops_transposed", &mut |_| Ok(DeviceProduct::of(&left, &right)?.paths().map(drop)?))?;
    let mut paths = vec![("pops_mma", GpuPath::Mma)];
    paths.extend(
        [("pops_paired", WgmmaShape::PAIRED), ("pops_128x256", WgmmaShape::WIDE), ("pops_256x128", WgmmaShape::TALL)]
            .map(|(metric, shape)| (metric, GpuPath::Wgmma(shape))),
    );
    if size <= LARGEST_POPCOUNT {
        paths.push(("pops_popcount", GpuPath::Popcount));
    }
    for (metric, path) in paths {
        // What this GPU lacks is no figure.
        let Ok(product) = DeviceProduct::of_rows(&left, &right)?.on(path) else { continue };
        pops(metric, &mut |_| Ok(product.paths().map(drop)?))?;
    }
    let us = session.clock.device_us(&mut |_| Ok(right.transposed().map(drop)?))?;
    report.add("hybrid", case, "transposition_us", us, "us").limited(session.limit_us(size * size / 4)?);
    Ok(())
}
