//! Colour spaces, and conversions between them.

use super::lab::Opponent;
use crate::dtype::{DType, Element, Value};
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reads::sampled;
use crate::typed::{Expr, Per, Sampled};
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

/// What the channels of a picture mean, in their order.
///
/// RGB values go from 0 to white: 255, 65535, or 1 for floats. The other spaces are OpenCV's, with its constants and its
/// ranges: hue in degrees for floats, in steps of 2 degrees (0 to 179) for `u8`, in 65536 steps a turn for `u16`; all other
/// channels from 0 to white. Values of floats outside of these ranges are computed with as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// Red, green, blue, alpha.
    Rgba,
    /// Blue, green, red, alpha.
    Bgra,
    /// Hue, saturation (range over maximum), value (maximum).
    Hsv,
    /// Hue, lightness (mean of minimum and maximum), saturation.
    Hls,
    /// CIE XYZ of linear sRGB primaries, white D65. Values that are not linear are taken as if they were, as OpenCV does.
    Xyz,
    /// Luma, red difference, blue difference, full range, BT.601; the differences around half of white (128, 32768, 0.5).
    YCrCb,
    /// CIE L*a*b* of sRGB, white D65. Floats: L* from 0 to 100, a* and b* as they are. Integers: L* from 0 to white, and for `u8` a* and
    /// b* with 128 added; for `u16` that times 257. RGB is limited to 0 to white on both ways, as OpenCV limits it.
    Lab,
    /// CIE L*u*v* of sRGB, as [`Space::Lab`]. Integers: u* from -134 to 220 and v* from -140 to 122, from 0 to white.
    Luv,
}

/// Rows make X, Y, Z of red, green, blue.
pub(super) const XYZ_OF_RGB: [[f64; 3]; 3] =
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]];
/// Rows make red, green, blue of X, Y, Z.
pub(super) const RGB_OF_XYZ: [[f64; 3]; 3] =
    [[3.240479, -1.53715, -0.498535], [-0.969256, 1.875991, 0.041556], [0.055648, -0.204043, 1.057311]];
/// Weights of red, green and blue in luma (BT.601).
const LUMA: [f64; 3] = [0.299, 0.587, 0.114];

impl Space {
    /// How many channels it has.
    pub fn channels(self) -> usize {
        if self.has_alpha() { 4 } else { 3 }
    }

    fn has_alpha(self) -> bool {
        matches!(self, Space::Rgba | Space::Bgra)
    }

    fn is_blue_first(self) -> bool {
        matches!(self, Space::Bgr | Space::Bgra)
    }

    fn is_rgb(self) -> bool {
        matches!(self, Space::Rgb | Space::Bgr | Space::Rgba | Space::Bgra)
    }
}

/// The largest value of a channel of pictures of this type.
pub(crate) fn white(dtype: DType) -> f64 {
    match dtype {
        DType::U8 => 255.0,
        DType::U16 => 65535.0,
        _ => 1.0,
    }
}

impl Graph {
    /// `source`, whose channels along `dim` are of space `from`, in the space `to`.
    pub fn convert(&mut self, source: NodeId, dim: DimId, from: Space, to: Space) -> NodeId {
        let mut channels = self.channels(source, dim, from.channels());
        let dtype = self.node(source).dtype;
        let alpha = if from.has_alpha() { channels.pop() } else { None };
        let mut converted = if from.is_rgb() && to.is_rgb() {
            if from.is_blue_first() != to.is_blue_first() {
                channels.reverse();
            }
            channels
        } else {
            self.converted(&channels, dtype, from, to)
        };
        if to.has_alpha() {
            let alpha = alpha.unwrap_or_else(|| self.number(dtype, white(dtype)));
            converted.push(alpha);
        }
        self.stack(dim, &converted)
    }

    /// Three channels of one space in another, through red, green and blue that are not rounded.
    fn converted(&mut self, channels: &[NodeId], dtype: DType, from: Space, to: Space) -> Vec<NodeId> {
        let Some(rgb) = self.red_green_blue(channels, dtype, from) else { return channels.to_vec() };
        let white = white(dtype);
        let mut values = match to {
            Space::Rgb | Space::Rgba => rgb,
            Space::Bgr | Space::Bgra => [rgb[2], rgb[1], rgb[0]],
            Space::Hsv => self.hsv(rgb, white),
            Space::Hls => self.hls(rgb, white),
            Space::Xyz => XYZ_OF_RGB.map(|row| self.weighted(&rgb, &row)),
            Space::YCrCb => self.differences(rgb, white),
            Space::Lab => self.opponent(rgb, dtype, white, Opponent::Lab),
            Space::Luv => self.opponent(rgb, dtype, white, Opponent::Luv),
        };
        if matches!(to, Space::Hsv | Space::Hls) {
            values[0] = self.hue_code(values[0], dtype);
        }
        values.into_iter().map(|v| self.cast(v, dtype)).collect()
    }

    /// Red, green and blue in the floating-point type, from 0 to the element type's white.
    fn red_green_blue(&mut self, channels: &[NodeId], dtype: DType, from: Space) -> Option<[NodeId; 3]> {
        let real = sampled(dtype);
        let [a, b, c] = *channels else { return None };
        let [a, b, c] = [a, b, c].map(|v| self.cast(v, real));
        let white = white(dtype);
        Some(match from {
            Space::Rgb | Space::Rgba => [a, b, c],
            Space::Bgr | Space::Bgra => [c, b, a],
            Space::Hsv => {
                let degrees = self.degrees(a, dtype);
                self.rgb_of_hsv([degrees, b, c], white)
            }
            Space::Hls => {
                let degrees = self.degrees(a, dtype);
                self.rgb_of_hls([degrees, b, c], white)
            }
            Space::Xyz => RGB_OF_XYZ.map(|row| self.weighted(&[a, b, c], &row)),
            Space::YCrCb => self.rgb_of_differences([a, b, c], white),
            Space::Lab => self.rgb_of_opponent([a, b, c], dtype, white, Opponent::Lab),
            Space::Luv => self.rgb_of_opponent([a, b, c], dtype, white, Opponent::Luv),
        })
    }

    /// Luma and the differences of red and blue from it.
    fn differences(&mut self, rgb: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let luma = self.weighted(&rgb, &LUMA);
        let dtype = self.node(luma).dtype;
        let centre = self.number(dtype, half(white));
        let [red, blue] = [(rgb[0], 0.713), (rgb[2], 0.564)].map(|(channel, factor)| {
            let difference = self.binary(Binary::Sub, channel, luma);
            let factor = self.number(dtype, factor);
            self.fma(difference, factor, centre)
        });
        [luma, red, blue]
    }

    fn rgb_of_differences(&mut self, [luma, red, blue]: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let dtype = self.node(luma).dtype;
        let centre = self.number(dtype, half(white));
        let [red, blue] = [red, blue].map(|v| self.binary(Binary::Sub, v, centre));
        [[1.0, 1.403, 0.0], [1.0, -0.714, -0.344], [1.0, 0.0, 1.773]].map(|row| self.weighted(&[luma, red, blue], &row))
    }

    /// Luma of a picture of any space, in its own type.
    pub fn gray(&mut self, source: NodeId, dim: DimId, from: Space) -> NodeId {
        let dtype = self.node(source).dtype;
        let mut channels = self.channels(source, dim, from.channels());
        channels.truncate(3);
        let Some(rgb) = self.red_green_blue(&channels, dtype, from) else { return source };
        let luma = self.weighted(&rgb, &LUMA);
        self.cast(luma, dtype)
    }
}

/// Where differences of colours are 0.
fn half(white: f64) -> f64 {
    if white > 1.0 { (white + 1.0) / 2.0 } else { white / 2.0 }
}

/// Pixels that colour conversions are defined for.
#[diagnostic::on_unimplemented(
    message = "colours of `{Self}` are not converted",
    label = "expected `u8`, `u16`, `f32` or `f64`",
    note = "convert first: `.to::<f32>()`, with values from 0 to 1"
)]
pub trait Shade: Sampled + Element + Value {}
impl Shade for u8 {}
impl Shade for u16 {}
impl Shade for f32 {}
impl Shade for f64 {}

impl<T, S: Set> Expr<T, S> {
    /// The picture in another colour space: its channels along `C` are of space `from`, those of the result of space `to`.
    /// Orders of red, green and blue are exact copies; an alpha that was not there is opaque, one that is not wanted is
    /// dropped. Other conversions go through red, green and blue that are not rounded.
    ///
    /// ```
    /// # use tilewright_expr::{In, trace, colour::Space};
    /// # use tilewright_dims::dims;
    /// # dims! { Y, X, C }
    /// trace(|bgr: In<u8, (Y, X, C)>| bgr.convert::<C>(Space::Bgr, Space::Hsv).store::<(Y, X, C)>());
    /// ```
    pub fn convert<C: Dim>(self, from: Space, to: Space) -> Self
    where
        T: Shade,
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| g.convert(source, C::ID, from, to))
    }

    /// Opaque alpha behind red, green and blue (in any order).
    pub fn add_alpha<C: Dim>(self) -> Self
    where
        T: Shade,
        S: Without<C, Was: Present<C>>,
    {
        self.convert::<C>(Space::Rgb, Space::Rgba)
    }

    /// Alpha behind red, green and blue (in any order): over all dimensions that it is given over.
    pub fn with_alpha<C: Dim, A: Set>(self, alpha: Expr<T, A>) -> Expr<T, Union<S, A>>
    where
        T: Shade,
        S: Without<C, Was: Present<C>> + Merge<A>,
    {
        use crate::typed::Arg;
        self.then(|g, source| {
            let alpha = alpha.node(g);
            let mut channels = g.channels(source, C::ID, 3);
            channels.push(alpha);
            g.stack(C::ID, &channels)
        })
    }

    /// The first three of four channels.
    pub fn drop_alpha<C: Dim>(self) -> Self
    where
        T: Shade,
        S: Without<C, Was: Present<C>>,
    {
        self.convert::<C>(Space::Rgba, Space::Rgb)
    }

    /// Luma (BT.601): `(0.299 * red + 0.587 * green) + 0.114 * blue`, each product but the first fused with the sum.
    /// Integers are rounded half to even, floats are not rounded.
    pub fn gray<C: Dim>(self, from: Space) -> Expr<T, S::Rest>
    where
        T: Shade,
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| g.gray(source, C::ID, from))
    }

    /// A gray picture in the colour space `to`, whose channels run along the new dimension `C`.
    pub fn colour<C: Dim>(self, to: Space) -> Expr<T, Union<S, Per<C>>>
    where
        T: Shade,
        S: Merge<Per<C>>,
    {
        self.then(|g, source| {
            g.name_dim(C::ID, C::NAME);
            let rgb = g.stack(C::ID, &[source; 3]);
            g.convert(rgb, C::ID, Space::Rgb, to)
        })
    }
}
