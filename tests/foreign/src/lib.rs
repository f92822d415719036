//! Somebody else's crate: it finds spots in frames of a raw sensor, and has no name inside tilewright.
//!
//! A file for each kind of part: [`raw10`] reads a format, [`noise`] is a scalar function of its own, [`peaks`] looks at
//! neighbours, [`bits`] stores a format. [`spots`] is a chain of them and of tilewright's own operations: one kernel.

pub mod bits;
pub mod noise;
pub mod peaks;
pub mod raw10;

use bits::PackedBits;
use noise::below;
use peaks::Peaks;
use raw10::Raw10;
use tilewright::expr::Out;
use tilewright::extend::Apply;
use tilewright::prelude::*;

dims! {
    /// Boxes.
    N,
    /// Rows.
    Y,
    /// Columns.
    X,
    /// Bytes of a row of the sensor.
    B,
    /// Bytes of a row of the mask.
    M
}

/// Columns of the sensor.
pub const SENSOR: usize = 38;
/// Rows and columns of a mask.
pub const MASK: (usize, usize) = (20, 21);

/// Where the pixels of each box, brought to one size, stand out: a mask of bits.
pub fn spots(frame: In<u8, (Y, B)>, boxes: In<Rect, (N,)>, gain: In<f32, (N,)>) -> Out<u8, (N, Y, M)> {
    let picture = frame.read(Raw10 { width: SENSOR });
    let small = picture.crop::<Y, X, _>(boxes).resize::<Y, X>(MASK.0, MASK.1);
    let place = coordinate::<X>() + coordinate::<Y>() * 64;
    let dither = below::of(place.to::<u32>(), 7).to::<f32>();
    (small * gain + dither).apply(Peaks).gt(500.0).write(PackedBits { width: MASK.1 })
}
