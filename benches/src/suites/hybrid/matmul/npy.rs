//! Operands in files.

use super::super::add;
use super::{Case, in_memory, multiply};
use crate::Result;
use crate::report::Report;
use crate::session::Session;
use std::path::Path;
use tilewright_hybrid::store::{Extents, NpySink, NpySource, Order, Sink, Source, Stored, read_staged, write_staged};

/// Threads that write files.
const WRITERS: usize = 8;

/// Measures `matmul-npy/f64/` of a size: operands from files that the system keeps in memory, beside the same from
/// page-locked memory.
pub(in super::super) fn run_npy(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let size = case.rsplit('/').next().unwrap_or_default().parse()?;
    let mut of = Case::<f64>::new(session, size, quick)?;
    let (plan, staged_plan, size) = (of.plan, of.staged_plan, of.operands.size);
    let extents = Extents::new(size, size);
    let folder = match std::env::var_os("TILEWRIGHT_SCRATCH") {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let [a, b] = ["a.npy", "b.npy"].map(|name| folder.path().join(name));
    written(&a, &of.operands.a, extents)?;
    written(&b, &of.operands.b, extents)?;
    let (a, b) = (NpySource::open(a)?, NpySource::open(b)?);
    // Both are read once, so that they are in memory whatever the system did with them when they were written.
    read_through(&a)?;
    read_through(&b)?;
    // The first product loads libraries.
    of.rate()?;
    let pinned = of.stream(&plan)?;
    of.operands.poison();
    let (gpu, budgets) = (of.gpu.clone(), of.budgets.clone());
    let sink = in_memory(&mut of.operands.c, extents)?;
    let from_files = multiply::<f64>(&gpu, &budgets, &staged_plan, [&a, &b], sink, None)?;
    of.check()?;
    let (ours, theirs) = (from_files.wall, pinned.wall);
    add(report, case, &[("s", ours, "s"), ("from_pinned_s", theirs, "s"), ("share", theirs / ours, "x")]);
    Ok(())
}

fn written(path: &Path, values: &[f64], extents: Extents) -> Result<()> {
    let sink = NpySink::create(path, &[extents.rows, extents.columns], f64::ELEMENT, Order::C)?;
    write_staged(&sink, &extents.whole(), f64::bytes(values), WRITERS)?;
    Ok(Box::new(sink).commit()?)
}

fn read_through(source: &NpySource) -> Result<()> {
    let Extents { rows, columns } = source.extents();
    let band = Extents::new(256.min(rows.max(1)), columns);
    let mut bytes = vec![0; band.byte_count(source.element())?];
    for tile in source.extents().tiles(band) {
        let count = tile.extents().byte_count(source.element())?;
        read_staged(source, &tile, &mut bytes[..count], WRITERS)?;
    }
    Ok(())
}
