//! Rows of a picture as f32, a block of channels wide.

use super::blocks::Block;
use crate::conv::element::Convolved;

/// The rows that a window needs, converted once each.
pub(super) struct Rows<'a, T> {
    from: &'a [T],
    /// Pixels of a row.
    columns: usize,
    /// Channels of a pixel.
    channels: usize,
    block: Block,
    /// Each row at its number modulo the window's.
    slots: Vec<Slot>,
}

struct Slot {
    row: Option<usize>,
    /// Pixel by pixel; what stands behind a block's channels stays 0.
    values: Vec<f32>,
}

impl<'a, T: Convolved> Rows<'a, T> {
    /// The channels `block` of `from`, rows of `columns` pixels of `channels` channels; up to `window` rows at once.
    pub(super) fn new(from: &'a [T], [columns, channels]: [usize; 2], block: Block, window: usize) -> Self {
        let slots = (0..window).map(|_| Slot { row: None, values: vec![0.0; columns * block.pitch] }).collect();
        Rows { from, columns, channels, block, slots }
    }

    /// Converts row `row`, if that was not done before.
    pub(super) fn load(&mut self, row: usize) {
        let Rows { from, columns, channels, block, slots } = self;
        let number = row % slots.len();
        let slot = &mut slots[number];
        if slot.row.replace(row) == Some(row) {
            return;
        }
        let pixels = &from[row * *columns * *channels..][..*columns * *channels];
        if block.width == *channels && block.pitch == *channels {
            return T::widen(pixels, &mut slot.values);
        }
        for (pixel, values) in pixels.chunks_exact(*channels).zip(slot.values.chunks_exact_mut(block.pitch)) {
            T::widen(&pixel[block.first..][..block.width], &mut values[..block.width]);
        }
    }

    /// Row `row`, which was loaded.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.slots[row % self.slots.len()].values
    }
}
