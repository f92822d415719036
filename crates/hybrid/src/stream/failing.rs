//! Sources, sinks and scratches of tests that fail.

use crate::Error;
use crate::store::{Element, Extents, Scratch, Sink, Source, Tile};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The error of all that fails on purpose.
pub(super) fn injected() -> Error {
    Error::Corrupt { path: "injected".into(), chunk: None, why: "as asked".into() }
}

/// Fails after so many tiles.
pub(super) struct Failing<S> {
    inner: S,
    reads: AtomicUsize,
    writes: AtomicUsize,
    panics: bool,
}

impl<S> Failing<S> {
    /// After so many that are read, and so many that are written.
    pub(super) fn after(reads: usize, writes: usize, inner: S) -> Self {
        Failing { inner, reads: AtomicUsize::new(reads), writes: AtomicUsize::new(writes), panics: false }
    }

    /// It panics instead.
    pub(super) fn that_panics(self) -> Self {
        Failing { panics: true, ..self }
    }

    fn once(&self, left: &AtomicUsize) -> Result<(), Error> {
        let less = |left: usize| left.checked_sub(1);
        let left = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        assert!(left.is_ok() || !self.panics, "as asked");
        left.map(drop).map_err(|_| injected())
    }

    /// After so many that are read.
    pub(super) fn to_read(reads: usize, inner: S) -> Self {
        Self::after(reads, usize::MAX, inner)
    }

    /// After so many that are written.
    pub(super) fn to_write(writes: usize, inner: S) -> Self {
        Self::after(usize::MAX, writes, inner)
    }
}

impl<S: Source> Source for Failing<S> {
    fn extents(&self) -> Extents {
        self.inner.extents()
    }

    fn element(&self) -> Element {
        self.inner.element()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.once(&self.reads)?;
        self.inner.read_tile(tile, out)
    }
}

impl<S: Scratch> Scratch for Failing<S> {
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.once(&self.writes)?;
        self.inner.write_tile(tile, data)
    }
}

impl<S: Sink> Sink for Failing<S> {
    fn extents(&self) -> Extents {
        self.inner.extents()
    }

    fn element(&self) -> Element {
        self.inner.element()
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.once(&self.writes)?;
        self.inner.write_tile(tile, data)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Box::new(self.inner).commit()
    }
}
