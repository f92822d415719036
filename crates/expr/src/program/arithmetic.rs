//! Instructions that compute: folded where their operands are literals.

use super::{Inst, Program, Val};
use crate::dtype::{DType, Scalar};
use crate::extend::Function;
use crate::fold;
use crate::graph::{Binary, Unary};

impl Program {
    /// Computes in `f32` what halves are computed with, and rounds the result to their type: no instruction but loads, casts,
    /// selections and stores ever sees one.
    fn widened<const N: usize>(&mut self, args: [Val; N], f: impl FnOnce(&mut Self, [Val; N]) -> Val) -> Val {
        let dtype = self.dtype(args[0]);
        let wide = args.map(|a| self.cast(a, DType::F32));
        let result = f(self, wide);
        if self.dtype(result) == DType::F32 { self.cast(result, dtype) } else { result }
    }

    /// `op(a)`, folded.
    pub fn unary(&mut self, op: Unary, a: Val) -> Val {
        if self.dtype(a).is_half() {
            return self.widened([a], |p, [a]| p.unary(op, a));
        }
        match self.constant(a) {
            Some(s) => self.constant_of(fold::unary(op, s)),
            None => self.push(Inst::Unary(op, a), self.dtype(a)),
        }
    }

    /// `a op b`, folded.
    pub fn binary(&mut self, op: Binary, a: Val, b: Val) -> Val {
        let dtype = self.dtype(a);
        if dtype.is_half() {
            return self.widened([a, b], |p, [a, b]| p.binary(op, a, b));
        }
        let result = if op.compares() { DType::Bool } else { dtype };
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            return self.constant_of(fold::binary(op, x, y));
        }
        if dtype.is_float() {
            if op == Binary::Div
                && let Some(exact) = self.constant(b).and_then(power_of_two_reciprocal)
            {
                let factor = self.constant_of(exact);
                return self.push(Inst::Binary(Binary::Mul, a, factor), dtype);
            }
        } else if let Some(v) = self.integer_identity(op, a, b) {
            return v;
        }
        self.push(Inst::Binary(op, a, b), result)
    }

    /// Whether an integer differs from a literal in its lowest bits: `4 i + 1` is never 0.
    fn never_equal(&self, a: Val, b: Val) -> bool {
        let literal = |v: Val| self.constant(v).map(|s| s.bits);
        let Some(wanted) = literal(b) else { return false };
        let (shifted, added) = match self.inst(a) {
            Inst::Binary(Binary::Add, x, k) => (*x, literal(*k)),
            _ => (a, Some(0)),
        };
        let known = match self.inst(shifted) {
            Inst::Binary(Binary::Shl, _, k) => literal(*k),
            _ => None,
        };
        let (Some(added), Some(known)) = (added, known) else { return false };
        let bits = 8 * self.dtype(a).size() as u64;
        known < bits && (wanted ^ added) & ((1 << known) - 1) != 0
    }

    /// `x + 0`, `x - 0`, `x * 1` are `x`; constants of a sum are gathered on its right, so that addresses of neighbouring
    /// points share their variable part.
    fn integer_identity(&mut self, op: Binary, a: Val, b: Val) -> Option<Val> {
        let dtype = self.dtype(a);
        if dtype == DType::Bool {
            return None;
        }
        let literal = |p: &Self, v: Val| p.constant(v).map(|s| s.bits);
        match op {
            Binary::Eq | Binary::Ne if self.never_equal(a, b) => Some(self.constant_of(Scalar::of(op == Binary::Ne))),
            Binary::Add if literal(self, a) == Some(0) => Some(b),
            Binary::Add | Binary::Sub if literal(self, b) == Some(0) => Some(a),
            Binary::Mul if literal(self, a) == Some(1) => Some(b),
            Binary::Mul | Binary::Div if literal(self, b) == Some(1) => Some(a),
            Binary::Sub if self.constant(b).is_some() => {
                let negative = self.unary(Unary::Neg, b);
                Some(self.binary(Binary::Add, a, negative))
            }
            Binary::Add if self.constant(a).is_some() => Some(self.binary(Binary::Add, b, a)),
            Binary::Add => {
                let split = |p: &Self, v: Val| match p.inst(v) {
                    Inst::Binary(Binary::Add, x, k) if p.constant(*k).is_some() => Some((*x, *k)),
                    _ => None,
                };
                if let Some((x, k)) = split(self, a) {
                    if self.constant(b).is_some() {
                        let sum = self.binary(Binary::Add, k, b);
                        return Some(self.binary(Binary::Add, x, sum));
                    }
                    let sum = self.binary(Binary::Add, x, b);
                    return Some(self.binary(Binary::Add, sum, k));
                }
                if let Some((x, k)) = split(self, b) {
                    let sum = self.binary(Binary::Add, a, x);
                    return Some(self.binary(Binary::Add, sum, k));
                }
                None
            }
            _ => None,
        }
    }

    /// `a * b + c`, rounded once, folded.
    pub fn fma(&mut self, a: Val, b: Val, c: Val) -> Val {
        if self.dtype(a).is_half() {
            return self.widened([a, b, c], |p, [a, b, c]| p.fma(a, b, c));
        }
        match (self.constant(a), self.constant(b), self.constant(c)) {
            (Some(x), Some(y), Some(z)) => self.constant_of(fold::fma(x, y, z)),
            _ => self.push(Inst::Fma(a, b, c), self.dtype(a)),
        }
    }

    /// `if c { a } else { b }`, folded.
    pub fn select(&mut self, c: Val, a: Val, b: Val) -> Val {
        match self.constant(c) {
            Some(s) if s.bits & 1 == 1 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.push(Inst::Select(c, a, b), self.dtype(a)),
        }
    }

    /// The saturating cast, folded.
    pub fn cast(&mut self, a: Val, to: DType) -> Val {
        let from = self.dtype(a);
        // What halves are to other types, their f32 is; an f64 alone is rounded to them in one step.
        let through = from.is_half() && to != DType::F32 || to.is_half() && !matches!(from, DType::F32 | DType::F64);
        if through && from != to {
            let single = self.cast(a, DType::F32);
            return self.cast(single, to);
        }
        match self.constant(a) {
            _ if from == to => a,
            Some(s) => self.constant_of(fold::cast(s, to)),
            None => self.push(Inst::Cast(a), to),
        }
    }

    /// The same bits as another type, folded.
    pub fn bits(&mut self, a: Val, to: DType) -> Val {
        match self.constant(a) {
            Some(s) => self.constant_of(fold::bits(s, to)),
            None if self.dtype(a) == to => a,
            None => self.push(Inst::Bits(a), to),
        }
    }

    /// A function that is given as text. Never folded: its twin is for values, and the compiler folds its text.
    pub fn call(&mut self, function: Function, args: Box<[Val]>) -> Val {
        self.push(Inst::Call(function, args), function.result())
    }

    /// A checked clamp. What is a literal inside is left as it is.
    pub fn guard(&mut self, value: Val, low: Val, high: Val, index: Option<Val>) -> Val {
        let number = |v: Val| self.constant(v).and_then(Scalar::as_i64);
        if let (Some(v), Some(low), Some(high)) = (number(value), number(low), number(high))
            && (low..=high).contains(&v)
        {
            return value;
        }
        self.push(Inst::Guard { value, low, high, index }, self.dtype(value))
    }
}

/// `1 / s` if `s` is a power of two whose reciprocal is normal: then `x / s` and `x * (1 / s)` are the same number.
fn power_of_two_reciprocal(s: Scalar) -> Option<Scalar> {
    match s.dtype {
        DType::F32 => {
            let (v, r) = (s.get::<f32>(), 1.0 / s.get::<f32>());
            (v.to_bits() & 0x007f_ffff == 0 && v.is_normal() && r.is_normal()).then(|| Scalar::of(r))
        }
        DType::F64 => {
            let (v, r) = (s.get::<f64>(), 1.0 / s.get::<f64>());
            (v.to_bits() & 0x000f_ffff_ffff_ffff == 0 && v.is_normal() && r.is_normal()).then(|| Scalar::of(r))
        }
        _ => None,
    }
}
