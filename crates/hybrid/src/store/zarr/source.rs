use std::{
    fmt,
    num::NonZeroU64,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use zarrs::{
    array::{Array, ArrayBytes, ArrayCreateError, ArrayError},
    plugin::ExtensionName,
};

use super::{
    super::{Element, Extents, Source, Tile, files::Files},
    inner::{ABSENT, Inner, OfTile},
    metadata::data_type,
    storage::{ReadFiles, explain, ours},
};
use crate::Error;
use crate::dispatch::At;
use rustix::fs::Advice;

/// An array of Zarr version 3 on disk, read only; of two dimensions, sharded or not. Chunks may be stored as they are or with crc32c.
///
/// A shard that is not there is zeros (its fill value), as the format has it.
pub struct ZarrSource {
    array: Array<ReadFiles>,
    path: PathBuf,
    extents: Extents,
    element: Element,
    /// Of what is a file, and of what is read at once within it.
    shard: Extents,
    chunk: Extents,
    inner: Option<Inner>,
}

impl ZarrSource {
    /// Opens the array in a folder. [`Error::Corrupt`] for what is no such array, [`Error::Unsupported`] for other element types and
    /// numbers of dimensions, [`Error::Io`] for what cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(Files::default(), path.as_ref())
    }

    pub(in crate::store) fn open_with(files: Files, path: &Path) -> Result<Self, Error> {
        let storage = Arc::new(ReadFiles { files, path: path.into() });
        let array = Array::open(storage, "/").map_err(|error| not_opened(path, &error))?;
        let name = array.data_type().name_v3().unwrap_or_default();
        let unsupported =
            |why: String| Error::Unsupported { operation: "open", element: "an array", place: "CPU", why };
        let element = Element::ALL.into_iter().find(|element| data_type(*element) == name);
        let element = element.ok_or_else(|| unsupported(format!("{} has elements {name}", path.display())))?;
        let pair = |extents: &[u64]| match extents {
            [rows, columns] => Some(Extents::new(usize::try_from(*rows).ok()?, usize::try_from(*columns).ok()?)),
            _ => None,
        };
        let matrix =
            || unsupported(format!("{} has shape {:?}; only matrices can be read", path.display(), array.shape()));
        let extents = pair(array.shape()).ok_or_else(matrix)?;
        extents.byte_count(element)?;
        let shape = |error: ArrayError| explain(path, None, &error);
        let sizes = |shape: &[NonZeroU64]| pair(&shape.iter().map(|extent| extent.get()).collect::<Vec<_>>());
        let shard = sizes(&array.chunk_shape(&[0, 0]).map_err(shape)?).ok_or_else(matrix)?;
        let inner = Inner::of(&array);
        let chunk = inner.as_ref().map_or(Some(shard), |inner| sizes(&inner.shape)).ok_or_else(matrix)?;
        chunk.byte_count(element)?;
        Ok(Self { path: path.into(), extents, element, shard, chunk, inner, array })
    }

    /// Rows and columns of a shard, or of a chunk of an array without shards.
    pub fn shard(&self) -> Extents {
        self.shard
    }

    /// Reads the part of a tile that lies in one chunk.
    fn read_chunk(&self, indices: &mut OfTile, chunk: [usize; 2], tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let content =
            self.decode(indices, chunk).map_err(|error| explain(&self.path, Some(self.name(chunk)), &error))?;
        let (size, Extents { rows, columns }) = (self.element.bytes(), self.chunk);
        let (top, left) = (chunk[0] * rows, chunk[1] * columns);
        let lines = tile.rows.start.max(top)..tile.rows.end.min(top.saturating_add(rows));
        let along = tile.columns.start.max(left)..tile.columns.end.min(left.saturating_add(columns));
        let pitch = tile.columns.len() * size;
        for line in lines {
            let from = ((line - top) * columns + along.start - left) * size;
            let to = (line - tile.rows.start) * pitch + (along.start - tile.columns.start) * size;
            out[to..][..along.len() * size].copy_from_slice(&content[from..][..along.len() * size]);
        }
        Ok(())
    }

    /// A chunk, decoded whole.
    fn decode(&self, indices: &mut OfTile, chunk: [usize; 2]) -> Result<Vec<u8>, ArrayError> {
        let content = match &self.inner {
            None => {
                let bytes = self.array.retrieve_chunk::<ArrayBytes<'static>>(&chunk.map(|index| index as u64))?;
                Some(bytes.into_fixed()?.into_owned())
            }
            Some(inner) => {
                let (shard, place) = self.place(chunk);
                inner.decode(&self.array, indices, shard, place)?
            }
        };
        let elements = self.chunk.rows * self.chunk.columns;
        let content = content.unwrap_or_else(|| self.array.fill_value().as_ne_bytes().repeat(elements));
        match content.len() == elements * self.element.bytes() {
            true => Ok(content),
            false => Err(ArrayError::UnexpectedChunkDecodedSize(content.len(), elements * self.element.bytes())),
        }
    }

    /// The shard of a chunk, and which of its chunks it is.
    fn place(&self, [row, column]: [usize; 2]) -> ([usize; 2], usize) {
        let (down, across) = (self.shard.rows / self.chunk.rows, self.shard.columns / self.chunk.columns);
        ([row / down, column / across], row % down * across + column % across)
    }

    /// A hint about chunks of a tile, which `chunks` says for a range of it, a chunk's extent there and the array's.
    fn advise(
        &self,
        tile: &Tile,
        chunks: impl Fn(&Range<usize>, usize, usize) -> Range<usize>,
        advice: Advice,
    ) -> Result<(), Error> {
        tile.check("advise", self.extents, self.element, tile.extents().byte_count(self.element)?)?;
        let rows = chunks(&tile.rows, self.chunk.rows, self.extents.rows);
        let columns = chunks(&tile.columns, self.chunk.columns, self.extents.columns);
        if tile.is_empty() || rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        let (down, across) = (self.shard.rows / self.chunk.rows, self.shard.columns / self.chunk.columns);
        for row in parts(&rows, down) {
            for column in parts(&columns, across) {
                let within = |range: &Range<usize>, shard: usize, count: usize| {
                    range.start.max(shard * count)..range.end.min((shard + 1) * count)
                };
                let part = [within(&rows, row, down), within(&columns, column, across)];
                self.advise_shard([row, column], part, advice)?;
            }
        }
        Ok(())
    }

    /// A hint about chunks of one shard: about its file where that is all of them, so that its index is not read for it.
    fn advise_shard(&self, shard: [usize; 2], chunks: [Range<usize>; 2], advice: Advice) -> Result<(), Error> {
        let key = self.array.chunk_key(&shard.map(|index| index as u64));
        let storage = self.array.storage();
        let [rows, columns] = chunks;
        let of = |extent: usize, shard: usize, chunk: usize, index: usize| {
            parts(&(index * shard..extent.min((index + 1).saturating_mul(shard))), chunk)
        };
        let all = rows == of(self.extents.rows, self.shard.rows, self.chunk.rows, shard[0])
            && columns == of(self.extents.columns, self.shard.columns, self.chunk.columns, shard[1]);
        let Some(inner) = self.inner.as_ref().filter(|_| !all) else { return storage.advise(&key, None, advice) };
        let error = |error| explain(&self.path, Some(format!("index of shard {key}")), &error);
        let Some(index) = inner.remembered_index(&self.array, shard).map_err(error)? else { return Ok(()) };
        let places = rows.flat_map(|row| columns.clone().map(move |column| [row, column]));
        let stored = places.filter_map(|chunk| index.get(self.place(chunk).1).copied());
        storage.advise(&key, Some(stored.filter(|place| *place != ABSENT).collect()), advice)
    }

    /// What a chunk is called in an error.
    fn name(&self, chunk: [usize; 2]) -> String {
        if self.inner.is_none() {
            return key(chunk);
        }
        let ((shard, place), across) = (self.place(chunk), self.shard.columns / self.chunk.columns);
        format!("({}, {}) of shard {}", place / across, place % across, key(shard))
    }
}

impl Source for ZarrSource {
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
        self.chunk
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents, self.element, out.len())?;
        if tile.is_empty() {
            return Ok(());
        }
        // Indices of shards that this tile needs, each read once.
        let mut indices = OfTile::new();
        for row in parts(&tile.rows, self.chunk.rows) {
            for column in parts(&tile.columns, self.chunk.columns) {
                self.read_chunk(&mut indices, [row, column], tile, out)?;
            }
        }
        Ok(())
    }

    /// Of the chunks that the tile touches.
    fn prefetch(&self, tile: &Tile) -> Result<(), Error> {
        let chunks = |range: &Range<usize>, chunk, _| parts(range, chunk);
        self.advise(tile, chunks, Advice::WillNeed)
    }

    /// Of the chunks whose last element is in the tile: what is read from the top, from left to right, needs no chunk behind that.
    fn release(&self, tile: &Tile) -> Result<(), Error> {
        let chunks = |range: &Range<usize>, chunk: usize, extent| {
            range.start / chunk..if range.end == extent { range.end.div_ceil(chunk) } else { range.end / chunk }
        };
        self.advise(tile, chunks, Advice::DontNeed)
    }
}

/// The parts of an extent, all but the last of one size, that a range touches.
fn parts(range: &Range<usize>, size: usize) -> Range<usize> {
    range.start / size..range.end.div_ceil(size)
}

/// The file's name of a shard, as we write it.
fn key([row, column]: [usize; 2]) -> String {
    format!("c.{row}.{column}")
}

fn not_opened(path: &Path, error: &ArrayCreateError) -> Error {
    let own = match error {
        ArrayCreateError::StorageError(error) => ours(error),
        _ => None,
    };
    own.unwrap_or_else(|| Error::Corrupt { path: path.into(), chunk: None, why: error.to_string() })
}

impl fmt::Debug for ZarrSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Extents { rows, columns }, element) = (self.extents, self.element.name());
        write!(f, "ZarrSource {rows} x {columns} of {element} in {}", self.path.display())
    }
}
