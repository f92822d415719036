//! What a row takes over from the row before it.
//!
//! Taps of a resize, a warp or a stencil read an expression at several rows, and the next row of results reads it mostly at the
//! same ones again. Where they are is known at run time only: so the blocks of taps stay, each with the row that it is of, and an
//! expression is evaluated where none has the row that is wanted. Equal coordinates mean equal bits.

use super::worker::Worker;
use crate::dtype::DType;
use crate::graph::{DimId, NodeId};
use crate::nest::{Item, Nest};
use crate::program::{Along, Inst, LOOPS, Program, Val};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Most taps of a row that are followed.
const TAPS: usize = 16;

/// An expression at one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Which row.
    coord: Val,
    /// Its values there.
    value: Val,
}

/// All taps; those of a walk are of one expression, all its other coordinates being the same.
#[derive(Debug, Default)]
pub(super) struct Taps {
    list: Vec<Tap>,
    walks: Vec<Range<usize>>,
}

impl Taps {
    /// The taps of a program whose blocks consist of `items`, and which tap each of these is for, if it is for no other. The values
    /// `early` are known before the blocks are; a row that nothing else is computed with is not.
    pub(super) fn new(
        program: &Program,
        along: [Along; 2],
        items: &[Item],
        early: &BTreeSet<Val>,
    ) -> (Taps, Vec<Option<usize>>) {
        let users = Users::new(program, items);
        let mut walks: Vec<(Vec<Tap>, Vec<BTreeSet<usize>>)> = Vec::new();
        let known = |taps: &Vec<Tap>| taps.iter().all(|tap| early.contains(&tap.coord));
        for taps in walks_of(program, along).into_iter().filter(known) {
            let bodies: Vec<_> = taps.iter().filter_map(|tap| users.exclusive(tap.value)).collect();
            if bodies.len() == taps.len() && bodies.iter().all(|body| loads(program, items, body)) {
                walks.push((taps, bodies));
            }
        }
        walks.sort_by_key(|(_, bodies)| std::cmp::Reverse(bodies.iter().map(BTreeSet::len).sum::<usize>()));
        let (mut chosen, mut only_for) = (Taps::default(), vec![None; items.len()]);
        for (taps, bodies) in walks {
            let all: BTreeSet<usize> = bodies.iter().flatten().copied().collect();
            let apart = all.len() == bodies.iter().map(BTreeSet::len).sum::<usize>();
            if !apart || all.iter().any(|item| only_for[*item].is_some()) {
                continue;
            }
            let first = chosen.list.len();
            for (tap, body) in bodies.iter().enumerate() {
                body.iter().for_each(|item| only_for[*item] = Some(first + tap));
            }
            chosen.list.extend(taps);
            chosen.walks.push(first..chosen.list.len());
        }
        (chosen, only_for)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Those of each walk.
    pub(super) fn walks(&self) -> impl Iterator<Item = Range<usize>> {
        self.walks.iter().cloned()
    }

    /// Which row a tap wants.
    pub(super) fn coord(&self, tap: usize) -> Val {
        self.list[tap].coord
    }

    /// A tap's values.
    pub(super) fn value(&self, tap: usize) -> Val {
        self.list[tap].value
    }

    /// The values that stay from row to row.
    pub(super) fn values(&self) -> impl Iterator<Item = Val> {
        self.list.iter().map(|tap| tap.value)
    }
}

/// An expression, the dimension along which it is read, and where it is read along the others.
type Walk = (NodeId, DimId, Vec<(DimId, Val)>);

/// Expressions that are evaluated at rows that the row loop decides, with the rows at which they are.
fn walks_of(program: &Program, [inner, row]: [Along; 2]) -> Vec<Vec<Tap>> {
    let in_loop = |v: Val| program.varies(v) >> LOOPS != 0;
    let steers = |v: Val| {
        program.dtype(v) == DType::I32 && program.varies(v) & row != 0 && program.varies(v) & inner == 0 && !in_loop(v)
    };
    let mut walks: Vec<(Walk, Vec<Tap>)> = Vec::new();
    for site in program.sites.iter().filter(|s| program.varies(s.value) & inner != 0 && !in_loop(s.value)) {
        let mut moving = site.at.iter().filter(|(_, v)| program.varies(*v) & row != 0);
        let (Some((dim, coord)), None) = (moving.next(), moving.next()) else { continue };
        if !steers(*coord) {
            continue;
        }
        let others: Vec<_> = site.at.iter().filter(|(d, _)| d != dim).copied().collect();
        let (key, tap) = ((site.source, *dim, others), Tap { coord: *coord, value: site.value });
        match walks.iter_mut().find(|(known, _)| *known == key) {
            Some((_, taps)) if taps.iter().any(|t| t.coord == tap.coord || t.value == tap.value) => {}
            Some((_, taps)) => taps.push(tap),
            None => walks.push((key, vec![tap])),
        }
    }
    let own = |tap: &Tap| program.affine(tap.coord).0.is_some_and(|base| matches!(program.inst(base), Inst::Coord(_)));
    // A single tap that goes on with every row meets none of the row before.
    let meets = |taps: &[Tap]| taps.len() <= TAPS && !matches!(taps, [only] if own(only));
    walks.into_iter().map(|(_, taps)| taps).filter(|taps| meets(taps)).collect()
}

fn loads(program: &Program, items: &[Item], body: &BTreeSet<usize>) -> bool {
    let load = |item: &Item| match item {
        Item::Value(v) => matches!(program.inst(*v), Inst::Load { .. }),
        Item::Loop(_) => true,
    };
    body.iter().any(|item| load(&items[*item]))
}

/// Which items make values, and which read them.
struct Users {
    made: Vec<Vec<Val>>,
    maker: HashMap<Val, usize>,
    of: HashMap<Val, BTreeSet<usize>>,
    stored: BTreeSet<Val>,
}

impl Users {
    fn new(program: &Program, items: &[Item]) -> Users {
        let made: Vec<Vec<Val>> = items.iter().map(results).collect();
        let maker = made.iter().enumerate().flat_map(|(i, vs)| vs.iter().map(move |v| (*v, i))).collect();
        let mut of: HashMap<Val, BTreeSet<usize>> = HashMap::new();
        for (i, item) in items.iter().enumerate() {
            let mut read = BTreeSet::new();
            item_reads(program, item, &mut read);
            for v in read {
                of.entry(v).or_default().insert(i);
            }
        }
        let stored = program.stored().iter().flat_map(|s| s.needs());
        let taken = program.taken().flat_map(|(_, s)| &s.terms).flat_map(|(a, b)| [Some(*a), *b]).flatten();
        Users { made, maker, of, stored: stored.chain(taken).collect() }
    }

    /// The item that makes `value`, and those that nothing else needs.
    fn exclusive(&self, value: Val) -> Option<BTreeSet<usize>> {
        let last = *self.maker.get(&value)?;
        let mut body = BTreeSet::from([last]);
        for item in (0..last).rev() {
            let mut users = self.made[item]
                .iter()
                .filter_map(|v| self.of.get(v))
                .flatten()
                .filter(|user| **user != item)
                .peekable();
            let free = self.made[item].iter().all(|v| !self.stored.contains(v));
            if free && users.peek().is_some() && users.all(|user| body.contains(user)) {
                body.insert(item);
            }
        }
        (self.made[last].len() == 1).then_some(body)
    }
}

/// The values that an item makes for others.
pub(super) fn results(item: &Item) -> Vec<Val> {
    match item {
        Item::Value(v) => vec![*v],
        Item::Loop(nest) => nest.reductions.clone(),
    }
}

/// What an item reads.
pub(super) fn item_reads(program: &Program, item: &Item, read: &mut BTreeSet<Val>) {
    match item {
        Item::Value(v) => program.inst(*v).for_each_arg(|a| read.extend([a])),
        Item::Loop(nest) => reads(program, nest, read),
    }
}

/// What a loop reads.
pub(super) fn reads(program: &Program, nest: &Nest, read: &mut BTreeSet<Val>) {
    nest.body.iter().for_each(|item| item_reads(program, item, read));
    nest.reductions.iter().for_each(|v| program.inst(*v).for_each_arg(|a| read.extend([a])));
}

/// The taps of a worker.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The row that each tap's block is of.
    rows: Vec<Option<i32>>,
    /// Taps whose rows are to be computed.
    pub(super) missing: Vec<bool>,
}

impl Kept {
    pub(super) fn new(taps: &Taps) -> Kept {
        Kept { rows: vec![None; taps.len()], missing: vec![true; taps.len()] }
    }

    /// What is there is of other columns.
    pub(super) fn forget(&mut self) {
        self.rows.fill(None);
    }
}

impl Worker<'_> {
    /// Moves blocks to the taps that want their rows, and finds which taps are missing.
    pub(super) fn take_over(&mut self) {
        let taps = &self.schedule.taps;
        for walk in &taps.walks {
            for tap in walk.clone() {
                let there = walk.clone().find(|other| self.kept.rows[*other] == Some(self.wanted(tap)));
                match there {
                    Some(other) if other != tap => self.move_block(other, tap),
                    _ => {}
                }
            }
        }
        for tap in 0..taps.len() {
            let wanted = Some(self.wanted(tap));
            self.kept.missing[tap] = self.kept.rows[tap] != wanted;
            self.kept.rows[tap] = wanted;
        }
    }

    fn wanted(&self, tap: usize) -> i32 {
        self.scalars[self.schedule.taps.list[tap].coord.0 as usize] as i32
    }

    /// Gives a tap the block of another, which keeps it too if it wants it itself.
    fn move_block(&mut self, from: usize, to: usize) {
        let slot = |tap: usize| self.schedule.slot_of[self.schedule.taps.list[tap].value.0 as usize];
        let (Some(source), Some(target)) = (slot(from), slot(to)) else { return };
        if self.kept.rows[from] == Some(self.wanted(from)) {
            let mut block = std::mem::take(&mut self.blocks[target]);
            block.copy_from_slice(&self.blocks[source]);
            self.blocks[target] = block;
            self.kept.rows[to] = self.kept.rows[from];
        } else {
            self.blocks.swap(source, target);
            self.kept.rows.swap(from, to);
        }
    }
}
