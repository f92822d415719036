//! A read: frames of a sensor with ten bits a pixel.

use crate::{B, X, Y};
use tilewright::extend::Read;
use tilewright::prelude::*;

/// Rows of four pixels in five bytes: the upper eight bits of each, then the lower two of all four, the first lowest. (RAW10 of
/// MIPI CSI-2.)
#[derive(Clone, Copy, Debug)]
pub struct Raw10 {
    /// Columns. The bytes of a row are five for each four of them, begun ones too.
    pub width: usize,
}

impl Read<In<u8, (Y, B)>> for Raw10 {
    type Elem = u16;
    type Set = <(Y, X) as Dims>::Set;
    const NAME: &'static str = "raw10";

    fn read(self, bytes: In<u8, (Y, B)>) -> In<u16, (Y, X)> {
        let x = coordinate::<X>().repeat::<X>(self.width);
        let (group, lane) = ((x >> 2) * 5, x & 3);
        let high = bytes.at::<B, _>(group + lane).to::<u16>();
        let low = bytes.at::<B, _>(group + 4).to::<u16>() >> (lane * 2).to::<u16>();
        (high << 2) | (low & 3)
    }
}
