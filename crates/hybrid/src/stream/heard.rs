//! A source of tests that hears what streams say, and writes it down with what they read.

use super::failing::injected;
use crate::Error;
use crate::store::{Element, Extents, Source, Tile};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Said {
    Prefetch,
    Read,
    Release,
}

/// What was said of which source, in its order.
#[derive(Default)]
pub(super) struct Log(Mutex<Vec<(Said, usize, Tile)>>);

/// One of the sources of a log.
pub(super) struct Heard<'l, S> {
    pub(super) inner: S,
    pub(super) number: usize,
    pub(super) log: &'l Log,
    /// A hint that fails.
    pub(super) fails: Option<Said>,
}

impl<S> Heard<'_, S> {
    fn hear(&self, said: Said, tile: &Tile) -> Result<(), Error> {
        self.log.entries().push((said, self.number, tile.clone()));
        if self.fails == Some(said) { Err(injected()) } else { Ok(()) }
    }
}

impl<S: Source> Source for Heard<'_, S> {
    fn extents(&self) -> Extents {
        self.inner.extents()
    }

    fn element(&self) -> Element {
        self.inner.element()
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.inner.read_tile(tile, out)?;
        self.hear(Said::Read, tile)
    }

    fn prefetch(&self, tile: &Tile) -> Result<(), Error> {
        self.hear(Said::Prefetch, tile)
    }

    fn release(&self, tile: &Tile) -> Result<(), Error> {
        self.hear(Said::Release, tile)
    }
}

impl Log {
    fn entries(&self) -> MutexGuard<'_, Vec<(Said, usize, Tile)>> {
        self.0.lock().unwrap()
    }

    /// All that was said by one reader with so many slots: before each part the one that is read as many parts later, behind it that it is done with, if
    /// nothing of it is read again.
    pub(super) fn check(&self, slots: usize, releases: bool) {
        let entries = self.entries();
        let reads: Vec<_> = entries.iter().filter(|(said, ..)| *said == Said::Read).collect();
        let mut expected = Vec::new();
        for (at, (_, number, tile)) in reads.iter().enumerate() {
            expected.extend(reads.get(at + slots).map(|(_, number, tile)| (Said::Prefetch, *number, tile.clone())));
            expected.push((Said::Read, *number, tile.clone()));
            let again = reads[at + 1..].iter().any(|(_, other, later)| other == number && later.meets(tile));
            expected.extend((releases && !again).then(|| (Said::Release, *number, tile.clone())));
        }
        assert!(reads.len() > 2 * slots && *entries == expected, "{entries:?}\nis not\n{expected:?}");
    }

    /// By several readers: nothing is read behind its release, all is released once, and nothing is fetched more often than it is read.
    pub(super) fn check_loosely(&self) {
        self.check_releases();
        let entries = self.entries();
        for of in entries.iter().filter(|entry| entry.0 == Said::Read) {
            let count = |said: Said| entries.iter().filter(|it| (it.0, it.1, &it.2) == (said, of.1, &of.2)).count();
            assert_eq!(count(Said::Release), 1, "{of:?}");
            assert!(count(Said::Prefetch) <= count(Said::Read), "{of:?}");
        }
        assert!(entries.iter().any(|entry| entry.0 == Said::Prefetch));
    }

    /// Nothing is read behind its release, and elements of all sources are released once each.
    pub(super) fn check_releases(&self) {
        let (entries, mut released) = (self.entries(), BTreeSet::new());
        for (said, number, tile) in entries.iter().filter(|entry| entry.0 != Said::Prefetch) {
            for (row, column) in tile.rows.clone().flat_map(|row| tile.columns.clone().map(move |column| (row, column)))
            {
                let place = (*number, row, column);
                let is_free = if *said == Said::Release { !released.insert(place) } else { released.contains(&place) };
                assert!(!is_free, "{said:?} of {tile:?} of {number}, which was released");
            }
        }
        let read = entries.iter().filter(|entry| entry.0 == Said::Read).flat_map(|(_, number, tile)| {
            let columns = tile.columns.clone();
            tile.rows.clone().flat_map(move |row| columns.clone().map(move |column| (*number, row, column)))
        });
        assert_eq!(released, read.collect());
    }

    pub(super) fn count(&self, said: Said) -> usize {
        self.entries().iter().filter(|entry| entry.0 == said).count()
    }
}
