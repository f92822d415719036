//! Hue, and the two spaces that are built on it: HSV and HLS.
//!
//! A hue is in degrees here; the other channels go from 0 to `white`. Ways back need no branch: each channel is a piecewise
//! linear function of the hue.

use crate::dtype::DType;
use crate::graph::{Binary, Graph, NodeId, Unary};

/// What a hue of this type has for a full turn.
fn turn(dtype: DType) -> f64 {
    match dtype {
        DType::U8 => 180.0,
        DType::U16 => 65536.0,
        _ => 360.0,
    }
}

impl Graph {
    /// `a` and a literal of its type.
    pub(super) fn op(&mut self, op: Binary, a: NodeId, b: f64) -> NodeId {
        let b = self.number(self.node(a).dtype, b);
        self.binary(op, a, b)
    }

    /// `b - a`.
    fn less(&mut self, b: f64, a: NodeId) -> NodeId {
        let b = self.number(self.node(a).dtype, b);
        self.binary(Binary::Sub, b, a)
    }

    /// Degrees as a value of `dtype`: whole for integers, a full turn being 0.
    pub(crate) fn hue_code(&mut self, degrees: NodeId, dtype: DType) -> NodeId {
        let turn = turn(dtype);
        if dtype.is_float() {
            return degrees;
        }
        let code = self.op(Binary::Mul, degrees, turn / 360.0);
        let code = self.unary(Unary::Round, code);
        let whole = self.op(Binary::Ge, code, turn);
        let zero = self.number(self.node(code).dtype, 0.0);
        self.select(whole, zero, code)
    }

    /// A hue of `dtype`, already in the floating-point type, in degrees.
    pub(crate) fn degrees(&mut self, code: NodeId, dtype: DType) -> NodeId {
        if dtype.is_float() { code } else { self.op(Binary::Mul, code, 360.0 / turn(dtype)) }
    }

    /// Minimum, maximum and their distance.
    fn spread(&mut self, [r, g, b]: [NodeId; 3]) -> [NodeId; 3] {
        let [low, high] = [Binary::Min, Binary::Max].map(|op| {
            let first = self.binary(op, r, g);
            self.binary(op, first, b)
        });
        let distance = self.binary(Binary::Sub, high, low);
        [low, high, distance]
    }

    /// 60 degrees times the place between the channels that are largest; 0 where all are equal.
    fn hue(&mut self, [r, g, b]: [NodeId; 3], high: NodeId, distance: NodeId) -> NodeId {
        let dtype = self.node(high).dtype;
        let (zero, sixty) = (self.number(dtype, 0.0), self.number(dtype, 60.0));
        let scale = self.binary(Binary::Div, sixty, distance);
        let grey = self.binary(Binary::Eq, distance, zero);
        let scale = self.select(grey, zero, scale);
        let [red, green, blue] = [(g, b, 0.0), (b, r, 120.0), (r, g, 240.0)].map(|(next, last, start)| {
            let difference = self.binary(Binary::Sub, next, last);
            let start = self.number(dtype, start);
            self.fma(difference, scale, start)
        });
        let [is_red, is_green] = [r, g].map(|c| self.binary(Binary::Eq, high, c));
        let hue = self.select(is_green, green, blue);
        let hue = self.select(is_red, red, hue);
        let negative = self.binary(Binary::Lt, hue, zero);
        let turned = self.op(Binary::Add, hue, 360.0);
        self.select(negative, turned, hue)
    }

    /// `a / b`, 0 where `a` is 0, times `white`.
    fn share(&mut self, a: NodeId, b: NodeId, white: f64) -> NodeId {
        let zero = self.number(self.node(a).dtype, 0.0);
        let none = self.binary(Binary::Eq, a, zero);
        let share = self.binary(Binary::Div, a, b);
        let share = self.select(none, zero, share);
        self.scaled_by(share, white)
    }

    fn scaled_by(&mut self, value: NodeId, factor: f64) -> NodeId {
        if factor == 1.0 { value } else { self.op(Binary::Mul, value, factor) }
    }

    /// Hue, range over maximum, maximum.
    pub(crate) fn hsv(&mut self, rgb: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let [_, high, distance] = self.spread(rgb);
        [self.hue(rgb, high, distance), self.share(distance, high, white), high]
    }

    /// Hue, mean of minimum and maximum, range over the largest range for that mean.
    pub(crate) fn hls(&mut self, rgb: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let [low, high, distance] = self.spread(rgb);
        let sum = self.binary(Binary::Add, low, high);
        let dark = self.op(Binary::Lt, sum, white);
        let rest = self.less(2.0 * white, sum);
        let most = self.select(dark, sum, rest);
        let lightness = self.op(Binary::Mul, sum, 0.5);
        [self.hue(rgb, high, distance), lightness, self.share(distance, most, white)]
    }

    /// `start + degrees / step`, brought into `0..=period`.
    fn ramp(&mut self, degrees: NodeId, step: f64, start: f64, period: f64) -> NodeId {
        let steps = self.op(Binary::Mul, degrees, 1.0 / step);
        // Not contracted: the product is shared by the channels.
        let start = self.number(self.node(steps).dtype, start);
        let place = self.rounded(Binary::Add, steps, start);
        let turns = self.op(Binary::Mul, place, 1.0 / period);
        let turns = self.unary(Unary::Floor, turns);
        let back = self.number(self.node(place).dtype, -period);
        self.fma(turns, back, place)
    }

    /// `min(place - up, down - place, 1)`: a trapezium.
    fn trapezium(&mut self, place: NodeId, up: f64, down: f64) -> NodeId {
        let rising = if up == 0.0 { place } else { self.op(Binary::Sub, place, up) };
        let falling = self.less(down, place);
        let both = self.binary(Binary::Min, rising, falling);
        self.op(Binary::Min, both, 1.0)
    }

    /// `v - v * s * max(0, min(k, 4 - k, 1))` with `k = (n + hue / 60) mod 6`, `n` = 5, 3, 1 for red, green, blue.
    pub(crate) fn rgb_of_hsv(&mut self, [hue, s, v]: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let s = self.scaled_by(s, 1.0 / white);
        let range = self.binary(Binary::Mul, v, s);
        [5.0, 3.0, 1.0].map(|n| {
            let k = self.ramp(hue, 60.0, n, 6.0);
            let t = self.trapezium(k, 0.0, 4.0);
            let t = self.op(Binary::Max, t, 0.0);
            let less = self.unary(Unary::Neg, range);
            self.fma(less, t, v)
        })
    }

    /// `l - s * min(l, white - l) * max(-1, min(k - 3, 9 - k, 1))` with `k = (n + hue / 30) mod 12`, `n` = 0, 8, 4.
    pub(crate) fn rgb_of_hls(&mut self, [hue, l, s]: [NodeId; 3], white: f64) -> [NodeId; 3] {
        let s = self.scaled_by(s, 1.0 / white);
        let rest = self.less(white, l);
        let room = self.binary(Binary::Min, l, rest);
        let range = self.binary(Binary::Mul, s, room);
        [0.0, 8.0, 4.0].map(|n| {
            let k = self.ramp(hue, 30.0, n, 12.0);
            let t = self.trapezium(k, 3.0, 9.0);
            let t = self.op(Binary::Max, t, -1.0);
            let less = self.unary(Unary::Neg, range);
            self.fma(less, t, l)
        })
    }
}
