//! The computations of the suite `fuse`, and random ones.

use crate::cases::{Batch, Boxes, C, Colours, H, Line, N, Picture, Random, U, W, X, Y};
use tilewright_dims::Merge;
use tilewright_driver::Origin;
use tilewright_expr::colour::{Depth, Standard, YuvSpec, nv12};
use tilewright_expr::{Border, Element, Expr, Filter, In, Out, Rect, Value, World, f16};
use tilewright_ops::{Device, Error, Fused, fuse};

/// A factor and a summand, and the pair that takes them back. So values neither vanish nor grow nor meet, however many pairs
/// there are: a result still depends on its input.
pub const PAIRS: [(f32, f32); 2] = [(0.54, 0.54), (1.0 / 0.54, -1.0)];
/// What a chain of additions adds.
pub const SUMMAND: f32 = 0.54;
/// What a chain of multiplications multiplies by: 500 of them make 1.65.
pub const FACTOR: f32 = 1.001;

/// Most pairs that are written one after the other.
const STRAIGHT: usize = 64;

/// `n` multiplications and additions.
pub fn pairs<S: World>(x: Expr<f32, S>, n: usize) -> Expr<f32, S> {
    let one = |x: Expr<f32, S>, i: usize| x * PAIRS[i % 2].0 + PAIRS[i % 2].1;
    // Long chains are loops in the kernel, however long.
    let (times, rest) = if n > STRAIGHT { (n / 2, n % 2) } else { (0, n) };
    let x = x.iterate(times as u32, |x| one(one(x, 0), 1));
    (0..rest).fold(x, one)
}

/// What [`pairs`] computes for one number: each multiplication and addition rounded once together.
pub fn pairs_of(x: f32, n: usize) -> f32 {
    (0..n).fold(x, |x, i| x.mul_add(PAIRS[i % 2].0, PAIRS[i % 2].1))
}

/// A handle over one picture.
pub type Vertical = Fused<(In<u8, (Y, X)>,), Out<f32, (Y, X)>>;

/// `n` pairs over one picture.
pub fn vertical(n: usize) -> Vertical {
    fuse(move |x: In<u8, (Y, X)>| pairs(x.to::<f32>(), n).store::<(Y, X)>())
}

/// A handle over a batch of pictures, with a factor, a subtrahend and a divisor for each.
pub type Horizontal = Fused<(In<u8, (N, Y, X)>, In<f32, (N,)>, In<f32, (N,)>, In<f32, (N,)>), Out<f32, (N, Y, X)>>;

/// Cast, multiply, subtract, divide.
pub fn horizontal() -> Horizontal {
    fuse(|x: In<u8, (N, Y, X)>, mul: In<f32, (N,)>, sub: In<f32, (N,)>, div: In<f32, (N,)>| {
        ((x.to::<f32>() * mul - sub) / div).store::<(N, Y, X)>()
    })
}

/// A handle over a batch of pictures.
pub type Both = Fused<(In<u8, (N, Y, X)>,), Out<f32, (N, Y, X)>>;

/// `n` pairs over a batch of pictures.
pub fn both(n: usize) -> Both {
    fuse(move |x: In<u8, (N, Y, X)>| pairs(x.to::<f32>(), n).store::<(N, Y, X)>())
}

/// A handle from a row of `T` to a row of `U`.
pub type Row<T, U> = Fused<(In<T, (X,)>,), Out<U, (X,)>>;

/// `n` additions of one literal.
pub fn additions(n: usize) -> Row<f32, f32> {
    fuse(move |x: In<f32, (X,)>| (0..n).fold(x, |x, _| x + SUMMAND).store::<(X,)>())
}

/// `n` multiplications by one literal.
pub fn multiplications(n: usize) -> Row<f32, f32> {
    fuse(move |x: In<f32, (X,)>| (0..n).fold(x, |x, _| x * FACTOR).store::<(X,)>())
}

/// `n` pairs over a row.
pub fn row(n: usize) -> Row<u8, f32> {
    fuse(move |x: In<u8, (X,)>| pairs(x.to::<f32>(), n).store::<(X,)>())
}

/// Cast to `f32`, multiply, subtract, divide, over rows of any element type.
pub fn normalised<T: Value + Element>() -> Row<T, f32> {
    fuse(|x: In<T, (X,)>| ((x.to::<f32>() * 0.3 - 1.0) / 3.2).store::<(X,)>())
}

/// The same in `f64`.
pub fn normalised_f64<T: Value + Element>() -> Row<T, f64> {
    fuse(|x: In<T, (X,)>| ((x.to::<f64>() * 0.3 - 1.0) / 3.2).store::<(X,)>())
}

/// A handle over large frames: factor, subtrahend and divisor for each colour.
pub type Frames = Fused<(In<u8, (N, Y, X, C)>, In<f32, (C,)>, In<f32, (C,)>, In<f32, (C,)>), Out<f32, (N, C, Y, X)>>;

/// Frames as a classifier wants them: resized with this filter, normalised, planar.
pub fn frames(filter: Filter, height: usize, width: usize) -> Frames {
    fuse(move |frames: In<u8, (N, Y, X, C)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
        ((frames.resize_with::<Y, X>(height, width, filter) * mul - sub) / div).store::<(N, C, Y, X)>()
    })
}

/// A handle over a frame of video, luma and chroma: factor, subtrahend and divisor for each colour.
pub type Video =
    Fused<(In<u8, (Y, X)>, In<u8, (H, W, U)>, In<f32, (C,)>, In<f32, (C,)>, In<f32, (C,)>), Out<f16, (C, Y, X)>>;

/// NV12 as a detector wants it: RGB, resized, normalised, planar, in halves.
pub fn video(height: usize, width: usize) -> Video {
    const SPEC: YuvSpec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
    fuse(
        move |luma: In<u8, (Y, X)>,
              chroma: In<u8, (H, W, U)>,
              mul: In<f32, (C,)>,
              sub: In<f32, (C,)>,
              div: In<f32, (C,)>| {
            let rgb = nv12::<(Y, X), (H, W, U)>(luma, chroma).rgb::<C>(SPEC);
            ((rgb.resize::<Y, X>(height, width) * mul - sub) / div).to::<f16>().store::<(C, Y, X)>()
        },
    )
}

/// A handle from a matrix to the same one stored column after column.
pub type Transposed = Fused<(In<f32, (Y, X)>,), Out<f32, (X, Y)>>;

/// Each element twice as large, columns stored as rows.
pub fn transposed() -> Transposed {
    fuse(|x: In<f32, (Y, X)>| (x * 2.0).store::<(X, Y)>())
}

/// A handle from a picture of numbers to one of the same size.
pub type Filtered = Fused<(In<f32, (Y, X)>,), Out<f32, (Y, X)>>;

/// A Gaussian of five taps in each direction over a picture, its border repeated.
pub fn gauss5() -> Filtered {
    fuse(|x: In<f32, (Y, X)>| x.gaussian_blur::<Y, X>((5, 5), (0.0, 0.0), Border::Replicate).store::<(Y, X)>())
}

type TwoRows = Fused<(In<f32, (X,)>, In<f32, (X,)>), Out<f32, (X,)>>;
type OfBoxes = Fused<(In<u8, (Y, X, C)>, In<Rect, (N,)>, In<f32, (C,)>), Out<f32, (N, C, Y, X)>>;

/// A random pipeline.
#[derive(Debug)]
pub enum Pipeline {
    /// Over two rows.
    Rows(TwoRows),
    /// Boxes of a picture, resized.
    Boxes(OfBoxes),
}

/// What a pipeline computed.
#[derive(Debug)]
pub enum Computed {
    /// Of [`Pipeline::Rows`].
    Rows(Line),
    /// Of [`Pipeline::Boxes`].
    Boxes(Batch),
}

impl Computed {
    /// Its numbers.
    pub fn to_vec(&self) -> Result<Vec<f32>, Error> {
        match self {
            Computed::Rows(rows) => rows.to_vec(),
            Computed::Boxes(boxes) => boxes.to_vec(),
        }
    }
}

/// What random pipelines are given.
#[derive(Debug)]
pub struct Given {
    /// Two rows of the same length.
    pub rows: [Line; 2],
    /// A picture.
    pub picture: Picture,
    /// Boxes inside it, in host memory.
    pub boxes: Boxes,
    /// A number for each colour, in host memory.
    pub colours: Colours,
}

impl Given {
    /// Small operands, for the cost of a first call does not depend on their size.
    pub fn new() -> Result<Self, Error> {
        let mut random = Random::new(11);
        let extents = [240, 320, 3];
        Ok(Self {
            rows: [random.line(5000)?, random.line(5000)?],
            picture: random.picture(extents)?,
            boxes: random.boxes(7, extents)?,
            colours: Colours::from_vec([3], vec![0.4, 0.5, 0.6])?,
        })
    }

    /// The same with what is large on `device`.
    pub fn to(&self, device: &Device) -> Result<Self, Error> {
        let [a, b] = &self.rows;
        let rows = [a.to(device)?, b.to(device)?];
        let (boxes, colours) = (self.boxes.clone(), self.colours.clone());
        Ok(Self { rows, picture: self.picture.to(device)?, boxes, colours })
    }
}

impl Pipeline {
    /// The pipeline of a seed: another one for each, the same on every machine.
    pub fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let steps = 3 + random.below(22);
        if random.below(2) == 0 {
            return Self::Rows(fuse(move |x: In<f32, (X,)>, y: In<f32, (X,)>| {
                (0..steps).fold(x, |x, _| step(x, y, &mut random)).store::<(X,)>()
            }));
        }
        let (height, width) = (16 + random.below(64), 16 + random.below(64));
        Self::Boxes(fuse(move |picture: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, colours: In<f32, (C,)>| {
            let pixel = picture.crop::<Y, X, _>(boxes).resize::<Y, X>(height, width);
            let pixel = if random.below(2) == 0 { pixel.reverse::<C>() } else { pixel };
            let pixel = if random.below(2) == 0 { pixel.reverse::<X>() } else { pixel };
            let colours = pixel * colours;
            (0..steps).fold(pixel, |x, _| step(x, colours, &mut random)).store::<(N, C, Y, X)>()
        }))
    }

    /// Calls it on whatever device its operands are.
    pub fn call(&self, given: &Given) -> Result<Computed, Error> {
        match self {
            Self::Rows(rows) => rows.call(&given.rows[0], &given.rows[1]).map(Computed::Rows),
            Self::Boxes(boxes) => boxes.call(&given.picture, &given.boxes, &given.colours).map(Computed::Boxes),
        }
    }

    /// Milliseconds that the compiler took for its kernel, if it was built by one.
    pub fn compiler_ms(&self) -> Option<f64> {
        let built = match self {
            Self::Rows(rows) => rows.last_built(),
            Self::Boxes(boxes) => boxes.last_built(),
        };
        match built?.origin {
            Origin::Compiled { ms } => Some(ms),
            _ => None,
        }
    }

    /// The source of its kernel.
    pub fn source(&self, given: &Given) -> Result<String, Error> {
        match self {
            Self::Rows(rows) => rows.cuda_source(&given.rows[0], &given.rows[1]),
            Self::Boxes(boxes) => boxes.cuda_source(&given.picture, &given.boxes, &given.colours),
        }
    }
}

/// One random operation on `x`, now and then with `y`.
fn step<S>(x: Expr<f32, S>, y: Expr<f32, S>, random: &mut Random) -> Expr<f32, S>
where
    S: World + Merge<(), Out = S>,
{
    let literal = 0.5 + random.below(1000) as f32 / 1024.0;
    match random.below(12) {
        0 => x * literal,
        1 => x + literal,
        2 => x - literal,
        3 => x / literal,
        4 => x.min(y),
        5 => x.max(y),
        6 => x.abs().sqrt(),
        7 => (-(x.abs())).exp(),
        8 => x * y,
        9 => x + y,
        10 => x.clamp(-literal, literal),
        _ => x.lt(literal).select(x, y),
    }
}
