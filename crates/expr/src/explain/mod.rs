//! What a fused kernel is: its loops, its operands, what it moves and computes, and what was never written to memory.
//!
//! Everything follows from the graph, the plan and the lowered program, so no device is asked.

mod bound;
mod intermediate;
mod kept;
mod scattered;
mod section;
mod show;
mod tree;

pub use bound::{AxisSize, Bound};
pub use intermediate::Intermediate;
pub use kept::Kept;
pub use scattered::Scatters;
pub use section::{LoopSize, SectionLoops, SharedRows};

use crate::bind::{Axis, Binding, View};
use crate::emit::{Totals, totals};
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId};
use crate::join::Joined;
use crate::scatter::resolve;
use crate::sections::Sections;
use intermediate::Sizes;

/// Bytes that an H200's memory moves in a second, as a copy measures it.
pub const H200_BYTES_PER_SECOND: f64 = 4.25e12;
/// Multiply-adds of `f32` that an H200 computes in a second.
pub const H200_FMAS_PER_SECOND: f64 = 33.4e12;
/// Seconds that a launch takes at least.
pub const LAUNCH_SECONDS: f64 = 2.6e-6;

/// Operations of a call, counted from what threads run: what the points of a thread share counts once, an elementary function as
/// the arithmetic that it consists of, and what a thread may take over from its row before as computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// Those of a section more.
    fn add(&mut self, totals: &Totals) {
        self.float += totals.float;
        self.integer += totals.integer;
        self.instructions += totals.instructions;
        self.open_loops |= totals.open_loops;
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
    /// Its sections: one for each iteration space.
    pub sections: Vec<SectionLoops>,
    /// Threads of a block.
    pub block: [u32; 2],
    /// Blocks.
    pub grid: [u32; 3],
    /// Points of all sections.
    pub points: u64,
    /// The operands, in order.
    pub operands: Vec<Bound>,
    /// The results, in order.
    pub results: Vec<Bound>,
    /// Results whose places a launch before gives their initial value.
    pub filled: Vec<usize>,
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
        let planned = Sections::new(graph, views, outputs)?;
        let resolved = resolve(graph, &Binding::new(graph, views)?);
        let graph = resolved.as_ref().unwrap_or(graph);
        let binding = Binding::new(graph, views)?;
        let sizes = Sizes::new(graph, &binding, views, outputs);
        let operand =
            |(i, view): (usize, _)| Bound::new(graph, view, (graph.operands[i].dtype, graph.operands[i].components));
        let mut operands: Vec<Bound> = views.iter().enumerate().map(operand).collect();
        let first = |r: &Joined<'_>| graph.node(graph.outputs[r.outputs.start].node).dtype;
        let joined = graph.results();
        let mut results: Vec<Bound> =
            joined.iter().zip(outputs).map(|(r, view)| Bound::new(graph, view, (first(r), 1))).collect();
        let (mut loaded, mut operations) = (vec![0u64; views.len()], Operations::default());
        for section in &planned.list {
            let totals = totals(&section.graph, &section.plan)?;
            for (i, number) in section.operands.iter().enumerate() {
                operands[*number].accessed(&section.plan.inputs[i], &totals.read_widths[i]);
                loaded[*number] += totals.loads[i] * operands[*number].dtype.size() as u64;
            }
            for (i, target) in section.targets.iter().enumerate() {
                results[target.result].accessed(&section.plan.outputs[i], &totals.write_widths[i]);
            }
            operations.add(&totals);
        }
        for (i, (operand, loaded)) in operands.iter_mut().zip(loaded).enumerate() {
            operand.bytes = operand.bytes.min(loaded).min(sizes.covered(i));
        }
        let sections: Vec<SectionLoops> = planned.list.iter().map(|s| SectionLoops::new(graph, s)).collect();
        Ok(Explanation {
            name: name.to_string(),
            points: sections.iter().map(|s| s.points).sum(),
            sections,
            block: planned.block(),
            grid: planned.grid(),
            operands,
            results,
            filled: scattered::filled(graph),
            operations,
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
