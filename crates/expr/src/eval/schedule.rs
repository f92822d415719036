//! Order of evaluation: uniform values once per row, those that rows share once per strip of columns, the others block by block in
//! as few buffers as their lifetimes allow.

use super::kept::{Taps, item_reads, reads, results};
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::lower::{Windows, lower};
use crate::nest::{Item, nest};
use crate::plan::Plan;
use crate::program::{Along, Inst, Program, Val};
use std::collections::BTreeSet;

/// A program with its order of evaluation.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) program: Program,
    /// What is uniform along the inner dimension and along the loop outside it: with what each item varies along.
    pub(super) outer: Vec<(Item, Along)>,
    /// What else is uniform along the inner dimension, once per row.
    pub(super) rows: Vec<Item>,
    /// What is the same in every row of the loop outside the inner dimension, once per strip of columns.
    pub(super) columns: Vec<Item>,
    /// The rest, block by block: with the tap that an item is for, if it is for no other.
    pub(super) blocks: Vec<(Item, Option<usize>)>,
    /// Values that a row may take over from the row before.
    pub(super) taps: Taps,
    /// The buffer of each value that has one; the others are single values.
    pub(super) slot_of: Vec<Option<usize>>,
    /// Buffers.
    pub(super) slots: usize,
}

impl Schedule {
    /// The program of a plan.
    pub(super) fn program(graph: &Graph, plan: &Plan) -> Result<Program, Error> {
        let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
        let outputs: Vec<_> = plan.outputs.iter().map(|s| s.dims()).collect();
        let (operands, group) = (plan.operands(true), plan.group.as_ref());
        lower(graph, &operands, (&outputs, &world), group, Windows::Stepwise, |program: &mut Program| {
            vec![world.iter().enumerate().map(|(i, d)| (*d, program.coord(i as u8))).collect()]
        })
    }

    pub(super) fn new(program: Program, plan: &Plan) -> Schedule {
        let inner: Along = if plan.world.is_empty() { 0 } else { 1 << (plan.world.len() - 1) };
        let live = program.live();
        let needed: BTreeSet<Val> = program.values().filter(|v| live[v.0 as usize]).collect();
        let late = late(&program, &needed, inner);
        let (by_block, by_row): (BTreeSet<Val>, BTreeSet<Val>) = needed.iter().partition(|v| late.contains(v));
        let row: Along = if plan.world.len() < 2 { 0 } else { inner >> 1 };
        let ([rows, outer], [blocks, columns]) = (split(&program, &by_row, row), split(&program, &by_block, row));
        let outer = outer.into_iter().map(|item| (item.clone(), along(&program, &item)));
        let (taps, only_for) = Taps::new(&program, [inner, row], &blocks, &by_row);
        let mut schedule = Schedule {
            outer: outer.collect(),
            rows,
            columns,
            blocks: taps_first(&program, blocks.into_iter().zip(only_for).collect()),
            taps,
            slot_of: vec![None; program.len()],
            slots: 0,
            program,
        };
        schedule.assign(inner);
        schedule
    }

    /// Whether blocks have a use for what was computed in the row before.
    pub(super) fn shares_rows(&self) -> bool {
        !self.blocks.is_empty() && (!self.columns.is_empty() || self.taps.len() > 0)
    }

    /// Gives buffers to what varies along the inner dimension.
    fn assign(&mut self, inner: Along) {
        let mut last_use = vec![0usize; self.program.len()];
        let mut count = 0;
        uses(&self.program, &self.columns, &mut count, &mut last_use);
        let columns = count;
        let blocks: Vec<Item> = self.blocks.iter().map(|(item, _)| item.clone()).collect();
        uses(&self.program, &blocks, &mut count, &mut last_use);
        for v in self.columns.iter().flat_map(results).filter(|v| last_use[v.0 as usize] > columns).collect::<Vec<_>>()
        {
            last_use[v.0 as usize] = usize::MAX;
        }
        for store in self.program.stored() {
            // A loop's own coordinate needs no buffer.
            let computed = |v: &Val| *v == store.value || !matches!(self.program.inst(*v), Inst::Coord(_));
            store.needs().filter(computed).for_each(|v| last_use[v.0 as usize] = usize::MAX);
        }
        self.program.terms().for_each(|v| last_use[v.0 as usize] = usize::MAX);
        let kept: Vec<Val> = self.taps.values().collect();
        kept.iter().for_each(|v| last_use[v.0 as usize] = usize::MAX);
        let columns = std::mem::take(&mut self.columns);
        let mut places = Places { schedule: self, inner, last_use, free: Vec::new(), held: Vec::new(), at: 0 };
        // Nothing else may ever stand where a tap's values are.
        kept.into_iter().for_each(|v| places.take(v));
        places.items(&columns);
        places.items(&blocks);
        self.columns = columns;
    }
}

/// The same items, those for taps before whatever they do not read: then lines of one tap can be computed for another.
fn taps_first(program: &Program, items: Vec<(Item, Option<usize>)>) -> Vec<(Item, Option<usize>)> {
    let mut early: BTreeSet<Val> = BTreeSet::new();
    let mut is_early: Vec<bool> = Vec::with_capacity(items.len());
    for (item, tap) in items.iter().rev() {
        let wanted = tap.is_some() || results(item).iter().any(|v| early.contains(v));
        if wanted {
            item_reads(program, item, &mut early);
        }
        is_early.push(wanted);
    }
    let (first, rest): (Vec<_>, Vec<_>) =
        items.into_iter().zip(is_early.into_iter().rev()).partition(|(_, early)| *early);
    first.into_iter().chain(rest).map(|(item, _)| item).collect()
}

/// What must wait for the block: what varies along the inner dimension, loops with such values in them, and what reads those.
fn late(program: &Program, needed: &BTreeSet<Val>, inner: Along) -> BTreeSet<Val> {
    let mut late: BTreeSet<Val> = BTreeSet::new();
    let mut loops: Along = 0;
    loop {
        let before = (late.len(), loops);
        for v in needed {
            let mut own = program.varies(*v) & !((1 << crate::program::LOOPS) - 1);
            if let Some(within) = program.inst(*v).ends() {
                own |= within.bit() | program.loops()[usize::from(within.0)].outer;
            }
            let mut wait = program.varies(*v) & inner != 0 || own & loops != 0;
            program.inst(*v).for_each_arg(|a| wait |= late.contains(&a));
            if wait {
                late.insert(*v);
                loops |= own;
            }
        }
        if before == (late.len(), loops) {
            return late;
        }
    }
}

/// What is to be computed anew in each row, and what is not: neither varies along the row's loop nor reads what does.
fn split(program: &Program, values: &BTreeSet<Val>, row: Along) -> [Vec<Item>; 2] {
    let mut anew: BTreeSet<Val> = BTreeSet::new();
    let changes = |item: &Item| {
        let mut read = BTreeSet::new();
        item_reads(program, item, &mut read);
        // A loop with a value that changes is computed anew with all its results.
        let changes = along(program, item) & row != 0 || !read.is_disjoint(&anew);
        anew.extend(results(item).into_iter().filter(|_| changes));
        changes
    };
    nest(program, values, 0).into_iter().partition::<Vec<Item>, _>(changes).into()
}

/// What an item varies along, its own loops not counted.
fn along(program: &Program, item: &Item) -> Along {
    match item {
        Item::Value(v) => program.varies(*v),
        Item::Loop(nest) => {
            let inside = nest.body.iter().fold(0, |bits, item| bits | along(program, item));
            nest.reductions.iter().fold(inside, |bits, v| bits | program.varies(*v))
        }
    }
}

/// Where each value is read last: a value from outside a loop is read until the loop ends.
fn uses(program: &Program, items: &[Item], at: &mut usize, last_use: &mut [usize]) {
    for item in items {
        *at += 1;
        match item {
            Item::Value(v) => program.inst(*v).for_each_arg(|a| {
                // Elements in a row need no places.
                if !matches!((program.inst(*v), program.inst(a)), (Inst::Load { .. }, Inst::Coord(_))) {
                    last_use[a.0 as usize] = *at;
                }
            }),
            Item::Loop(nest) => {
                uses(program, &nest.body, at, last_use);
                *at += 1;
                let mut read = BTreeSet::new();
                reads(program, nest, &mut read);
                read.iter().for_each(|v| last_use[v.0 as usize] = *at);
            }
        }
    }
}

/// Buffers being given out.
struct Places<'a> {
    schedule: &'a mut Schedule,
    inner: Along,
    last_use: Vec<usize>,
    free: Vec<usize>,
    held: Vec<Val>,
    at: usize,
}

impl Places<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.at += 1;
            match item {
                Item::Value(v) => self.take(*v),
                Item::Loop(nest) => {
                    // Accumulators are there before the first step, and outlive the last.
                    nest.reductions.iter().for_each(|v| self.take(*v));
                    let carried = |v: &Val| matches!(self.schedule.program.inst(*v), Inst::Carry { within, .. } if *within == nest.id);
                    let carries: Vec<Val> = nest.body.iter().filter_map(Item::value).filter(carried).collect();
                    carries.into_iter().for_each(|v| self.take(v));
                    self.items(&nest.body);
                    self.at += 1;
                }
            }
            self.release();
        }
    }

    fn take(&mut self, v: Val) {
        let program = &self.schedule.program;
        let unread = matches!(program.inst(v), Inst::Coord(_)) && self.last_use[v.0 as usize] == 0;
        if program.varies(v) & self.inner == 0 || unread || self.schedule.slot_of[v.0 as usize].is_some() {
            return;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.schedule.slots += 1;
            self.schedule.slots - 1
        });
        self.schedule.slot_of[v.0 as usize] = Some(slot);
        self.held.push(v);
    }

    fn release(&mut self) {
        let (at, last_use) = (self.at, &self.last_use);
        let slots = &self.schedule.slot_of;
        self.free.extend(self.held.iter().filter(|v| last_use[v.0 as usize] <= at).filter_map(|v| slots[v.0 as usize]));
        self.held.retain(|v| last_use[v.0 as usize] > at);
    }
}
