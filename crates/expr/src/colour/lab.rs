//! CIE's L*a*b* and L*u*v* of sRGB: lightness, and two channels in which equal distances look alike.
//!
//! Red, green and blue go from 0 to 1 here, L* from 0 to 100. Between them and the two spaces lies XYZ of linear light, white
//! (D65) being 0.950456, 1, 1.088754. Constants are OpenCV's, whose `Y` of 0.008856 parts the cube root from the line.

use super::space::{RGB_OF_XYZ, XYZ_OF_RGB};
use crate::dtype::DType;
use crate::graph::{Binary, Graph, NodeId};

const WHITE: [f64; 3] = [0.950456, 1.0, 1.088754];
/// Where the line ends, in light and in its cube root.
const DARK: f64 = 0.008856;
const DARK_ROOT: f64 = SLOPE * DARK + FOOT;
/// The line below: `SLOPE t + FOOT`; of lightness, `LIGHTNESS t`.
const SLOPE: f64 = 7.787;
const FOOT: f64 = 16.0 / 116.0;
const LIGHTNESS: f64 = 903.3;
/// `u'` and `v'` of white.
const U_WHITE: f64 = 4.0 * WHITE[0] / (WHITE[0] + 15.0 * WHITE[1] + 3.0 * WHITE[2]);
const V_WHITE: f64 = 9.0 * WHITE[1] / (WHITE[0] + 15.0 * WHITE[1] + 3.0 * WHITE[2]);

/// One of the two spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opponent {
    Lab,
    Luv,
}

impl Opponent {
    /// Of each channel, what lies at code 0, and the range that codes have: 0 to white. Floats have the values themselves.
    fn codes(self) -> [(f64, f64); 3] {
        match self {
            Opponent::Lab => [(0.0, 100.0), (-128.0, 255.0), (-128.0, 255.0)],
            Opponent::Luv => [(0.0, 100.0), (-134.0, 354.0), (-140.0, 262.0)],
        }
    }
}

impl Graph {
    /// Red, green and blue of linear or encoded light, up to `white`, in one of the spaces: values of `dtype`, not yet rounded.
    pub(super) fn opponent(&mut self, rgb: [NodeId; 3], dtype: DType, white: f64, to: Opponent) -> [NodeId; 3] {
        let linear = rgb.map(|c| {
            let unit = self.op(Binary::Mul, c, 1.0 / white);
            self.linear(unit)
        });
        let xyz = XYZ_OF_RGB.map(|row| self.weighted(&linear, &row));
        let values = match to {
            Opponent::Lab => self.lab(xyz),
            Opponent::Luv => self.luv(xyz),
        };
        self.each_code(values, dtype, to, |(zero, range)| (white / range, -zero * white / range))
    }

    /// The way back.
    pub(super) fn rgb_of_opponent(
        &mut self,
        codes: [NodeId; 3],
        dtype: DType,
        white: f64,
        from: Opponent,
    ) -> [NodeId; 3] {
        let values = self.each_code(codes, dtype, from, |(zero, range)| (range / white, zero));
        let xyz = match from {
            Opponent::Lab => self.xyz_of_lab(values),
            Opponent::Luv => self.xyz_of_luv(values),
        };
        RGB_OF_XYZ.map(|row| {
            let linear = self.weighted(&xyz, &row);
            let encoded = self.encoded(linear);
            self.op(Binary::Mul, encoded, white)
        })
    }

    /// Each channel times a factor, and a term added, where `dtype` has codes.
    fn each_code(
        &mut self,
        channels: [NodeId; 3],
        dtype: DType,
        space: Opponent,
        line: impl Fn((f64, f64)) -> (f64, f64),
    ) -> [NodeId; 3] {
        if dtype.is_float() {
            return channels;
        }
        let codes = space.codes();
        std::array::from_fn(|i| {
            let (factor, term) = line(codes[i]);
            self.on_line(channels[i], factor, term)
        })
    }

    /// `x * factor + term`, rounded once.
    fn on_line(&mut self, x: NodeId, factor: f64, term: f64) -> NodeId {
        let [factor, term] = [factor, term].map(|v| self.number(self.node(x).dtype, v));
        self.fma(x, factor, term)
    }

    /// `low` where `x` is at most `least`, else `high`.
    fn up_to(&mut self, x: NodeId, least: f64, low: NodeId, high: NodeId) -> NodeId {
        let small = self.op(Binary::Le, x, least);
        self.select(small, low, high)
    }

    fn between_literals(&mut self, x: NodeId, low: f64, high: f64) -> NodeId {
        let above = self.op(Binary::Max, x, low);
        self.op(Binary::Min, above, high)
    }

    /// Light of an sRGB code from 0 to 1, to which others are limited.
    fn linear(&mut self, code: NodeId) -> NodeId {
        let code = self.between_literals(code, 0.0, 1.0);
        let low = self.op(Binary::Mul, code, 1.0 / 12.92);
        let base = self.on_line(code, 1.0 / 1.055, 0.055 / 1.055);
        let exponent = self.number(self.node(code).dtype, 2.4);
        let high = self.pow(base, exponent);
        self.up_to(code, 0.04045, low, high)
    }

    /// The sRGB code of light from 0 to 1, to which other values are limited.
    fn encoded(&mut self, light: NodeId) -> NodeId {
        let light = self.between_literals(light, 0.0, 1.0);
        let low = self.op(Binary::Mul, light, 12.92);
        let exponent = self.number(self.node(light).dtype, 1.0 / 2.4);
        let root = self.pow(light, exponent);
        let high = self.on_line(root, 1.055, -0.055);
        self.up_to(light, 0.003_130_8, low, high)
    }

    /// L* of the light `y` of white's, whose cube root is `root`.
    fn lightness(&mut self, y: NodeId, root: NodeId) -> NodeId {
        let (low, high) = (self.op(Binary::Mul, y, LIGHTNESS), self.on_line(root, 116.0, -16.0));
        self.up_to(y, DARK, low, high)
    }

    /// The light of L*, and its cube root as L*a*b* has it.
    fn light(&mut self, lightness: NodeId) -> [NodeId; 2] {
        let (dark, root) =
            (self.op(Binary::Mul, lightness, 1.0 / LIGHTNESS), self.on_line(lightness, 1.0 / 116.0, FOOT));
        let (dark_root, cube) = (self.on_line(dark, SLOPE, FOOT), self.cubed(root));
        [(dark, cube), (dark_root, root)].map(|(low, high)| self.up_to(lightness, LIGHTNESS * DARK, low, high))
    }

    fn cubed(&mut self, x: NodeId) -> NodeId {
        let square = self.binary(Binary::Mul, x, x);
        self.binary(Binary::Mul, square, x)
    }

    fn lab(&mut self, xyz: [NodeId; 3]) -> [NodeId; 3] {
        let parts: [NodeId; 3] = std::array::from_fn(|i| self.op(Binary::Mul, xyz[i], 1.0 / WHITE[i]));
        let roots = parts.map(|t| self.cbrt(t));
        let [x, y, z]: [NodeId; 3] = std::array::from_fn(|i| {
            let low = self.on_line(parts[i], SLOPE, FOOT);
            self.up_to(parts[i], DARK, low, roots[i])
        });
        let lightness = self.lightness(parts[1], roots[1]);
        let [a, b] = [(x, y, 500.0), (y, z, 200.0)].map(|(p, q, factor)| {
            let difference = self.binary(Binary::Sub, p, q);
            self.op(Binary::Mul, difference, factor)
        });
        [lightness, a, b]
    }

    fn xyz_of_lab(&mut self, [lightness, a, b]: [NodeId; 3]) -> [NodeId; 3] {
        let [y, root] = self.light(lightness);
        let [x, z] = [(a, 1.0 / 500.0, WHITE[0]), (b, -1.0 / 200.0, WHITE[2])].map(|(channel, factor, white)| {
            let factor = self.number(self.node(channel).dtype, factor);
            let root = self.fma(channel, factor, root);
            let (low, high) = (self.on_line(root, 1.0 / SLOPE, -FOOT / SLOPE), self.cubed(root));
            let part = self.up_to(root, DARK_ROOT, low, high);
            self.op(Binary::Mul, part, white)
        });
        [x, y, z]
    }

    fn luv(&mut self, [x, y, z]: [NodeId; 3]) -> [NodeId; 3] {
        let root = self.cbrt(y);
        let lightness = self.lightness(y, root);
        let sum = self.weighted(&[x, y, z], &[1.0, 15.0, 3.0]);
        // Black has no colour: anything but 0, which its lightness is multiplied with.
        let sum = self.op(Binary::Max, sum, f64::from(f32::EPSILON));
        let [u, v] = [(x, 4.0, U_WHITE), (y, 9.0, V_WHITE)].map(|(part, factor, white)| {
            let part = self.op(Binary::Mul, part, factor);
            let share = self.binary(Binary::Div, part, sum);
            let difference = self.op(Binary::Sub, share, white);
            let scaled = self.binary(Binary::Mul, difference, lightness);
            self.op(Binary::Mul, scaled, 13.0)
        });
        [lightness, u, v]
    }

    /// From `3 (u + 13 L u'white)` and `1 / (4 (v + 13 L v'white))`, which OpenCV limits to a quarter.
    fn xyz_of_luv(&mut self, [lightness, u, v]: [NodeId; 3]) -> [NodeId; 3] {
        let [y, _] = self.light(lightness);
        let dtype = self.node(lightness).dtype;
        let [u, v] = [(u, U_WHITE), (v, V_WHITE)].map(|(channel, white)| {
            let factor = self.number(dtype, 13.0 * white);
            self.fma(lightness, factor, channel)
        });
        let three_u = self.op(Binary::Mul, u, 3.0);
        let quarter = self.number(dtype, 0.25);
        let reciprocal = self.binary(Binary::Div, quarter, v);
        let reciprocal = self.between_literals(reciprocal, -0.25, 0.25);
        let nine_u = self.op(Binary::Mul, three_u, 3.0);
        let ratio = self.binary(Binary::Mul, nine_u, reciprocal);
        let x = self.binary(Binary::Mul, y, ratio);
        let rest = self.op(Binary::Mul, lightness, 156.0);
        let rest = self.binary(Binary::Sub, rest, three_u);
        let five = self.number(dtype, -5.0);
        let factor = self.fma(rest, reciprocal, five);
        [x, y, self.binary(Binary::Mul, y, factor)]
    }
}
