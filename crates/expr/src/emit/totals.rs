//! What the threads of a kernel do in all: instructions, elements loaded, and how wide memory is accessed.
//!
//! Counted are the lowered programs, so what a thread's points share counts once; what the compiler makes of it is its own.

use super::access::{self, Run, groups, loaded, runs};
use super::lower_points;
use super::schedule::Uses;
use crate::bind::Place;
use crate::collective::Group;
use crate::error::Error;
use crate::fold;
use crate::graph::Graph;
use crate::plan::{Plan, Slot};
use crate::program::{Along, Goal, Inst, LOOPS, Program, Store, Val};

/// What all threads of a launch do together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Operations that read or make a float; a multiply-add is two.
    pub(crate) float: u64,
    /// The others: of integers, coordinates and conditions.
    pub(crate) integer: u64,
    /// Both, a multiply-add being one.
    pub(crate) instructions: u64,
    /// Components loaded of each operand.
    pub(crate) loads: Vec<u64>,
    /// Bytes that one access of each operand moves, narrowest first.
    pub(crate) read_widths: Vec<Vec<u32>>,
    /// The same of each result.
    pub(crate) write_widths: Vec<Vec<u32>>,
    /// Whether a loop's length is computed on the device, so that it counts as one step.
    pub(crate) open_loops: bool,
}

/// Counts what the kernel of `plan` does.
pub(crate) fn totals(graph: &Graph, plan: &Plan) -> Result<Totals, Error> {
    if let Some(staging) = &plan.staging {
        return Totals::new(plan).staged(graph, plan, staging);
    }
    let tile = lower_points(graph, plan, plan.lanes)?;
    let point = if plan.lanes > 1 { lower_points(graph, plan, 1)? } else { tile.clone() };
    let mut totals = Totals::new(plan);
    let Some(group) = &plan.group else {
        let along = plan.world.get(plan.lane_loop).map_or(1, |w| w.extent);
        totals.run(plan, [&tile, &point], plan.points().checked_div(along).unwrap_or(0), along);
        return Ok(totals);
    };
    let (outer, reduced) = group.split(&plan.world);
    let rows: i64 = outer.iter().map(|w| w.extent).product();
    let last = reduced.last().map_or(1, |w| w.extent);
    let whole = reduced.len() == 1 || last % i64::from(plan.lanes) == 0;
    let [lanes, single] = if whole { [&tile, &point] } else { [&point, &point] };
    for level in 0..tile.levels() {
        let aimed = [lanes.aimed(Goal::Level(level)), single.aimed(Goal::Level(level))];
        totals.run(plan, [&aimed[0], &aimed[1]], rows, group.n);
    }
    totals.combine(&point, group, rows);
    let aimed = [lanes.aimed(Goal::Stores), single.aimed(Goal::Stores)];
    let along = |s: &Slot| s.axes.iter().any(|a| reduced.iter().any(|w| w.dim == a.axis.dim));
    let first = plan.world.len() - reduced.len();
    let partial = tile.stores.iter().filter_map(|s| s.partial).any(|p| p.along >> first != 0);
    match partial || plan.outputs.iter().any(along) {
        true => totals.run(plan, [&aimed[0], &aimed[1]], rows, group.n),
        false => totals.run(plan, [&aimed[1], &aimed[1]], rows, 1),
    }
    Ok(totals)
}

impl Totals {
    fn new(plan: &Plan) -> Totals {
        Totals {
            loads: vec![0; plan.inputs.len()],
            read_widths: vec![Vec::new(); plan.inputs.len()],
            write_widths: vec![Vec::new(); plan.outputs.len()],
            ..Totals::default()
        }
    }

    /// `rows` times a line of `along` points: as many as go at once, then one by one.
    fn run(&mut self, plan: &Plan, [tile, point]: [&Program; 2], rows: i64, along: i64) {
        let lanes = if std::ptr::eq(tile, point) { 1 } else { i64::from(plan.lanes.max(1)) };
        for (program, times) in [(tile, along / lanes), (point, along % lanes)] {
            let times = u64::try_from(rows * times).unwrap_or(0);
            if times > 0 {
                self.program(plan, program, times);
            }
        }
        let wide = if along >= lanes { tile } else { point };
        self.widths(plan, wide);
    }

    pub(super) fn program(&mut self, plan: &Plan, program: &Program, times: u64) {
        let uses = Uses::new(program);
        let steps = self.steps(plan, program);
        for v in program.values().filter(|v| uses.live(*v)) {
            let mut along = program.varies(v);
            if let Some(within) = program.inst(v).ends() {
                along |= within.bit() | program.loops()[usize::from(within.0)].outer;
            }
            let times = times * inside(along, &steps);
            // What is read from a stage is no operand.
            if let Inst::Load { operand, .. } = program.inst(v)
                && let Some(loads) = self.loads.get_mut(usize::from(*operand))
            {
                *loads += times;
            }
            let (operations, instructions) = cost(program.inst(v));
            self.instructions += instructions * times;
            let mut float = program.dtype(v).is_float();
            program.inst(v).for_each_arg(|a| float |= program.dtype(a).is_float());
            if float { self.float += operations * times } else { self.integer += operations * times }
        }
    }

    /// The length of every loop within a thread.
    fn steps(&mut self, plan: &Plan, program: &Program) -> Vec<u64> {
        let mut known: Vec<Option<crate::dtype::Scalar>> = Vec::with_capacity(program.len());
        for v in program.values() {
            let get = |a: &Val| known[a.0 as usize];
            known.push(match program.inst(v) {
                Inst::Const(s) => Some(*s),
                Inst::Extent { operand, axis } => {
                    let extent = plan.shapes[usize::from(*operand)][usize::from(*axis)].1;
                    Some(crate::dtype::Scalar::of(extent as i32))
                }
                Inst::Unary(op, a) => get(a).map(|a| fold::unary(*op, a)),
                Inst::Binary(op, a, b) => get(a).zip(get(b)).map(|(a, b)| fold::binary(*op, a, b)),
                Inst::Cast(a) => get(a).map(|a| fold::cast(a, program.dtype(v))),
                _ => None,
            });
        }
        let mut steps = Vec::new();
        for l in program.loops() {
            let extent = known[l.extent.0 as usize].and_then(crate::dtype::Scalar::as_i64);
            self.open_loops |= extent.is_none();
            steps.push(extent.map_or(1, |n| n.max(0) as u64));
        }
        steps
    }

    /// What shared reductions add: each value taken, then the accumulators of a segment, then the segments.
    fn combine(&mut self, program: &Program, group: &Group, rows: i64) {
        let (rows, n) = (rows.max(0) as u64, group.n.max(0) as u64);
        let segments = group.segments().max(1) as u64;
        for shared in &program.shared {
            let lines = shared.terms.len() as u64;
            let pairs = u64::from(shared.terms.iter().any(|(_, times)| times.is_some()));
            let joined = segments * (u64::from(group.tree.width) - 1) + (segments - 1);
            let operations = rows * lines * (n * (1 + pairs) + joined);
            self.instructions += rows * lines * (n + joined);
            if shared.dtype.is_float() { self.float += operations } else { self.integer += operations }
        }
    }

    fn widths(&mut self, plan: &Plan, program: &Program) {
        self.widths_read(plan, program);
        self.widths_written(plan, program);
    }

    pub(super) fn widths_read(&mut self, plan: &Plan, program: &Program) {
        let uses = Uses::new(program);
        for (number, slot) in plan.inputs.iter().enumerate() {
            let loads = program.values().filter(|v| uses.live(*v)).filter_map(|v| match program.inst(v) {
                Inst::Load { operand, component, index } if usize::from(*operand) == number => {
                    Some((v.0 as usize, *component, &index[..]))
                }
                _ => None,
            });
            let cut = if slot.place == Place::Device { loaded } else { runs };
            collect(&mut self.read_widths[number], (program, plan), (number, slot), loads, cut);
        }
    }

    pub(super) fn widths_written(&mut self, plan: &Plan, program: &Program) {
        for (number, slot) in plan.outputs.iter().enumerate() {
            let mine = |s: &(usize, &Store)| usize::from(s.1.output) == number;
            // What may be dropped is stored one by one, or in words where none is.
            let computed = |s: &Store| s.partial.is_some_and(|p| p.computed);
            let (mine, alone): (Vec<_>, Vec<_>) =
                program.stored().iter().enumerate().filter(mine).partition(|(_, s)| !computed(s));
            let partial = !alone.is_empty() || mine.iter().any(|(_, s)| s.partial.is_some());
            let stores = mine.into_iter().map(|(i, s)| (i, 0u8, &s.index[..]));
            let alone = partial.then_some(slot.dtype.size() as u32);
            self.write_widths[number].extend(alone);
            collect(&mut self.write_widths[number], (program, plan), (number, slot), stores, runs);
        }
    }
}

fn collect<'a>(
    widths: &mut Vec<u32>,
    (program, plan): (&Program, &Plan),
    slot: (usize, &Slot),
    accesses: impl Iterator<Item = (usize, u8, &'a [Val])>,
    cut: fn(&access::Group, usize) -> Vec<Run>,
) {
    let size = slot.1.dtype.size();
    let width = |run: &Run| match run.width {
        0 => size as u32,
        _ if run.anywhere => 4,
        width => width,
    };
    for group in groups(program, plan, slot, accesses) {
        widths.extend(cut(&group, size).iter().map(width));
    }
    widths.sort_unstable();
    widths.dedup();
}

/// How often something that varies along these loops is computed.
fn inside(along: Along, steps: &[u64]) -> u64 {
    let within = |(i, n): (usize, &u64)| if along >> (LOOPS + i as u32) & 1 == 1 { *n } else { 1 };
    steps.iter().enumerate().map(within).product()
}

/// Operations and instructions of one instruction.
fn cost(inst: &Inst) -> (u64, u64) {
    match inst {
        Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Load { .. } | Inst::Bits(_) => (0, 0),
        // Each value is added once for its thread's total, and once to what stands before it.
        Inst::Scan { .. } => (2, 2),
        Inst::Step { .. } | Inst::Shared(_) | Inst::Carry { .. } | Inst::Iterate { .. } => (0, 0),
        Inst::Unary(..) | Inst::Binary(..) | Inst::Select(..) | Inst::Cast(_) | Inst::Call(..) => (1, 1),
        Inst::Fma(..) => (2, 1),
        Inst::Guard { .. } => (2, 2),
        Inst::Reduce { times, .. } => (1 + u64::from(times.is_some()), 1),
    }
}
