//! What the functions are written with: the graph's operations on one floating-point format, never contracted behind their
//! back, and sums of two floats.

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Graph, NodeId, Op, Unary};

/// A floating-point format.
pub(super) struct Format {
    pub(super) float: DType,
    /// The integer of the same size.
    pub(super) whole: DType,
    pub(super) bias: i64,
    pub(super) mantissa: i64,
    /// What `e^x` is 0 and infinity beyond, even `x e^x` and `e^x / 2`.
    pub(super) range: (f64, f64),
    /// ln 2 in two parts: multiples of the first by any exponent are exact.
    pub(super) ln2: (f64, f64),
    /// One and a half times the power of two whose last place is 1: added to a small number, it leaves the nearest whole one in
    /// the last bits.
    pub(super) rounder: f64,
}

pub(super) const SINGLE: Format = Format {
    float: DType::F32,
    whole: DType::I32,
    bias: 127,
    mantissa: 23,
    range: (-120.0, 91.0),
    ln2: (0.693_359_375, -2.121_944_400_546_905_8e-4),
    rounder: 12_582_912.0,
};

pub(super) const DOUBLE: Format = Format {
    float: DType::F64,
    whole: DType::I64,
    bias: 1023,
    mantissa: 52,
    range: (-760.0, 712.0),
    ln2: (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10),
    rounder: 6_755_399_441_055_744.0,
};

/// `h + l`, the second within half a unit of the first's last place or a few.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) h: NodeId,
    pub(super) l: NodeId,
}

/// A whole number, as a float and as an integer.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) n: NodeId,
    pub(super) whole: NodeId,
    /// An integer whose lowest bits are those of `whole`.
    pub(super) ends: NodeId,
}

/// A graph that is being extended by operations of one format.
pub(super) struct Math<'g> {
    pub(super) graph: &'g mut Graph,
    pub(super) format: &'static Format,
}

macro_rules! binary {
    ($($name:ident $op:ident;)*) => { $(
        pub(super) fn $name(&mut self, a: NodeId, b: NodeId) -> NodeId {
            self.graph.rounded(Binary::$op, a, b)
        }
    )* };
}

macro_rules! unary {
    ($($name:ident $op:ident;)*) => { $(
        pub(super) fn $name(&mut self, a: NodeId) -> NodeId {
            self.graph.unary(Unary::$op, a)
        }
    )* };
}

impl Math<'_> {
    binary! {
        add Add; sub Sub; mul Mul; div Div; min Min; max Max; and And; or Or; shl Shl; shr Shr;
        lt Lt; gt Gt; ge Ge; eq Eq; ne Ne;
    }
    unary! { neg Neg; abs Abs; sqrt Sqrt; trunc Trunc; not Not; }

    pub(super) fn is_double(&self) -> bool {
        self.format.float == DType::F64
    }

    /// The better suited of two values.
    pub(super) fn pick<T>(&self, single: T, double: T) -> T {
        if self.is_double() { double } else { single }
    }

    /// A float.
    pub(super) fn c(&mut self, value: f64) -> NodeId {
        let value = if self.is_double() { Scalar::of(value) } else { Scalar::of(value as f32) };
        self.graph.constant(value)
    }

    /// An integer of the float's size.
    pub(super) fn i(&mut self, value: i64) -> NodeId {
        let value = if self.is_double() { Scalar::of(value) } else { Scalar::of(value as i32) };
        self.graph.constant(value)
    }

    pub(super) fn fma(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        self.graph.fma(a, b, c)
    }

    pub(super) fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        self.graph.select(c, a, b)
    }

    /// `value` multiplied by a literal.
    pub(super) fn times(&mut self, value: NodeId, factor: f64) -> NodeId {
        let factor = self.c(factor);
        self.mul(value, factor)
    }

    /// `-a * b + c`.
    pub(super) fn without(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        let a = self.neg(a);
        self.fma(a, b, c)
    }

    /// The whole number nearest to `x * factor`, which has to be far below the format's [`Format::rounder`]. Conversions take a
    /// GPU four times as long as additions.
    pub(super) fn nearest(&mut self, x: NodeId, factor: f64) -> Nearest {
        let rounder = self.format.rounder;
        let bits = if self.is_double() { rounder.to_bits() as i64 } else { i64::from((rounder as f32).to_bits()) };
        let (factor, rounder, bits) = (self.c(factor), self.c(rounder), self.i(bits));
        let moved = self.fma(x, factor, rounder);
        let n = self.sub(moved, rounder);
        let ends = self.bits(moved);
        Nearest { n, whole: self.sub(ends, bits), ends }
    }

    pub(super) fn whole(&mut self, a: NodeId) -> NodeId {
        self.graph.cast(a, self.format.whole)
    }

    pub(super) fn float(&mut self, a: NodeId) -> NodeId {
        self.graph.cast(a, self.format.float)
    }

    pub(super) fn bits(&mut self, a: NodeId) -> NodeId {
        self.graph.push(Op::Bits(a), self.format.whole)
    }

    pub(super) fn of_bits(&mut self, a: NodeId) -> NodeId {
        self.graph.push(Op::Bits(a), self.format.float)
    }

    pub(super) fn nan(&mut self) -> NodeId {
        self.c(f64::NAN)
    }

    pub(super) fn infinity(&mut self) -> NodeId {
        self.c(f64::INFINITY)
    }

    /// Whether `|x| < infinity`, of an `x` that is not negative.
    pub(super) fn below_infinity(&mut self, x: NodeId) -> NodeId {
        let infinity = self.infinity();
        self.lt(x, infinity)
    }

    /// Whether the sign bit is set.
    pub(super) fn negative(&mut self, x: NodeId) -> NodeId {
        let (bits, zero) = (self.bits(x), self.i(0));
        self.lt(bits, zero)
    }

    /// `value` with the sign of `of` multiplied in.
    pub(super) fn signed(&mut self, of: NodeId, value: NodeId) -> NodeId {
        let (negative, opposite) = (self.negative(of), self.neg(value));
        self.select(negative, opposite, value)
    }

    /// `x` limited to `low..=high`; NaN stays.
    pub(super) fn clamp(&mut self, x: NodeId, low: f64, high: f64) -> NodeId {
        let (low, high) = (self.c(low), self.c(high));
        let x = self.max(x, low);
        self.min(x, high)
    }

    /// A polynomial, the lowest power first.
    pub(super) fn polynomial(&mut self, x: NodeId, single: &[f64], double: &[f64]) -> NodeId {
        let mut terms = self.pick(single, double).iter().rev();
        let mut p = self.c(*terms.next().unwrap_or(&0.0));
        for term in terms {
            let term = self.c(*term);
            p = self.fma(p, x, term);
        }
        p
    }

    /// `2^e` for a whole `e` within the exponents of normal numbers.
    pub(super) fn power_of_two(&mut self, e: NodeId) -> NodeId {
        let (bias, shift) = (self.i(self.format.bias), self.i(self.format.mantissa));
        let e = self.add(e, bias);
        let e = self.shl(e, shift);
        self.of_bits(e)
    }

    /// `value * 2^n`, in two steps of which only the second may round.
    pub(super) fn scale(&mut self, value: NodeId, n: NodeId) -> NodeId {
        let one = self.i(1);
        let half = self.shr(n, one);
        let rest = self.sub(n, half);
        let (half, rest) = (self.power_of_two(half), self.power_of_two(rest));
        let value = self.mul(value, half);
        self.mul(value, rest)
    }

    /// A constant given as the sum of two f64.
    pub(super) fn pair(&mut self, h: f64, l: f64) -> Pair {
        let (h, l) = if self.is_double() { (h, l) } else { (f64::from(h as f32), h - f64::from(h as f32) + l) };
        Pair { h: self.c(h), l: self.c(l) }
    }

    /// `a` with nothing below.
    pub(super) fn alone(&mut self, h: NodeId) -> Pair {
        Pair { h, l: self.c(0.0) }
    }

    /// `a + b` exactly (Knuth).
    pub(super) fn two_sum(&mut self, a: NodeId, b: NodeId) -> Pair {
        let h = self.add(a, b);
        let other = self.sub(h, a);
        let first = self.sub(h, other);
        let (x, y) = (self.sub(a, first), self.sub(b, other));
        Pair { h, l: self.add(x, y) }
    }

    /// `a + b` exactly, if `a` is 0 or not the smaller one (Dekker).
    pub(super) fn fast_sum(&mut self, a: NodeId, b: NodeId) -> Pair {
        let h = self.add(a, b);
        let other = self.sub(h, a);
        Pair { h, l: self.sub(b, other) }
    }

    /// `a * b` exactly.
    pub(super) fn product(&mut self, a: NodeId, b: NodeId) -> Pair {
        let h = self.mul(a, b);
        let minus = self.neg(h);
        Pair { h, l: self.fma(a, b, minus) }
    }

    /// The product of two pairs.
    pub(super) fn pair_product(&mut self, a: Pair, b: Pair) -> Pair {
        let p = self.product(a.h, b.h);
        let l = self.fma(a.h, b.l, p.l);
        let l = self.fma(a.l, b.h, l);
        Pair { h: p.h, l }
    }

    /// `a + l` for a small `l`.
    pub(super) fn plus(&mut self, a: Pair, l: NodeId) -> Pair {
        Pair { h: a.h, l: self.add(a.l, l) }
    }

    /// The same value, the second part below the first's last place.
    pub(super) fn normal(&mut self, a: Pair) -> Pair {
        self.fast_sum(a.h, a.l)
    }

    pub(super) fn sum(&mut self, a: Pair) -> NodeId {
        self.add(a.h, a.l)
    }

    pub(super) fn opposite(&mut self, a: Pair) -> Pair {
        Pair { h: self.neg(a.h), l: self.neg(a.l) }
    }

    pub(super) fn select_pair(&mut self, c: NodeId, a: Pair, b: Pair) -> Pair {
        Pair { h: self.select(c, a.h, b.h), l: self.select(c, a.l, b.l) }
    }

    /// `a / d`, where `inverse` is `1 / d.h` or nearly.
    pub(super) fn quotient(&mut self, a: Pair, d: Pair, inverse: NodeId) -> Pair {
        let h = self.mul(a.h, inverse);
        let rest = self.without(h, d.h, a.h);
        let low = self.without(h, d.l, a.l);
        let rest = self.add(rest, low);
        Pair { h, l: self.mul(rest, inverse) }
    }

    /// `a / d`.
    pub(super) fn ratio(&mut self, a: Pair, d: Pair) -> Pair {
        let one = self.c(1.0);
        let inverse = self.div(one, d.h);
        self.quotient(a, d, inverse)
    }

    /// The square root of a pair whose parts do not overlap; of 0, 0.
    pub(super) fn root(&mut self, a: Pair) -> Pair {
        let h = self.sqrt(a.h);
        let rest = self.without(h, h, a.h);
        let rest = self.add(rest, a.l);
        let (zero, one) = (self.c(0.0), self.c(1.0));
        let none = self.eq(h, zero);
        let twice = self.add(h, h);
        let twice = self.select(none, one, twice);
        Pair { h, l: self.div(rest, twice) }
    }
}
