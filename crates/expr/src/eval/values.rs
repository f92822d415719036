//! One value: a number of a row, or a block of them.

use super::lanes;
use super::lanes::Arg;
use super::lines::{Lines, Points, copy};
use super::loads::{Index, load};
use super::raw;
use super::worker::Worker;
use crate::dtype::Scalar;
use crate::fold;
use crate::program::{Inst, Program, Val};

impl Worker<'_> {
    #[inline(never)]
    pub(super) fn scalar(&self, v: Val) -> u64 {
        let program = &self.schedule.program;
        let get = |a: &Val| Scalar { dtype: program.dtype(*a), bits: self.scalars[a.0 as usize] };
        let int = |a: &Val| get(a).get::<i32>();
        match program.inst(v) {
            Inst::Const(s) => s.bits,
            Inst::Coord(d) => u64::from(self.coords[usize::from(*d)] as u32),
            Inst::Extent { operand, axis } => {
                u64::from(self.plan.shapes[usize::from(*operand)][usize::from(*axis)].1 as u32)
            }
            Inst::Load { operand, component, index } => {
                let slot = &self.plan.inputs[usize::from(*operand)];
                let at: i64 = slot.axes.iter().zip(index).map(|(a, i)| a.axis.stride * self.index(*i)).sum();
                lanes::element(self.inputs[usize::from(*operand)], *component, slot.origin() + at)
            }
            Inst::Unary(op, a) => fold::unary(*op, get(a)).bits,
            Inst::Binary(op, a, b) => fold::binary(*op, get(a), get(b)).bits,
            Inst::Fma(a, b, c) => fold::fma(get(a), get(b), get(c)).bits,
            Inst::Select(c, a, b) => {
                if get(c).bits & 1 == 1 {
                    get(a).bits
                } else {
                    get(b).bits
                }
            }
            Inst::Cast(a) => fold::cast(get(a), program.dtype(v)).bits,
            Inst::Bits(a) => get(a).bits,
            Inst::Call(function, args) => {
                let bits: Vec<u64> = args.iter().map(|a| get(a).bits).collect();
                function.bits(&bits)
            }
            Inst::Guard { value, low, high, index } => {
                let index = index.map(|i| int(&i));
                let clamped = lanes::guard(int(value), int(low), int(high), index, self.failed);
                u64::from(clamped as u32)
            }
            // Both are written by their loop.
            Inst::Step { .. } | Inst::Reduce { .. } | Inst::Carry { .. } | Inst::Iterate { .. } => {
                self.scalars[v.0 as usize]
            }
            Inst::Shared(number) => self.reduced[usize::from(*number)],
            // It varies along the inner dimension.
            Inst::Scan { .. } => 0,
        }
    }

    /// A uniform coordinate; those of long dimensions need all 64 bits.
    pub(super) fn index(&self, v: Val) -> i64 {
        match self.schedule.program.inst(v) {
            Inst::Coord(d) => self.coords[usize::from(*d)],
            _ => i64::from(self.scalars[v.0 as usize] as i32),
        }
    }

    /// An argument of a row's block.
    pub(super) fn arg(&self, v: Val) -> Arg<'_> {
        match self.schedule.slot_of[v.0 as usize] {
            Some(slot) => Arg::Block(&self.blocks[slot]),
            None => Arg::Uniform(self.scalars[v.0 as usize]),
        }
    }

    #[inline(never)]
    pub(super) fn vector(&self, v: Val, out: &mut [u64], start: usize, n: usize) {
        let program = &self.schedule.program;
        let inner = self.plan.world.len().wrapping_sub(1);
        match program.inst(v) {
            Inst::Coord(_) => lanes::count(out, start as i32, n),
            Inst::Load { operand, component, index } => {
                let index_of = |v: Val| match (program.inst(v), self.arg(v)) {
                    (Inst::Coord(d), _) if usize::from(*d) == inner => Index::ByPoint(start as i64),
                    (_, block @ Arg::Block(_)) => Index::Computed(block.into()),
                    (_, Arg::Uniform(_)) => Index::Same(self.index(v)),
                };
                self.load((*operand, *component, index), index_of, out, n.into());
            }
            Inst::Guard { value, low, high, index } => {
                let index = index.map(|i| self.arg(i));
                let (args, active) = ([*value, *low, *high].map(|v| self.arg(v)), self.active.as_deref());
                lanes::guards(out, args, index, n, active, self.failed);
            }
            _ => operation(program, v, out, |v| self.arg(v).into(), n.into()),
        }
    }

    /// Reads elements of an operand, where `index_of` says along each axis.
    #[inline(always)]
    pub(super) fn load<'b>(
        &self,
        (operand, component, index): (u16, u8, &[Val]),
        index_of: impl Fn(Val) -> Index<'b>,
        out: &mut [u64],
        points: Points,
    ) {
        let operand = usize::from(operand);
        let slot = &self.plan.inputs[operand];
        let axes = slot.axes.iter().zip(index).map(|(a, i)| (a.axis.stride, index_of(*i)));
        // What the slice holds below the element at 0 is one more step.
        let axes = axes.chain([(slot.origin(), Index::Same(1))]);
        load((self.inputs[operand], component), axes, out, points);
    }
}

/// Computes a value from its arguments alone; others are left as they are.
pub(super) fn operation<'a>(
    program: &Program,
    v: Val,
    out: &mut [u64],
    arg: impl Fn(Val) -> Lines<'a>,
    points: Points,
) {
    let dtype = program.dtype(v);
    match program.inst(v) {
        Inst::Unary(op, a) => {
            let a = arg(*a);
            raw::unary(*op, dtype, out, &a, &joined(points, &[a]));
        }
        Inst::Binary(op, a, b) => {
            let args = [arg(*a), arg(*b)];
            raw::binary(*op, program.dtype(*a), out, &args, &joined(points, &args));
        }
        Inst::Fma(a, b, c) => {
            let args = [arg(*a), arg(*b), arg(*c)];
            raw::fma(dtype, out, &args, &joined(points, &args));
        }
        Inst::Select(c, a, b) => {
            let args = [arg(*c), arg(*a), arg(*b)];
            raw::select(dtype, out, &args, &joined(points, &args));
        }
        Inst::Cast(a) => {
            let (from, a) = (program.dtype(*a), arg(*a));
            raw::cast(from, dtype, out, &a, &joined(points, &[a]));
        }
        Inst::Bits(a) => copy(dtype.size(), out, &arg(*a), &points),
        Inst::Call(function, args) => {
            let lines: Vec<Lines<'a>> = args.iter().map(|a| arg(*a)).collect();
            // Values between lines are nobody's: no function is to see them.
            let points = if points.pitch == points.columns { joined(points, &lines) } else { points };
            let mut line: Vec<Arg<'a>> = Vec::with_capacity(lines.len());
            for r in 0..points.lines {
                line.clear();
                line.extend(lines.iter().zip(args).map(|(lines, a)| lines.line(r, program.dtype(*a).size())));
                function.run(&mut out[points.word(r, dtype.size())..], &line, points.columns);
            }
        }
        // Constants and what is written by its loop; loads and guards need more than their arguments.
        _ => {}
    }
}

/// The points as one line, if the arguments allow it.
fn joined(points: Points, args: &[Lines<'_>]) -> Points {
    if points.lines > 1 && args.iter().all(|a| a.is_joined(points)) { points.joined() } else { points }
}
