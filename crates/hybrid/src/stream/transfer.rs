//! Large matrices in ordinary memory to a GPU and back, through page-locked slots: threads rearrange parts of them while others are copied.

use super::engine::{Eliminator, Engine, Form, Queue};
use super::gpu::GpuEngine;
use super::pipeline::{self, Back, Flow};
use super::stages::facts;
use super::staging::{Load, Staging};
use super::turns::Stop;
use crate::budget::Budget;
use crate::linear::{Gpu, Scalar};
use crate::matrix::{Columns, Element, Rows};
use crate::store::{Extents, Tile};
use crate::{Error, MatRef};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use tilewright_driver::DeviceBuffer;
use tilewright_driver::blas::Layout;

/// Bytes from which on this is faster than a copy from ordinary memory, for which the driver has one thread: page-locking slots takes as long as
/// some 40 MB of such a copy.
pub(crate) const LARGE: usize = 128 << 20;
/// Bytes that pass through page-locked memory: fewer are faster without it, and more takes long to be locked the first time, 0.2 ms a megabyte.
pub(crate) const LOCKED: RangeInclusive<usize> = 32 << 10..=32 << 20;
/// Slots that one way takes at least: with fewer nothing is locked for little.
const SHARE: u128 = 64;

/// The values of a matrix, column by column, to a buffer whose stream is the GPU's, when what that had before is done; whether there was page-locked
/// memory for it.
pub(crate) fn upload<T: Element>(
    gpu: &Gpu,
    matrix: MatRef<'_, T>,
    buffer: &mut DeviceBuffer<T>,
) -> Result<bool, Error> {
    let Some((staging, _pinned)) = slots::<T>([matrix.rows() * matrix.columns(), 0]) else {
        return Ok(false);
    };
    let engine = GpuEngine::new(gpu)?.locking_within(&Budget::pinned())?;
    Engine::<T>::wait(&engine, Queue::In, &Engine::<T>::mark(&engine, Queue::Compute)?)?;
    let upload = Upload { matrix, elements: staging.elements };
    pipeline::run(&engine, &upload, staging, Vec::new(), |feed| {
        let mut at = 0;
        for part in upload.tiles() {
            feed.bring(part.count(), buffer, at)?;
            at += part.count();
        }
        Ok(())
    })?;
    Ok(true)
}

/// The same of a matrix transposed, or its adjoint, which is made on the GPU: parts come into memory of their own, and go from there to where
/// they belong.
pub(crate) fn upload_turned<T: Scalar>(
    gpu: &Gpu,
    matrix: MatRef<'_, T>,
    form: Form,
) -> Result<Option<DeviceBuffer<T>>, Error> {
    let (length, leading) = (matrix.rows() * matrix.columns(), matrix.columns());
    let Some((staging, _pinned)) = slots::<T>([length, 0]) else { return Ok(None) };
    let engine = GpuEngine::new(gpu)?.locking_within(&Budget::pinned())?;
    let mut buffer: DeviceBuffer<T> = engine.buffer(length)?;
    // While one is turned the next one comes.
    let part = || Ok::<_, Error>((engine.buffer(staging.elements)?, None));
    let mut parts: [(DeviceBuffer<T>, _); 2] = [part()?, part()?];
    let upload = Upload { matrix, elements: staging.elements };
    pipeline::run(&engine, &upload, staging, Vec::new(), |feed| {
        for (number, tile) in upload.tiles().enumerate() {
            let (part, turned) = &mut parts[number % 2];
            turned.as_ref().map_or(Ok(()), |turned| Engine::<T>::wait(&engine, Queue::In, turned))?;
            feed.bring(tile.count(), part, 0)?;
            Engine::<T>::wait(&engine, Queue::Compute, &Engine::<T>::mark(&engine, Queue::In)?)?;
            let [rows, columns] = [tile.rows.len(), tile.columns.len()];
            let offset = tile.columns.start * leading + tile.rows.start;
            let (from, to) = (Layout::dense(columns, rows), Layout { offset, rows, columns, leading });
            feed.compute(|| facts(&turned_back(&tile)), || engine.copy(form, (&*part, from), (&mut buffer, to)))?;
            *turned = Some(Engine::<T>::mark(&engine, Queue::Compute)?);
        }
        Ok(())
    })?;
    Ok(Some(buffer))
}

/// The matrix's own rows and columns: its tiles are those of the transposed one, whose rows lie as its columns do.
fn turned_back(Tile { rows, columns }: &Tile) -> Tile {
    Tile { rows: columns.clone(), columns: rows.clone() }
}

/// The values from one on of a buffer whose stream is the GPU's; whether there was page-locked memory for it.
pub(crate) fn download<T: Element>(
    gpu: &Gpu,
    buffer: &DeviceBuffer<T>,
    first: usize,
    values: &mut [T],
) -> Result<bool, Error> {
    let Some((staging, _pinned)) = slots::<T>([0, values.len()]) else { return Ok(false) };
    let engine = GpuEngine::new(gpu)?.locking_within(&Budget::pinned())?;
    let end = first + values.len();
    let parts = values.chunks_mut(staging.elements).map(Mutex::new).collect();
    let download = Download { elements: staging.elements, first, end, parts };
    let buffers = vec![std::slice::from_ref(buffer)];
    pipeline::run(&engine, &download, staging, buffers, |feed| {
        let buffer = feed.take_for(Queue::Compute)?;
        feed.give((), buffer)
    })?;
    Ok(true)
}

/// Room for matrices of so many elements, which go to the device, and which come back.
fn slots<T>(elements: [usize; 2]) -> Option<(Staging, crate::budget::Ring)> {
    let bytes = elements.map(|elements| elements as u128 * size_of::<T>() as u128);
    let most = (bytes[0] + bytes[1]).div_ceil(SHARE);
    let load = Load { granule: size_of::<T>(), most, bytes, ..Load::default() };
    let (staging, ring) = Staging::new::<T>(&Budget::pinned(), load);
    Some((staging, ring?))
}

struct Upload<'a, T: Element> {
    matrix: MatRef<'a, T>,
    elements: usize,
}

impl<T: Element> Upload<'_, T> {
    /// Parts of the transposed matrix: row by row, that is the matrix column by column.
    fn tiles(&self) -> impl Iterator<Item = Tile> + use<T> {
        Extents::new(self.matrix.columns(), self.matrix.rows()).whole().parts(self.elements, Extents::new(1, 1))
    }
}

impl<T: Element> Flow<T, GpuEngine> for Upload<'_, T> {
    type Piece = Tile;
    type Memory = [DeviceBuffer<T>; 0];
    type Results = ();
    type Part = ();

    fn pieces(&self) -> impl Iterator<Item = Result<Tile, Stop>> + Send {
        self.tiles().map(Ok)
    }

    fn facts_of_piece(&self, tile: &Tile) -> Value {
        facts(&turned_back(tile))
    }

    fn facts_of_part(&self, (): &()) -> Value {
        Value::Null
    }

    fn read(&self, Tile { rows, columns }: Tile, host: &mut <GpuEngine as Engine<T>>::Host) -> Result<(), Error> {
        let part = self.matrix.part(Rows(columns.start)..Rows(columns.end), Columns(rows.start)..Columns(rows.end))?;
        let host = &mut host[..part.rows() * part.columns()];
        match part.as_columns() {
            Some(values) => host.copy_from_slice(values),
            None => part.fill_columns(host),
        }
        Ok(())
    }

    fn parts(&self, (): ()) -> impl Iterator<Item = Back<()>> {
        std::iter::empty()
    }

    fn write(&self, (): &(), _: &mut <GpuEngine as Engine<T>>::Host) -> Result<(), Error> {
        Ok(())
    }
}

struct Download<'a, T> {
    elements: usize,
    /// Of the buffer.
    first: usize,
    end: usize,
    /// Where each slot goes.
    parts: Vec<Mutex<&'a mut [T]>>,
}

impl<'a, T: Element> Flow<T, GpuEngine> for Download<'a, T> {
    type Piece = ();
    type Memory = &'a [DeviceBuffer<T>];
    type Results = ();
    /// Its number.
    type Part = usize;

    fn pieces(&self) -> impl Iterator<Item = Result<(), Stop>> + Send {
        std::iter::empty()
    }

    fn facts_of_piece(&self, (): &()) -> Value {
        Value::Null
    }

    fn facts_of_part(&self, part: &usize) -> Value {
        json!({ "part": part })
    }

    fn read(&self, (): (), _: &mut <GpuEngine as Engine<T>>::Host) -> Result<(), Error> {
        Ok(())
    }

    fn parts(&self, (): ()) -> impl Iterator<Item = Back<usize>> {
        (0..self.parts.len()).map(|part| {
            let at = self.first + part * self.elements;
            Back { buffer: 0, at, elements: self.elements.min(self.end - at), part }
        })
    }

    fn write(&self, part: &usize, host: &mut <GpuEngine as Engine<T>>::Host) -> Result<(), Error> {
        let mut values = self.parts[*part].lock().unwrap_or_else(PoisonError::into_inner);
        let length = values.len();
        values.copy_from_slice(&host[..length]);
        Ok(())
    }
}
