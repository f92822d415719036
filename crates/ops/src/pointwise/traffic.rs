//! What a plan reads and writes for a point, by how operands stand in memory.

use super::arithmetic::{reachable, walk};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::{DimId, Graph, NodeId, Op};
use tilewright_expr::plan::{Plan, Slot};

/// Bytes for one point of the loops, all register values together, and bytes of all points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Read where neighbours along the inner loop are neighbours in memory.
    pub(super) read_beside: usize,
    /// Read in steps.
    pub(super) read_apart: usize,
    /// Read again by the neighbours: operands that do not vary along the inner loop.
    pub(super) read_again: usize,
    /// Read at computed coordinates.
    pub(super) read_gathered: usize,
    /// Sent with the launch.
    pub(super) sent: usize,
    /// Written side by side.
    pub(super) written_beside: usize,
    /// Written in steps.
    pub(super) written_apart: usize,
    /// Read by the launch, each once.
    pub(super) bytes_read: usize,
    /// Written by the launch.
    pub(super) bytes_written: usize,
    /// Bytes of the smallest element in device memory.
    pub(super) narrowest: usize,
    /// Bytes of the largest.
    pub(super) widest: usize,
    /// Whether all that stands side by side can be accessed as vectors of the plan's own width.
    pub(super) aligned: bool,
}

/// Where a slot's elements stand for neighbours along the inner loop.
#[derive(PartialEq, Eq)]
enum Standing {
    Beside,
    Apart,
    Again,
}

/// Adds up what a plan reads and writes.
pub(super) fn traffic(graph: &Graph, plan: &Plan) -> Traffic {
    let points = plan.points().max(1) as usize;
    let mut sum = Traffic { narrowest: 16, aligned: true, ..Traffic::default() };
    let (in_place, gathered) = reads(graph);
    for (number, slot) in plan.inputs.iter().enumerate() {
        let of = |reads: &[usize]| reads.iter().filter(|operand| **operand == number).count();
        let each = slot.dtype.size() * held(plan, slot);
        let (here, there) = (of(&in_place) * each, of(&gathered) * each);
        if slot.place == Place::Host {
            sum.sent += here + there;
            continue;
        }
        match standing(plan, slot) {
            Standing::Beside => sum.read_beside += here,
            Standing::Apart => sum.read_apart += here,
            Standing::Again => sum.read_again += here,
        }
        sum.read_gathered += there;
        sum.bytes_read += memory(slot).min(points.saturating_mul(here + there));
        sum.add(plan, slot);
    }
    for slot in &plan.outputs {
        let each = slot.dtype.size() * held(plan, slot);
        match standing(plan, slot) {
            Standing::Beside => sum.written_beside += each,
            Standing::Apart => sum.written_apart += each,
            Standing::Again => {}
        }
        sum.bytes_written += memory(slot);
        sum.add(plan, slot);
    }
    sum
}

impl Traffic {
    /// Adds the widths of a slot in device memory.
    fn add(&mut self, plan: &Plan, slot: &Slot) {
        let size = slot.dtype.size();
        (self.narrowest, self.widest) = (self.narrowest.min(size), self.widest.max(size));
        let bytes = size * packed(plan, slot) as usize * plan.inner_lanes() as usize;
        let vector = 1u32 << bytes.trailing_zeros().min(4);
        self.aligned &= standing(plan, slot) != Standing::Beside || slot.alignment >= vector;
    }
}

/// The operand of each read: where it stands, and at computed coordinates.
fn reads(graph: &Graph) -> (Vec<usize>, Vec<usize>) {
    let operands = |nodes: Vec<NodeId>| -> Vec<usize> {
        let operand = |id: NodeId| match graph.node(id).op {
            Op::Input { operand, .. } => Some(usize::from(operand)),
            _ => None,
        };
        nodes.into_iter().filter_map(operand).collect()
    };
    let stays = |op: &Op| !matches!(op, Op::At { .. });
    let outputs = || graph.outputs.iter().map(|o| o.node);
    let mut gathered = Vec::new();
    for id in reachable(graph, outputs()) {
        if let Op::At { source, .. } = graph.node(id).op {
            gathered.extend(operands(walk(graph, std::iter::once(source), stays)));
        }
    }
    (operands(walk(graph, outputs(), stays)), gathered)
}

/// Elements of a slot for one point of the loops.
fn held(plan: &Plan, slot: &Slot) -> usize {
    plan.registers.iter().filter(|(d, _)| stride(slot, *d).is_some()).map(|(_, n)| *n as usize).product()
}

/// Elements that stand together for each point of the loops.
fn packed(plan: &Plan, slot: &Slot) -> i64 {
    plan.registers.iter().find_map(|(d, n)| (stride(slot, *d) == Some(1)).then_some(*n)).unwrap_or(1)
}

fn standing(plan: &Plan, slot: &Slot) -> Standing {
    match plan.inner().and_then(|w| stride(slot, w.dim)) {
        None | Some(0) => Standing::Again,
        Some(stride) if stride == packed(plan, slot) => Standing::Beside,
        Some(_) => Standing::Apart,
    }
}

fn stride(slot: &Slot, dim: DimId) -> Option<i64> {
    slot.axes.iter().find(|a| a.axis.dim == dim).map(|a| a.axis.stride)
}

/// Bytes of a slot's elements, each once.
fn memory(slot: &Slot) -> usize {
    let extents = slot.axes.iter().filter(|a| a.axis.stride != 0).map(|a| a.axis.extent.max(0) as usize);
    extents.fold(slot.element_bytes(), usize::saturating_mul)
}
