//! A write: masks of one bit a pixel.

use crate::{M, N, X, Y};
use tilewright::expr::Out;
use tilewright::extend::Write;
use tilewright::prelude::*;

/// Eight pixels in a byte, the first in the lowest bit; what is left of a row's last byte is 0.
#[derive(Clone, Copy, Debug)]
pub struct PackedBits {
    /// Columns.
    pub width: usize,
}

impl Write<In<bool, (N, Y, X)>> for PackedBits {
    type Outputs = Out<u8, (N, Y, M)>;
    const NAME: &'static str = "packed bits";

    fn write(self, mask: In<bool, (N, Y, X)>) -> Self::Outputs {
        let first = coordinate::<M>().repeat::<M>(self.width.div_ceil(8)) * 8;
        let bit = |i: u8| {
            let pixel = mask.at_border::<X, _>(first + i32::from(i), Border::Constant(false));
            pixel.to::<u8>() << i
        };
        (1..8).fold(bit(0), |byte, i| byte | bit(i)).store()
    }
}
