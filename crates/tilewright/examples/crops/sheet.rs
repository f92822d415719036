//! The contact sheet: all crops side by side, as one saw them.

use super::args::Args;
use super::{HEIGHT, WIDTH};
use image::{Rgb, RgbImage};
use ndarray::{ArrayD, Axis};

/// Most crops that a sheet shows.
const MOST: usize = 1500;
/// Pixels around each crop.
const GAP: usize = 2;

/// The sheet and how many crops it shows; `None` when there is none to show.
pub(crate) fn draw(batch: &ArrayD<f32>, args: &Args) -> Option<(RgbImage, usize)> {
    let shown = batch.shape()[0].min(MOST);
    if shown == 0 {
        return None;
    }
    let (cell_width, cell_height) = (WIDTH + GAP, HEIGHT + GAP);
    // About three to two.
    let columns = (1.5 * (shown * cell_height) as f64 / cell_width as f64).sqrt().ceil() as usize;
    let columns = columns.clamp(1, shown);
    let (width, height) = (columns * cell_width + GAP, shown.div_ceil(columns) * cell_height + GAP);
    let mut sheet = RgbImage::from_pixel(width as u32, height as u32, Rgb([255; 3]));
    for (n, crop) in batch.axis_iter(Axis(0)).take(shown).enumerate() {
        let (left, top) = (n % columns * cell_width + GAP, n / columns * cell_height + GAP);
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                // Blue first in the batch.
                let value = |colour: usize| restored(crop[[2 - colour, y, x]], colour, args);
                sheet.put_pixel((left + x) as u32, (top + y) as u32, Rgb([value(0), value(1), value(2)]));
            }
        }
    }
    Some((sheet, shown))
}

/// The 8-bit value that became `value`; black where a factor of 0 left nothing of it.
fn restored(value: f32, colour: usize, args: &Args) -> u8 {
    ((value * args.div[colour] + args.sub[colour]) / args.mul[colour]).round() as u8
}
