//! An independent evaluator: the graph's meaning, point by point, by recursion, with operations of its own.

use crate::tensor::Tensor;
use std::collections::HashMap;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, Op, Size, Unary};
use tilewright_expr::{DType, Reduction};

/// A value: integers and `bool` exactly, floats in their own type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i128),
    F32(f32),
    F64(f64),
}
use Number::{F32, F64, Int};

impl Number {
    fn int(self) -> i128 {
        match self {
            Int(v) => v,
            _ => panic!("an integer is expected"),
        }
    }

    fn of(dtype: DType, bits: u64) -> Number {
        match dtype {
            DType::F32 => F32(f32::from_bits(bits as u32)),
            DType::F64 => F64(f64::from_bits(bits)),
            _ => Int(wrap(i128::from(bits), dtype)),
        }
    }

    fn bits(self, dtype: DType) -> u64 {
        match self {
            F32(v) => u64::from(v.to_bits()),
            F64(v) => v.to_bits(),
            Int(v) => (v as u64) & (u64::MAX >> (64 - 8 * dtype.size())),
        }
    }
}

/// The value of `dtype` that is congruent to `v`.
fn wrap(v: i128, dtype: DType) -> i128 {
    if dtype == DType::Bool {
        return v & 1;
    }
    let modulus = 1i128 << (8 * dtype.size());
    let low = v.rem_euclid(modulus);
    if dtype.is_signed() && low >= modulus / 2 { low - modulus } else { low }
}

fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    match dtype {
        DType::Bool => (0, 1),
        d if d.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    }
}

pub(crate) struct Naive<'a> {
    graph: &'a Graph,
    inputs: &'a [Tensor],
    memo: HashMap<(NodeId, Vec<(u64, i64)>), Number>,
    /// Whether a box or a coordinate was clamped.
    pub(crate) failed: bool,
}

impl<'a> Naive<'a> {
    pub(crate) fn new(graph: &'a Graph, inputs: &'a [Tensor]) -> Self {
        Naive { graph, inputs, memo: HashMap::new(), failed: false }
    }

    /// Every result, of these shapes.
    pub(crate) fn outputs(&mut self, shapes: &[Vec<i64>]) -> Vec<Tensor> {
        let graph = self.graph;
        let one = |(out, shape): (&tilewright_expr::graph::Output, &Vec<i64>)| {
            let dtype = graph.node(out.node).dtype;
            let count: i64 = shape.iter().product();
            let mut bits = Vec::new();
            for i in 0..count {
                let mut rest = i;
                let mut point: Vec<(u64, i64)> = Vec::new();
                for (dim, n) in out.dims.iter().zip(shape).rev() {
                    point.push((*dim, rest % n));
                    rest /= n;
                }
                bits.push(self.value(out.node, &point).bits(dtype));
            }
            Tensor { dtype, components: 1, dims: out.dims.to_vec(), shape: shape.clone(), bits }
        };
        graph.outputs.iter().zip(shapes).map(one).collect()
    }

    fn value(&mut self, node: NodeId, point: &[(u64, i64)]) -> Number {
        let known = &self.graph.node(node).shape;
        let mut seen: Vec<(u64, i64)> =
            point.iter().filter(|(d, _)| known.iter().any(|(s, _)| s == d)).copied().collect();
        seen.sort_unstable();
        if let Some(v) = self.memo.get(&(node, seen.clone())) {
            return *v;
        }
        let v = self.compute(node, &seen);
        self.memo.insert((node, seen), v);
        v
    }

    fn compute(&mut self, node: NodeId, point: &[(u64, i64)]) -> Number {
        let graph = self.graph;
        let dtype = graph.node(node).dtype;
        let coord = |dim: u64| point.iter().find(|(d, _)| *d == dim).map_or(0, |(_, c)| *c);
        match &graph.node(node).op {
            Op::Const(Scalar { bits, .. }) => Number::of(dtype, *bits),
            Op::Input { operand, component } => {
                let tensor = &self.inputs[*operand as usize];
                let coords: Vec<i64> = tensor.dims.iter().map(|d| coord(*d)).collect();
                Number::of(dtype, tensor.at(&coords, *component as usize))
            }
            Op::Index(dim) => Int(i128::from(coord(*dim))),
            Op::Extent(size) => Int(self.size(*size, point)),
            Op::Unary(op, a) => unary(*op, self.value(*a, point), dtype),
            Op::Binary(op, a, b) => {
                let operands = graph.node(*a).dtype;
                binary(*op, self.value(*a, point), self.value(*b, point), operands)
            }
            Op::Fma(a, b, c) => fma(self.value(*a, point), self.value(*b, point), self.value(*c, point)),
            // What decides nothing is not looked at, so that a box in it is not reported.
            Op::Select(_, a, b) if a == b => self.value(*a, point),
            Op::Select(c, a, b) => {
                // Both sides are computed, so that both are checked.
                let (yes, no) = (self.value(*a, point), self.value(*b, point));
                if self.value(*c, point).int() == 1 { yes } else { no }
            }
            Op::Cast(a) => cast(self.value(*a, point), dtype),
            Op::Bits(a) => {
                let from = graph.node(*a).dtype;
                Number::of(dtype, self.value(*a, point).bits(from))
            }
            Op::Guard { value, low, high, .. } => {
                let v = self.value(*value, point).int();
                let (low, high) = (self.value(*low, point).int(), self.value(*high, point).int());
                let clamped = if v < low { low } else { v.min(high) };
                self.failed |= clamped != v;
                Int(clamped)
            }
            Op::At { source, coords, .. } => {
                let mut moved: Vec<(u64, i64)> =
                    point.iter().filter(|(d, _)| coords.iter().all(|(c, _)| c != d)).copied().collect();
                for (dim, coord) in coords {
                    moved.push((*dim, self.value(*coord, point).int() as i64));
                }
                self.value(*source, &moved)
            }
            Op::Reduce { reduction, source, dim, size } => {
                let n = self.size(*size, point);
                let moved = |c: i64| -> Vec<(u64, i64)> {
                    point.iter().filter(|(d, _)| d != dim).copied().chain([(*dim, c)]).collect()
                };
                // A sum of products of floats rounds each product together with the sum.
                let factors = match graph.node(*source).op {
                    Op::Binary(Binary::Mul, a, b) if *reduction == Reduction::Sum && dtype.is_float() => Some((a, b)),
                    _ => None,
                };
                let mut sum = start(*reduction, dtype);
                for c in 0..n.max(0) as i64 {
                    sum = match factors {
                        Some((a, b)) => fma(self.value(a, &moved(c)), self.value(b, &moved(c)), sum),
                        None => binary(step(*reduction), sum, self.value(*source, &moved(c)), dtype),
                    };
                }
                sum
            }
        }
    }

    fn size(&mut self, size: Size, point: &[(u64, i64)]) -> i128 {
        match size {
            Size::Const(n) => i128::from(n),
            Size::Operand(operand, dim) => {
                let tensor = &self.inputs[operand as usize];
                i128::from(tensor.shape[tensor.dims.iter().position(|d| *d == dim).expect("the operand has it")])
            }
            Size::Node(node) => self.value(node, point).int(),
            Size::Any => panic!("a size that nothing gives is used"),
        }
    }
}

/// What a reduction of nothing is.
fn start(reduction: Reduction, dtype: DType) -> Number {
    let end = match reduction {
        Reduction::Sum => 0.0,
        Reduction::Product => 1.0,
        Reduction::Min => f64::INFINITY,
        Reduction::Max => f64::NEG_INFINITY,
    };
    match (dtype, reduction) {
        (DType::Bool, Reduction::Min | Reduction::Product) => Int(1),
        (DType::Bool, _) => Int(0),
        _ => cast(F64(end), dtype),
    }
}

fn step(reduction: Reduction) -> Binary {
    match reduction {
        Reduction::Sum => Binary::Add,
        Reduction::Product => Binary::Mul,
        Reduction::Min => Binary::Min,
        Reduction::Max => Binary::Max,
    }
}

fn unary(op: Unary, a: Number, dtype: DType) -> Number {
    match (op, a) {
        (Unary::Neg, Int(v)) => Int(if dtype == DType::Bool { v } else { wrap(-v, dtype) }),
        (Unary::Abs, Int(v)) => Int(wrap(v.abs(), dtype)),
        (Unary::Not, Int(v)) => Int(if dtype == DType::Bool { 1 - v } else { wrap(!v, dtype) }),
        (_, Int(v)) => Int(v),
        (op, F32(v)) => F32(match op {
            Unary::Neg => f32::from_bits(v.to_bits() ^ 0x8000_0000),
            Unary::Abs => f32::from_bits(v.to_bits() & 0x7fff_ffff),
            // Twice the precision and more: rounding twice is rounding once.
            Unary::Sqrt => f64::from(v).sqrt() as f32,
            Unary::Floor => f64::from(v).floor() as f32,
            Unary::Ceil => -(-f64::from(v)).floor() as f32,
            Unary::Trunc => f64::from(v).abs().floor().copysign(f64::from(v)) as f32,
            Unary::Round => nearest(f64::from(v)) as f32,
            Unary::Not => panic!("there is no complement of a float"),
        }),
        (op, F64(v)) => F64(match op {
            Unary::Neg => f64::from_bits(v.to_bits() ^ (1 << 63)),
            Unary::Abs => f64::from_bits(v.to_bits() & !(1 << 63)),
            Unary::Sqrt => v.sqrt(),
            Unary::Floor => v.floor(),
            Unary::Ceil => -(-v).floor(),
            Unary::Trunc => v.abs().floor().copysign(v),
            Unary::Round => nearest(v),
            Unary::Not => panic!("there is no complement of a float"),
        }),
    }
}

/// The nearest integer, halves to even, by the definition.
pub(crate) fn nearest(v: f64) -> f64 {
    let size = v.abs();
    if size.is_nan() || size >= 4503599627370496.0 {
        return v;
    }
    let low = size.floor();
    let rest = size - low;
    let up = rest > 0.5 || rest == 0.5 && low % 2.0 == 1.0;
    (if up { low + 1.0 } else { low }).copysign(v)
}

fn binary(op: Binary, a: Number, b: Number, dtype: DType) -> Number {
    match (a, b) {
        (Int(a), Int(b)) => Int(integers(op, a, b, dtype)),
        (F32(a), F32(b)) => {
            // In f64 a product is exact, and a sum or quotient rounded there first gives the same f32.
            let (x, y) = (f64::from(a), f64::from(b));
            match op {
                Binary::Add => F32((x + y) as f32),
                Binary::Sub => F32((x - y) as f32),
                Binary::Mul => F32((x * y) as f32),
                Binary::Div => F32((x / y) as f32),
                Binary::Min => F32(least(x, y) as f32),
                Binary::Max => F32(-least(-x, -y) as f32),
                _ => Int(i128::from(compare(op, x, y))),
            }
        }
        (F64(a), F64(b)) => match op {
            Binary::Add => F64(a + b),
            Binary::Sub => F64(a - b),
            Binary::Mul => F64(a * b),
            Binary::Div => F64(a / b),
            Binary::Min => F64(least(a, b)),
            Binary::Max => F64(-least(-a, -b)),
            _ => Int(i128::from(compare(op, a, b))),
        },
        _ => panic!("operands of one type are expected"),
    }
}

fn compare(op: Binary, a: f64, b: f64) -> bool {
    match op {
        Binary::Lt => a < b,
        Binary::Le => a <= b,
        Binary::Gt => b < a,
        Binary::Ge => b <= a,
        Binary::Eq => a == b,
        Binary::Ne => a < b || b < a || a.is_nan() || b.is_nan(),
        _ => panic!("not an operation on floats: {op:?}"),
    }
}

/// NaN if either is; `-0 < +0`.
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a.total_cmp(&b).is_lt() { a } else { b }
}

fn integers(op: Binary, a: i128, b: i128, dtype: DType) -> i128 {
    let flag = i128::from;
    match op {
        Binary::Lt => return flag(a < b),
        Binary::Le => return flag(a <= b),
        Binary::Gt => return flag(a > b),
        Binary::Ge => return flag(a >= b),
        Binary::Eq => return flag(a == b),
        Binary::Ne => return flag(a != b),
        _ => {}
    }
    let width = 8 * dtype.size() as i128;
    let shift = b.rem_euclid(width) as u32;
    let bool = dtype == DType::Bool;
    let v = match op {
        Binary::Add | Binary::Max if bool => a | b,
        Binary::Sub if bool => a ^ b,
        Binary::Mul | Binary::Div | Binary::Min if bool => a & b,
        Binary::Shl | Binary::Shr if bool => a,
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => match a.checked_mul(b) {
            Some(v) => v,
            // Only u64 * u64 leaves i128; the low half is what counts.
            None => i128::from((a as u64).wrapping_mul(b as u64)),
        },
        Binary::Div => {
            if b == 0 {
                0
            } else {
                a / b
            }
        }
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Shl => wrap(a, dtype).wrapping_shl(shift),
        Binary::Shr => a >> shift,
        _ => unreachable!("comparisons are above"),
    };
    wrap(v, dtype)
}

/// `a * b + c` rounded once.
pub(crate) fn fma(a: Number, b: Number, c: Number) -> Number {
    match (a, b, c) {
        // The product is exact in f64; a sum rounded to odd there may be rounded again.
        (F32(a), F32(b), F32(c)) => F32(odd_sum(f64::from(a) * f64::from(b), f64::from(c)) as f32),
        (F64(a), F64(b), F64(c)) => F64(fma64(a, b, c)),
        _ => panic!("floats of one type are expected"),
    }
}

/// The sum of two `f64`, the error of the sum being exact: Knuth.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `a + b` rounded to odd: toward the neighbour whose last bit is 1, unless exact.
fn odd_sum(a: f64, b: f64) -> f64 {
    let (s, e) = two_sum(a, b);
    if !s.is_finite() || e == 0.0 || e.is_nan() || s.to_bits() & 1 == 1 {
        return s;
    }
    let away = (e > 0.0) == (s > 0.0);
    f64::from_bits(if away { s.to_bits() + 1 } else { s.to_bits() - 1 })
}

/// Boldo and Melquiond's fused multiply-add from plain operations, where nothing over- or underflows; else the machine's.
fn fma64(a: f64, b: f64, c: f64) -> f64 {
    let middling = |v: f64| v == 0.0 || (1e-100..1e100).contains(&v.abs());
    if ![a, b, c].into_iter().all(middling) || a == 0.0 || b == 0.0 || c == 0.0 {
        return a.mul_add(b, c);
    }
    let split = |v: f64| {
        let big = v * 134_217_729.0;
        let high = big - (big - v);
        (high, v - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    let high = a * b;
    let low = ((ah * bh - high) + ah * bl + al * bh) + al * bl;
    let (th, tl) = two_sum(c, low);
    let (vh, vl) = two_sum(high, th);
    vh + odd_sum(tl, vl)
}

pub(crate) fn cast(a: Number, to: DType) -> Number {
    let as_float = |v: f64| if to == DType::F32 { F32(v as f32) } else { F64(v) };
    match a {
        Int(v) if to == DType::F32 => F32(v as f32),
        Int(v) if to == DType::F64 => F64(v as f64),
        Int(v) if to == DType::Bool => Int(i128::from(v != 0)),
        Int(v) => Int(v.clamp(range(to).0, range(to).1)),
        F32(v) if to == DType::F32 => F32(v),
        F32(v) => cast(F64(f64::from(v)), to),
        F64(v) if to.is_float() => as_float(v),
        F64(v) if to == DType::Bool => Int(i128::from(v != 0.0)),
        F64(v) if v.is_nan() => Int(0),
        F64(v) => {
            let (low, high) = range(to);
            let whole = nearest(v);
            // Powers of two and below: these comparisons are exact.
            Int(if whole >= high as f64 {
                high
            } else if whole <= low as f64 {
                low
            } else {
                whole as i128
            })
        }
    }
}
