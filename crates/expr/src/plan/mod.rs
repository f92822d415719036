//! The plan of one kernel: which dimensions are loops, which live in registers, what is known when it is compiled.
//!
//! Sizes are run-time parameters unless the plan gains from knowing them, so a new batch size never recompiles. What the plan
//! does know is its [`Plan::key`]: equal keys, equal source text.

mod check;
mod classify;
mod configuration;
mod inline;
mod pointwise;
mod scattered;
mod schedule;
mod slot;

use crate::bind::{Axis, Binding, Place, View};
use crate::collective::{Group, Shared};
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::{DimId, Graph, Op, Size};
use crate::scatter::Private;
use crate::stage::Staging;
pub use configuration::Configuration;
pub(crate) use configuration::power;
pub use pointwise::{Division, Pointwise};
pub use slot::{Extent, Slot, SlotAxis, WorldDim};

pub(crate) use check::check_output;

/// An innermost loop that is too short for blocks of the host evaluator.
const SHORT: i64 = 64;
/// Threads of a block.
pub(crate) const BLOCK: u32 = 256;

/// The plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Loops, outermost first; the last one is the inner dimension.
    pub world: Vec<WorldDim>,
    /// Dimensions that each thread holds in registers, with their sizes.
    pub registers: Vec<(DimId, i64)>,
    /// Consecutive points that each thread computes, along the loop `lane_loop`.
    pub lanes: u32,
    /// Groups of them, as far apart as the threads of a block reach side by side; more than 1 along the inner loop alone.
    pub words: u32,
    /// The loop along which a thread has several points: the inner one where memory is contiguous along it, so that accesses
    /// are wide; the one outside it where pixels are gathered, so that neighbouring threads read neighbouring pixels.
    pub lane_loop: usize,
    /// Threads of a block along the inner dimension and the one outside it.
    pub block: [u32; 2],
    /// Whether threads mostly wait for memory: registers for more loads under way are worth more than more threads.
    pub waits: bool,
    /// Operands.
    pub inputs: Vec<Slot>,
    /// Results.
    pub outputs: Vec<Slot>,
    /// Operands whose boxes were checked on the host.
    pub checked: Vec<bool>,
    /// The operands' dimensions and sizes as they were bound, before loops were merged.
    pub shapes: Vec<Vec<(DimId, i64)>>,
    /// How threads share reductions along the innermost loops, if they do.
    pub group: Option<Group>,
    /// What the threads of a block keep for each other, if they do.
    pub staging: Option<Staging>,
    /// What blocks scatter to before the result, if they do.
    pub private: Option<Private>,
}

impl Plan {
    /// Plans the kernel for these operands and outputs. Sizes are checked.
    pub fn new(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        Plan::scheduled(graph, views, outputs, false)
    }

    fn scheduled(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>], beside: bool) -> Result<Plan, Error> {
        let mut plan = Plan::unscheduled(graph, views, outputs)?;
        plan.pack_host_operands();
        plan.merge(graph);
        plan.choose_registers(graph);
        if plan.group.is_some() {
            plan.choose_threads(graph, beside);
            plan.classify(graph);
            return Ok(plan);
        }
        plan.private = Private::find(graph, &plan);
        if plan.private.is_none() {
            plan.staging = Staging::find(graph, &plan, &Binding::new(graph, views)?).or_else(|| plan.transposed(graph));
        }
        if plan.staging.is_some() {
            plan.choose_tile(beside);
            plan.classify(graph);
            return Ok(plan);
        }
        plan.choose_lanes(graph);
        plan.keep_lanes_inside();
        plan.classify(graph);
        plan.choose_block(BLOCK);
        Ok(plan)
    }

    /// Plans one section of a launch: as [`Plan::new`], with blocks of as many threads as every section's.
    pub(crate) fn section(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let mut plan = Plan::scheduled(graph, views, outputs, true)?;
        plan.block = match &mut plan.group {
            Some(group) => {
                group.rows = BLOCK / group.threads;
                if group.tall { [group.rows, group.threads] } else { [BLOCK, 1] }
            }
            None if plan.world.len() < 2 => [BLOCK, 1],
            None => plan.block,
        };
        Ok(plan)
    }

    /// Checks sizes; one point a thread, no loops merged.
    fn unscheduled(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let binding = Binding::new(graph, views)?;
        check::outputs(graph, &binding, outputs)?;
        let shared = Shared::find(graph, &binding)?;
        let mut world = scattered::loops(graph, &binding, views, outputs)?;
        let group = shared.map(|shared| Group::new(&shared, &mut world));
        let shape = |v: &View<'_>| v.axes.iter().map(|a| (a.dim, a.extent)).collect();
        let inputs = slots(views, &world, |i| (graph.operands[i].dtype, graph.operands[i].components));
        let outputs = slots(outputs, &world, |i| (graph.node(graph.outputs[i].node).dtype, 1));
        let plan = Plan {
            world,
            registers: Vec::new(),
            lanes: 1,
            words: 1,
            lane_loop: 0,
            block: [BLOCK, 1],
            waits: false,
            inputs,
            outputs,
            checked: (0..views.len() as u16).map(|i| binding.checked(i)).collect(),
            shapes: views.iter().map(shape).collect(),
            group,
            staging: None,
            private: None,
        };
        plan.refuse_wide_coordinates(graph)?;
        Ok(plan)
    }

    /// Operands in host memory travel with the launch without their gaps.
    fn pack_host_operands(&mut self) {
        for slot in self.inputs.iter_mut().filter(|s| s.place == Place::Host) {
            let mut stride = 1;
            for a in slot.axes.iter_mut().rev() {
                a.axis.stride = stride;
                stride *= a.axis.extent;
            }
        }
    }

    /// Plans evaluation on the host: the loops alone.
    pub fn host(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let mut plan = Plan::unscheduled(graph, views, outputs)?;
        plan.merge(graph);
        // Blocks run along the innermost loop: a short one goes outside the one before it.
        if plan.group.is_none()
            && let [.., before, last] = plan.world.as_mut_slice()
            && last.extent < SHORT
            && before.extent > last.extent
        {
            std::mem::swap(before, last);
        }
        Ok(plan)
    }

    /// Everything that the source text depends on beside the graph.
    pub fn key(&self) -> Vec<u64> {
        let mut key =
            vec![u64::from(self.lanes), u64::from(self.words), u64::from(self.block[0]), u64::from(self.block[1])];
        key.extend([u64::from(self.large_grid()), self.lane_loop as u64, u64::from(self.waits)]);
        for w in &self.world {
            key.extend([w.dim, u64::from(w.wide())]);
            key.push(match w.class {
                Extent::Exact(n) => (n as u64) << 1 | 1,
                Extent::MultipleOf(m) => u64::from(m) << 1,
            });
        }
        for (dim, n) in &self.registers {
            key.extend([*dim, *n as u64]);
        }
        for slot in self.inputs.iter().chain(&self.outputs) {
            let place = u64::from(slot.place == Place::Device) | u64::from(slot.wide_strides()) << 1;
            key.push(u64::from(slot.alignment) << 16 | place << 8 | slot.axes.len() as u64);
            for a in &slot.axes {
                let known = u64::from(a.exact_extent) | u64::from(a.exact_stride) << 1;
                key.extend([a.axis.dim, known]);
                key.extend(a.exact_extent.then_some(a.axis.extent as u64));
                key.extend(a.exact_stride.then_some(a.axis.stride as u64));
            }
        }
        key.extend(self.checked.iter().map(|c| u64::from(*c)));
        key.extend(self.group.iter().flat_map(|g| g.key(&self.world)));
        key.extend(self.staging.iter().flat_map(Staging::key));
        key.extend(self.private.iter().flat_map(Private::key));
        key
    }

    /// The operands as lowering sees them; extents are literals where the kernel knows them (`all`: everywhere).
    pub fn operands(&self, all: bool) -> Vec<crate::lower::Operand> {
        let operand = |(slot, checked): (&Slot, &bool)| crate::lower::Operand {
            axes: slot.axes.iter().map(|a| a.axis.dim).collect(),
            shape: Vec::new(),
            checked: *checked,
        };
        let mut operands: Vec<crate::lower::Operand> = self.inputs.iter().zip(&self.checked).map(operand).collect();
        for ((operand, slot), shape) in operands.iter_mut().zip(&self.inputs).zip(&self.shapes) {
            let exact =
                |dim: &DimId| slot.axes.iter().any(|a| a.axis.dim == *dim && a.exact_extent && !self.grown(*dim));
            operand.shape = shape.iter().map(|(d, n)| (*d, (all || exact(d)).then_some(*n))).collect();
        }
        operands
    }

    /// The inner dimension, along which neighbouring threads work. `None` for a single point.
    pub fn inner(&self) -> Option<&WorldDim> {
        self.world.last()
    }

    /// Whether every thread has all its points: no loop ends within one.
    pub fn full_lanes(&self) -> bool {
        self.lanes == 1 || self.world[self.lane_loop].class.divides(self.lanes)
    }

    /// Points along the inner dimension that a thread has: those that make accesses wide.
    pub fn inner_lanes(&self) -> u32 {
        if self.lane_loop + 1 == self.world.len() { self.lanes } else { 1 }
    }

    /// Points of a block along loop `i`.
    pub fn tile(&self, i: usize) -> i64 {
        if let Some(t) = self.staging.as_ref().and_then(|s| s.tile_loop(i)) {
            return t.points_a_block();
        }
        let threads = match self.world.len() - i {
            1 => self.block[0],
            2 => self.block[1],
            _ => 1,
        };
        i64::from(threads * if i == self.lane_loop { self.lanes * self.words } else { 1 })
    }

    /// Points from one word of a thread to the next.
    pub(crate) fn apart(&self) -> u32 {
        self.block[0] * self.lanes
    }

    /// Whether every thread has all its words: no loop ends within a block.
    pub(crate) fn full_words(&self) -> bool {
        let whole = |w: &WorldDim| matches!(w.class, Extent::Exact(n) if n % i64::from(self.apart() * self.words) == 0);
        self.words == 1 || self.inner().is_some_and(whole)
    }

    /// Points of the iteration space, register dimensions not counted.
    pub fn points(&self) -> i64 {
        self.world.iter().map(|w| w.extent).product()
    }

    /// Whether a loop stands for others too that were merged into it.
    fn grown(&self, dim: DimId) -> bool {
        let whole = self.shapes.iter().flatten().find(|(d, _)| *d == dim).map(|(_, n)| *n);
        self.world.iter().any(|w| w.dim == dim && whole.is_some_and(|n| n != w.extent))
    }

    /// Blocks along each loop: the inner ones tiled, the others one each.
    pub fn tiles(&self) -> Vec<i64> {
        (0..self.world.len()).map(|i| (self.world[i].extent + self.tile(i) - 1) / self.tile(i)).collect()
    }

    /// Whether a block's number needs 64 bits.
    pub fn large_grid(&self) -> bool {
        self.blocks() > i64::from(i32::MAX)
    }

    /// Blocks of this call.
    pub fn blocks(&self) -> i64 {
        match (&self.group, &self.private) {
            (Some(group), _) => group.blocks(&self.world),
            (None, Some(private)) => private.blocks(self),
            (None, None) => self.tiles().iter().product(),
        }
    }

    /// The grid of this call: all tiles along x, beyond 2^31 - 1 along y too.
    pub fn grid(&self) -> [u32; 3] {
        grid(self.blocks())
    }

    fn refuse_wide_coordinates(&self, graph: &Graph) -> Result<(), Error> {
        let loops = self.world.iter().map(|w| (w.dim, w.extent));
        let read = self.inputs.iter().flat_map(|s| &s.axes).map(|a| (a.axis.dim, a.axis.extent));
        let long = |(_, extent): &(DimId, i64)| *extent > i64::from(i32::MAX);
        match loops.chain(read).filter(long).find(|(dim, _)| uses_coordinate(graph, *dim)) {
            Some((dim, extent)) => Err(Error::TooLong { dim: graph.dim_name(dim), extent }),
            None => Ok(()),
        }
    }

    /// Neighbouring loops that are one run of memory in every operand become one.
    fn merge(&mut self, graph: &Graph) {
        let mut i = self.world.len();
        while i >= 2 {
            i -= 1;
            let (outer, inner) = (self.world[i - 1], self.world[i]);
            let apart =
                [outer.dim, inner.dim].into_iter().any(|d| names_coordinate(graph, d) || self.reduces_alone(graph, d));
            let apart = apart || self.group.as_ref().is_some_and(|g| i == self.world.len() - g.loops);
            if apart || !self.inputs.iter().chain(&self.outputs).all(|s| mergeable(s, outer.dim, inner.dim)) {
                continue;
            }
            for slot in self.inputs.iter_mut().chain(&mut self.outputs) {
                let stride = slot.stride(outer.dim);
                slot.axes.retain(|a| a.axis.dim != outer.dim);
                for a in slot.axes.iter_mut().filter(|a| a.axis.dim == inner.dim) {
                    // The step from the one index that there is leads nowhere.
                    if inner.extent == 1 {
                        a.axis.stride = stride.unwrap_or(a.axis.stride);
                    }
                    a.axis.extent *= outer.extent;
                }
            }
            self.world[i].extent *= outer.extent;
            if let Some(group) = self.group.as_mut().filter(|g| i > self.world.len() - g.loops) {
                group.loops -= 1;
            }
            self.world.remove(i - 1);
        }
    }
}

/// So many blocks along x, beyond 2^31 - 1 along y too.
pub(crate) fn grid(blocks: i64) -> [u32; 3] {
    let limit = i64::from(i32::MAX);
    let rows = ((blocks + limit - 1) / limit).max(1);
    [((blocks + rows - 1) / rows) as u32, rows as u32, 1]
}

/// The loops: the first output of highest rank gives their order, dimensions that only others have go outside.
fn world(graph: &Graph, outputs: &[View<'_>]) -> Vec<WorldDim> {
    let mut order: Vec<usize> = (0..outputs.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(outputs[*i].axes.len()));
    let mut world: Vec<WorldDim> = Vec::new();
    for i in order {
        let missing: Vec<WorldDim> = outputs[i]
            .axes
            .iter()
            .filter(|a| world.iter().all(|w| w.dim != a.dim))
            .map(|a| WorldDim { dim: a.dim, extent: a.extent, class: Extent::MultipleOf(1) })
            .collect();
        world.splice(0..0, missing);
    }
    debug_assert!(graph.outputs.len() >= outputs.len());
    world
}

/// Puts the axes of a view into an order, so that equal kernels are the same: where elements stand side by side that of the memory,
/// else that of the loops.
fn put_in_order(axes: &mut [SlotAxis], world: &[WorldDim]) {
    let steps = || axes.iter().map(|a| a.axis).filter(|a| a.extent > 1).map(|a| a.stride);
    if !steps().any(|s| s == 1) || steps().any(|s| s == 0) {
        axes.sort_by_key(|a| world.iter().position(|w| w.dim == a.axis.dim));
    } else if !steps().is_sorted_by(|a, b| a.abs() >= b.abs()) {
        axes.sort_by_key(|a| std::cmp::Reverse(a.axis.stride.unsigned_abs()));
    }
}

fn slots(views: &[View<'_>], world: &[WorldDim], of: impl Fn(usize) -> (DType, u8)) -> Vec<Slot> {
    let slot = |(i, v): (usize, &View<'_>)| {
        let (dtype, components) = of(i);
        let axis = |a: &Axis| SlotAxis { axis: *a, exact_extent: false, exact_stride: false };
        let mut axes: Vec<SlotAxis> = v.axes.iter().map(axis).collect();
        // What is sent is packed in its own order.
        if v.place == Place::Device {
            put_in_order(&mut axes, world);
        }
        let bound = v.alignment.min(16);
        Slot { dtype, components, axes, place: v.place, alignment: bound, bound }
    };
    views.iter().enumerate().map(slot).collect()
}

/// Whether a dimension's coordinate is used as a number or replaced, so that it must stay a loop of its own.
fn names_coordinate(graph: &Graph, dim: DimId) -> bool {
    graph.nodes().any(|node| match &node.op {
        Op::Index(d) => *d == dim,
        Op::At { coords, sizes, .. } => coords.iter().any(|(d, _)| *d == dim) || sizes.iter().any(|(d, _)| *d == dim),
        Op::Scan { dim: d, .. } => *d == dim,
        _ => false,
    })
}

/// Whether a dimension's coordinate or size is used as a number.
fn uses_coordinate(graph: &Graph, dim: DimId) -> bool {
    let counts = |op: &Op| match op {
        Op::Extent(Size::Operand(_, d)) => *d == dim,
        Op::Reduce { dim: d, .. } => *d == dim,
        _ => false,
    };
    names_coordinate(graph, dim) || graph.nodes().any(|node| counts(&node.op))
}

fn mergeable(slot: &Slot, outer: DimId, inner: DimId) -> bool {
    let find = |dim| slot.axes.iter().find(|a| a.axis.dim == dim).map(|a| a.axis);
    match (find(outer), find(inner)) {
        (None, None) => true,
        (Some(o), Some(i)) => o.extent == 1 || i.extent == 1 || o.stride == i.stride * i.extent,
        _ => false,
    }
}
