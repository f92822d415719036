//! The formats of results on disk behind one face, for what holds of each of them.

use std::{fs, path::Path};

#[cfg(feature = "zarr")]
use tilewright_hybrid::store::{Shards, ZarrSink, ZarrSource};
use tilewright_hybrid::{
    Error,
    store::{Element, Extents, NpySink, NpySource, Order, ReadTyped, Sink, Source, WriteTyped},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    #[cfg(feature = "zarr")]
    Zarr,
}

/// What names the format to a child.
pub(super) const FORMAT: &str = "FORMAT";

/// Rows of a tile, and of a shard.
pub(super) const TILE_ROWS: usize = 64;
#[cfg(feature = "zarr")]
const SHARDS: Shards = Shards { shard: Extents::new(TILE_ROWS, 512), chunk: Extents::new(32, 128) };

impl Format {
    pub(super) const ALL: &[Self] = &[
        Self::Npy,
        #[cfg(feature = "zarr")]
        Self::Zarr,
    ];

    /// The one that the parent named.
    pub(super) fn here() -> Self {
        let name = std::env::var(FORMAT).expect("the parent names it");
        *Self::ALL.iter().find(|format| format.name() == name).expect("a format")
    }

    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }

    /// Whether a result takes the place of an older one; elsewhere a place that is taken is an error.
    pub(super) fn replaces(self) -> bool {
        self == Self::Npy
    }

    pub(super) fn sink(self, path: &Path, rows: usize, columns: usize) -> Result<Box<dyn Sink>, Error> {
        match self {
            Self::Npy => Ok(Box::new(NpySink::create(path, &[rows, columns], Element::U64, Order::C)?)),
            #[cfg(feature = "zarr")]
            Self::Zarr => Ok(Box::new(ZarrSink::create(path, Extents::new(rows, columns), Element::U64, SHARDS)?)),
        }
    }

    fn source(self, path: &Path) -> Result<Box<dyn Source>, Error> {
        match self {
            Self::Npy => Ok(Box::new(NpySource::open(path)?)),
            #[cfg(feature = "zarr")]
            Self::Zarr => Ok(Box::new(ZarrSource::open(path)?)),
        }
    }

    /// A matrix whose elements are all `value`.
    pub(super) fn write(self, path: &Path, rows: usize, columns: usize, value: u64) -> Result<(), Error> {
        let sink = self.sink(path, rows, columns)?;
        for tile in sink.extents().tiles(Extents::new(TILE_ROWS, columns)) {
            sink.write(&tile, &vec![value; tile.rows.len() * columns])?;
        }
        sink.commit()
    }

    /// The one value of a matrix, and how often it is there.
    pub(super) fn value(self, path: &Path) -> (u64, usize) {
        let source = self.source(path).unwrap();
        let mut values = vec![0u64; source.extents().rows * source.extents().columns];
        source.read(&source.extents().whole(), &mut values).unwrap();
        assert!(values.iter().all(|value| *value == values[0]), "{self:?}: nothing is a mixture");
        (values[0], values.len())
    }

    /// Has a place free for another result, where that does not take it: what is there loses its name in one step, as it had got it.
    pub(super) fn vacate(self, path: &Path) {
        if !self.replaces() {
            let aside = path.with_extension("old");
            let _ = fs::remove_dir_all(&aside);
            if path.exists() {
                fs::rename(path, &aside).unwrap();
                fs::remove_dir_all(&aside).unwrap();
            }
        }
    }

    /// Bytes that are asked for at once for a matrix, which may not be there.
    pub(super) fn reserved(self, rows: usize, columns: usize) -> u64 {
        match self {
            // A header of 128 bytes.
            Self::Npy => rows as u64 * columns as u64 * 8 + 128,
            // Each of its chunks with a checksum and two numbers in an index, which has a checksum too.
            #[cfg(feature = "zarr")]
            Self::Zarr => {
                let [shard, chunk] =
                    [SHARDS.shard, SHARDS.chunk].map(|extents| (extents.rows * extents.columns) as u64);
                shard * 8 + shard / chunk * (4 + 16) + 4
            }
        }
    }
}
