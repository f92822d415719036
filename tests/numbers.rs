//! Short floats and random data, written apart from the device code: the truth that tests compare with.

use tilewright_driver::TargetKind;

use crate::runner::Kernel;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in -1..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    /// An integer in -4..=4, whose products and sums are exact in f32 in any order.
    pub(crate) fn small(&mut self) -> f32 {
        (self.next() % 9) as f32 - 4.0
    }

    pub(crate) fn many(&mut self, count: usize, draw: fn(&mut Self) -> f32) -> Vec<f32> {
        (0..count).map(|_| draw(self)).collect()
    }
}

/// A format of short floats with `exponent` and `mantissa` bits; the value of bits, and the bits of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Short {
    pub(crate) name: &'static str,
    exponent: u32,
    mantissa: u32,
}

pub(crate) const F16: Short = Short { name: "f16", exponent: 5, mantissa: 10 };
pub(crate) const BF16: Short = Short { name: "bf16", exponent: 8, mantissa: 7 };

impl Short {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(crate) fn value(self, bits: u16) -> f64 {
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let exponent = i32::from(bits >> self.mantissa) & ((1 << self.exponent) - 1);
        let mantissa = f64::from(bits & ((1 << self.mantissa) - 1)) / f64::from(1u32 << self.mantissa);
        let size = match exponent {
            0 => mantissa * 2f64.powi(1 - self.bias()),
            e if e == (1 << self.exponent) - 1 && mantissa == 0.0 => f64::INFINITY,
            e if e == (1 << self.exponent) - 1 => f64::NAN,
            e => (1.0 + mantissa) * 2f64.powi(e - self.bias()),
        };
        sign * size
    }

    /// The nearest, found by bisection over all sizes; of two the one with an even mantissa.
    pub(crate) fn bits(self, value: f32) -> u16 {
        let infinity = ((1u16 << self.exponent) - 1) << self.mantissa;
        let sign = u16::from(value.is_sign_negative()) << 15;
        if value.is_nan() {
            return 0x7fff;
        }
        let size = f64::from(value.abs());
        // What would follow the largest number if the exponent went on: from half way there on, infinity is nearest.
        let at = |bits: u16| if bits == infinity { 2f64.powi(self.bias() + 1) } else { self.value(bits) };
        let (mut low, mut high) = (0, infinity);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at(middle) <= size { low = middle } else { high = middle }
        }
        let (below, above) = (size - at(low), at(high) - size);
        let up = above < below || (above == below && low & 1 == 1);
        sign | if up { high } else { low }
    }

    pub(crate) fn all(self, values: &[f32]) -> Vec<u16> {
        values.iter().map(|v| self.bits(*v)).collect()
    }
}

/// What f32 becomes with 10 bits of mantissa, ties away from zero.
pub(crate) fn tf32(value: f32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    let scaled = f64::from(value.abs());
    let exponent = if value.is_normal() { i32::try_from(value.to_bits() >> 23 & 255).unwrap() - 127 } else { -126 };
    let unit = 2f64.powi(exponent - 10);
    let rounded = (scaled / unit + 0.5).floor() * unit;
    (rounded as f32).copysign(value)
}

/// A kernel of one block in which the text's `entry` is `run`.
pub(crate) fn block<'a>(name: &'a str, text: &'a str, threads: u32, shared_bytes: u32) -> Kernel<'a> {
    let target = TargetKind::Plain;
    Kernel { name, text, entry: "run", grid: [1, 1, 1], block: [threads, 1, 1], shared_bytes, target }
}
