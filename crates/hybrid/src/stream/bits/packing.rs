//! Bits of a row as they are stored, in bytes or in words, and as a device has them, padded.

use super::Bits;
use crate::Error;
use crate::bits::gpu::words_per_row;
use crate::store::{Element, Sink, Tile};
use bytemuck::cast_slice_mut;
use std::ops::Range;

/// How the bits of a row are stored, the first in the lowest bit: in so many elements of so many bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    pub(super) bits: usize,
    element_bytes: usize,
    elements: usize,
}

impl Packing {
    /// [`Error::ElementType`] unless elements are bytes or words of 64 bits, [`Error::Shape`] for fewer than the bits take, or more than with
    /// the padding of a [`crate::bits::BitMatrix`].
    pub(super) fn new(element: Element, elements: usize, bits: usize) -> Result<Packing, Error> {
        let operation = "a streamed product of bits";
        let element_bytes = match element {
            Element::U8 => 1,
            Element::U64 => 8,
            other => return Err(Error::ElementType { operation, expected: other.name(), got: "u8 or u64" }),
        };
        let (least, most) = (bits.div_ceil(8 * element_bytes), 4 * words_per_row(bits) / element_bytes);
        if !(least..=most).contains(&elements) {
            let what = "stored columns of packed bits";
            return Err(Error::Shape { operation, what, expected: least, got: elements });
        }
        Ok(Packing { bits, element_bytes, elements })
    }

    /// The stored elements of a tile of bits, whose columns begin at a multiple of 128, and end there or with the row.
    pub(super) fn stored(&self, tile: &Tile) -> Tile {
        let bits = 8 * self.element_bytes;
        let Range { start, end } = tile.columns;
        let end = if end == self.bits { self.elements } else { end / bits };
        Tile { rows: tile.rows.clone(), columns: start / bits..end }
    }
}

/// Reads a tile of bits into padded rows. Behind the last bit of each there are zeros, whatever is stored.
pub(super) fn read(bits: &Bits<'_>, tile: &Tile, words: &mut [u32]) -> Result<(), Error> {
    let stored = bits.packing.stored(tile);
    let row = stored.columns.len() * bits.packing.element_bytes;
    let bytes: &mut [u8] = cast_slice_mut(words);
    bits.source.read_tile(&stored, &mut bytes[..row * tile.rows.len()])?;
    spread(bytes, row, 4 * words_per_row(tile.columns.len()), tile.rows.len());
    clear_behind(words, tile.columns.len());
    Ok(())
}

/// Writes padded rows of a tile of bits, and zeros where more is stored.
pub(super) fn write((sink, packing): (&dyn Sink, &Packing), tile: &Tile, words: &mut [u32]) -> Result<(), Error> {
    clear_behind(words, tile.columns.len());
    let stored = packing.stored(tile);
    let row = stored.columns.len() * packing.element_bytes;
    let bytes: &mut [u8] = cast_slice_mut(words);
    gather(bytes, row, 4 * words_per_row(tile.columns.len()), tile.rows.len());
    sink.write_tile(&stored, &bytes[..row * tile.rows.len()])
}

/// Rows without gaps become rows that begin `pitch` bytes apart, from the last one on, so that none is overwritten before it has moved.
fn spread(bytes: &mut [u8], row: usize, pitch: usize, rows: usize) {
    if row == pitch {
        return;
    }
    for number in (0..rows).rev() {
        bytes.copy_within(number * row..(number + 1) * row, number * pitch);
        bytes[number * pitch + row..(number + 1) * pitch].fill(0);
    }
}

/// The other way round, from the first one on.
fn gather(bytes: &mut [u8], row: usize, pitch: usize, rows: usize) {
    if row == pitch {
        return;
    }
    for number in 0..rows {
        bytes.copy_within(number * pitch..number * pitch + row, number * row);
    }
}

/// Clears all bits of padded rows behind the first `bits`.
fn clear_behind(words: &mut [u32], bits: usize) {
    let per_row = words_per_row(bits);
    if bits == 32 * per_row {
        return;
    }
    for row in words.chunks_exact_mut(per_row) {
        if !bits.is_multiple_of(32) {
            row[bits / 32] &= (1 << (bits % 32)) - 1;
        }
        row[bits.div_ceil(32)..].fill(0);
    }
}
