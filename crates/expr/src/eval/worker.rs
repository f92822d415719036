//! [`Worker`]: what a thread computes row by row.

use super::kept::Kept;
use super::raw::Target;
use super::schedule::Schedule;
use super::{BLOCK, HostSection, meet, scan};
use crate::dtype::HostSlice;
use crate::nest::Item;
use crate::plan::Plan;
use crate::program::{Along, Inst, Val};
use std::sync::atomic::AtomicU32;

/// One thread's state: scalars of the current row, blocks of values.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) schedule: &'a Schedule,
    pub(super) inputs: &'a [HostSlice<'a>],
    pub(super) targets: &'a [Target<'a>],
    pub(super) failed: &'a AtomicU32,
    /// Bits of every value that is uniform along the inner dimension.
    pub(super) scalars: Vec<u64>,
    pub(super) blocks: Vec<Vec<u64>>,
    /// Points whose loops have a step left, where loops end differently.
    pub(super) active: Option<Vec<bool>>,
    /// Bits of the results of shared reductions.
    pub(super) reduced: Vec<u64>,
    /// How far each shared scan has come.
    pub(super) carries: Vec<scan::Carry>,
    /// Room for one step of an accumulator.
    pub(super) spare: Vec<u64>,
    /// Room for the accumulators of shared reductions, and for one step of one.
    pub(super) sums: Vec<Vec<u64>>,
    pub(super) coords: Vec<i64>,
    pub(super) row: Option<usize>,
    /// Which columns the blocks of values that rows share are of.
    pub(super) columns: Option<(usize, usize)>,
    pub(super) kept: Kept,
    /// Tables for results that values are scattered to.
    pub(super) own: Vec<Option<meet::Own<'a>>>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        section: &'a HostSection,
        turn: usize,
        inputs: &'a [HostSlice<'a>],
        targets: &'a [Target<'a>],
        failed: &'a AtomicU32,
    ) -> Self {
        let (plan, schedule) = (&section.plan, &section.turns[turn]);
        Worker {
            plan,
            schedule,
            active: None,
            reduced: Vec::new(),
            carries: Vec::new(),
            inputs,
            targets,
            failed,
            scalars: vec![0; schedule.program.len()],
            blocks: vec![vec![0; BLOCK]; schedule.slots],
            spare: Vec::new(),
            sums: Vec::new(),
            coords: vec![0; plan.world.len()],
            row: None,
            columns: None,
            kept: Kept::new(&schedule.taps),
            own: Vec::new(),
        }
    }

    /// Computes points `start..start + n` of row `row`.
    pub(super) fn block(&mut self, row: usize, start: usize, n: usize) {
        self.compute(row, start, n);
        self.store(start, n);
    }

    pub(super) fn compute(&mut self, row: usize, start: usize, n: usize) {
        self.enter_row(row);
        let schedule = self.schedule;
        if self.columns != Some((start, n)) {
            self.columns = Some((start, n));
            self.items(&schedule.columns, start, n);
            self.kept.forget();
        }
        self.take_over();
        for (item, tap) in &schedule.blocks {
            if tap.is_none_or(|tap| self.kept.missing[tap]) {
                match item {
                    Item::Value(v) => self.value(*v, start, n),
                    Item::Loop(nest) => self.steps(nest, start, n),
                }
            }
        }
    }

    pub(super) fn items(&mut self, items: &[Item], start: usize, n: usize) {
        for item in items {
            match item {
                Item::Value(v) => self.value(*v, start, n),
                Item::Loop(nest) => self.steps(nest, start, n),
            }
        }
    }

    pub(super) fn value(&mut self, v: Val, start: usize, n: usize) {
        match self.schedule.slot_of[v.0 as usize] {
            Some(slot) => {
                let mut out = std::mem::take(&mut self.blocks[slot]);
                match self.schedule.program.inst(v) {
                    Inst::Scan { number, terms, .. } => self.scan(usize::from(*number), terms[0], &mut out, (start, n)),
                    _ => self.vector(v, &mut out, start, n),
                }
                self.blocks[slot] = out;
            }
            None => self.scalars[v.0 as usize] = self.scalar(v),
        }
    }

    /// Recomputes the numbers that depend on a coordinate that has changed.
    pub(super) fn enter_row(&mut self, row: usize) {
        if self.row != Some(row) {
            self.enter(row);
            self.items(&self.schedule.rows, 0, 0);
        }
    }

    /// Recomputes those of them that do not depend on the row loop.
    pub(super) fn enter(&mut self, row: usize) {
        let (schedule, world) = (self.schedule, &self.plan.world);
        let mut changed: Along = if self.row.is_none() { Along::MAX } else { 0 };
        let mut rest = row as i64;
        for d in (0..world.len().saturating_sub(1)).rev() {
            let coord = rest % world[d].extent;
            rest /= world[d].extent;
            if coord != self.coords[d] {
                changed |= 1 << d;
                self.coords[d] = coord;
            }
        }
        let first = self.row.is_none();
        self.row = Some(row);
        let row_loop: Along = (1 << world.len()) >> 2;
        if changed & !row_loop != 0 {
            self.columns = None;
            for (item, along) in &schedule.outer {
                if first || along & changed != 0 {
                    self.items(std::slice::from_ref(item), 0, 0);
                }
            }
        }
    }

    pub(super) fn store(&mut self, start: usize, n: usize) {
        let schedule = self.schedule;
        let inner = self.plan.world.len().wrapping_sub(1);
        for store in &schedule.program.stores {
            let skip = |d: &u8| usize::from(*d) != inner && self.coords[usize::from(*d)] != 0;
            if store.only_at_zero.iter().any(skip) {
                continue;
            }
            let once = store.only_at_zero.iter().any(|d| usize::from(*d) == inner);
            if once && start > 0 {
                continue;
            }
            if let Some(partial) = store.partial {
                self.store_partial(store, partial, start, if once { 1 } else { n });
                continue;
            }
            let slot = &self.plan.outputs[usize::from(store.output)];
            let (mut base, mut stride) = (slot.origin(), 0);
            for (a, i) in slot.axes.iter().zip(&store.index) {
                match schedule.program.inst(*i) {
                    Inst::Coord(d) if usize::from(*d) == inner => {
                        base += a.axis.stride * start as i64;
                        stride = a.axis.stride;
                    }
                    _ => base += a.axis.stride * self.index(*i),
                }
            }
            let value = self.arg(store.value);
            let n = if once { 1 } else { n };
            self.targets[usize::from(store.output)].write(base, stride, value, n);
        }
    }
}
