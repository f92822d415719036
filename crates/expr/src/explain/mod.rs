//! What a fused kernel is: its loops, its operands, what it moves and computes, and what was never written to memory.
//!
//! Everything follows from the graph, the plan and the lowered program, so no device is asked.

mod intermediate;
mod kept;
mod show;
mod tree;

pub use intermediate::Intermediate;
pub use kept::Kept;

use crate::bind::{Axis, Binding, Place, View};
use crate::dtype::DType;
use crate::emit::totals;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId};
use crate::plan::{Extent, Plan, Slot};
use intermediate::Sizes;

/// Bytes that an H200's memory moves in a second, as a copy measures it.
pub const H200_BYTES_PER_SECOND: f64 = 4.25e12;
/// Multiply-adds of `f32` that an H200 computes in a second.
pub const H200_FMAS_PER_SECOND: f64 = 33.4e12;
/// Seconds that a launch takes at least.
pub const LAUNCH_SECONDS: f64 = 2.6e-6;

/// One loop of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopSize {
    /// The dimension; one that neighbours were merged into stands for them too.
    pub dim: &'static str,
    /// Its length in this call.
    pub extent: i64,
    /// What the kernel knows of it when it is compiled.
    pub known: Extent,
    /// Whether threads share reductions along it.
    pub reduced: bool,
}

/// How threads share reductions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRows {
    /// Rows: points of the loops that are not reduced.
    pub rows: i64,
    /// Values of a row.
    pub values: i64,
    /// Accumulators of a segment, combined as a tree.
    pub tree_width: u32,
    /// Segments of a row, each a block's.
    pub segments: i64,
    /// Threads that share a row.
    pub threads_a_row: u32,
    /// Rows of a block.
    pub rows_a_block: u32,
    /// Whether rows are gone through again after their reduction.
    pub again: bool,
}

/// A dimension of an operand's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisSize {
    /// The dimension.
    pub dim: &'static str,
    /// Its length.
    pub extent: i64,
    /// Elements from one index to the next.
    pub stride: i64,
}

/// An operand or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Type of each component.
    pub dtype: DType,
    /// Components of an element.
    pub components: u8,
    /// Its dimensions, outermost first.
    pub axes: Vec<AxisSize>,
    /// Whether its elements are contiguous, the last dimension fastest.
    pub dense: bool,
    /// Alignment in bytes that the kernel counts on.
    pub alignment: u32,
    /// In device memory, or in host memory and sent with the launch.
    pub place: Place,
    /// Bytes that single accesses move, narrowest first: several where a run does not end with a vector. Empty if nothing of it is
    /// accessed.
    pub access_bytes: Vec<u32>,
    /// Bytes read or written, each once: of an operand not more than what is read at other coordinates covers, counted for each
    /// such read.
    pub bytes: u64,
}

/// Operations of a call, counted from what threads run: what the points of a thread share counts once, an elementary function as
/// the arithmetic that it consists of, and what a thread may take over from its row before as computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// Of floats, conversions from and to them included; a multiply-add counts as 2.
    pub float: u64,
    /// Of integers and conditions, coordinates included.
    pub integer: u64,
    /// All of them, a multiply-add counting as 1.
    pub instructions: u64,
    /// Whether the length of a loop is known to the device alone: it counts as one step.
    pub open_loops: bool,
}

impl Operations {
    /// All operations; a multiply-add counts as 2.
    pub fn total(&self) -> u64 {
        self.float + self.integer
    }
}

/// What an H200 needs at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// All bytes at [`H200_BYTES_PER_SECOND`]. What stays in a cache between launches can be faster.
    pub memory_seconds: f64,
    /// All instructions at [`H200_FMAS_PER_SECOND`], each taken for a multiply-add of `f32`.
    pub arithmetic_seconds: f64,
}

impl Limit {
    /// The larger of the two, and a launch.
    pub fn seconds(&self) -> f64 {
        LAUNCH_SECONDS + self.memory_seconds.max(self.arithmetic_seconds)
    }

    /// Whether memory decides.
    pub fn is_memory(&self) -> bool {
        self.memory_seconds >= self.arithmetic_seconds
    }
}

/// A fused kernel, for operands of one kind. [`Display`](std::fmt::Display) is for people.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The expression's name.
    pub name: String,
    /// The loops, outermost first.
    pub loops: Vec<LoopSize>,
    /// Dimensions that a thread holds in registers, with their sizes.
    pub registers: Vec<(&'static str, i64)>,
    /// Neighbouring points that a thread computes, and along which dimension; those along registers come on top.
    pub lanes: (u32, &'static str),
    /// Threads of a block.
    pub block: [u32; 2],
    /// Blocks.
    pub grid: [u32; 3],
    /// Points of the world, register dimensions included.
    pub points: u64,
    /// How threads share reductions, if they do.
    pub shared: Option<SharedRows>,
    /// What blocks keep in shared memory, in the order in which it is computed.
    pub kept: Vec<Kept>,
    /// The operands, in order.
    pub operands: Vec<Bound>,
    /// The results, in order.
    pub results: Vec<Bound>,
    /// What is computed.
    pub operations: Operations,
    /// Values that a kernel for each operation would have written, in the order in which they are computed.
    pub intermediates: Vec<Intermediate>,
    /// The graph as an indented text; coordinates that something is read at are left out.
    pub tree: String,
}

impl Explanation {
    /// Explains the kernel for these operands and results.
    pub fn new(graph: &Graph, name: &str, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Explanation, Error> {
        let plan = Plan::new(graph, views, outputs)?;
        let binding = Binding::new(graph, views)?;
        let totals = totals(graph, &plan)?;
        let sizes = Sizes::new(graph, &binding, views, outputs);
        let mut operands = bound(graph, views, &plan.inputs, totals.read_widths);
        for (i, (operand, loads)) in operands.iter_mut().zip(&totals.loads).enumerate() {
            let loaded = loads * operand.dtype.size() as u64;
            operand.bytes = operand.bytes.min(loaded).min(sizes.covered(i));
        }
        let reduced = plan.world.len() - plan.group.as_ref().map_or(0, |g| g.loops);
        let loops = plan.world.iter().enumerate().map(|(i, w)| LoopSize {
            dim: graph.dim_name(w.dim),
            extent: w.extent,
            known: w.class,
            reduced: i >= reduced,
        });
        let held: i64 = plan.registers.iter().map(|(_, n)| n).product();
        Ok(Explanation {
            name: name.to_string(),
            loops: loops.collect(),
            registers: plan.registers.iter().map(|(d, n)| (graph.dim_name(*d), *n)).collect(),
            lanes: (plan.lanes, plan.world.get(plan.lane_loop).map_or("", |w| graph.dim_name(w.dim))),
            block: plan.block,
            grid: plan.grid(),
            points: (plan.points() * held).max(0) as u64,
            shared: plan.group.as_ref().map(|g| SharedRows {
                rows: g.split(&plan.world).0.iter().map(|w| w.extent).product(),
                values: g.n,
                tree_width: g.tree.width,
                segments: g.segments(),
                threads_a_row: g.threads,
                rows_a_block: g.rows,
                again: g.again,
            }),
            kept: kept::kept(graph, &plan),
            operands,
            results: bound(graph, outputs, &plan.outputs, totals.write_widths),
            operations: Operations {
                float: totals.float,
                integer: totals.integer,
                instructions: totals.instructions,
                open_loops: totals.open_loops,
            },
            intermediates: sizes.intermediates(),
            tree: tree::tree(graph),
        })
    }

    /// Bytes of operands that are read.
    pub fn bytes_read(&self) -> u64 {
        self.operands.iter().map(|o| o.bytes).sum()
    }

    /// Bytes of results.
    pub fn bytes_written(&self) -> u64 {
        self.results.iter().map(|o| o.bytes).sum()
    }

    /// Operations for each point of the world.
    pub fn operations_a_point(&self) -> f64 {
        self.operations.total() as f64 / self.points.max(1) as f64
    }

    /// What an H200 needs at least.
    pub fn limit(&self) -> Limit {
        Limit {
            memory_seconds: (self.bytes_read() + self.bytes_written()) as f64 / H200_BYTES_PER_SECOND,
            arithmetic_seconds: self.operations.instructions as f64 / H200_FMAS_PER_SECOND,
        }
    }

    /// Bytes that a kernel for each operation would have written besides the results. Values whose size is known to the device
    /// alone are left out.
    pub fn bytes_not_written(&self) -> u64 {
        self.intermediates.iter().filter_map(|i| i.bytes).sum()
    }
}

fn bound(graph: &Graph, views: &[View<'_>], slots: &[Slot], widths: Vec<Vec<u32>>) -> Vec<Bound> {
    let all = views.iter().zip(slots).zip(widths);
    all.map(|((view, slot), access_bytes)| Bound {
        dtype: slot.dtype,
        components: slot.components,
        axes: view
            .axes
            .iter()
            .map(|a| AxisSize { dim: graph.dim_name(a.dim), extent: a.extent, stride: a.stride })
            .collect(),
        dense: is_dense(view.axes),
        alignment: slot.alignment,
        place: slot.place,
        access_bytes,
        bytes: elements(view.axes) * slot.element_bytes() as u64,
    })
    .collect()
}

fn elements(axes: &[Axis]) -> u64 {
    axes.iter().map(|a| a.extent.max(0) as u64).product()
}

fn is_dense(axes: &[Axis]) -> bool {
    let mut stride = 1;
    axes.iter().rev().all(|a| {
        let fits = a.extent == 1 || a.stride == stride;
        stride *= a.extent;
        fits
    })
}

/// The names of the dimensions that a node varies along, in the order of the results' layouts.
fn shape(graph: &Graph, node: NodeId) -> Vec<&'static str> {
    let layouts = graph.outputs.iter().flat_map(|o| &o.dims).chain(graph.operands.iter().flat_map(|o| &o.dims));
    let mut dims: Vec<DimId> = graph.node(node).shape.iter().map(|(d, _)| *d).collect();
    dims.sort_by_cached_key(|d| layouts.clone().position(|l| l == d));
    names(graph, dims.into_iter())
}

/// The dimensions' names.
fn names(graph: &Graph, dims: impl Iterator<Item = DimId>) -> Vec<&'static str> {
    dims.map(|d| graph.dim_name(d)).collect()
}
