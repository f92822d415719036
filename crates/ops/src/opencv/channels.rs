//! Channels: taken apart, put together, converted.

use super::C;
use tilewright_dims::{Merge, Present, Set, Union, Without};
use tilewright_expr::colour::{Channels, Shade, Space, stack};
use tilewright_expr::{Expr, Per};

/// The channels, one by one.
pub fn split<const N: usize, T, S: Without<C, Was: Present<C>>>(src: Expr<T, S>) -> [Expr<T, S::Rest>; N] {
    std::array::from_fn(|i| src.channel::<C>(i))
}

/// Matrices of one channel as one of several.
pub fn merge<A: Channels<Set: Merge<Per<C>>>>(channels: A) -> Expr<A::Elem, Union<A::Set, Per<C>>> {
    stack::<C, A>(channels)
}

/// One channel. (OpenCV's `extractChannel`.)
pub fn copy_channel<T, S: Without<C, Was: Present<C>>>(src: Expr<T, S>, index: usize) -> Expr<T, S::Rest> {
    src.channel::<C>(index)
}

macro_rules! codes {
    ($($name:ident $from:ident $to:ident;)*) => {
        /// From which colours to which. `RGB` in place of `BGR` says that red comes first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types, missing_docs, reason = "OpenCV's names")]
        pub enum ColorCode {
            $($name,)*
        }

        impl ColorCode {
            fn spaces(self) -> (Space, Space) {
                match self {
                    $(ColorCode::$name => (Space::$from, Space::$to),)*
                }
            }
        }
    };
}

codes! {
    COLOR_BGR2RGB Bgr Rgb; COLOR_RGB2BGR Rgb Bgr; COLOR_BGRA2RGBA Bgra Rgba; COLOR_RGBA2BGRA Rgba Bgra;
    COLOR_BGR2BGRA Bgr Bgra; COLOR_RGB2RGBA Rgb Rgba; COLOR_BGRA2BGR Bgra Bgr; COLOR_RGBA2RGB Rgba Rgb;
    COLOR_BGR2RGBA Bgr Rgba; COLOR_RGB2BGRA Rgb Bgra; COLOR_RGBA2BGR Rgba Bgr; COLOR_BGRA2RGB Bgra Rgb;
    COLOR_BGR2HSV Bgr Hsv; COLOR_RGB2HSV Rgb Hsv; COLOR_HSV2BGR Hsv Bgr; COLOR_HSV2RGB Hsv Rgb;
    COLOR_BGR2HLS Bgr Hls; COLOR_RGB2HLS Rgb Hls; COLOR_HLS2BGR Hls Bgr; COLOR_HLS2RGB Hls Rgb;
    COLOR_BGR2XYZ Bgr Xyz; COLOR_RGB2XYZ Rgb Xyz; COLOR_XYZ2BGR Xyz Bgr; COLOR_XYZ2RGB Xyz Rgb;
    COLOR_BGR2Lab Bgr Lab; COLOR_RGB2Lab Rgb Lab; COLOR_Lab2BGR Lab Bgr; COLOR_Lab2RGB Lab Rgb;
    COLOR_BGR2Luv Bgr Luv; COLOR_RGB2Luv Rgb Luv; COLOR_Luv2BGR Luv Bgr; COLOR_Luv2RGB Luv Rgb;
    COLOR_BGR2YCrCb Bgr YCrCb; COLOR_RGB2YCrCb Rgb YCrCb; COLOR_YCrCb2BGR YCrCb Bgr; COLOR_YCrCb2RGB YCrCb Rgb;
}

/// The picture in other colours. Orders of channels are exact; of integers, OpenCV's fixed point may differ by 1,
/// and by 24 for XYZ of `u16`, whose coefficients are multiples of 1/4096 there. L*a*b* and L*u*v* are computed as written, where OpenCV
/// has tables: of `u8`, 3 apart at most and 2 on the way back; of floats, 0.6 and 0.01.
pub fn cvt_color<T: Shade, S: Set + Without<C, Was: Present<C>>>(src: Expr<T, S>, code: ColorCode) -> Expr<T, S> {
    let (from, to) = code.spaces();
    src.convert::<C>(from, to)
}

/// Luma: `COLOR_BGR2GRAY` for [`Space::Bgr`], and so on; the result has no channels.
pub fn cvt_color_to_gray<T: Shade, S: Set + Without<C, Was: Present<C>>>(
    src: Expr<T, S>,
    from: Space,
) -> Expr<T, S::Rest> {
    src.gray::<C>(from)
}

/// Gray in colours: `COLOR_GRAY2BGR` for [`Space::Bgr`], and so on.
pub fn cvt_color_from_gray<T: Shade, S: Set + Merge<Per<C>>>(src: Expr<T, S>, to: Space) -> Expr<T, Union<S, Per<C>>> {
    src.colour::<C>(to)
}
