//! Emission: a plan becomes one readable CUDA C++ kernel.
//!
//! A thread computes `lanes` neighbouring points of the inner dimension, or several such words, for every value of the register dimensions, as
//! straight-line code. Operands in host memory travel with the launch: in the parameter block, or, when it has no room, through
//! a device buffer. The same kernel does both, so a new number of crops never recompiles.

mod access;
mod address;
mod body;
mod calls;
mod combined;
mod group;
mod inline;
mod params;
mod reuse;
mod room;
mod run;
mod scatter;
mod schedule;
mod sent;
mod stage;
mod store;
mod text;
mod totals;

pub use combined::{Address, Combined, Sending, combine};
pub use inline::{Caller, Inline, Inlined, Refusal};
pub use params::{COUNTER_BYTES, Field, Params};
pub use room::{MOST_PARAMETER_BYTES, Room};
pub use sent::{Piece, Pieces, Sent, reciprocals};
pub(crate) use text::{add_literal, binary, fma, literal, unary};
pub(crate) use totals::{Totals, totals};

use crate::bind::Place;
use crate::dtype::Scalar;
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::lower::{Point, Windows, lower};
use crate::plan::{Extent, Plan, Slot};
use crate::program::{Program, Val};
use run::{Role, run};
use std::fmt::Write as _;

/// A kernel's text and how to call it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What people read before the source: the loops and operands by their own names, in comments.
    pub head: String,
    /// The source, a function of the graph and [`Plan::key`] alone. What dimensions are called is not in it, so that kernels that
    /// do the same are one.
    pub source: String,
    /// Name of the entry.
    pub entry: &'static str,
    /// The parameter block.
    pub params: Params,
    /// Whether the kernel checks boxes itself and needs the error word.
    pub guards: bool,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Reductions and scans that threads share.
    shared: usize,
}

impl Kernel {
    /// Bytes of the memory that blocks share in a call: the first [`COUNTER_BYTES`] are 0 before a launch, and after it.
    pub fn workspace_bytes(&self, plan: &Plan) -> usize {
        self.params.workspace_bytes(plan, self.shared)
    }
}

/// Writes the kernel of `plan`.
pub fn emit(graph: &Graph, plan: &Plan) -> Result<Kernel, Error> {
    emit_with(graph, plan, Room::Small.bytes())
}

/// Writes the kernel of `plan`, in whose parameter block operands of any size travel up to its `room`.
fn emit_with(graph: &Graph, plan: &Plan, room: usize) -> Result<Kernel, Error> {
    let mut written = Written::new(graph, plan, Role::Kernel)?;
    written.params.settle(room);
    let mut source = String::new();
    include(&mut source, &written.headers);
    written.params.declare(&mut source);
    source.push_str(&written.functions);
    let Written { head, params, guards, shared_bytes, shared, .. } = written;
    Ok(Kernel { head, source, entry: ENTRY, params, guards, shared_bytes, shared })
}

/// The text of a plan in parts, and what it needs.
struct Written {
    /// Comments.
    head: String,
    headers: Vec<&'static str>,
    /// The functions, the last of which finds a thread's place.
    functions: String,
    params: Params,
    guards: bool,
    shared_bytes: u32,
    shared: usize,
}

impl Written {
    fn new(graph: &Graph, plan: &Plan, role: Role) -> Result<Written, Error> {
        let mut written = Written::of(graph, plan, role)?;
        written.headers.extend(scatter::header(graph));
        Ok(written)
    }

    fn of(graph: &Graph, plan: &Plan, role: Role) -> Result<Written, Error> {
        if let Some(staging) = &plan.staging {
            return stage::write(graph, plan, staging, role);
        }
        let tile = lower_words(graph, plan)?;
        let word = if plan.full_words() { None } else { Some(lower_points(graph, plan, plan.lanes)?) };
        let single = plan.group.as_ref().map_or(!plan.full_lanes(), |_| plan.lanes > 1);
        let point = if single { Some(lower_points(graph, plan, 1)?) } else { None };
        let guards = tile.values().any(|v| matches!(tile.inst(v), crate::program::Inst::Guard { .. }));
        let names = Names::new(plan);
        let params = Params::new(plan, &[Some(&tile), word.as_ref(), point.as_ref()], guards, (&names, role));
        let mut head = String::new();
        describe(&mut head, graph, plan, &names);
        let mut headers = vec!["prelude"];
        let halves = |p: &Program| p.values().any(|v| p.dtype(v).is_half());
        if halves(&tile) || point.as_ref().is_some_and(halves) || names_halves(plan) {
            // Its text costs compile time, so that it is there for those who need it alone.
            headers.push("half_value");
        }
        let (mut functions, mut shared_bytes, mut shared) = (String::new(), 0, 0);
        if calls::define(&mut functions, [Some(&tile), word.as_ref(), point.as_ref()])? {
            headers.push("scalar");
        }
        if let Some(group) = &plan.group {
            headers.push("collective");
            let point = point.as_ref().unwrap_or(&tile);
            shared_bytes = group::write(&mut functions, plan, group, (&names, role), &params, [&tile, point]);
            if !tile.scans.is_empty() {
                headers.push("scan");
            }
            shared = tile.shared.len() + tile.scans.len();
        } else if let Some(private) = &plan.private {
            let programs = [Some(&tile), point.as_ref()];
            shared_bytes = scatter::write(&mut functions, (plan, private), (&names, role), &params, programs);
        } else {
            body::function(&mut functions, "tile", plan, &names, &params, &tile, None);
            if let Some(word) = &word {
                let one = Plan { words: 1, ..plan.clone() };
                body::function(&mut functions, "word", &one, &names, &params, word, None);
            }
            if let Some(point) = &point {
                // Its place is any point of a loop, not a multiple of `lanes`: less is known of alignment.
                let single = Plan { lanes: 1, words: 1, ..plan.clone() };
                body::function(&mut functions, "point", &single, &names, &params, point, None);
            }
            run(&mut functions, plan, (&names, role), &params, point.is_some());
        }
        Ok(Written { head, headers, functions, params, guards, shared_bytes, shared })
    }
}

/// Whether an operand is of f16 or bf16: the parameters name its type, also where nothing of it is read.
fn names_halves(plan: &Plan) -> bool {
    plan.inputs.iter().chain(&plan.outputs).any(|slot| slot.dtype.is_half())
}

/// Includes the headers of a kernel.
fn include(source: &mut String, headers: &[&str]) {
    for name in headers {
        let _ = writeln!(source, "#include \"tilewright/{name}.cuh\"");
    }
    source.push('\n');
}

/// Name of the entry.
const ENTRY: &str = "kernel";

/// The straight-line code of a thread that computes `lanes` points.
fn lower_points(graph: &Graph, plan: &Plan, lanes: u32) -> Result<Program, Error> {
    lower_steps(graph, plan, (0..lanes as i32).collect())
}

/// The straight-line code of a thread that computes all its words.
fn lower_words(graph: &Graph, plan: &Plan) -> Result<Program, Error> {
    let (lanes, apart) = (plan.lanes as i32, plan.apart() as i32);
    lower_steps(
        graph,
        plan,
        (0..plan.words as i32).flat_map(|word| (0..lanes).map(move |lane| word * apart + lane)).collect(),
    )
}

/// The straight-line code of a thread that computes the points so many steps from its own place on.
fn lower_steps(graph: &Graph, plan: &Plan, steps: Vec<i32>) -> Result<Program, Error> {
    let outputs: Vec<_> = plan.outputs.iter().map(Slot::dims).collect();
    let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
    let along = [(plan.lane_loop, steps)];
    let (operands, group) = (plan.operands(false), plan.group.as_ref());
    lower(graph, &operands, (&outputs, &world), group, Windows::Strided, |program| points_at(program, plan, &along))
}

/// Every (lane, register index) of a thread that has several points `along` some loops, the first one fastest.
pub(crate) fn points(program: &mut Program, plan: &Plan, along: &[(usize, u32)]) -> Vec<Point> {
    let steps = |(i, lanes): &(usize, u32)| (*i, (0..*lanes as i32).collect());
    points_at(program, plan, &along.iter().map(steps).collect::<Vec<_>>())
}

/// As [`points`], so many steps from the thread's place on.
fn points_at(program: &mut Program, plan: &Plan, along: &[(usize, Vec<i32>)]) -> Vec<Point> {
    let base: Point = plan.world.iter().enumerate().map(|(i, w)| (w.dim, program.coord(i as u8))).collect();
    let mut points = vec![base];
    for (i, steps) in along {
        if let Some(w) = plan.world.get(*i) {
            points = shifted(program, &points, w.dim, steps);
        }
    }
    for (dim, n) in &plan.registers {
        let literals: Vec<Val> = (0..*n).map(|i| program.constant_of(Scalar::of(i as i32))).collect();
        points = points
            .into_iter()
            .flat_map(|p| literals.iter().map(move |v| p.iter().copied().chain([(*dim, *v)]).collect::<Point>()))
            .collect();
    }
    points
}

fn shifted(program: &mut Program, points: &[Point], dim: DimId, steps: &[i32]) -> Vec<Point> {
    let mut all = Vec::new();
    for step in steps {
        let step = program.constant_of(Scalar::of(*step));
        for point in points {
            let mut moved = point.clone();
            for (d, v) in moved.iter_mut().filter(|(d, _)| *d == dim) {
                debug_assert_eq!(*d, dim);
                *v = program.binary(crate::graph::Binary::Add, *v, step);
            }
            all.push(moved);
        }
    }
    all
}

/// Identifiers of loops: `X` is the innermost one, whatever its dimension is called.
pub(crate) struct Names {
    world: Vec<String>,
}

impl Names {
    fn new(plan: &Plan) -> Names {
        let name = |from_inside: usize| match ["X", "Y", "Z", "W", "V", "U"].get(from_inside) {
            Some(letter) => (*letter).to_string(),
            None => format!("L{from_inside}"),
        };
        Names { world: (0..plan.world.len()).rev().map(name).collect() }
    }

    /// The coordinate along a loop.
    pub(crate) fn coord(&self, dim: usize) -> String {
        format!("i_{}", self.world[dim])
    }

    /// A thread's place along a loop of a tile.
    pub(crate) fn place(&self, dim: usize) -> String {
        format!("at_{}", self.world[dim])
    }

    /// The coordinate along a loop at which a block's tile begins.
    pub(crate) fn tile(&self, dim: usize) -> String {
        format!("tile_{}", self.world[dim])
    }

    /// The length of a loop.
    pub(crate) fn extent(&self, dim: usize) -> String {
        format!("n_{}", self.world[dim])
    }

    /// The number of blocks along a loop.
    pub(crate) fn tiles(&self, dim: usize) -> String {
        format!("tiles_{}", self.world[dim])
    }
}

/// The comment at the head: what the kernel computes over.
fn describe(source: &mut String, graph: &Graph, plan: &Plan, names: &Names) {
    let loops: Vec<String> = plan
        .world
        .iter()
        .enumerate()
        .map(|(i, w)| {
            let (own, here) = (graph.dim_name(w.dim), &names.world[i]);
            let name = if own == here { own.to_string() } else { format!("{own} as {here}") };
            match w.class {
                Extent::Exact(n) => format!("{name} = {n}"),
                Extent::MultipleOf(1) => name,
                Extent::MultipleOf(m) => format!("{name} (a multiple of {m})"),
            }
        })
        .collect();
    let registers: Vec<String> =
        plan.registers.iter().map(|(d, n)| format!("{} = {n} in registers, ", graph.dim_name(*d))).collect();
    let _ = writeln!(
        source,
        "// tilewright: loops ({}); {}{}{} point{} of {} a thread.",
        loops.join(", "),
        registers.concat(),
        if plan.words == 1 { String::new() } else { format!("{} words of ", plan.words) },
        plan.lanes,
        if plan.lanes == 1 { "" } else { "s" },
        plan.world.get(plan.lane_loop).map_or("nothing", |w| graph.dim_name(w.dim))
    );
    let mut slot = |name: String, s: &Slot| {
        let axes: Vec<&str> = s.axes.iter().map(|a| graph.dim_name(a.axis.dim)).collect();
        let what =
            if s.components == 1 { s.dtype.name().to_string() } else { format!("{} x{}", s.dtype, s.components) };
        let place = if s.place == Place::Host { ", sent with the launch" } else { "" };
        let _ = writeln!(source, "//   {name}: {what} ({}){place}", axes.join(", "));
    };
    plan.inputs.iter().enumerate().for_each(|(i, s)| slot(format!("in{i}"), s));
    plan.outputs.iter().enumerate().for_each(|(i, s)| slot(format!("out{i}"), s));
}
