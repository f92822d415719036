//! The computations that are measured, and pseudo-random data for them.

use std::collections::HashSet;
use tilewright_dims::dims;
use tilewright_expr::{Element, In, Out, Rect, Value};
use tilewright_ops::{Error, Fused, Tensor, fuse};

dims! {
    /// The crop within the batch.
    N,
    /// Rows.
    Y,
    /// Columns.
    X,
    /// Colours.
    C,
    /// Rows of chroma.
    H,
    /// Columns of chroma.
    W,
    /// U and V.
    U,
    /// Bins of a histogram.
    L,
}

/// The frame: height, width, colours.
pub const FRAME: [usize; 3] = [2160, 3840, 3];
/// A box: width, height.
pub const BOX: (usize, usize) = (60, 120);
/// A resized crop: height, width.
pub const CROP: (usize, usize) = (128, 64);

/// A picture.
pub type Picture = Tensor<u8, (Y, X, C)>;
/// One box per crop.
pub type Boxes = Tensor<Rect, (N,)>;
/// A batch of planar crops.
pub type Batch = Tensor<f32, (N, C, Y, X)>;
/// A number per colour.
pub type Colours = Tensor<f32, (C,)>;
/// Numbers in a row.
pub type Line = Tensor<f32, (X,)>;

/// The main job as a handle: picture, boxes, factor, subtrahend, divisor.
pub type Crops<T = f32> =
    Fused<(In<u8, (Y, X, C)>, In<Rect, (N,)>, In<f32, (C,)>, In<f32, (C,)>, In<f32, (C,)>), Out<T, (N, C, Y, X)>>;

/// The main job: crop, resize, RGB to BGR, multiply, subtract, divide, planar.
pub fn crops() -> Crops {
    stored_crops()
}

/// The main job, computed in `f32` and stored as `T`.
pub fn stored_crops<T: Value + Element>() -> Crops<T> {
    let (height, width) = CROP;
    fuse(
        move |picture: In<u8, (Y, X, C)>,
              boxes: In<Rect, (N,)>,
              mul: In<f32, (C,)>,
              sub: In<f32, (C,)>,
              div: In<f32, (C,)>| {
            let pixel = picture.crop::<Y, X, _>(boxes).resize::<Y, X>(height, width).reverse::<C>();
            ((pixel * mul - sub) / div).to::<T>().store::<(N, C, Y, X)>()
        },
    )
}

/// Factor, subtrahend and divisor per colour, as a classifier would want them.
pub fn colours() -> Result<[Colours; 3], Error> {
    let make = |values: [f32; 3]| Tensor::from_vec([3], values.to_vec());
    Ok([make([1.0 / 255.0; 3])?, make([0.485, 0.456, 0.406])?, make([0.229, 0.224, 0.225])?])
}

/// Ten factors and ten summands. The products stay near 1, so that values neither vanish nor overflow.
pub const CHAIN: [(f32, f32); 10] = [
    (1.25, 0.5),
    (0.75, -0.25),
    (1.5, 0.125),
    (0.625, 0.75),
    (1.125, -0.5),
    (0.875, 0.375),
    (1.375, -0.625),
    (0.8125, 0.25),
    (1.0625, -0.375),
    (0.9375, 0.875),
];

/// A handle from one row of numbers to another.
pub type Chain = Fused<(In<f32, (X,)>,), Out<f32, (X,)>>;

/// Twenty operations with literal constants: `x = x * a + b`, ten times.
pub fn chain() -> Chain {
    fuse(|x: In<f32, (X,)>| CHAIN.iter().fold(x, |x, (a, b)| x * *a + *b).store::<(X,)>())
}

/// What [`chain`] computes for one number: each multiplication and addition rounded once together.
pub fn chain_of(x: f32) -> f32 {
    CHAIN.iter().fold(x, |x, (a, b)| x.mul_add(*a, *b))
}

/// The same boxes by bands of the picture as high as a box, from left to right.
pub fn by_row(boxes: &Boxes) -> Result<Boxes, Error> {
    let mut list = boxes.to_vec()?;
    list.sort_unstable_by_key(|b| (b.y / BOX.1 as i32, b.x, b.y));
    Tensor::from_vec([list.len()], list)
}

/// Pseudo-random numbers (SplitMix64): the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// Numbers in -1..1.
    pub fn floats(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    /// Bytes.
    pub fn pixels(&mut self, len: usize) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(len + 7);
        while pixels.len() < len {
            pixels.extend_from_slice(&self.bits().to_le_bytes());
        }
        pixels.truncate(len);
        pixels
    }

    /// A row of numbers in -1..1.
    pub fn line(&mut self, len: usize) -> Result<Line, Error> {
        Tensor::from_vec([len], self.floats(len))
    }

    /// A picture of random pixels.
    pub fn picture(&mut self, extents: [usize; 3]) -> Result<Picture, Error> {
        Tensor::from_vec(extents, self.pixels(extents.iter().product()))
    }

    /// Boxes of 60x120 pixels at places of a picture of these extents, no two the same.
    pub fn boxes(&mut self, count: usize, extents: [usize; 3]) -> Result<Boxes, Error> {
        let (width, height) = BOX;
        let (mut taken, mut boxes) = (HashSet::new(), Vec::with_capacity(count));
        while boxes.len() < count {
            let place = (self.below(extents[1] - width + 1), self.below(extents[0] - height + 1));
            if taken.insert(place) {
                boxes.push(Rect::new(place.0 as i32, place.1 as i32, width as i32, height as i32));
            }
        }
        Tensor::from_vec([count], boxes)
    }
}
