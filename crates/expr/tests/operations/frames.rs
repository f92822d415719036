//! Frames of video, read and written.

use super::Channels::{self, Only};
use super::{C, Given, H, P, Rows, Scalar, U, W, X, Y, rows};
use std::marker::PhantomData;
use tilewright_dims::Dims;
use tilewright_expr::colour::{self, Depth, Standard, YuvSpec, stack};
use tilewright_expr::{Expr, Sampled};

const PLANES: Channels = Only(&[1], "a frame is made of planes");
const COLOURS: Channels = Only(&[3], "a colour has three channels");
const fn spec(depth: Depth) -> YuvSpec {
    YuvSpec::limited(Standard::Bt601, depth)
}

type Plane<T, L> = Expr<T, <L as Dims>::Set>;

impl<T: Scalar> Given<T> {
    /// The picture as luma.
    fn luma(&self) -> Plane<T, (Y, X)> {
        self.a.channel::<C>(0)
    }

    /// Two planes of half its size.
    fn chroma(&self) -> [Plane<T, (H, W)>; 2] {
        [self.b, self.c].map(|p| p.channel::<C>(0).slice::<Y>(0, 2).slice::<X>(0, 3).rename::<Y, H>().rename::<X, W>())
    }

    /// Both, interleaved.
    fn both(&self) -> Plane<T, (H, W, U)> {
        stack::<U, _>(self.chroma())
    }

    /// Four elements a place.
    fn fours(&self) -> Plane<T, (Y, X, P)> {
        let [a, b, c] = [self.a, self.b, self.c].map(|p| p.channel::<C>(0));
        stack::<P, _>([a, b, c, a.reverse::<X>()])
    }

    /// Four elements for two pixels.
    fn pairs(&self) -> Plane<T, (Y, W, P)> {
        self.fours().slice::<X>(0, 3).rename::<X, W>()
    }
}

pub(super) fn bytes(rows: &mut impl Rows, _: PhantomData<u8>) {
    const SPEC: YuvSpec = spec(Depth::Bits8);
    rows! { rows, u8:
        "nv12", PLANES => |g| colour::nv12::<(Y, X), (H, W, U)>(g.luma(), g.both()).rgb::<C>(SPEC).store::<(Y, X, C)>();
        "nv21", PLANES => |g| colour::nv21::<(Y, X), (H, W, U)>(g.luma(), g.both()).yuv::<C>().store::<(C, Y, X)>();
        "i420", PLANES => |g| {
            let [u, v] = g.chroma();
            colour::i420::<(Y, X), (H, W)>(g.luma(), u, v).rgb::<C>(SPEC).store::<(Y, X, C)>()
        };
        "yv12", PLANES => |g| {
            let [v, u] = g.chroma();
            colour::yv12::<(Y, X), (H, W)>(g.luma(), v, u).rgb::<C>(SPEC).store::<(Y, X, C)>()
        };
        "yuyv", PLANES => |g| colour::yuyv::<(Y, X), (Y, W, P)>(g.pairs()).rgb::<C>(SPEC).store::<(Y, X, C)>();
        "yvyu", PLANES => |g| colour::yvyu::<(Y, X), (Y, W, P)>(g.pairs()).rgb::<C>(SPEC).store::<(Y, X, C)>();
        "uyvy", PLANES => |g| colour::uyvy::<(Y, X), (Y, W, P)>(g.pairs()).luma().store::<(Y, X)>();
        "vyuy", PLANES => |g| colour::vyuy::<(Y, X), (Y, W, P)>(g.pairs()).rgb::<C>(SPEC).store::<(Y, X, C)>();
        "ayuv", PLANES => |g| colour::ayuv::<(Y, X, P)>(g.fours()).rgb::<C>(SPEC).store::<(Y, X, C)>();
    }
}

pub(super) fn words(rows: &mut impl Rows, _: PhantomData<u16>) {
    rows! { rows, u16:
        "p010", PLANES => |g| {
            colour::p010::<(Y, X), (H, W, U)>(g.luma(), g.both()).rgb::<C>(spec(Depth::Bits10)).store::<(Y, X, C)>()
        };
        "p012", PLANES => |g| {
            colour::p012::<(Y, X), (H, W, U)>(g.luma(), g.both()).rgb::<C>(spec(Depth::Bits12)).store::<(Y, X, C)>()
        };
        "p016", PLANES => |g| {
            colour::p016::<(Y, X), (H, W, U)>(g.luma(), g.both()).rgb::<C>(spec(Depth::Bits16)).store::<(Y, X, C)>()
        };
        "planar", PLANES => |g| {
            let [u, v] = g.chroma();
            colour::planar::<(Y, X), (H, W), _, _, _>(Depth::Bits10, g.luma(), u, v).rgb::<C>(spec(Depth::Bits10)).store::<(Y, X, C)>()
        };
        "y210", PLANES => |g| {
            colour::y210::<(Y, X), (Y, W, P)>(g.pairs()).rgb::<C>(spec(Depth::Bits10)).store::<(Y, X, C)>()
        };
        "y212", PLANES => |g| colour::y212::<(Y, X), (Y, W, P)>(g.pairs()).low_bits().yuv::<C>().store::<(Y, X, C)>();
        "y216", PLANES => |g| {
            colour::y216::<(Y, X), (Y, W, P)>(g.pairs()).rgb::<C>(spec(Depth::Bits16)).store::<(Y, X, C)>()
        };
        "y416", PLANES => |g| colour::y416::<(Y, X, P)>(g.fours()).rgb::<C>(spec(Depth::Bits16)).store::<(Y, X, C)>();
    }
}

pub(super) fn written<T: Scalar + Sampled>(rows: &mut impl Rows, _: PhantomData<T>) {
    macro_rules! to {
        ($($name:literal $depth:ident $g:ident.$($call:ident $(::<$L:ty>)?).+ $(.$part:tt)? => $D:ty;)*) => { rows! { rows, T: $(
            $name, COLOURS => |g| {
                let $g = g.a.to_yuv::<C, (Y, X)>(spec(Depth::$depth));
                ($g.$($call $(::<$L>)?()).+) $(.$part)? .store::<$D>()
            };
        )* } };
    }
    to! {
        "to_yuv nv12 luma" Bits8 p.nv12::<(H, W, U)>.0 => (Y, X);
        "to_yuv nv12 chroma" Bits8 p.nv12::<(H, W, U)>.1 => (H, W, U);
        "to_yuv nv21" Bits8 p.nv21::<(H, W, U)>.1 => (H, W, U);
        "to_yuv i420" Bits8 p.i420::<(H, W)>.1 => (H, W);
        "to_yuv yuyv" Bits8 p.yuyv::<(Y, W, P)> => (Y, W, P);
        "to_yuv yvyu" Bits8 p.yvyu::<(Y, W, P)> => (Y, W, P);
        "to_yuv uyvy" Bits8 p.uyvy::<(Y, W, P)> => (Y, W, P);
        "to_yuv vyuy" Bits8 p.vyuy::<(Y, W, P)> => (Y, W, P);
        "to_yuv ayuv" Bits8 p.ayuv::<(Y, X, P)> => (Y, X, P);
        "to_yuv p010" Bits10 p.p010::<(H, W, U)>.1 => (H, W, U);
        "to_yuv p012" Bits12 p.p012::<(H, W, U)>.0 => (Y, X);
        "to_yuv p016" Bits16 p.p016::<(H, W, U)>.1 => (H, W, U);
        "to_yuv y210" Bits10 p.y210::<(Y, W, P)> => (Y, W, P);
        "to_yuv y212" Bits12 p.y212::<(Y, W, P)> => (Y, W, P);
        "to_yuv y216" Bits16 p.y216::<(Y, W, P)> => (Y, W, P);
        "to_yuv y416" Bits16 p.y416::<(Y, X, P)> => (Y, X, P);
    }
    rows! { rows, T:
        "to_yuv planar", COLOURS => |g| {
            g.a.to_yuv::<C, (Y, X)>(spec(Depth::Bits10)).low_bits().planar::<(H, W), u16>().2.store::<(H, W)>()
        };
    }
}
