//! Emission: a plan becomes one readable CUDA C++ kernel.
//!
//! A thread computes `lanes` neighbouring points of the inner dimension for every value of the register dimensions, as
//! straight-line code. Operands in host memory travel with the launch: in the parameter block, or, when it has no room, through
//! a device buffer. The same kernel does both, so a new number of crops never recompiles.

mod access;
mod body;
mod group;
mod params;
mod reuse;
mod schedule;
mod sent;
mod stage;
mod text;
mod totals;

pub use params::{COUNTER_BYTES, Field, Params};
pub use sent::{Piece, Pieces, Sent, reciprocals};
pub(crate) use totals::totals;

use crate::bind::Place;
use crate::dtype::Scalar;
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::lower::{Point, lower};
use crate::plan::{Extent, Plan, Slot};
use crate::program::{Program, Val};
use std::fmt::Write as _;

/// A kernel's text and how to call it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The source, a function of the graph and [`Plan::key`] alone.
    pub source: String,
    /// Name of the entry.
    pub entry: &'static str,
    /// The parameter block.
    pub params: Params,
    /// Whether the kernel checks boxes itself and needs the error word.
    pub guards: bool,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Reductions that threads share.
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
    if let Some(staging) = &plan.staging {
        return stage::write(graph, plan, staging);
    }
    let tile = lower_points(graph, plan, plan.lanes)?;
    let single = plan.group.as_ref().map_or(!plan.full_lanes(), |_| plan.lanes > 1);
    let point = if single { Some(lower_points(graph, plan, 1)?) } else { None };
    let guards = tile.values().any(|v| matches!(tile.inst(v), crate::program::Inst::Guard { .. }));
    let names = Names::new(graph, plan);
    let params = Params::new(plan, &[Some(&tile), point.as_ref()], guards, &names);

    let mut source = String::new();
    describe(&mut source, graph, plan, &names);
    source.push_str("#include \"tilewright/prelude.cuh\"\n");
    let halves = |p: &Program| p.values().any(|v| p.dtype(v).is_half());
    if halves(&tile) || point.as_ref().is_some_and(halves) {
        // Its text costs compile time, so that it is there for those who need it alone.
        source.push_str("#include \"tilewright/half_value.cuh\"\n");
    }
    if let Some(shared) = &plan.group {
        let point = point.as_ref().unwrap_or(&tile);
        let shared_bytes = group::write(&mut source, plan, shared, &names, &params, [&tile, point]);
        return Ok(Kernel { source, entry: ENTRY, params, guards, shared_bytes, shared: tile.shared.len() });
    }
    source.push('\n');
    params.declare(&mut source);
    body::function(&mut source, "tile", plan, &names, &params, &tile, None);
    if let Some(point) = &point {
        // Its place is any point of a loop, not a multiple of `lanes`: less is known of alignment.
        let single = Plan { lanes: 1, ..plan.clone() };
        body::function(&mut source, "point", &single, &names, &params, point, None);
    }
    run(&mut source, plan, &names, &params, point.is_some());
    Ok(Kernel { source, entry: ENTRY, params, guards, shared_bytes: 0, shared: 0 })
}

/// Name of the entry.
const ENTRY: &str = "kernel";

/// The straight-line code of a thread that computes `lanes` points.
fn lower_points(graph: &Graph, plan: &Plan, lanes: u32) -> Result<Program, Error> {
    let outputs: Vec<_> = plan.outputs.iter().map(Slot::dims).collect();
    let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
    let along = [(plan.lane_loop, lanes)];
    lower(graph, &plan.operands(false), &outputs, &world, plan.group.as_ref(), |program| points(program, plan, &along))
}

/// Every (lane, register index) of a thread that has several points `along` some loops, the first one fastest.
pub(crate) fn points(program: &mut Program, plan: &Plan, along: &[(usize, u32)]) -> Vec<Point> {
    let base: Point = plan.world.iter().enumerate().map(|(i, w)| (w.dim, program.coord(i as u8))).collect();
    let mut points = vec![base];
    for (i, lanes) in along {
        if let Some(w) = plan.world.get(*i) {
            points = shifted(program, &points, w.dim, *lanes);
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

fn shifted(program: &mut Program, points: &[Point], dim: DimId, lanes: u32) -> Vec<Point> {
    let mut all = Vec::new();
    for lane in 0..lanes as i32 {
        let step = program.constant_of(Scalar::of(lane));
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

/// Identifiers of loops: unique, and legal in C++.
pub(crate) struct Names {
    world: Vec<String>,
}

impl Names {
    fn new(graph: &Graph, plan: &Plan) -> Names {
        let mut world: Vec<String> = Vec::new();
        for (i, w) in plan.world.iter().enumerate() {
            let name: String =
                graph.dim_name(w.dim).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let taken = world.contains(&name);
            world.push(if taken { format!("{name}_{i}") } else { name });
        }
        Names { world }
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
        .map(|(i, w)| match w.class {
            Extent::Exact(n) => format!("{} = {n}", names.world[i]),
            Extent::MultipleOf(1) => names.world[i].clone(),
            Extent::MultipleOf(m) => format!("{} (a multiple of {m})", names.world[i]),
        })
        .collect();
    let registers: Vec<String> =
        plan.registers.iter().map(|(d, n)| format!("{} = {n} in registers, ", graph.dim_name(*d))).collect();
    let _ = writeln!(
        source,
        "// tilewright: loops ({}); {}{} point{} of {} a thread.",
        loops.join(", "),
        registers.concat(),
        plan.lanes,
        if plan.lanes == 1 { "" } else { "s" },
        names.world.get(plan.lane_loop).map_or("nothing", String::as_str)
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

/// The function that finds a thread's place and calls `tile` (or `point`, where a row ends).
fn run(source: &mut String, plan: &Plan, names: &Names, params: &Params, tails: bool) {
    let threads = plan.block[0] * plan.block[1];
    let _ = writeln!(
        source,
        "extern \"C\" __global__ void __launch_bounds__({threads}) {ENTRY}(const __grid_constant__ Params p) {{\n  \
         tw::arch::take_turn();"
    );
    let n = plan.world.len();
    let tiles = plan.tiles();
    let count: Vec<String> = (0..n)
        .map(|i| match plan.world[i].class {
            Extent::Exact(_) => format!("{}u", tiles[i]),
            Extent::MultipleOf(_) => format!("p.{}", names.tiles(i)),
        })
        .collect();
    let wide = plan.large_grid() || plan.world.iter().any(|w| w.wide());
    match (n, wide) {
        (0, _) => {}
        (_, true) => {
            source.push_str("  unsigned long long block = blockIdx.y * (unsigned long long)gridDim.x + blockIdx.x;\n")
        }
        (_, false) => source.push_str("  unsigned block = blockIdx.x;\n"),
    }
    let mut guards = Vec::new();
    for i in (0..n).rev() {
        let kind = if plan.world[i].wide() { "long long" } else { "int" };
        let single = matches!(plan.world[i].class, Extent::Exact(_)) && tiles[i] == 1;
        let tile = match i {
            _ if single => "0".to_string(),
            0 => "block".to_string(),
            _ => format!("(block % {})", count[i]),
        };
        let coord = names.coord(i);
        let exact_fit = |per: i64| matches!(plan.world[i].class, Extent::Exact(e) if e % per == 0);
        let thread = match n - 1 - i {
            0 => Some((plan.block[0], "threadIdx.x")),
            1 if plan.block[1] > 1 => Some((plan.block[1], "threadIdx.y")),
            _ => None,
        };
        let place = match thread {
            Some((_, index)) if single => index.to_string(),
            Some((threads, index)) => format!("({tile} * {threads} + {index})"),
            None => tile,
        };
        let times = if i == plan.lane_loop && plan.lanes > 1 { format!(" * {}", plan.lanes) } else { String::new() };
        let (text, per) = (format!("({kind}){place}{times}"), plan.tile(i));
        let _ = writeln!(source, "  const {kind} {coord} = {text};");
        if i > 0 && !single {
            let _ = writeln!(source, "  block /= {};", count[i]);
        }
        if !exact_fit(per) && (per > 1 || (i == 0 && wide)) {
            guards.push(format!("{coord} >= {}", params.world_extent(plan, names, i)));
        }
    }
    if !guards.is_empty() {
        let _ = writeln!(source, "  if ({}) return;", guards.join(" || "));
    }
    let args: String = (0..n).map(|i| format!(", {}", names.coord(i))).collect();
    match plan.world.get(plan.lane_loop) {
        Some(w) if tails => {
            let kind = if w.wide() { "long long" } else { "int" };
            let (coord, extent) = (names.coord(plan.lane_loop), params.world_extent(plan, names, plan.lane_loop));
            let each: String = (0..n)
                .map(|i| if i == plan.lane_loop { ", i".into() } else { format!(", {}", names.coord(i)) })
                .collect();
            let _ = write!(
                source,
                "  if ({coord} + {} <= {extent}) {{\n    tile(p{args});\n  }} else {{\n    \
                 for ({kind} i = {coord}; i < {extent}; ++i) point(p{each});\n  }}\n",
                plan.lanes
            );
        }
        _ => {
            let _ = writeln!(source, "  tile(p{args});");
        }
    }
    source.push_str("}\n");
}
