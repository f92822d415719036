//! Tiles by several threads: one thread does not keep a fast disk busy, nor a memory bus.

use std::sync::OnceLock;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Sink, Source, Tile};
use crate::Error;

/// A thread with less to do than this takes longer to wake than to work.
const LEAST_BYTES: usize = 256 << 10;

/// Reads a tile by up to so many threads, each a band of its rows; for the rest as [`Source::read_tile`].
pub fn read_staged(source: &dyn Source, tile: &Tile, out: &mut [u8], threads: usize) -> Result<(), Error> {
    tile.check("read", source.extents(), source.element(), out.len())?;
    let Some(band) = band_rows(tile, out.len(), threads, source.grain().rows) else {
        return source.read_tile(tile, out);
    };
    let row_bytes = out.len() / tile.rows.len();
    let bands = bands(tile, band).zip(out.chunks_mut(band * row_bytes));
    on_threads(bands, |(tile, out)| source.read_tile(&tile, out))
}

/// Writes a tile by up to so many threads; for the rest as [`Sink::write_tile`].
pub fn write_staged(sink: &dyn Sink, tile: &Tile, data: &[u8], threads: usize) -> Result<(), Error> {
    tile.check("write", sink.extents(), sink.element(), data.len())?;
    let Some(band) = band_rows(tile, data.len(), threads, sink.grain().rows) else {
        return sink.write_tile(tile, data);
    };
    let row_bytes = data.len() / tile.rows.len();
    let bands = bands(tile, band).zip(data.chunks(band * row_bytes));
    on_threads(bands, |(tile, data)| sink.write_tile(&tile, data))
}

/// Rows of a band, a multiple of the grain; `None` where there would be one band.
fn band_rows(tile: &Tile, bytes: usize, threads: usize, grain: usize) -> Option<usize> {
    let threads = threads.min(bytes / LEAST_BYTES);
    let band = tile.rows.len().div_ceil(threads.max(1)).checked_next_multiple_of(grain.max(1))?;
    (threads > 1 && band < tile.rows.len()).then_some(band)
}

fn bands(tile: &Tile, height: usize) -> impl Iterator<Item = Tile> {
    let (end, columns) = (tile.rows.end, tile.columns.clone());
    tile.rows
        .clone()
        .step_by(height)
        .map(move |top| Tile { rows: top..end.min(top.saturating_add(height)), columns: columns.clone() })
}

/// All of them, on threads that are there already; the first error in their order.
fn on_threads<T: Send>(
    work: impl Iterator<Item = T>,
    run: impl Fn(T) -> Result<(), Error> + Sync + Send,
) -> Result<(), Error> {
    let parts: Vec<T> = work.collect();
    let results: Vec<Result<(), Error>> = match pool() {
        Some(pool) => pool.install(|| parts.into_par_iter().map(run).collect()),
        None => parts.into_iter().map(run).collect(),
    };
    results.into_iter().fold(Ok(()), Result::and)
}

/// Threads for nothing else: those that all of a program share may all be waiting for what is read here. None where no thread can be started.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().thread_name(|at| format!("staging-{at}")).build().ok()).as_ref()
}
