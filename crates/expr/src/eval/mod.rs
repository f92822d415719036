//! Host evaluation: the same lowered program as the kernel's, interpreted in blocks of the inner dimension on all cores.
//!
//! What varies along the inner dimension is a block of 1024 values that stays in the first-level cache; what does not is
//! computed once per row, and what rows have in common once for a strip of them. Every operation is the function that constant
//! folding uses, so the bits are the device's.

mod calls;
mod group;
mod kept;
mod kernel;
mod lanes;
mod meet;
mod raw;
mod scan;
mod schedule;
mod steps;

use crate::bind::{MAX_RANK, View};
use crate::dtype::{DType, HostSlice, HostSliceMut};
use crate::error::Error;
use crate::graph::Graph;
use crate::nest::Item;
use crate::plan::Plan;
use crate::program::{Along, Goal, Inst, Val};
pub(crate) use calls::each;
use kept::Kept;
pub use kernel::HostKernel;
pub(crate) use lanes::{Arg, Lane, fill};
use raw::Target;
pub(crate) use raw::{Work, wide};
use rayon::prelude::*;
use schedule::Schedule;
use std::sync::atomic::{AtomicU32, Ordering};

/// Points of the inner dimension that are computed together.
const BLOCK: usize = 1024;
/// How messages call elements of several components: [`Rect`](crate::Rect), [`Affine`](crate::Affine),
/// [`Perspective`](crate::Perspective).
fn structs(components: u8) -> &'static str {
    match components {
        4 => "rectangles",
        6 => "affine maps",
        _ => "perspective maps",
    }
}
/// Blocks that one task computes, at most.
const TASK: usize = 64;

/// One section: loops that all its outputs have.
#[derive(Debug)]
struct HostSection {
    /// A turn for each level of shared reductions, then the one that stores.
    turns: Vec<Schedule>,
    plan: Plan,
}

impl HostSection {
    fn new(graph: &Graph, plan: Plan) -> Result<HostSection, Error> {
        let program = Schedule::program(graph, &plan)?;
        let levels = (0..program.levels()).map(Goal::Level);
        let turns = levels.chain([Goal::Stores]).map(|goal| Schedule::new(program.aimed(goal), &plan)).collect();
        Ok(HostSection { turns, plan })
    }

    /// Computes every output.
    fn run(&self, inputs: &[HostSlice<'_>], outputs: &mut [HostSliceMut<'_>]) -> Result<(), Error> {
        self.check_memory(inputs, outputs)?;
        if self.plan.points() == 0 {
            return Ok(());
        }
        let failed = AtomicU32::new(0);
        let targets: Vec<Target<'_>> = outputs.iter_mut().map(Target::new).collect();
        let place = |turn: usize| Worker::new(self, turn, inputs, &targets, &failed);
        match &self.plan.group {
            Some(group) => group::run(&self.plan, group, &self.turns, &place),
            None => self.run_blocks(&place),
        }
        match failed.load(Ordering::Relaxed) {
            0 => {}
            word => return Err(Error::of_word(word)),
        }
        let met = |(output, target): (usize, &Target<'_>)| Some(Error::Met { output, place: target.met()? });
        targets.iter().enumerate().find_map(met).map_or(Ok(()), Err)
    }

    fn run_blocks<'a>(&self, place: &(dyn Fn(usize) -> Worker<'a> + Sync)) {
        let inner = self.plan.inner().map_or(1, |w| w.extent) as usize;
        let per_row = inner.div_ceil(BLOCK);
        let rows = self.plan.points() as usize / inner;
        let task = TASK.min((rows * per_row).div_ceil(4 * rayon::current_num_threads())).max(1);
        // A task is a strip of columns where rows share values, else a run of blocks.
        let strip = if self.turns[0].shares_rows() { 1 } else { per_row };
        let strips = per_row / strip;
        let blocks = rows * strip;
        (0..blocks.div_ceil(task) * strips).into_par_iter().for_each_init(
            || place(0),
            |worker, t| {
                let (first, part) = (t / strips * task, t % strips);
                for block in first..(first + task).min(blocks) {
                    let start = (part + block % strip) * BLOCK;
                    worker.block(block / strip, start, BLOCK.min(inner - start));
                }
            },
        );
    }

    fn check_memory(&self, inputs: &[HostSlice<'_>], outputs: &[HostSliceMut<'_>]) -> Result<(), Error> {
        let memory =
            inputs.iter().map(|s| (s.len(), s.name())).chain(outputs.iter().map(|s| (s.len(), s.dtype().name())));
        let slots = self.plan.inputs.iter().chain(&self.plan.outputs);
        for (i, (slot, (len, got))) in slots.zip(memory).enumerate() {
            let operand = || match i.checked_sub(inputs.len()) {
                None => format!("operand {i}"),
                Some(o) => format!("output {o}"),
            };
            let expected = if slot.components == 1 { slot.dtype.name() } else { structs(slot.components) };
            if got != expected {
                return Err(Error::Elements { operand: operand(), expected, got });
            }
            let axes: Vec<_> = slot.axes.iter().map(|a| a.axis).collect();
            let needed = View::reach(&axes);
            if needed > len as i64 || axes.iter().any(|a| a.stride < 0) {
                return Err(Error::Memory { operand: operand(), needed, got: len as i64 });
            }
        }
        Ok(())
    }
}

/// One thread's state: scalars of the current row, blocks of values.
struct Worker<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    inputs: &'a [HostSlice<'a>],
    targets: &'a [Target<'a>],
    failed: &'a AtomicU32,
    /// Bits of every value that is uniform along the inner dimension.
    scalars: Vec<u64>,
    blocks: Vec<Vec<u64>>,
    /// Points whose loops have a step left, where loops end differently.
    active: Option<Vec<bool>>,
    /// Bits of the results of shared reductions.
    reduced: Vec<u64>,
    /// How far each shared scan has come.
    carries: Vec<scan::Carry>,
    /// Room for one step of an accumulator.
    spare: Vec<u64>,
    coords: Vec<i64>,
    row: Option<usize>,
    /// Which columns the blocks of values that rows share are of.
    columns: Option<(usize, usize)>,
    kept: Kept,
    /// Tables for results that values are scattered to.
    own: Vec<Option<meet::Own<'a>>>,
}

impl<'a> Worker<'a> {
    fn new(
        kernel: &'a HostSection,
        turn: usize,
        inputs: &'a [HostSlice<'a>],
        targets: &'a [Target<'a>],
        failed: &'a AtomicU32,
    ) -> Self {
        let (plan, schedule) = (&kernel.plan, &kernel.turns[turn]);
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
            coords: vec![0; plan.world.len()],
            row: None,
            columns: None,
            kept: Kept::new(&schedule.taps),
            own: Vec::new(),
        }
    }

    /// Computes points `start..start + n` of row `row`.
    fn block(&mut self, row: usize, start: usize, n: usize) {
        self.compute(row, start, n);
        self.store(start, n);
    }

    fn compute(&mut self, row: usize, start: usize, n: usize) {
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

    fn items(&mut self, items: &[Item], start: usize, n: usize) {
        for item in items {
            match item {
                Item::Value(v) => self.value(*v, start, n),
                Item::Loop(nest) => self.steps(nest, start, n),
            }
        }
    }

    fn value(&mut self, v: Val, start: usize, n: usize) {
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

    /// Recomputes the scalars that depend on a coordinate that has changed.
    fn enter_row(&mut self, row: usize) {
        if self.row == Some(row) {
            return;
        }
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
        self.items(&schedule.rows, 0, 0);
    }

    #[inline(never)]
    fn scalar(&self, v: Val) -> u64 {
        use crate::dtype::Scalar;
        use crate::fold;
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
                let axes = &self.plan.inputs[usize::from(*operand)].axes;
                let at: i64 = axes.iter().zip(index).map(|(a, i)| a.axis.stride * self.index(*i)).sum();
                lanes::element(self.inputs[usize::from(*operand)], *component, at)
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
    fn index(&self, v: Val) -> i64 {
        match self.schedule.program.inst(v) {
            Inst::Coord(d) => self.coords[usize::from(*d)],
            _ => i64::from(self.scalars[v.0 as usize] as i32),
        }
    }

    #[inline(never)]
    fn vector(&self, v: Val, out: &mut [u64], start: usize, n: usize) {
        let schedule = self.schedule;
        let program = &schedule.program;
        let arg = |a: &Val| match schedule.slot_of[a.0 as usize] {
            Some(slot) => lanes::Arg::Block(&self.blocks[slot]),
            None => lanes::Arg::Uniform(self.scalars[a.0 as usize]),
        };
        let dtype = program.dtype(v);
        match program.inst(v) {
            Inst::Coord(_) => lanes::count(out, start as i32, n),
            Inst::Load { operand, component, index } => self.load((*operand, *component), index, out, start, n),
            Inst::Unary(op, a) => raw::unary(*op, dtype, out, arg(a), n),
            Inst::Binary(op, a, b) => raw::binary(*op, program.dtype(*a), out, [arg(a), arg(b)], n),
            Inst::Fma(a, b, c) => raw::fma(dtype, out, [arg(a), arg(b), arg(c)], n),
            Inst::Select(c, a, b) => raw::select(dtype, out, [arg(c), arg(a), arg(b)], n),
            Inst::Cast(a) => raw::cast(program.dtype(*a), dtype, out, arg(a), n),
            Inst::Bits(a) => lanes::copy(dtype, out, arg(a), n),
            Inst::Call(function, args) => {
                let args: Vec<lanes::Arg<'_>> = args.iter().map(arg).collect();
                function.run(out, &args, n);
            }
            Inst::Guard { value, low, high, index } => {
                let index = index.map(|i| arg(&i));
                let active = self.active.as_deref();
                lanes::guards(out, [arg(value), arg(low), arg(high)], index, n, active, self.failed);
            }
            // A step of its own for each point is written by its loop.
            Inst::Const(_) | Inst::Extent { .. } | Inst::Step { .. } | Inst::Shared(_) | Inst::Scan { .. } => {}
            Inst::Reduce { .. } | Inst::Carry { .. } | Inst::Iterate { .. } => {}
        }
    }

    fn load(&self, (operand, component): (u16, u8), index: &[Val], out: &mut [u64], start: usize, n: usize) {
        let (program, slots) = (&self.schedule.program, &self.schedule.slot_of);
        let (mut base, mut stride, mut count) = (0, 0, 0);
        let mut moving: [(&[u64], i64); MAX_RANK] = [(&[], 0); MAX_RANK];
        for (a, i) in self.plan.inputs[usize::from(operand)].axes.iter().zip(index) {
            match (program.inst(*i), slots[i.0 as usize]) {
                (Inst::Coord(d), _) if usize::from(*d) + 1 == self.plan.world.len() => {
                    base += a.axis.stride * start as i64;
                    stride += a.axis.stride;
                }
                (_, Some(slot)) => {
                    moving[count] = (&self.blocks[slot], a.axis.stride);
                    count += 1;
                }
                (_, None) => base += a.axis.stride * self.index(*i),
            }
        }
        let places = lanes::Places { base, stride, moving: &moving[..count] };
        lanes::load(self.inputs[usize::from(operand)], component, places, out, n);
    }

    fn store(&mut self, start: usize, n: usize) {
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
            let (mut base, mut stride) = (0, 0);
            for (a, i) in slot.axes.iter().zip(&store.index) {
                match schedule.program.inst(*i) {
                    Inst::Coord(d) if usize::from(*d) == inner => {
                        base += a.axis.stride * start as i64;
                        stride = a.axis.stride;
                    }
                    _ => base += a.axis.stride * self.index(*i),
                }
            }
            let value = match schedule.slot_of[store.value.0 as usize] {
                Some(slot) => lanes::Arg::Block(&self.blocks[slot]),
                None => lanes::Arg::Uniform(self.scalars[store.value.0 as usize]),
            };
            let n = if once { 1 } else { n };
            self.targets[usize::from(store.output)].write(base as usize, stride as usize, value, n);
        }
    }
}

impl HostSlice<'_> {
    /// What its elements are called.
    fn name(&self) -> &'static str {
        match self {
            HostSlice::Rect(_) => structs(4),
            HostSlice::Affine(_) => structs(6),
            HostSlice::Perspective(_) => structs(9),
            _ => self.dtype().name(),
        }
    }

    /// The type of each component.
    pub fn dtype(&self) -> DType {
        match self {
            HostSlice::Bool(_) => DType::Bool,
            HostSlice::U8(_) => DType::U8,
            HostSlice::I8(_) => DType::I8,
            HostSlice::U16(_) => DType::U16,
            HostSlice::I16(_) => DType::I16,
            HostSlice::U32(_) => DType::U32,
            HostSlice::I32(_) | HostSlice::Rect(_) => DType::I32,
            HostSlice::U64(_) => DType::U64,
            HostSlice::I64(_) => DType::I64,
            HostSlice::F16(_) => DType::F16,
            HostSlice::BF16(_) => DType::BF16,
            HostSlice::F32(_) | HostSlice::Affine(_) | HostSlice::Perspective(_) => DType::F32,
            HostSlice::F64(_) => DType::F64,
        }
    }
}
