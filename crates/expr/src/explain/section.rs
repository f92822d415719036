//! What one section of a kernel goes along.

use super::kept::{Kept, kept};
use super::scattered::Scatters;
use crate::graph::Graph;
use crate::plan::Extent;
use crate::sections::Section;

/// One loop of a section.
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
    /// Whether rows are scanned.
    pub scans: bool,
}

/// The blocks that compute results of one iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionLoops {
    /// The results that it computes, or parts of.
    pub results: Vec<usize>,
    /// The loops, outermost first.
    pub loops: Vec<LoopSize>,
    /// Dimensions that a thread holds in registers, with their sizes.
    pub registers: Vec<(&'static str, i64)>,
    /// Neighbouring points that a thread computes, and along which dimension; those along registers come on top.
    pub lanes: (u32, &'static str),
    /// Threads of a block along the innermost loop and the one outside it.
    pub block: [u32; 2],
    /// Its blocks.
    pub blocks: i64,
    /// Points of its world, register dimensions included.
    pub points: u64,
    /// How threads share reductions, if they do.
    pub shared: Option<SharedRows>,
    /// What blocks keep in shared memory, in the order in which it is computed.
    pub kept: Vec<Kept>,
    /// How values are scattered, if they are.
    pub scatters: Option<Scatters>,
}

impl SectionLoops {
    pub(super) fn new(graph: &Graph, section: &Section<'_>) -> SectionLoops {
        let plan = &section.plan;
        let reduced = plan.world.len() - plan.group.as_ref().map_or(0, |g| g.loops);
        let loops = plan.world.iter().enumerate().map(|(i, w)| LoopSize {
            dim: graph.dim_name(w.dim),
            extent: w.extent,
            known: w.class,
            reduced: i >= reduced,
        });
        let held: i64 = plan.registers.iter().map(|(_, n)| n).product();
        SectionLoops {
            results: section.targets.iter().map(|t| t.result).collect(),
            loops: loops.collect(),
            registers: plan.registers.iter().map(|(d, n)| (graph.dim_name(*d), *n)).collect(),
            lanes: (plan.lanes, plan.world.get(plan.lane_loop).map_or("", |w| graph.dim_name(w.dim))),
            block: plan.block,
            blocks: plan.blocks(),
            points: (plan.points() * held).max(0) as u64,
            shared: plan.group.as_ref().map(|g| SharedRows {
                rows: g.split(&plan.world).0.iter().map(|w| w.extent).product(),
                values: g.n,
                tree_width: g.tree.width,
                segments: g.segments(),
                threads_a_row: g.threads,
                rows_a_block: g.rows,
                again: g.again,
                scans: g.scans,
            }),
            kept: kept(&section.graph, plan),
            scatters: Scatters::new(&section.graph, plan),
        }
    }
}
