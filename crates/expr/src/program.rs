//! The lowered expression: straight-line scalar code over the loop coordinates, in single-assignment form.
//!
//! Both machines run this: the emitter prints it, the host evaluator interprets it. Instructions are hash-consed, so what
//! several points or channels share is computed once.

mod arithmetic;

use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, DimId, NodeId};
pub use crate::inst::{Along, Goal, Inst, LOOPS, Loop, LoopId, SharedReduction, SharedScan, Val};
use crate::map::Map;
use crate::reduce::Reduction;
use crate::scatter::Collision;
use std::collections::BTreeSet;

/// One stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Which output.
    pub output: u16,
    /// The coordinate along each axis of the output.
    pub index: Box<[Val]>,
    /// What is stored.
    pub value: Val,
    /// World dimensions that the output lacks: stored only where their coordinate is 0.
    pub only_at_zero: Box<[u8]>,
    /// How it is stored, if not to a place of its own whatever the values.
    pub partial: Option<PartialStore>,
}

/// A store whose place or whether it happens is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialStore {
    /// Where this is false nothing is stored.
    pub condition: Option<Val>,
    /// What becomes of the value and what its place holds.
    pub collision: Collision,
    /// Whether the place is computed, so that values may meet.
    pub computed: bool,
    /// The world dimensions that values vary along: each of their points stores.
    pub along: Along,
}

impl Store {
    /// Every value that it needs.
    pub fn needs(&self) -> impl Iterator<Item = Val> + '_ {
        self.index.iter().copied().chain([self.value]).chain(self.condition())
    }

    /// Where this is false nothing is stored.
    pub fn condition(&self) -> Option<Val> {
        self.partial.and_then(|p| p.condition)
    }
}

/// An expression's value at coordinates other than the loops' own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The expression.
    pub source: NodeId,
    /// Where it was evaluated: the coordinates that it can see, sorted by dimension.
    pub at: Vec<(DimId, Val)>,
    /// Its value there.
    pub value: Val,
}

/// Straight-line code: instructions in dependency order, then stores.
#[derive(Clone, Debug, Default)]
pub struct Program {
    insts: Vec<Inst>,
    dtypes: Vec<DType>,
    varies: Vec<Along>,
    /// For each value, how many loops had to end before it.
    depths: Vec<u16>,
    index: Map<(Inst, DType), Val>,
    loops: Vec<Loop>,
    /// For each value, how many levels of shared reductions end before it.
    levels: Vec<u16>,
    /// Reductions that threads share.
    pub shared: Vec<SharedReduction>,
    /// Scans that threads share.
    pub scans: Vec<SharedScan>,
    /// Shared reductions' varying.
    shared_along: Vec<Along>,
    /// What the program is run for.
    goal: Option<Goal>,
    /// Values that were computed before, in another run.
    pub(crate) given: BTreeSet<Val>,
    /// Values that another run will need.
    pub(crate) kept: BTreeSet<Val>,
    /// What is stored.
    pub stores: Vec<Store>,
    /// Which expressions were evaluated at computed coordinates, in the order in which they were.
    pub sites: Vec<Site>,
}

impl Program {
    /// The instruction that makes `v`.
    pub fn inst(&self, v: Val) -> &Inst {
        &self.insts[v.0 as usize]
    }

    /// The type of `v`.
    pub fn dtype(&self, v: Val) -> DType {
        self.dtypes[v.0 as usize]
    }

    /// What `v` varies along.
    pub fn varies(&self, v: Val) -> Along {
        self.varies[v.0 as usize]
    }

    /// How many loops, each of which reads what the one before it made, end before `v`.
    pub fn depth(&self, v: Val) -> u16 {
        self.depths[v.0 as usize]
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// Every value, in dependency order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Val> + use<> {
        (0..self.insts.len() as u32).map(Val)
    }

    /// The same program, run for some of its results.
    pub fn aimed(&self, goal: Goal) -> Program {
        Program { goal: Some(goal), ..self.clone() }
    }

    /// The stores that the program is run for.
    pub fn stored(&self) -> &[Store] {
        if matches!(self.goal, None | Some(Goal::Stores)) { &self.stores } else { &[] }
    }

    /// The shared reductions that the program is run for, with their numbers.
    pub fn taken(&self) -> impl Iterator<Item = (usize, &SharedReduction)> {
        let wanted = |s: &SharedReduction| match self.goal {
            None => true,
            Some(Goal::Stores | Goal::Scan(_)) => false,
            Some(Goal::Level(level)) => s.level == level,
        };
        self.shared.iter().enumerate().filter(move |(_, s)| wanted(s))
    }

    /// What the program is run for besides its stores: what shared reductions and a scan take.
    pub fn terms(&self) -> impl Iterator<Item = Val> {
        let taken = self.taken().flat_map(|(_, s)| &s.terms).flat_map(|(a, b)| [Some(*a), *b]).flatten();
        taken.chain(self.scanned().iter().copied())
    }

    /// What the scan that the program is run for takes.
    pub fn scanned(&self) -> &[Val] {
        match self.goal {
            Some(Goal::Scan(number)) => &self.scans[usize::from(number)].terms,
            _ => &[],
        }
    }

    /// Levels of shared reductions.
    pub fn levels(&self) -> u16 {
        self.shared.iter().map(|s| s.level + 1).max().unwrap_or(0)
    }

    /// A reduction that threads share along the world dimensions `reduced`.
    pub fn share(&mut self, reduction: Reduction, terms: Vec<(Val, Option<Val>)>, reduced: Along) -> Val {
        let values = || terms.iter().flat_map(|(a, b)| [Some(*a), *b]).flatten();
        let level = values().map(|v| self.levels[v.0 as usize]).max().unwrap_or(0);
        let along = values().fold(0, |bits, v| bits | self.varies(v)) & !reduced;
        let dtype = terms.first().map_or(DType::F32, |(v, _)| self.dtype(*v));
        self.shared.push(SharedReduction { reduction, dtype, level, terms });
        self.shared_along.push(along);
        self.push(Inst::Shared(self.shared.len() as u16 - 1), dtype)
    }

    /// The value at one of the thread's points of a scan that threads share along the world dimensions `scanned`.
    pub fn scan(&mut self, reduction: Reduction, terms: Box<[Val]>, lane: u16, scanned: Along) -> Val {
        let dtype = self.dtype(terms[0]);
        let along = terms.iter().fold(scanned, |bits, v| bits | self.varies(*v));
        let level = terms.iter().map(|v| self.levels[v.0 as usize]).max().unwrap_or(0);
        let scan = SharedScan { reduction, dtype, level, terms: terms.clone(), along };
        let number = self.scans.iter().position(|s| *s == scan).unwrap_or(self.scans.len());
        if number == self.scans.len() {
            self.scans.push(scan);
        }
        self.push(Inst::Scan { number: number as u16, lane, terms }, dtype)
    }

    /// For each value, whether a store needs it.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.len()];
        for store in self.stored() {
            store.needs().for_each(|v| live[v.0 as usize] = true);
        }
        self.terms().for_each(|v| live[v.0 as usize] = true);
        self.kept.iter().for_each(|v| live[v.0 as usize] = true);
        for v in (0..self.len()).rev() {
            if self.given.contains(&Val(v as u32)) {
                continue;
            }
            if live[v] {
                self.insts[v].for_each_arg(|a| live[a.0 as usize] = true);
            }
        }
        live
    }

    /// The literal that `v` is, if it is one.
    pub fn constant(&self, v: Val) -> Option<Scalar> {
        match self.inst(v) {
            Inst::Const(s) => Some(*s),
            _ => None,
        }
    }

    fn push(&mut self, inst: Inst, dtype: DType) -> Val {
        if let Some(v) = self.index.get(&(inst.clone(), dtype)) {
            return *v;
        }
        let mut varies = match &inst {
            Inst::Coord(dim) => 1 << dim,
            Inst::Step { within, .. } | Inst::Carry { within, .. } => {
                within.bit() | self.loops[usize::from(within.0)].outer
            }
            Inst::Shared(number) => self.shared_along[usize::from(*number)],
            Inst::Scan { number, .. } => self.scans[usize::from(*number)].along,
            _ => 0,
        };
        let mut level = match &inst {
            Inst::Shared(number) => self.shared[usize::from(*number)].level + 1,
            _ => 0,
        };
        inst.for_each_arg(|a| level = level.max(self.levels[a.0 as usize]));
        self.levels.push(level);
        inst.for_each_arg(|a| varies |= self.varies(a));
        if let Some(within) = inst.ends() {
            varies &= !within.bit();
        }
        let mut depth = 0;
        inst.for_each_arg(|a| depth = self.depth(a).max(depth));
        if let Some(within) = inst.ends() {
            depth = depth.max(self.loops[usize::from(within.0)].depth);
        }
        self.depths.push(depth);
        let v = Val(self.insts.len() as u32);
        self.index.insert((inst.clone(), dtype), v);
        self.insts.push(inst);
        self.dtypes.push(dtype);
        self.varies.push(varies);
        v
    }

    /// A literal.
    pub fn constant_of(&mut self, s: Scalar) -> Val {
        self.push(Inst::Const(s), s.dtype)
    }

    /// The coordinate along world dimension `dim`.
    pub fn coord(&mut self, dim: u8) -> Val {
        self.push(Inst::Coord(dim), DType::I32)
    }

    /// A run-time extent.
    pub fn extent(&mut self, operand: u16, axis: u8) -> Val {
        self.push(Inst::Extent { operand, axis }, DType::I32)
    }

    /// A load.
    pub fn load(&mut self, operand: u16, component: u8, index: Box<[Val]>, dtype: DType) -> Val {
        self.push(Inst::Load { operand, component, index }, dtype)
    }

    /// The loop of `extent` steps, in the loops `outer`; `None` if there are too many loops.
    pub fn loop_of(&mut self, extent: Val, outer: Along, depth: u16, iteration: u32) -> Option<LoopId> {
        let outer = (outer | self.varies(extent)) & !((1 << LOOPS) - 1);
        let wanted = Loop { extent, outer, depth, iteration };
        let at = self.loops.iter().position(|l| *l == wanted).unwrap_or(self.loops.len());
        if at as u32 + LOOPS >= Along::BITS {
            return None;
        }
        if at == self.loops.len() {
            self.loops.push(wanted);
        }
        Some(LoopId(at as u16))
    }

    /// The loops.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The step of a loop.
    pub fn step(&mut self, within: LoopId) -> Val {
        let extent = self.loops[usize::from(within.0)].extent;
        self.push(Inst::Step { within, extent }, DType::I32)
    }

    /// What a step of a loop starts from.
    pub fn carry(&mut self, within: LoopId, start: Val, number: u64) -> Val {
        let extent = self.loops[usize::from(within.0)].extent;
        self.push(Inst::Carry { within, extent, start, number }, self.dtype(start))
    }

    /// What a carried value is after the last step of its loop.
    pub fn iterate(&mut self, carry: Val, next: Val) -> Val {
        match self.inst(carry) {
            Inst::Carry { within, extent, .. } => {
                let (within, extent) = (*within, *extent);
                self.push(Inst::Iterate { within, extent, carry, next }, self.dtype(next))
            }
            _ => next,
        }
    }

    /// What a loop makes of the values of its steps; of two values, their product.
    pub fn reduce(&mut self, within: LoopId, reduction: Reduction, value: Val, times: Option<Val>) -> Val {
        let extent = self.loops[usize::from(within.0)].extent;
        self.push(Inst::Reduce { within, extent, reduction, value, times }, self.dtype(value))
    }

    /// The accumulator `sum` with one more value, or product of two.
    pub fn accumulate(&mut self, reduction: Reduction, sum: Val, value: Val, times: Option<Val>) -> Val {
        match times {
            Some(times) => self.push(Inst::Fma(value, times, sum), self.dtype(sum)),
            None => self.binary(reduction.operation(), sum, value),
        }
    }

    /// A value as a variable part plus a literal: `(base, k)` with `v = base + k`; no base for a literal.
    pub fn affine(&self, v: Val) -> (Option<Val>, i64) {
        match self.inst(v) {
            Inst::Const(s) => (None, s.as_i64().unwrap_or(0)),
            Inst::Binary(Binary::Add, x, k) => match self.constant(*k).and_then(Scalar::as_i64) {
                Some(k) => (Some(*x), k),
                None => (Some(v), 0),
            },
            _ => (Some(v), 0),
        }
    }
}
