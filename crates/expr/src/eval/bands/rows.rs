//! [`BandWorker`]: what a thread computes band by band.

use super::pool::{Pool, Wanted};
use super::{Bands, Home, SPAN};
use crate::eval::lanes::{self, Arg, values};
use crate::eval::lines::{Lines, One, Points};
use crate::eval::loads::{Index, Places};
use crate::eval::values::operation;
use crate::eval::worker::Worker;
use crate::nest::Item;
use crate::program::{Inst, Store, Val};

/// One thread's state.
pub(in crate::eval) struct BandWorker<'a> {
    worker: Worker<'a>,
    bands: &'a Bands,
    /// The values that each row has one of, for the rows of a span.
    rows: Vec<Vec<u64>>,
    /// The coordinate of the span's first row.
    start: i64,
    /// For each walk of taps, its lines.
    pools: Vec<Pool>,
    /// For each tap, what the band wants of it.
    wanted: Vec<Wanted>,
}

impl<'a> BandWorker<'a> {
    pub(in crate::eval) fn new(worker: Worker<'a>, bands: &'a Bands) -> Self {
        let taps = &worker.schedule.taps;
        BandWorker {
            rows: vec![vec![0; SPAN]; bands.row_values],
            start: 0,
            pools: taps.walks().map(|walk| Pool::new(walk.len() * bands.rows * bands.pitch)).collect(),
            wanted: (0..taps.len()).map(|_| Wanted::default()).collect(),
            worker,
            bands,
        }
    }

    /// Computes rows `first..end`.
    pub(in crate::eval) fn run(&mut self, first: usize, end: usize) {
        let world = &self.worker.plan.world;
        let extent = world[world.len() - 2].extent as usize;
        let mut at = first;
        while at < end {
            let n = (extent - at % extent).min(end - at).min(SPAN);
            self.span(at, n);
            at += n;
        }
    }

    /// Computes `n` rows that differ in their last coordinate alone.
    fn span(&mut self, row: usize, n: usize) {
        let columns = Some((0, self.bands.columns));
        self.worker.enter(row);
        self.start = self.worker.coords[self.worker.coords.len() - 2];
        if self.worker.columns != columns {
            self.worker.columns = columns;
            self.worker.items(&self.worker.schedule.columns, 0, self.bands.columns);
            self.pools.iter_mut().for_each(Pool::forget);
        }
        for (i, v) in self.worker.schedule.rows.iter().filter_map(Item::value).enumerate() {
            let mut out = std::mem::take(&mut self.rows[i]);
            self.of_rows(v, &mut out, n);
            self.rows[i] = out;
        }
        for first in (0..n).step_by(self.bands.rows) {
            self.band(first, self.bands.rows.min(n - first));
        }
    }

    /// Computes a value of each row.
    fn of_rows(&self, v: Val, out: &mut [u64], n: usize) {
        let (worker, program) = (&self.worker, &self.worker.schedule.program);
        let arg = |v: Val| match self.bands.home(v) {
            Home::Row(i) => Lines::from(Arg::Block(&self.rows[i])),
            _ => Lines::Same(One::Bits(worker.scalars[v.0 as usize])),
        };
        match program.inst(v) {
            Inst::Coord(_) => lanes::count(out, self.start as i32, n),
            Inst::Load { operand, component, index } => {
                let index_of = |v: Val| match (program.inst(v), arg(v)) {
                    (Inst::Coord(d), _) if usize::from(*d) + 2 == worker.plan.world.len() => Index::ByPoint(self.start),
                    (_, lines @ Lines::Each { .. }) => Index::Computed(lines),
                    _ => Index::Same(worker.index(v)),
                };
                worker.load((*operand, *component, index), index_of, out, n.into());
            }
            _ => operation(program, v, out, arg, n.into()),
        }
    }

    /// Computes and stores rows `first..first + n` of the span.
    fn band(&mut self, first: usize, n: usize) {
        self.follow(first, n);
        for (item, tap) in &self.worker.schedule.blocks {
            let lines = tap.map_or(n, |tap| self.wanted[tap].rows.len());
            if let (Some(v), 1..) = (item.value(), lines) {
                self.value(v, *tap, first, lines);
            }
        }
        for store in &self.worker.schedule.program.stores {
            self.store(store, first, n);
        }
    }

    /// Finds which taps are to be evaluated for which rows.
    fn follow(&mut self, first: usize, n: usize) {
        let taps = &self.worker.schedule.taps;
        for (walk, pool) in taps.walks().zip(&mut self.pools) {
            let wanted = &mut self.wanted[walk.clone()];
            for (tap, wanted) in walk.clone().zip(wanted.iter_mut()) {
                wanted.of.clear();
                match self.bands.home(taps.coord(tap)) {
                    Home::Row(i) => wanted.of.extend_from_slice(&values::<i32>(&self.rows[i], first + n)[first..]),
                    _ => wanted.of.resize(n, self.worker.scalars[taps.coord(tap).0 as usize] as i32),
                }
            }
            let size = self.worker.schedule.program.dtype(taps.value(walk.start)).size();
            pool.follow(wanted, n, self.bands.pitch * size / 8);
        }
    }

    fn value(&mut self, v: Val, tap: Option<usize>, first: usize, lines: usize) {
        let points = Points { lines, columns: self.bands.columns, pitch: self.bands.pitch };
        match self.bands.home(v) {
            Home::Block(slot, _) => {
                let mut out = std::mem::take(&mut self.worker.blocks[slot]);
                self.lines(v, tap, first, &mut out, points);
                self.worker.blocks[slot] = out;
            }
            Home::Tap(tap) => {
                let walk = self.walk(tap);
                let size = self.worker.schedule.program.dtype(v).size();
                let mut out = std::mem::take(&mut self.pools[walk].values);
                self.lines(v, Some(tap), first, &mut out[self.wanted[tap].first * points.word(1, size)..], points);
                self.pools[walk].values = out;
            }
            _ => {}
        }
    }

    /// Computes a line of a value for each row, or for each row for which the tap is to be evaluated.
    fn lines(&self, v: Val, tap: Option<usize>, first: usize, out: &mut [u64], points: Points) {
        let program = &self.worker.schedule.program;
        match program.inst(v) {
            Inst::Load { operand, component, index } => {
                let index_of = |v: Val| self.index(v, tap, first);
                self.worker.load((*operand, *component, index), index_of, out, points);
            }
            _ => operation(program, v, out, |v| self.arg(v, tap, first), points),
        }
    }

    /// An argument of what is computed for each row, or for each row for which the tap is to be evaluated.
    fn arg(&self, v: Val, tap: Option<usize>, first: usize) -> Lines<'_> {
        let picked = tap.map(|tap| self.wanted[tap].rows.as_slice());
        let blocks = &self.worker.blocks;
        match self.bands.home(v) {
            Home::Uniform => Lines::Same(One::Bits(self.worker.scalars[v.0 as usize])),
            Home::Row(i) => Lines::Same(One::OfLine { block: &self.rows[i], first, picked }),
            Home::Column(slot) => Lines::Each { block: &blocks[slot], pitch: 0, picked: None },
            Home::Block(slot, of) => {
                let picked = if of == tap { None } else { picked };
                Lines::Each { block: &blocks[slot], pitch: self.bands.pitch, picked }
            }
            Home::Tap(of) => {
                let picked = Some(self.wanted[of].lines.as_slice());
                Lines::Each { block: &self.pools[self.walk(of)].values, pitch: self.bands.pitch, picked }
            }
        }
    }

    /// Where something is read or written along an axis.
    fn index(&self, v: Val, tap: Option<usize>, first: usize) -> Index<'_> {
        let inner = self.worker.plan.world.len() - 1;
        match (self.worker.schedule.program.inst(v), self.bands.home(v)) {
            (Inst::Coord(d), _) if usize::from(*d) == inner => Index::ByPoint(0),
            (Inst::Coord(d), _) if usize::from(*d) + 1 == inner => {
                Index::ByLine(self.start + first as i64, tap.map(|tap| self.wanted[tap].rows.as_slice()))
            }
            (_, Home::Uniform) => Index::Same(self.worker.index(v)),
            _ => Index::Computed(self.arg(v, tap, first)),
        }
    }

    fn walk(&self, tap: usize) -> usize {
        self.worker.schedule.taps.walks().position(|walk| walk.contains(&tap)).unwrap_or_default()
    }

    /// Stores `n` rows.
    fn store(&self, store: &Store, first: usize, n: usize) {
        let (worker, inner) = (&self.worker, self.worker.plan.world.len() - 1);
        let is_at_zero = |d: &u8| match usize::from(*d) {
            d if d == inner => true,
            d if d + 1 == inner => self.start + first as i64 == 0,
            d => worker.coords[d] == 0,
        };
        if !store.only_at_zero.iter().all(is_at_zero) {
            return;
        }
        let only = |d: usize| store.only_at_zero.iter().any(|at| usize::from(*at) == d);
        let n = if only(inner - 1) { 1 } else { n };
        let columns = if only(inner) { 1 } else { self.bands.columns };
        let (value, size) = (self.arg(store.value, None, first), worker.schedule.program.dtype(store.value).size());
        let slot = &worker.plan.outputs[usize::from(store.output)];
        for r in 0..n {
            let indices = store.index.iter().map(|i| self.index(*i, None, first));
            let places = Places::of_line(r, slot.axes.iter().map(|a| a.axis.stride).zip(indices), &mut []);
            let target = &worker.targets[usize::from(store.output)];
            target.write(slot.origin() + places.base, places.stride, value.line(r, size), columns);
        }
    }
}
