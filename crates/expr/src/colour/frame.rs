//! Frames of video, read: luma and chroma in their planes become one expression.

use super::picture::SetOf;
use super::sampling::Halved;
use super::{ChromaSiting, Depth, Interleaved, Picture, YuvSpec};
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::{Binary, Graph, NodeId};
use crate::typed::{Arg, Expr, IntoExpr, Per};
use std::marker::PhantomData;
use tilewright_dims::{Dim, Merge, Union};

/// A frame: luma over `L`, chroma over `K`, both tuples of a plane's dimensions, rows and columns last.
///
/// Where rows or columns of chroma are dimensions of their own, chroma is half as long there: `(n + 1) / 2` for `n` pixels,
/// anything else is an error. So `(Y, X)` with `(H, W)` is 4:2:0, with `(Y, W)` 4:2:2, with `(Y, X)` 4:4:4.
///
/// Nothing is computed until [`Frame::yuv`] or [`Frame::rgb`] makes an expression of it, which crops, resizes and stores like
/// any other picture.
///
/// ```
/// # use tilewright_expr::{In, trace, colour::{Depth, Standard, YuvSpec, nv12}};
/// # use tilewright_dims::dims;
/// # dims! { Y, X, H, W, U, C }
/// let video = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
/// trace(|luma: In<u8, (Y, X)>, chroma: In<u8, (H, W, U)>| {
///     let rgb = nv12::<(Y, X), (H, W, U)>(luma, chroma).rgb::<C>(video);
///     (rgb.resize::<Y, X>(224, 224) / 255.0).store::<(C, Y, X)>()
/// });
/// ```
pub struct Frame<L, K> {
    /// The plane of luma; its type and dimensions are those of `L`.
    luma: Expr<(), ()>,
    chroma: [NodeId; 2],
    depth: Depth,
    shift: u32,
    siting: ChromaSiting,
    _dims: PhantomData<(L, K)>,
}

impl<L, K> Clone for Frame<L, K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L, K> Copy for Frame<L, K> {}

impl<L, K> std::fmt::Debug for Frame<L, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({:?}, {:?}, {})", self.luma, self.chroma, self.depth)
    }
}

impl<L: Picture, K: Picture<Batch = L::Batch>> Frame<L, K> {
    /// A frame whose planes (luma, U, V) `planes` makes of an expression.
    pub(super) fn new<A: IntoExpr>(
        source: A,
        (depth, shift): (Depth, u32),
        planes: impl FnOnce(&mut Graph, NodeId) -> [NodeId; 3],
    ) -> Self {
        let mut chroma = [NodeId(0); 2];
        let luma = source.into_expr().then(|g, source| {
            let [luma, u, v] = planes(g, source);
            chroma = [u, v];
            luma
        });
        Frame { luma, chroma, depth, shift, siting: ChromaSiting::default(), _dims: PhantomData }
    }

    /// The same frame with chroma samples elsewhere; see [`ChromaSiting`].
    pub fn siting(self, siting: ChromaSiting) -> Self {
        Frame { siting, ..self }
    }

    /// The same frame, its values in the low bits of their elements: for data that is labelled P010 or Y210 but does not
    /// keep values in the high bits, as those formats do.
    pub fn low_bits(self) -> Self {
        Frame { shift: 0, ..self }
    }

    /// The depth of its values.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// Y, U and V along `C`, as code values.
    pub fn yuv<C: Dim>(self) -> Expr<f32, Union<SetOf<L>, Per<C>>>
    where
        SetOf<L>: Merge<Per<C>>,
    {
        self.luma.then(|g, luma| {
            g.name_dim(C::ID, C::NAME);
            let channels = self.channels(g, luma);
            g.stack(C::ID, &channels)
        })
    }

    /// Red, green and blue along `C`, from 0 to the depth's maximum, neither rounded nor limited; see
    /// [`yuv_to_rgb`](Expr::yuv_to_rgb). `spec` must be of the frame's depth.
    pub fn rgb<C: Dim>(self, spec: YuvSpec) -> Expr<f32, Union<SetOf<L>, Per<C>>>
    where
        SetOf<L>: Merge<Per<C>>,
    {
        self.luma.then(|g, luma| {
            g.name_dim(C::ID, C::NAME);
            if spec.depth != self.depth {
                g.fail(Error::Depth { frame: self.depth, spec: spec.depth });
            }
            let channels = self.channels(g, luma);
            let matrix = spec.to_rgb();
            let rgb = [0, 1, 2].map(|row| g.yuv_row(&channels, &matrix, row));
            g.stack(C::ID, &rgb)
        })
    }

    /// Luma alone, as code values.
    pub fn luma(self) -> Expr<f32, SetOf<L>> {
        self.luma.then(|g, luma| self.value(g, luma))
    }

    /// Y, U, V at every pixel.
    fn channels(&self, g: &mut Graph, plane: NodeId) -> [NodeId; 3] {
        let halved = |g: &Graph, pixels, samples| Halved { pixels, size: g.size_of(plane, pixels), samples };
        let (rows, columns) = (halved(g, L::Rows::ID, K::Rows::ID), halved(g, L::Columns::ID, K::Columns::ID));
        let luma = self.value(g, plane);
        let [u, v] = self.chroma.map(|chroma| {
            let chroma = self.value(g, chroma);
            g.at_pixels(chroma, rows, columns, self.siting)
        });
        [luma, u, v]
    }

    /// An element as a code value.
    fn value(&self, g: &mut Graph, element: NodeId) -> NodeId {
        let mut value = element;
        if self.shift > 0 {
            let shift = g.number(g.node(element).dtype, f64::from(self.shift));
            value = g.binary(Binary::Shr, element, shift);
        }
        g.cast(value, DType::F32)
    }
}

macro_rules! semi_planar {
    ($($(#[$meta:meta])* $name:ident $t:ty, $depth:ident, $shift:literal, $u:literal, $v:literal;)*) => { $(
        $(#[$meta])*
        pub fn $name<L: Picture, K: Interleaved<Plane: Picture<Batch = L::Batch>>>(
            luma: impl IntoExpr<Elem = $t, Set = SetOf<L>>,
            chroma: impl IntoExpr<Elem = $t, Set = SetOf<K>>,
        ) -> Frame<L, K::Plane> {
            let chroma = chroma.into_expr();
            Frame::new(luma, (Depth::$depth, $shift), |g, luma| {
                let chroma = chroma.node(g);
                let both = g.channels(chroma, K::Channel::ID, 2);
                let at = |i: usize| both.get(i).copied().unwrap_or(chroma);
                [luma, at($u), at($v)]
            })
        }
    )* };
}

semi_planar! {
    /// A plane of luma over `L`, one of U and V in turn over `K`: NV12, or with chroma over `(Y, W, U)` NV16, over `(Y, X, U)`
    /// NV24.
    nv12 u8, Bits8, 0, 0, 1;
    /// As [`nv12`], V before U: NV21, NV61, NV42.
    nv21 u8, Bits8, 0, 1, 0;
    /// As [`nv12`] with 10 bits in the high bits of 16-bit elements: P010, or with chroma over `(Y, W, U)` P210, over
    /// `(Y, X, U)` P410.
    p010 u16, Bits10, 6, 0, 1;
    /// As [`p010`] with 12 bits: P012, P212.
    p012 u16, Bits12, 4, 0, 1;
    /// As [`p010`] with 16 bits: P016, P216.
    p016 u16, Bits16, 0, 0, 1;
}

/// Three planes: luma over `L`, U and V over `K`, values of `depth` in the low bits of their elements, as files of planar
/// 4:2:0, 4:2:2 and 4:4:4 hold them.
pub fn planar<L: Picture, K: Picture<Batch = L::Batch>, A, B, D>(depth: Depth, luma: A, u: B, v: D) -> Frame<L, K>
where
    A: IntoExpr<Elem: crate::Sampled, Set = SetOf<L>>,
    B: IntoExpr<Elem = A::Elem, Set = SetOf<K>>,
    D: IntoExpr<Elem = A::Elem, Set = SetOf<K>>,
{
    let (u, v) = (u.into_expr(), v.into_expr());
    Frame::new(luma, (depth, 0), |g, luma| [luma, u.node(g), v.node(g)])
}

/// Three planes of bytes: I420, or with `K` of other sizes I422, I444.
pub fn i420<L: Picture, K: Picture<Batch = L::Batch>>(
    luma: impl IntoExpr<Elem = u8, Set = SetOf<L>>,
    u: impl IntoExpr<Elem = u8, Set = SetOf<K>>,
    v: impl IntoExpr<Elem = u8, Set = SetOf<K>>,
) -> Frame<L, K> {
    planar::<L, K, _, _, _>(Depth::Bits8, luma, u, v)
}

/// As [`i420`], V before U.
pub fn yv12<L: Picture, K: Picture<Batch = L::Batch>>(
    luma: impl IntoExpr<Elem = u8, Set = SetOf<L>>,
    v: impl IntoExpr<Elem = u8, Set = SetOf<K>>,
    u: impl IntoExpr<Elem = u8, Set = SetOf<K>>,
) -> Frame<L, K> {
    planar::<L, K, _, _, _>(Depth::Bits8, luma, u, v)
}
