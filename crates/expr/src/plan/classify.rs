//! What a kernel knows of sizes, strides and alignment: as much as makes accesses wide, and no more, since whatever it knows tells
//! it from others that have to be compiled too.

use super::schedule::literal;
use super::{Extent, Plan, Slot, SlotAxis};
use crate::bind::Place;
use crate::graph::{DimId, Graph, Op};
use crate::stage::Staging;

/// Bytes of a word.
const WORD: u32 = 4;
/// Most elements of a packed pixel or pair, of which some are read by a literal index.
const PIXEL: i64 = 8;
/// How far below vectors single elements are; words are between.
const SINGLE: u32 = 2;

impl Plan {
    pub(crate) fn classify(&mut self, graph: &Graph) {
        self.know(graph);
        self.level(graph);
    }

    /// As [`Plan::classify`], with the alignments that there are.
    pub(super) fn know(&mut self, graph: &Graph) {
        self.know_sizes(graph);
        self.know_strides(graph);
    }

    /// Leaves of alignments what accesses can use, whatever others have.
    pub(super) fn align(&mut self) {
        let most: Vec<u32> = self.inputs.iter().map(|s| self.vector(s)).collect();
        for (slot, most) in self.inputs.iter_mut().zip(most).filter(|(s, _)| s.place == Place::Device) {
            slot.alignment = slot.alignment.min(most);
        }
    }

    fn know_sizes(&mut self, graph: &Graph) {
        let (most, lane_loop) = (self.lanes, self.lane_loop);
        for (i, w) in self.world.iter_mut().enumerate() {
            w.class = if literal(graph, w) {
                Extent::Exact(w.extent)
            } else {
                let whole = i == lane_loop && w.extent % i64::from(most) == 0;
                Extent::MultipleOf(if whole { most } else { 1 })
            };
        }
    }

    /// Literal strides, and the alignment that is left where a step of any other leads.
    pub(super) fn know_strides(&mut self, graph: &Graph) {
        let exact: Vec<(DimId, i64)> = self
            .world
            .iter()
            .filter_map(|w| match w.class {
                Extent::Exact(n) => Some((w.dim, n)),
                Extent::MultipleOf(_) => None,
            })
            .chain(self.registers.iter().copied())
            .collect();
        let inner = self.world.last().map(|w| w.dim);
        let moving: Vec<DimId> = self.registers.iter().map(|(d, _)| *d).chain(inner).collect();
        let (staged, in_place) = (self.staging.is_some(), graph.reads_in_place());
        for slot in self.inputs.iter_mut().chain(&mut self.outputs) {
            // From the innermost in memory outwards, as far as the kernel knows how long they are.
            let mut dense = Some(1i64);
            let mut order: Vec<usize> = (0..slot.axes.len()).rev().collect();
            order.sort_by_key(|i| slot.axes[*i].axis.stride.unsigned_abs());
            for i in order {
                let a = &mut slot.axes[i];
                a.exact_extent = exact.contains(&(a.axis.dim, a.axis.extent));
                a.exact_stride = match a.axis.stride {
                    1 => !in_place || staged || moving.contains(&a.axis.dim),
                    stride => dense == Some(stride) || !in_place && (2..=PIXEL).contains(&stride),
                };
                dense = dense.filter(|_| a.exact_extent).and_then(|d| d.checked_mul(a.axis.extent));
            }
            let size = slot.dtype.size() as i64 * i64::from(slot.components);
            // A step that the kernel knows is a literal displacement there; any other moves the pointer.
            let steps = |a: &&SlotAxis| !moving.contains(&a.axis.dim) || !a.exact_stride;
            for a in slot.axes.iter().filter(steps).filter(|a| a.axis.extent > 1) {
                let bytes = (a.axis.stride * size).unsigned_abs();
                slot.alignment = slot.alignment.min(1 << bytes.trailing_zeros().min(4));
            }
        }
    }

    /// Leaves of alignments what makes all accesses equally wide, so that one kernel has all views that begin somewhere else:
    /// vectors, words, or single elements. Results that are aligned are written so even if operands are not.
    fn level(&mut self, graph: &Graph) {
        let across = |s: &Staging| s.stages.iter().all(|stage| stage.across);
        if self.group.is_some() || self.staging.as_ref().is_some_and(|s| !across(s)) {
            return;
        }
        let narrowest = |slots: &[Slot]| slots.iter().map(|s| self.steps_below(s)).max().unwrap_or(0);
        let of_outputs = narrowest(&self.outputs);
        // Beside an operand with gaps others are not worth kernels of their own, where all are read in their places.
        let gaps = |(i, s): (usize, &Slot)| self.has_gaps(s) && !self.keeps(graph, i);
        let gaps = self.inputs.iter().enumerate().any(gaps) && graph.reads_in_place();
        let of_inputs = if gaps { SINGLE } else { narrowest(&self.inputs).max(of_outputs) };
        let least = |slot: &Slot, level: u32| match level {
            0 => self.vector(slot),
            1 => self.vector(slot).min(WORD.max(natural(slot))),
            _ => natural(slot),
        };
        let inputs: Vec<u32> = self.inputs.iter().map(|s| least(s, of_inputs)).collect();
        let outputs: Vec<u32> = self.outputs.iter().map(|s| least(s, of_outputs)).collect();
        for (slot, alignment) in self.inputs.iter_mut().zip(inputs).chain(self.outputs.iter_mut().zip(outputs)) {
            if slot.place == Place::Device {
                slot.alignment = slot.alignment.min(alignment);
            }
        }
        // Of those kernels there is one, which ends rows of any length.
        if let Some(w) = self.world.get_mut(self.lane_loop)
            && of_inputs > 0
            && let Extent::MultipleOf(m) = &mut w.class
        {
            *m = 1;
        }
    }

    /// How far a slot's alignment is below what its accesses could use: 0 not at all, 1 enough for words, [`SINGLE`] not even that.
    fn steps_below(&self, slot: &Slot) -> u32 {
        let vector = self.vector(slot);
        match slot.alignment {
            _ if slot.place == Place::Host => 0,
            a if a >= vector => 0,
            a if a >= vector.min(WORD.max(natural(slot))) => 1,
            _ => SINGLE,
        }
    }

    /// Whether neighbours along the inner dimension are not neighbours in memory.
    fn has_gaps(&self, slot: &Slot) -> bool {
        let stride = self.inner().and_then(|w| slot.stride(w.dim));
        slot.place == Place::Device && stride.is_some_and(|s| s != self.packed(slot))
    }

    /// Whether blocks keep the values of an operand in shared memory.
    fn keeps(&self, graph: &Graph, number: usize) -> bool {
        let reads = |node| matches!(graph.node(node).op, Op::Input { operand, .. } if usize::from(operand) == number);
        self.staging.iter().flat_map(|s| &s.stages).any(|stage| reads(stage.node))
    }

    /// Elements of a slot that stand together for each point of the loops.
    pub(super) fn packed(&self, slot: &Slot) -> i64 {
        self.registers.iter().find_map(|(d, n)| (slot.stride(*d) == Some(1)).then_some(*n)).unwrap_or(1)
    }

    /// The widest alignment that accesses of a thread to neighbouring elements can use.
    fn vector(&self, slot: &Slot) -> u32 {
        let held = self.packed(slot);
        let along = self.inner().is_some_and(|w| slot.stride(w.dim) == Some(held));
        let elements = if along { held * i64::from(self.inner_lanes()) } else { held };
        let bytes = elements * slot.element_bytes() as i64;
        (1 << bytes.trailing_zeros().min(4)).max(natural(slot))
    }
}

/// The alignment that every element has, wherever a view begins.
fn natural(slot: &Slot) -> u32 {
    match slot.components {
        1 => slot.dtype.size() as u32,
        _ => slot.alignment.min(1 << slot.element_bytes().trailing_zeros().min(4)),
    }
}
