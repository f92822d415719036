//! Loops of outputs that go along their values rather than along their result, and plans of what is there before.

use super::{Extent, Plan, WorldDim, slots, world};
use crate::bind::{Binding, View};
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::scatter::SHORT;

/// The loops of all outputs. Those of results come in the order of their memory; those that only values have, in the order in
/// which memory is read, outside.
pub(super) fn loops(
    graph: &Graph,
    binding: &Binding<'_>,
    views: &[View<'_>],
    outputs: &[View<'_>],
) -> Result<Vec<WorldDim>, Error> {
    if graph.partials.is_empty() {
        return Ok(world(graph, outputs));
    }
    let whole: Vec<View<'_>> =
        outputs.iter().enumerate().filter(|(i, _)| graph.partial(*i).is_none()).map(|(_, v)| *v).collect();
    let mut loops = world(graph, &whole);
    let mut missing: Vec<WorldDim> = Vec::new();
    for (_, (dim, size)) in graph.partials.iter().flat_map(|(i, p)| p.world.iter().map(move |w| (i, w))) {
        if loops.iter().chain(&missing).all(|w| w.dim != *dim) {
            missing.push(WorldDim { dim: *dim, extent: binding.size(*dim, *size)?, class: Extent::MultipleOf(1) });
        }
    }
    let order = order(views);
    missing.sort_by_key(|w| order.iter().position(|d| *d == w.dim).map_or(-1, |at| at as i64));
    if let ([partial], true) = (graph.partials.values().collect::<Vec<_>>().as_slice(), loops.is_empty()) {
        outermost(&mut missing, |w| partial.keeps(w.dim));
    }
    loops.splice(0..0, missing);
    Ok(loops)
}

/// Dimensions from the outermost in memory to the innermost: those of the operand that has most, then those of others outside.
fn order(views: &[View<'_>]) -> Vec<DimId> {
    let mut by_rank: Vec<&View<'_>> = views.iter().collect();
    by_rank.sort_by_key(|v| std::cmp::Reverse(v.axes.len()));
    let mut order: Vec<DimId> = Vec::new();
    for view in by_rank {
        let new: Vec<DimId> = view.axes.iter().map(|a| a.dim).filter(|d| !order.contains(d)).collect();
        order.splice(0..0, new);
    }
    order
}

/// Puts the dimensions that the result has outside the others, so that a block has one index of each, where memory stays
/// contiguous along the innermost loop: that one is met along, or a short one that a thread holds in registers.
fn outermost(loops: &mut Vec<WorldDim>, kept: impl Fn(&WorldDim) -> bool) {
    let held = usize::from(loops.last().is_some_and(|w| kept(w) && w.extent <= SHORT));
    let split = loops.len() - held;
    if loops[..split].last().is_none_or(&kept) {
        return;
    }
    let inner = loops.split_off(split);
    let (outer, met): (Vec<WorldDim>, Vec<WorldDim>) = loops.drain(..).partition(kept);
    loops.extend(outer.into_iter().chain(met).chain(inner));
}

impl Plan {
    /// A thread has one index of each loop outside those that a block's own places are for.
    pub(super) fn keep_lanes_inside(&mut self) {
        if self.private.as_ref().is_some_and(|p| self.lane_loop < p.outer) {
            (self.lanes, self.lane_loop) = (1, self.world.len() - 1);
        }
    }

    /// Plans the stores of one literal everywhere, on the host or on a device.
    pub(crate) fn fill(graph: &Graph, outputs: &[View<'_>], host: bool) -> Plan {
        let world = world(graph, outputs);
        let slots = slots(outputs, &world, |i| (graph.node(graph.outputs[i].node).dtype, 1));
        let mut plan = Plan {
            world,
            registers: Vec::new(),
            lanes: 1,
            words: 1,
            lane_loop: 0,
            block: [super::BLOCK, 1],
            waits: false,
            inputs: Vec::new(),
            outputs: slots,
            checked: Vec::new(),
            shapes: Vec::new(),
            group: None,
            staging: None,
            private: None,
        };
        plan.merge(graph);
        if !host {
            plan.choose_lanes(graph);
            plan.classify(graph);
            plan.choose_block(super::BLOCK);
            if plan.world.len() < 2 {
                plan.block = [super::BLOCK, 1];
            }
        }
        plan
    }
}
