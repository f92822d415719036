//! Loops within a row or a block: every step computes the body and adds to the accumulators.

use super::lanes::{Arg, values, values_mut};
use super::worker::Worker;
use super::{BLOCK, raw};
use crate::dtype::{DType, Scalar};
use crate::fold;
use crate::graph::Binary;
use crate::nest::Nest;
use crate::program::{Inst, Val};

impl Worker<'_> {
    pub(super) fn steps(&mut self, nest: &Nest, start: usize, n: usize) {
        let program = &self.schedule.program;
        let extent = program.loops()[usize::from(nest.id.0)].extent;
        let own = self.schedule.slot_of[extent.0 as usize];
        let steps = match own {
            None => self.scalars[extent.0 as usize] as i32,
            Some(slot) => values::<i32>(&self.blocks[slot], n).iter().copied().max().unwrap_or(0),
        };
        for v in &nest.reductions {
            match program.inst(*v) {
                Inst::Iterate { carry, .. } => {
                    if let Inst::Carry { start, .. } = program.inst(*carry) {
                        self.copy(*carry, *start, n);
                    }
                }
                _ => self.clear(*v, n),
            }
        }
        let around = self.active.clone();
        for step in 0..steps {
            if let Some(slot) = own.filter(|_| nest.guarded) {
                let left = values::<i32>(&self.blocks[slot], n).iter().map(|extent| step < *extent);
                let all = |i: usize| around.as_ref().is_none_or(|a| a[i]);
                self.active = Some(left.enumerate().map(|(i, left)| left && all(i)).collect());
            }
            if let Some(v) = nest.step {
                self.set_step(v, extent, step, n);
            }
            self.items(&nest.body, start, n);
            for v in &nest.reductions {
                match program.inst(*v) {
                    Inst::Iterate { carry, next, .. } => self.copy(*carry, *next, n),
                    _ => self.accumulate(*v, extent, step, n),
                }
            }
        }
        self.active = around;
        for v in &nest.reductions {
            if let Inst::Iterate { carry, .. } = program.inst(*v) {
                self.copy(*v, *carry, n);
            }
        }
    }

    /// The value of `from` becomes that of `to`.
    fn copy(&mut self, to: Val, from: Val, n: usize) {
        let schedule = self.schedule;
        let Some(slot) = schedule.slot_of[to.0 as usize] else {
            self.scalars[to.0 as usize] = self.scalars[from.0 as usize];
            return;
        };
        match schedule.slot_of[from.0 as usize] {
            Some(other) if other == slot => {}
            Some(other) => {
                let mut block = std::mem::take(&mut self.blocks[slot]);
                block.copy_from_slice(&self.blocks[other]);
                self.blocks[slot] = block;
            }
            None => {
                let value = Scalar { dtype: schedule.program.dtype(to), bits: self.scalars[from.0 as usize] };
                super::lanes::fill(&mut self.blocks[slot], value, n);
            }
        }
    }

    fn clear(&mut self, v: Val, n: usize) {
        let program = &self.schedule.program;
        let Inst::Reduce { reduction, .. } = program.inst(v) else { return };
        let identity = reduction.identity(program.dtype(v));
        match self.schedule.slot_of[v.0 as usize] {
            Some(slot) => super::lanes::fill(&mut self.blocks[slot], identity, n),
            None => self.scalars[v.0 as usize] = identity.bits,
        }
    }

    /// The number of the step. A point whose loop has ended computes its last step again, so that it reads what it may.
    fn set_step(&mut self, v: Val, extent: Val, step: i32, n: usize) {
        let schedule = self.schedule;
        match (schedule.slot_of[v.0 as usize], schedule.slot_of[extent.0 as usize]) {
            (Some(slot), Some(extents)) => {
                let mut out = std::mem::take(&mut self.blocks[slot]);
                let extents = values::<i32>(&self.blocks[extents], n);
                for (out, extent) in values_mut::<i32>(&mut out, n).iter_mut().zip(extents) {
                    *out = step.min(extent - 1).max(0);
                }
                self.blocks[slot] = out;
            }
            (Some(slot), None) => super::lanes::fill(&mut self.blocks[slot], Scalar::of(step), n),
            (None, _) => self.scalars[v.0 as usize] = u64::from(step as u32),
        }
    }

    fn accumulate(&mut self, v: Val, extent: Val, step: i32, n: usize) {
        let schedule = self.schedule;
        let program = &schedule.program;
        let Inst::Reduce { reduction, value, times, .. } = program.inst(v) else { return };
        let (reduction, value, times) = (*reduction, *value, *times);
        let Some(slot) = schedule.slot_of[v.0 as usize] else {
            let get = |a: Val| Scalar { dtype: program.dtype(a), bits: self.scalars[a.0 as usize] };
            let sum = match times {
                Some(times) => fold::fma(get(value), get(times), get(v)),
                None => fold::binary(reduction.operation(), get(v), get(value)),
            };
            self.scalars[v.0 as usize] = sum.bits;
            return;
        };
        let dtype = program.dtype(v);
        let mut out = std::mem::take(&mut self.spare);
        out.resize(2 * BLOCK + BLOCK, 0);
        let (sum, rest) = out.split_at_mut(BLOCK);
        let (chosen, mask) = rest.split_at_mut(BLOCK);
        let arg = |a: Val| match schedule.slot_of[a.0 as usize] {
            Some(slot) => Arg::Block(&self.blocks[slot]),
            None => Arg::Uniform(self.scalars[a.0 as usize]),
        };
        let old = Arg::Block(&self.blocks[slot]);
        match times {
            Some(times) => raw::fma(dtype, sum, &[arg(value), arg(times), old].map(Into::into), &n.into()),
            None => raw::binary(reduction.operation(), dtype, sum, &[old, arg(value)].map(Into::into), &n.into()),
        }
        let new: &[u64] = match schedule.slot_of[extent.0 as usize] {
            None => sum,
            Some(_) => {
                let step = Arg::Uniform(u64::from(step as u32));
                raw::binary(Binary::Lt, DType::I32, mask, &[step, arg(extent)].map(Into::into), &n.into());
                raw::select(dtype, chosen, &[Arg::Block(mask), Arg::Block(sum), old].map(Into::into), &n.into());
                chosen
            }
        };
        let words = (n * dtype.size()).div_ceil(8);
        self.blocks[slot][..words].copy_from_slice(&new[..words]);
        self.spare = out;
    }
}
