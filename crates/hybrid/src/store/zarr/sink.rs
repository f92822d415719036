use std::{fmt, ops::Range, path::Path, sync::Arc};

use zarrs::array::{Array, ArrayBytes, CodecOptions};

use super::{
    super::{Element, Extents, Sink, Source, Tile, Written, coverage::Coverage, files::Files},
    Shards, ZarrSource,
    folder::TemporaryFolder,
    gathered::{Gathered, Index, Shard, Unfinished},
    storage::{WrittenFiles, explain},
};
use crate::Error;
use crate::budget::Budget;
use crate::dispatch::At;

/// The file that describes an array.
const DESCRIPTION: &str = "zarr.json";

/// A sharded array of Zarr version 3 to be.
///
/// It appears under its name when it is committed, with every shard flushed. Something that has this name is never replaced. Each
/// shard's room is reserved when it is written, not before.
///
/// A shard is written whole. Tiles of whole shards are written at once; parts of shards, from tiles of any size and in any order, are gathered in
/// host memory until their shard is whole. Tiles that come row by row take a band of shards for that, and tiles that come column by column a column
/// of them. Where the budget has no room for another shard, the one that was begun first is written as it is, and read again for what comes later: slower,
/// but nothing needs more memory than one shard.
pub struct ZarrSink {
    array: Array<WrittenFiles>,
    storage: Arc<WrittenFiles>,
    extents: Extents,
    element: Element,
    shards: Shards,
    coverage: Coverage,
    gathered: Gathered,
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
        let (coverage, gathered) = (Coverage::default(), Gathered::within(Budget::host()));
        Ok(Self { array, storage, extents, element, shards, coverage, gathered })
    }

    /// What of the array a shard is: less than a shard at the array's edges.
    fn lies(&self, index: Index) -> Tile {
        let Extents { rows, columns } = self.shards.shard;
        let along = |index: usize, shard: usize, extent: usize| {
            let begin = index * shard;
            begin..extent.min(begin.saturating_add(shard))
        };
        Tile { rows: along(index[0], rows, self.extents.rows), columns: along(index[1], columns, self.extents.columns) }
    }

    /// Bytes of a shard.
    fn shard_bytes(&self) -> usize {
        self.shards.shard.rows * self.shards.shard.columns * self.element.bytes()
    }

    /// Puts a part of a tile into the content of a shard that begins at an element.
    fn put(&self, content: &mut [u8], [top, left]: [usize; 2], part: &Tile, (tile, data): (&Tile, &[u8])) {
        let (size, width) = (self.element.bytes(), part.columns.len() * self.element.bytes());
        let (to, from) = (self.shards.shard.columns, tile.columns.len());
        for row in part.rows.clone() {
            let to = ((row - top) * to + part.columns.start - left) * size;
            let from = ((row - tile.rows.start) * from + part.columns.start - tile.columns.start) * size;
            content[to..][..width].copy_from_slice(&data[from..][..width]);
        }
    }

    /// Writes what of a tile lies in a shard.
    fn write_part(&self, index: Index, shard: &Shard, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        let lies = self.lies(index);
        let begin = [lies.rows.start, lies.columns.start];
        let part = lies.meet(tile);
        if part == lies {
            let mut unfinished = shard.hold();
            // What lies beyond the array's edge is zeros.
            let mut content = vec![0; self.shard_bytes()];
            self.put(&mut content, begin, &part, (tile, data));
            self.store(index, &content)?;
            self.gathered.done(unfinished.take());
            return Ok(());
        }
        loop {
            let mut held = shard.hold();
            if held.is_none() {
                let room = self.gathered.room(self.shard_bytes())?;
                *held = room.map(|room| Unfinished::new(self.shard_bytes(), room));
            }
            let Some(unfinished) = &mut *held else {
                drop(held);
                self.settle_first()?;
                continue;
            };
            self.put(&mut unfinished.content, begin, &part, (tile, data));
            if unfinished.has(&part.from(begin), lies.extents()) {
                self.store(index, &unfinished.content)?;
                self.gathered.done(held.take());
            }
            return Ok(());
        }
    }

    fn store(&self, index: Index, content: &[u8]) -> Result<(), Error> {
        // By this thread alone: the shard is held, and another one of the pool may wait for it.
        let options = CodecOptions::default().with_store_empty_chunks(true).with_concurrent_target(1);
        let stored =
            self.array.store_chunk_opt(&index.map(|index| index as u64), ArrayBytes::new_flen(content), &options);
        stored.map_err(|error| explain(self.storage.0.path(), None, &error))
    }

    /// Writes what there is of a shard, over what its file has, and whether there was something.
    fn settle(&self, index: Index, shard: &Shard) -> Result<bool, Error> {
        let mut held = shard.hold();
        let Some(unfinished) = &mut *held else { return Ok(false) };
        let lies = self.lies(index);
        if unfinished.parts.hole(lies.extents()).is_some() {
            self.complete(&lies, unfinished)?;
        }
        self.store(index, &unfinished.content)?;
        self.gathered.done(held.take());
        Ok(true)
    }

    /// Reads what of a shard has not come again since it was written. It is all in memory from here on, whatever becomes of the file.
    fn complete(&self, lies: &Tile, unfinished: &mut Unfinished) -> Result<(), Error> {
        let (size, columns) = (self.element.bytes(), lies.columns.len());
        let mut all = vec![0; lies.count() * size];
        self.read_settled(lies, &mut all)?;
        for part in unfinished.parts.tiles() {
            let width = part.columns.len() * size;
            for row in part.rows {
                let [from, to] =
                    [self.shards.shard.columns, columns].map(|pitch| (row * pitch + part.columns.start) * size);
                all[to..][..width].copy_from_slice(&unfinished.content[from..][..width]);
            }
        }
        let begin = [lies.rows.start, lies.columns.start];
        self.put(&mut unfinished.content, begin, lies, (lies, &all));
        unfinished.has(&lies.from(begin), lies.extents());
        Ok(())
    }

    /// The same of the shard that was begun first, and whether there was one.
    fn settle_first(&self) -> Result<bool, Error> {
        for index in self.gathered.all() {
            let Some(shard) = self.gathered.known(index) else { continue };
            let settled = self.settle(index, &shard)?;
            self.gathered.leave(index, shard);
            if settled {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn settle_all(&self) -> Result<(), Error> {
        while self.settle_first()? {}
        Ok(())
    }

    /// Reads the shards' files, checksums included.
    fn read_settled(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let (files, place) = self.storage.0.unpublished();
        ZarrSource::open_with(files, &place)?.read_tile(tile, out)
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

    /// What was gathered before is written first: who begins anew has all of the budget.
    fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.settle_all()?;
        self.gathered.set_budget(host, self.shard_bytes())
    }

    /// As of any sink; also [`Error::Budget`] for a part of a shard where the budget has not room for one.
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        let along = |range: &Range<usize>, shard: usize| range.start / shard..range.end.div_ceil(shard);
        let columns = along(&tile.columns, self.shards.shard.columns);
        for row in along(&tile.rows, self.shards.shard.rows) {
            for index in columns.clone().map(|column| [row, column]) {
                let shard = self.gathered.shard(index);
                let written = self.write_part(index, &shard, tile, data);
                self.gathered.leave(index, shard);
                written?;
            }
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
        self.settle_all()?;
        self.storage.0.publish()
    }
}

impl Written for ZarrSink {
    fn read_back(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        self.settle_all()?;
        self.read_settled(tile, out)
    }
}

impl fmt::Debug for ZarrSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Extents { rows, columns }, element) = (self.extents, self.element.name());
        write!(f, "ZarrSink {rows} x {columns} of {element} for {}", self.storage.0.path().display())
    }
}
