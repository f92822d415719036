//! Luma and colour differences: the standards' matrices.

use super::Depth;
use super::matrix::Row;
use crate::dtype::{DType, Scalar};
use crate::fold;
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reads::sampled;
use crate::typed::{Expr, Pixel, Sampled};
use tilewright_dims::{Dim, Present, Set, Without};

/// Which weights luma has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standard {
    /// BT.601: Kr = 0.299, Kb = 0.114. Standard definition, and JPEG.
    Bt601,
    /// BT.709: Kr = 0.2126, Kb = 0.0722. High definition.
    Bt709,
    /// BT.2020, non-constant luminance: Kr = 0.2627, Kb = 0.0593. Ultra high definition.
    Bt2020,
}

/// Which values black and white have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Luma uses all values, 0 to 255 of 8 bits; differences all around 128.
    Full,
    /// Luma goes from 16 to 235 of 8 bits, differences from 16 to 240; more bits scale this by powers of two. Also called
    /// video or studio range.
    Limited,
}

/// What a YUV picture's values mean: weights, range, depth (ITU-R BT.601, BT.709, BT.2020; ITU-T H.273).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct YuvSpec {
    /// The weights of luma.
    pub standard: Standard,
    /// The values of black and white.
    pub range: Range,
    /// How many bits values have. [`Depth::Unit`]: those of 8 bits divided by 255.
    pub depth: Depth,
}

/// A change between YUV and RGB: `rows * (v - before) + after`. RGB values go from 0 to the depth's maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YuvMatrix {
    /// What is subtracted from each channel first.
    pub before: [f64; 3],
    /// Coefficients of each result.
    pub rows: [[f64; 3]; 3],
    /// What is added to each result.
    pub after: [f64; 3],
}

impl Standard {
    /// The weights of red, green and blue in luma.
    pub fn weights(self) -> [f64; 3] {
        let (red, blue) = match self {
            Standard::Bt601 => (0.299, 0.114),
            Standard::Bt709 => (0.2126, 0.0722),
            Standard::Bt2020 => (0.2627, 0.0593),
        };
        [red, 1.0 - red - blue, blue]
    }
}

impl YuvSpec {
    /// What a file of video mostly is: limited range.
    pub const fn limited(standard: Standard, depth: Depth) -> YuvSpec {
        YuvSpec { standard, range: Range::Limited, depth }
    }

    /// All values in use, as in JPEG.
    pub const fn full(standard: Standard, depth: Depth) -> YuvSpec {
        YuvSpec { standard, range: Range::Full, depth }
    }

    /// The values of black and of no colour.
    fn zero(&self) -> [f64; 3] {
        let bits = self.depth.bits();
        let black = match self.range {
            Range::Full => 0.0,
            Range::Limited => f64::from(1u32 << (bits - 4)),
        };
        let centre = f64::from(1u32 << (bits - 1));
        [black, centre, centre].map(|v| v / self.unit())
    }

    /// White above black, in luma and in the differences.
    fn spans(&self) -> [f64; 3] {
        let power = f64::from(1u32 << (self.depth.bits() - 8));
        let [luma, chroma] = match self.range {
            Range::Full => [self.codes(); 2],
            Range::Limited => [219.0 * power, 224.0 * power],
        };
        [luma, chroma, chroma].map(|v| v / self.unit())
    }

    /// The largest code of as many bits.
    fn codes(&self) -> f64 {
        f64::from((1u32 << self.depth.bits()) - 1)
    }

    /// What a code is divided by.
    fn unit(&self) -> f64 {
        self.codes() / self.depth.max()
    }

    /// The matrix from YUV to RGB.
    pub fn to_rgb(&self) -> YuvMatrix {
        let [red, green, blue] = self.standard.weights();
        let [luma, chroma, _] = self.spans().map(|span| self.depth.max() / span);
        let (v, u) = (2.0 * (1.0 - red) * chroma, 2.0 * (1.0 - blue) * chroma);
        YuvMatrix {
            before: self.zero(),
            rows: [[luma, 0.0, v], [luma, -u * blue / green, -v * red / green], [luma, u, 0.0]],
            after: [0.0; 3],
        }
    }

    /// The matrix from RGB to YUV.
    pub fn to_yuv(&self) -> YuvMatrix {
        let weights = self.standard.weights();
        let [luma, chroma, _] = self.spans().map(|span| span / self.depth.max());
        let difference = |of: usize| {
            let row = |i: usize| if i == of { 1.0 - weights[i] } else { -weights[i] };
            [row(0), row(1), row(2)].map(|w| w * chroma / (2.0 * (1.0 - weights[of])))
        };
        YuvMatrix {
            before: [0.0; 3],
            rows: [weights.map(|w| w * luma), difference(2), difference(0)],
            after: self.zero(),
        }
    }
}

impl Graph {
    /// `row` of a matrix applied to channels from which its `before` is subtracted; none rounded but by the operations.
    pub(crate) fn yuv_row(&mut self, channels: &[NodeId; 3], matrix: &YuvMatrix, row: usize) -> NodeId {
        let dtype = self.node(channels[0]).dtype;
        let number = |v: f64| fold::cast(Scalar::of(v), dtype);
        let mut centred = *channels;
        for (channel, before) in centred.iter_mut().zip(matrix.before).filter(|(_, before)| *before != 0.0) {
            let before = self.number(dtype, before);
            *channel = self.binary(Binary::Sub, *channel, before);
        }
        let row = Row { coefficients: matrix.rows[row].map(number).to_vec(), offset: number(matrix.after[row]) };
        self.mixed(&centred, &row)
    }

    fn changed(&mut self, source: NodeId, dim: DimId, matrix: &YuvMatrix) -> NodeId {
        let real: DType = sampled(self.node(source).dtype);
        let source = self.cast(source, real);
        let [a, b, c] = self.channels(source, dim, 3)[..] else { return source };
        let results = [0, 1, 2].map(|row| self.yuv_row(&[a, b, c], matrix, row));
        self.stack(dim, &results)
    }
}

impl<T, S: Set> Expr<T, S> {
    /// Red, green and blue of Y, U, V along `C`, which are code values of `spec`. The result goes from 0 to the depth's
    /// maximum for colours that exist, and is neither rounded nor limited: so pictures may be resized before or after.
    ///
    /// Each is `((y - black) * m[0] + (u - centre) * m[1]) + (v - centre) * m[2]`, products but the first fused with the sum;
    /// grey stays grey exactly.
    pub fn yuv_to_rgb<C: Dim>(self, spec: YuvSpec) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| g.changed(source, C::ID, &spec.to_rgb()))
    }

    /// Y, U, V, as code values of `spec`, of red, green and blue along `C` from 0 to the depth's maximum; neither rounded nor
    /// limited. Each is `((offset + m[0] * red) + m[1] * green) + m[2] * blue`, products fused with the sum.
    pub fn rgb_to_yuv<C: Dim>(self, spec: YuvSpec) -> Expr<<T as Pixel>::Real, S>
    where
        T: Sampled,
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| g.changed(source, C::ID, &spec.to_yuv()))
    }
}
