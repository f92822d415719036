//! Where factors lie while something is solved by them.

use super::Device;
use crate::Error;
use crate::budget::{Budget, Permit};
use crate::dispatch::HostRoom;
use crate::store::{Extents, FileScratch, MemoryScratch, Scratch, Stored};
use std::path::Path;
use std::sync::Arc;

/// Host memory for factors, and a folder for those that it has no room for.
#[derive(Clone)]
pub(super) struct Scratches {
    pub(super) host: Budget,
    folder: Option<Arc<Path>>,
}

/// A scratch, and leave to take its memory.
pub(super) struct Kept {
    pub(super) scratch: Box<dyn Scratch>,
    _host: Option<Permit>,
}

impl Device {
    pub(super) fn scratches(&self) -> Scratches {
        Scratches { host: self.host.clone(), folder: self.folder.clone() }
    }
}

impl Scratches {
    /// One for the factors of a square matrix.
    pub(super) fn square<T: Stored>(&self, size: usize) -> Result<Kept, Error> {
        let extents = Extents::new(size, size);
        let bytes = extents.byte_count(T::ELEMENT)? as u64;
        let room = HostRoom { bytes: self.host.available(), has_folder: self.folder.is_some() };
        match self.folder.as_ref().filter(|_| room.spills(bytes)) {
            Some(folder) => {
                let scratch = FileScratch::new(folder, extents, T::ELEMENT)?;
                Ok(Kept { scratch: Box::new(scratch), _host: None })
            }
            None => {
                let host = self.host.try_acquire(bytes)?;
                let scratch = MemoryScratch::brought(extents, T::ELEMENT)?;
                Ok(Kept { scratch: Box::new(scratch), _host: Some(host) })
            }
        }
    }
}
