//! Channels and spaces of colour.

use super::Channels::{self, Any, Only};
use super::{C, K, Rows, Scalar, X, Y, rows};
use std::marker::PhantomData;
use tilewright_expr::colour::{Depth, Shade, Space, Standard, YuvSpec, per_channel, stack};
use tilewright_expr::{DType, Float, Pixel, Sampled, Value};

const COLOURS: Channels = Only(&[3], "a colour has three channels");
const ALPHA: Channels = Only(&[4], "a colour with alpha has four channels");
const SPEC: YuvSpec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);

pub(super) fn numbers<T: Scalar + Sampled + Pixel<Real: Scalar>>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "channel", Any => |g| g.a.channel::<C>(0).store::<(Y, X)>();
        "stack", Any => |g| stack::<K, _>([g.a.channel::<C>(0), g.b.channel::<C>(0)]).store::<(Y, X, K)>();
        "per_channel", COLOURS => |g| {
            g.a.max(per_channel::<C, T, 3>([T::default(), T::from_bits64(1), T::from_bits64(2)])).store::<(Y, X, C)>()
        };
        "mean_channels", COLOURS => |g| g.a.mean_channels::<C>(3).store::<(Y, X)>();
        "scale", Any => |g| g.a.scale::<u16>(Depth::Bits8, Depth::Bits10).store::<(Y, X, C)>();
        "yuv_to_rgb", COLOURS => |g| g.a.yuv_to_rgb::<C>(SPEC).store::<(Y, X, C)>();
        "rgb_to_yuv", COLOURS => |g| g.a.rgb_to_yuv::<C>(SPEC).store::<(C, Y, X)>();
    }
}

/// The number 1.
fn one<T: Scalar>() -> T {
    T::from_bits64(match <T as Value>::DTYPE {
        DType::F16 => 0x3c00,
        DType::BF16 => 0x3f80,
        DType::F32 => 0x3f80_0000,
        DType::F64 => 0x3ff0_0000_0000_0000,
        _ => 1,
    })
}

pub(super) fn floats<T: Scalar + Float>(rows: &mut impl Rows, _: PhantomData<T>) {
    rows! { rows, T:
        "mix", COLOURS => |g| {
            let one = one::<T>();
            g.a.mix::<C, K>([[one, T::default(), one], [T::default(), one, one]]).store::<(Y, X, K)>()
        };
        "mix_by", COLOURS => |g| {
            let matrix = g.b.at::<X, _>(0).slice::<Y>(0, 2).rename::<Y, K>();
            g.a.mix_by::<C, _>(matrix, 3).store::<(Y, X, K)>()
        };
        "normalise", Any => |g| g.a.normalise(g.b.at::<X, _>(0), g.c.at::<X, _>(1)).store::<(C, Y, X)>();
    }
}

pub(super) fn shades<T: Scalar + Shade>(rows: &mut impl Rows, _: PhantomData<T>) {
    macro_rules! spaces {
        ($($there:literal $back:literal $space:ident)*) => { rows! { rows, T: $(
            $there, COLOURS => |g| g.a.convert::<C>(Space::Rgb, Space::$space).store::<(Y, X, C)>();
            $back, COLOURS => |g| g.a.convert::<C>(Space::$space, Space::Rgb).store::<(Y, X, C)>();
        )* } };
    }
    spaces!("convert to bgr" "convert from bgr" Bgr "convert to hsv" "convert from hsv" Hsv "convert to hls" "convert from hls" Hls
        "convert to xyz" "convert from xyz" Xyz "convert to ycrcb" "convert from ycrcb" YCrCb);
    rows! { rows, T:
        "convert rgba to bgra", ALPHA => |g| g.a.convert::<C>(Space::Rgba, Space::Bgra).store::<(Y, X, C)>();
        "add_alpha", COLOURS => |g| g.a.add_alpha::<C>().store::<(Y, X, C)>();
        "with_alpha", COLOURS => |g| g.a.with_alpha::<C, _>(g.b.channel::<C>(1)).store::<(Y, X, C)>();
        "drop_alpha", ALPHA => |g| g.a.drop_alpha::<C>().store::<(Y, X, C)>();
        "gray", COLOURS => |g| g.a.gray::<C>(Space::Rgb).store::<(Y, X)>();
        "colour", Only(&[1], "a grey picture has one channel") => |g| {
            g.a.channel::<C>(0).colour::<C>(Space::Bgra).store::<(Y, X, C)>()
        };
    }
}
