//! Packed frames: luma and chroma of a pixel, or of two, side by side.

use super::picture::SetOf;
use super::{Depth, Frame, Interleaved, Picture};
use crate::graph::{Binary, Graph, NodeId, Size};
use crate::typed::IntoExpr;
use tilewright_dims::Dim;

/// Where the two lumas, U and V stand among four values.
pub(super) type Places = [i32; 4];
/// Y, U, Y, V.
pub(super) const YUYV: Places = [0, 2, 1, 3];
/// Y, V, Y, U.
pub(super) const YVYU: Places = [0, 2, 3, 1];
/// U, Y, V, Y.
pub(super) const UYVY: Places = [1, 3, 0, 2];
/// V, Y, U, Y.
pub(super) const VYUY: Places = [1, 3, 2, 0];

/// Luma at every pixel, U and V at every second one, of four values a pair of pixels.
fn pairs<L: Picture, K: Interleaved>(g: &mut Graph, words: NodeId, [y, next, u, v]: Places) -> [NodeId; 3] {
    let (columns, pairs, word) = (L::Columns::ID, <K::Plane as Picture>::Columns::ID, K::Channel::ID);
    g.name_dim(columns, L::Columns::NAME);
    let channels = g.channels(words, word, 4);
    let chroma = |i: i32| channels.get(i as usize).copied().unwrap_or(words);
    let (u, v) = (chroma(u), chroma(v));
    let size = g.size_of(words, pairs);
    let (extent, index, one) = (g.extent(size), g.index(columns), g.whole(1));
    let width = g.binary(Binary::Shl, extent, one);
    let pair = g.binary(Binary::Shr, index, one);
    let odd = g.binary(Binary::And, index, one);
    let (first, step) = (g.whole(y), g.whole(next - y));
    let step = g.binary(Binary::Mul, odd, step);
    let place = g.binary(Binary::Add, step, first);
    let luma = g.at(words, &[(pairs, pair), (word, place)], &[(columns, Size::Node(width))]);
    [luma, u, v]
}

macro_rules! pairs {
    ($($(#[$meta:meta])* $name:ident $t:ty, $depth:ident, $shift:literal, $places:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name<L, K>(words: impl IntoExpr<Elem = $t, Set = SetOf<K>>) -> Frame<L, K::Plane>
        where
            L: Picture,
            K: Interleaved<Plane: Picture<Rows = L::Rows, Batch = L::Batch>>,
        {
            Frame::new(words, (Depth::$depth, $shift), |g, words| pairs::<L, K>(g, words, $places))
        }
    )* };
}

pairs! {
    /// Packed 4:2:2 over `K`, `(Y, W, P)`: rows, pairs of pixels, and the four bytes Y, U, Y, V of each. Also called YUY2. The
    /// frame is over `L`, `(Y, X)`, twice as long along `X` as the words along `W`.
    yuyv u8, Bits8, 0, YUYV;
    /// As [`yuyv`], in the order Y, V, Y, U.
    yvyu u8, Bits8, 0, YVYU;
    /// As [`yuyv`], in the order U, Y, V, Y.
    uyvy u8, Bits8, 0, UYVY;
    /// As [`yuyv`], in the order V, Y, U, Y.
    vyuy u8, Bits8, 0, VYUY;
    /// As [`yuyv`] with 10 bits in the high bits of 16-bit elements.
    y210 u16, Bits10, 6, YUYV;
    /// As [`y210`] with 12 bits.
    y212 u16, Bits12, 4, YUYV;
    /// As [`y210`] with 16 bits.
    y216 u16, Bits16, 0, YUYV;
}

macro_rules! pixels {
    ($($(#[$meta:meta])* $name:ident $t:ty, $depth:ident, $y:literal, $u:literal, $v:literal;)*) => { $(
        $(#[$meta])*
        pub fn $name<K: Interleaved>(pixels: impl IntoExpr<Elem = $t, Set = SetOf<K>>) -> Frame<K::Plane, K::Plane> {
            Frame::new(pixels, (Depth::$depth, 0), |g, pixels| {
                let channels = g.channels(pixels, K::Channel::ID, 4);
                [$y, $u, $v].map(|i: usize| channels.get(i).copied().unwrap_or(pixels))
            })
        }
    )* };
}

pixels! {
    /// Packed 4:4:4 over `K`, `(Y, X, P)`: the four bytes V, U, Y, alpha of each pixel. AYUV of Microsoft, VUYA of others.
    ayuv u8, Bits8, 2, 1, 0;
    /// Packed 4:4:4 over `K`, `(Y, X, P)`: four 16-bit elements U, Y, V, alpha.
    y416 u16, Bits16, 1, 0, 2;
}
