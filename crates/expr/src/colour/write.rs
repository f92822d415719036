//! Frames of video, written: the planes of a picture.

use super::packed::{Places, UYVY, VYUY, YUYV, YVYU};
use super::picture::SetOf;
use super::{Depth, Interleaved, Picture, Subsampling, YuvSpec};
use crate::dtype::{DType, Value};
use crate::error::Error;
use crate::graph::{Binary, Graph, NodeId};
use crate::typed::{Expr, Sampled};
use std::marker::PhantomData;
use tilewright_dims::{Dim, Present, Set, Without};

/// A picture over `L` that becomes luma and chroma; each method makes the planes of a format, to be stored.
///
/// Chroma of half the size is made of the mean of its pixels' colours (see [`Subsampling`]), `(n + 1) / 2` samples for `n`
/// pixels. Code values are rounded half to even and limited to the depth's range.
///
/// The planes of a frame, stored together, are computed by one kernel: those of one size by the same threads, others beside them.
///
/// ```
/// # use tilewright_expr::{In, trace, colour::{Depth, Standard, YuvSpec}};
/// # use tilewright_dims::dims;
/// # dims! { Y, X, H, W, U, C }
/// let video = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
/// trace(|rgb: In<u8, (Y, X, C)>| {
///     let (luma, chroma) = rgb.to_yuv::<C, (Y, X)>(video).nv12::<(H, W, U)>();
///     (luma.store::<(Y, X)>(), chroma.store::<(H, W, U)>())
/// });
/// ```
pub struct YuvPicture<L> {
    /// Red; its type and dimensions are those of `L`.
    red: Expr<(), ()>,
    green: NodeId,
    blue: NodeId,
    spec: YuvSpec,
    subsampling: Subsampling,
    low_bits: bool,
    _dims: PhantomData<L>,
}

impl<L> Clone for YuvPicture<L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L> Copy for YuvPicture<L> {}

impl<L> std::fmt::Debug for YuvPicture<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "YuvPicture({:?}, {:?})", self.red, self.spec)
    }
}

impl<T, S: Set> Expr<T, S> {
    /// Red, green and blue along `C`, from 0 to the maximum of the depth of `spec`, to be written as YUV over `L`: `(Y, X)`.
    pub fn to_yuv<C: Dim, L: Picture>(self, spec: YuvSpec) -> YuvPicture<L>
    where
        T: Sampled,
        S: Without<C, Was: Present<C>, Rest = SetOf<L>>,
    {
        let mut others = [NodeId(0); 2];
        let red = self.then(|g, source| {
            let source = g.cast(source, DType::F32);
            let channels = g.channels(source, C::ID, 3);
            let [red, green, blue] = channels[..] else { return source };
            others = [green, blue];
            red
        });
        let [green, blue] = others;
        YuvPicture { red, green, blue, spec, subsampling: Subsampling::Mean, low_bits: false, _dims: PhantomData }
    }
}

/// What is written: a format's depth, the bits below its values, the type of its elements.
#[derive(Clone, Copy)]
struct Code {
    depth: Depth,
    shift: u32,
    dtype: DType,
}

impl<L: Picture> YuvPicture<L> {
    /// The same picture with chroma made of other pixels.
    pub fn subsampling(self, subsampling: Subsampling) -> Self {
        YuvPicture { subsampling, ..self }
    }

    /// The same picture with its values in the low bits of 16-bit elements, whatever the format.
    pub fn low_bits(self) -> Self {
        YuvPicture { low_bits: true, ..self }
    }

    /// One plane that `f` makes of red, green and blue, which are given to it as floats.
    fn plane<U, R>(
        self,
        code: Code,
        f: impl FnOnce(&mut Graph, [NodeId; 3], &dyn Fn(&mut Graph, NodeId) -> NodeId) -> NodeId,
    ) -> Expr<U, R> {
        self.red.then(|g, red| {
            if self.spec.depth != code.depth {
                g.fail(Error::Depth { frame: code.depth, spec: self.spec.depth });
            }
            let shift = if self.low_bits { 0 } else { code.shift };
            let encode = |g: &mut Graph, value: NodeId| {
                let value = g.limited_to(value, code.depth, code.dtype);
                if shift == 0 {
                    return value;
                }
                let shift = g.number(code.dtype, f64::from(shift));
                g.binary(Binary::Shl, value, shift)
            };
            f(g, [red, self.green, self.blue], &encode)
        })
    }

    fn luma(self, code: Code) -> Expr<(), ()> {
        let matrix = self.spec.to_yuv();
        self.plane(code, |g, rgb, encode| {
            let luma = g.yuv_row(&rgb, &matrix, 0);
            encode(g, luma)
        })
    }

    /// Red, green and blue at the chroma samples of `K`.
    fn sampled<K: Picture>(self, g: &mut Graph, rgb: [NodeId; 3]) -> [NodeId; 3] {
        g.name_dim(K::Rows::ID, K::Rows::NAME);
        g.name_dim(K::Columns::ID, K::Columns::NAME);
        let dims = [(L::Columns::ID, K::Columns::ID), (L::Rows::ID, K::Rows::ID)];
        rgb.map(|channel| g.at_samples(channel, dims, self.subsampling))
    }

    /// Row `row` of the matrix (1: U, 2: V) at the samples of `K`.
    fn chroma<K: Picture>(self, code: Code, row: usize) -> Expr<(), ()> {
        let matrix = self.spec.to_yuv();
        self.plane(code, |g, rgb, encode| {
            let rgb = self.sampled::<K>(g, rgb);
            let value = g.yuv_row(&rgb, &matrix, row);
            encode(g, value)
        })
    }

    /// U and V (`rows` 1, 2) or V and U along the channels of `K`.
    fn both<K: Interleaved>(self, code: Code, rows: [usize; 2]) -> Expr<(), ()> {
        let matrix = self.spec.to_yuv();
        self.plane(code, |g, rgb, encode| {
            g.name_dim(K::Channel::ID, K::Channel::NAME);
            let rgb = self.sampled::<K::Plane>(g, rgb);
            let values = rows.map(|row| {
                let value = g.yuv_row(&rgb, &matrix, row);
                encode(g, value)
            });
            g.stack(K::Channel::ID, &values)
        })
    }

    /// Four values for each pair of pixels.
    fn pairs<K: Interleaved>(self, code: Code, [y, next, u, v]: Places) -> Expr<(), ()> {
        let matrix = self.spec.to_yuv();
        self.plane(code, |g, rgb, encode| {
            g.name_dim(K::Channel::ID, K::Channel::NAME);
            let chroma = self.sampled::<K::Plane>(g, rgb);
            let [u_value, v_value] = [1, 2].map(|row| {
                let value = g.yuv_row(&chroma, &matrix, row);
                encode(g, value)
            });
            let luma = g.yuv_row(&rgb, &matrix, 0);
            let luma = encode(g, luma);
            let [first, second] = g.pair(luma, L::Columns::ID, <K::Plane as Picture>::Columns::ID);
            let values = [(y, first), (next, second), (u, u_value), (v, v_value)];
            let ordered =
                [0, 1, 2, 3].map(|i| values.iter().find(|(at, _)| *at == i).map_or(first, |(_, value)| *value));
            g.stack(K::Channel::ID, &ordered)
        })
    }

    /// Four values of each pixel: three of the matrix, and opaque alpha.
    fn pixels<K: Interleaved>(self, code: Code, rows: [usize; 3]) -> Expr<(), ()> {
        let matrix = self.spec.to_yuv();
        self.plane(code, |g, rgb, encode| {
            g.name_dim(K::Channel::ID, K::Channel::NAME);
            let mut values = Vec::with_capacity(4);
            for row in rows {
                let value = g.yuv_row(&rgb, &matrix, row);
                values.push(encode(g, value));
            }
            let opaque = g.number(code.dtype, code.depth.max());
            values.push(opaque);
            g.stack(K::Channel::ID, &values)
        })
    }
}

/// Luma over `L`, U and V over `K`.
pub type ThreePlanes<T, L, K> = (Expr<T, SetOf<L>>, Expr<T, SetOf<K>>, Expr<T, SetOf<K>>);

/// An expression that was built as one of `T` over `S`.
fn typed<T, S>(value: Expr<(), ()>) -> Expr<T, S> {
    value.then(|_, node| node)
}

const BYTES: Code = Code { depth: Depth::Bits8, shift: 0, dtype: DType::U8 };
const TEN: Code = Code { depth: Depth::Bits10, shift: 6, dtype: DType::U16 };
const TWELVE: Code = Code { depth: Depth::Bits12, shift: 4, dtype: DType::U16 };
const SIXTEEN: Code = Code { depth: Depth::Bits16, shift: 0, dtype: DType::U16 };

macro_rules! semi_planar {
    ($($(#[$meta:meta])* $name:ident $t:ty, $code:ident, $rows:expr;)*) => { impl<L: Picture> YuvPicture<L> { $(
        $(#[$meta])*
        pub fn $name<K: Interleaved<Plane: Picture<Batch = L::Batch>>>(self) -> (Expr<$t, SetOf<L>>, Expr<$t, SetOf<K>>) {
            (typed(self.luma($code)), typed(self.both::<K>($code, $rows)))
        }
    )* } };
}

semi_planar! {
    /// Luma over `L`; U and V in turn over `K`, `(H, W, U)`: NV12, or over `(Y, W, U)` NV16, over `(Y, X, U)` NV24.
    nv12 u8, BYTES, [1, 2];
    /// As [`YuvPicture::nv12`], V before U: NV21, NV61, NV42.
    nv21 u8, BYTES, [2, 1];
    /// As [`YuvPicture::nv12`] with 10 bits in the high bits of 16-bit elements: P010, P210, P410.
    p010 u16, TEN, [1, 2];
    /// As [`YuvPicture::p010`] with 12 bits: P012, P212.
    p012 u16, TWELVE, [1, 2];
    /// As [`YuvPicture::p010`] with 16 bits: P016, P216.
    p016 u16, SIXTEEN, [1, 2];
}

macro_rules! packed {
    ($($(#[$meta:meta])* $name:ident $t:ty, $code:ident, $places:expr;)*) => { impl<L: Picture> YuvPicture<L> { $(
        $(#[$meta])*
        pub fn $name<K>(self) -> Expr<$t, SetOf<K>>
        where
            K: Interleaved<Plane: Picture<Rows = L::Rows, Batch = L::Batch>>,
        {
            typed(self.pairs::<K>($code, $places))
        }
    )* } };
}

packed! {
    /// Packed 4:2:2 over `K`, `(Y, W, P)`: Y, U, Y, V of each pair of pixels. The last pixel of an odd row stands twice.
    yuyv u8, BYTES, YUYV;
    /// As [`YuvPicture::yuyv`], in the order Y, V, Y, U.
    yvyu u8, BYTES, YVYU;
    /// As [`YuvPicture::yuyv`], in the order U, Y, V, Y.
    uyvy u8, BYTES, UYVY;
    /// As [`YuvPicture::yuyv`], in the order V, Y, U, Y.
    vyuy u8, BYTES, VYUY;
    /// As [`YuvPicture::yuyv`] with 10 bits in the high bits of 16-bit elements.
    y210 u16, TEN, YUYV;
    /// As [`YuvPicture::y210`] with 12 bits.
    y212 u16, TWELVE, YUYV;
    /// As [`YuvPicture::y210`] with 16 bits.
    y216 u16, SIXTEEN, YUYV;
}

impl<L: Picture> YuvPicture<L> {
    /// Luma over `L`, U and V over `K`, `(H, W)`, of values of the specification's depth in elements of `T`: I420, I422,
    /// I444 and their kin of more bits, in the low bits of their elements.
    pub fn planar<K: Picture<Batch = L::Batch>, T: Value>(self) -> ThreePlanes<T, L, K> {
        let code = Code { depth: self.spec.depth, shift: 0, dtype: T::DTYPE };
        (typed(self.luma(code)), typed(self.chroma::<K>(code, 1)), typed(self.chroma::<K>(code, 2)))
    }

    /// As [`YuvPicture::planar`], of bytes; the third plane is the second of YV12.
    pub fn i420<K: Picture<Batch = L::Batch>>(self) -> ThreePlanes<u8, L, K> {
        let code = BYTES;
        (typed(self.luma(code)), typed(self.chroma::<K>(code, 1)), typed(self.chroma::<K>(code, 2)))
    }

    /// Packed 4:4:4 over `K`, `(Y, X, P)`: the four bytes V, U, Y, 255 of each pixel (AYUV of Microsoft, VUYA of others).
    pub fn ayuv<K: Interleaved<Plane = L>>(self) -> Expr<u8, SetOf<K>> {
        typed(self.pixels::<K>(BYTES, [2, 1, 0]))
    }

    /// Packed 4:4:4 over `K`, `(Y, X, P)`: four 16-bit elements U, Y, V, 65535 of each pixel.
    pub fn y416<K: Interleaved<Plane = L>>(self) -> Expr<u16, SetOf<K>> {
        typed(self.pixels::<K>(SIXTEEN, [1, 0, 2]))
    }
}
