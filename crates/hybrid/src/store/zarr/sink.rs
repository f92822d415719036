use std::{fmt, ops::Range, path::Path, sync::Arc};

use zarrs::array::{Array, ArrayBytes, CodecOptions};

use super::{
    super::{Element, Extents, Sink, Source, Tile, Written, coverage::Coverage, files::Files},
    Shards, ZarrSource,
    folder::TemporaryFolder,
    storage::{WrittenFiles, explain},
};
use crate::Error;
use crate::dispatch::At;

/// The file that describes an array.
const DESCRIPTION: &str = "zarr.json";

/// A sharded array of Zarr version 3 to be, written in tiles of whole shards.
///
/// It appears under its name when it is committed, with every shard flushed. Something that has this name is never replaced. Each
/// shard's room is reserved when it is written, not before.
pub struct ZarrSink {
    array: Array<WrittenFiles>,
    storage: Arc<WrittenFiles>,
    extents: Extents,
    element: Element,
    shards: Shards,
    coverage: Coverage,
}

impl ZarrSink {
    /// A new array in a folder that is not there yet. [`Error::Shape`] for shards that chunks do not divide, [`Error::Io`] for a place
    /// that is taken or cannot be written.
    pub fn create(path: impl AsRef<Path>, extents: Extents, element: Element, shards: Shards) -> Result<Self, Error> {
        Self::create_with(Files::default(), path.as_ref(), extents, element, shards)
    }

    pub(in crate::store) fn create_with(
        files: Files,
        path: &Path,
        extents: Extents,
        element: Element,
        shards: Shards,
    ) -> Result<Self, Error> {
        shards.check()?;
        extents.byte_count(element)?;
        shards.shard.byte_count(element)?;
        let text = shards.metadata(extents, element);
        let odd = |why: String| Error::Corrupt { path: path.into(), chunk: None, why };
        let metadata =
            zarrs::metadata::ArrayMetadata::try_from(text.as_str()).map_err(|error| odd(error.to_string()))?;
        let folder = TemporaryFolder::create(files, path)?;
        folder.write(DESCRIPTION, text.as_bytes())?;
        let storage = Arc::new(WrittenFiles(folder));
        let array = Array::new_with_metadata(storage.clone(), "/", metadata).map_err(|error| odd(error.to_string()))?;
        Ok(Self { array, storage, extents, element, shards, coverage: Coverage::default() })
    }

    fn write_shard(&self, shard: [usize; 2], tile: &Tile, data: &[u8]) -> Result<(), Error> {
        let (size, Extents { rows, columns }) = (self.element.bytes(), self.shards.shard);
        let (top, left) = (shard[0] * rows, shard[1] * columns);
        let (height, width) = (rows.min(tile.rows.end - top), columns.min(tile.columns.end - left) * size);
        let (from, pitch) =
            ((top - tile.rows.start) * tile.columns.len() + left - tile.columns.start, tile.columns.len());
        // What lies beyond the array's edge is zeros.
        let mut content = vec![0; rows * columns * size];
        for (line, to) in content.chunks_exact_mut(columns * size).take(height).enumerate() {
            to[..width].copy_from_slice(&data[(from + line * pitch) * size..][..width]);
        }
        let options = CodecOptions::default().with_store_empty_chunks(true);
        let stored =
            self.array.store_chunk_opt(&shard.map(|index| index as u64), ArrayBytes::new_flen(content), &options);
        stored.map_err(|error| explain(self.storage.0.path(), None, &error))
    }

    /// The shards of a tile along one dimension, if it begins and ends where shards do.
    fn shards_of(
        what: [&'static str; 2],
        range: &Range<usize>,
        shard: usize,
        extent: usize,
    ) -> Result<Range<usize>, Error> {
        let wrong = |what, expected, got| Err(Error::Shape { operation: "write", what, expected, got });
        if !range.start.is_multiple_of(shard) {
            return wrong(what[0], range.start / shard * shard, range.start);
        }
        if !range.end.is_multiple_of(shard) && range.end != extent {
            return wrong(what[1], range.end.next_multiple_of(shard).min(extent), range.end);
        }
        Ok(range.start / shard..range.end.div_ceil(shard))
    }
}

impl Sink for ZarrSink {
    fn extents(&self) -> Extents {
        self.extents
    }

    fn at(&self) -> At {
        At::Disk
    }

    fn element(&self) -> Element {
        self.element
    }

    fn grain(&self) -> Extents {
        self.shards.shard
    }

    /// [`Error::Shape`] for a tile that begins or ends within a shard.
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let shard = self.shards.shard;
        let rows = ["the tile's first row, a multiple of a shard's", "the tile's last row, a multiple of a shard's"];
        let columns =
            ["the tile's first column, a multiple of a shard's", "the tile's last column, a multiple of a shard's"];
        let rows = Self::shards_of(rows, &tile.rows, shard.rows, self.extents.rows)?;
        let columns = Self::shards_of(columns, &tile.columns, shard.columns, self.extents.columns)?;
        for row in rows {
            columns.clone().try_for_each(|column| self.write_shard([row, column], tile, data))?;
        }
        self.coverage.add(tile);
        Ok(())
    }

    fn written(&self) -> Option<&dyn Written> {
        Some(self)
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        if let Some((row, column)) = self.coverage.hole(self.extents) {
            return Err(Error::Incomplete { what: self.storage.0.path().display().to_string(), row, column });
        }
        self.storage.0.publish()
    }
}

impl Written for ZarrSink {
    /// Reads the shards' files, checksums included.
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let (files, place) = self.storage.0.unpublished();
        ZarrSource::open_with(files, &place)?.read_tile(tile, out)
    }
}

impl fmt::Debug for ZarrSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Extents { rows, columns }, element) = (self.extents, self.element.name());
        write!(f, "ZarrSink {rows} x {columns} of {element} for {}", self.storage.0.path().display())
    }
}
