use std::path::Path;

use super::{
    super::{
        Element, Extents, Source, Tile,
        files::{Files, Step},
        temporary::Temporary,
    },
    Scratch,
};
use crate::Error;
use crate::dispatch::At;

/// A scratch on disk: a file without a name, where the file system has such files, which vanishes with its owner, also when that is killed.
pub struct FileScratch {
    temporary: Temporary,
    files: Files,
    extents: Extents,
    element: Element,
}

impl FileScratch {
    /// A scratch in a folder. All of its room is reserved now: [`Error::StorageFull`] where there is too little, [`Error::Io`] for the rest.
    pub fn new(folder: impl AsRef<Path>, extents: Extents, element: Element) -> Result<Self, Error> {
        Self::new_with(Files::default(), folder.as_ref(), extents, element)
    }

    fn new_with(files: Files, folder: &Path, extents: Extents, element: Element) -> Result<Self, Error> {
        let bytes = extents.byte_count(element)? as u64;
        let temporary = Temporary::create(files.clone(), &folder.join("scratch"), bytes)?;
        Ok(Self { temporary, files, extents, element })
    }

    /// Parts of the file that are a tile: where each begins, and its bytes. Whole rows are one part.
    fn parts(&self, tile: &Tile) -> (impl Iterator<Item = u64> + use<>, usize) {
        let size = self.element.bytes();
        let pitch = self.extents.columns * size;
        let (first, width) = (tile.columns.start * size, tile.columns.len() * size);
        let together = if width == pitch { tile.rows.len().max(1) } else { 1 };
        let begins = tile.rows.clone().step_by(together).map(move |row| row as u64 * pitch as u64 + first as u64);
        (begins, width * together)
    }
}

impl Source for FileScratch {
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
        Extents::new(1, self.extents.columns.max(1))
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        tile.check("read", self.extents, self.element, out.len())?;
        let (begins, width) = self.parts(tile);
        for (begin, out) in begins.zip(out.chunks_exact_mut(width.max(1))) {
            let read = self.files.read(&self.temporary.file, out, begin);
            read.map_err(Step::Read.failed(self.temporary.path()))?;
        }
        Ok(())
    }
}

impl Scratch for FileScratch {
    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        tile.check("write", self.extents, self.element, data.len())?;
        let (begins, width) = self.parts(tile);
        begins.zip(data.chunks_exact(width.max(1))).try_for_each(|(begin, data)| self.temporary.write(data, begin))
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use super::*;

    #[test]
    fn each_call_that_fails_is_an_error_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for failing in [Step::Open, Step::CreateUnnamed, Step::Allocate, Step::Write, Step::Read] {
            let fault = move |step| if step == failing { Err(io::Error::other("injected")) } else { Ok(()) };
            let files = Files { fault: Some(Arc::new(fault)) };
            let extents = Extents::new(4, 4);
            let error = FileScratch::new_with(files, folder.path(), extents, Element::F64).and_then(|scratch| {
                scratch.write_tile(&extents.whole(), &[1; 128])?;
                scratch.read_tile(&extents.whole(), &mut [0; 128])
            });
            let error = error.unwrap_err();
            assert!(
                matches!(&error, Error::Io { path, .. } if path.starts_with(folder.path())),
                "{failing:?}: {error}"
            );
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{failing:?}");
        }
    }
}
