//! The plan of one kernel: which dimensions are loops, which live in registers, what is known when it is compiled.
//!
//! Sizes are run-time parameters unless the plan gains from knowing them, so a new batch size never recompiles. What the plan
//! does know is its [`Plan::key`]: equal keys, equal source text.

use crate::bind::{Axis, Binding, Place, View};
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::{DimId, Graph, Op, Size};

/// Most values that a thread holds for one point of the other dimensions.
const MAX_REGISTERS: i64 = 8;
/// Most values that a thread computes.
const MAX_VALUES: u32 = 16;
/// Threads of a block.
const BLOCK: u32 = 256;

/// What the plan knows of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The size itself.
    Exact(i64),
    /// A power of two that divides it (1: nothing is known).
    MultipleOf(u32),
}

impl Extent {
    /// Whether `n` divides every size of this class.
    pub fn divides(self, n: u32) -> bool {
        match self {
            Extent::Exact(e) => e % i64::from(n) == 0,
            Extent::MultipleOf(m) => m % n == 0,
        }
    }
}

/// One loop of the iteration space.
#[derive(Clone, Copy, Debug)]
pub struct WorldDim {
    /// The dimension.
    pub dim: DimId,
    /// Its length in this call.
    pub extent: i64,
    /// What the kernel knows of it.
    pub class: Extent,
}

impl WorldDim {
    /// Whether its coordinates need 64 bits.
    pub fn wide(&self) -> bool {
        self.extent > i64::from(i32::MAX)
    }
}

/// One axis of a bound operand, with what the kernel knows of it.
#[derive(Clone, Copy, Debug)]
pub struct SlotAxis {
    /// The axis.
    pub axis: Axis,
    /// Whether the kernel knows the extent.
    pub exact_extent: bool,
    /// Whether the kernel knows the stride.
    pub exact_stride: bool,
}

/// A bound operand or output.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Type of each component.
    pub dtype: DType,
    /// Components of an element.
    pub components: u8,
    /// Its axes in layout order.
    pub axes: Vec<SlotAxis>,
    /// Where its memory is.
    pub place: Place,
    /// Alignment in bytes of any point whose coordinates are 0 along inner and register axes of known stride: at most 16.
    pub alignment: u32,
}

impl Slot {
    /// Bytes of one element.
    pub fn element_bytes(&self) -> usize {
        self.dtype.size() * usize::from(self.components)
    }

    /// Its dimensions in layout order.
    pub fn dims(&self) -> Vec<DimId> {
        self.axes.iter().map(|a| a.axis.dim).collect()
    }

    /// Whether the kernel knows how many elements it has.
    pub fn exact_len(&self) -> Option<i64> {
        self.axes.iter().map(|a| a.exact_extent.then_some(a.axis.extent)).product()
    }

    fn stride(&self, dim: DimId) -> Option<i64> {
        self.axes.iter().find(|a| a.axis.dim == dim).map(|a| a.axis.stride)
    }
}

/// The plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Loops, outermost first; the last one is the inner dimension.
    pub world: Vec<WorldDim>,
    /// Dimensions that each thread holds in registers, with their sizes.
    pub registers: Vec<(DimId, i64)>,
    /// Consecutive points of the inner dimension that each thread computes.
    pub lanes: u32,
    /// Threads of a block along the inner dimension and the one outside it.
    pub block: [u32; 2],
    /// Operands.
    pub inputs: Vec<Slot>,
    /// Results.
    pub outputs: Vec<Slot>,
    /// Operands whose boxes were checked on the host.
    pub checked: Vec<bool>,
}

impl Plan {
    /// Plans the kernel for these operands and outputs. Sizes are checked.
    pub fn new(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let mut plan = Plan::unscheduled(graph, views, outputs)?;
        plan.merge(graph);
        plan.choose_registers();
        plan.choose_lanes();
        plan.classify(graph);
        plan.choose_block();
        Ok(plan)
    }

    /// Checks sizes; one point a thread, no loops merged.
    fn unscheduled(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let binding = Binding::new(graph, views)?;
        check_outputs(graph, &binding, outputs)?;
        let plan = Plan {
            world: world(graph, outputs),
            registers: Vec::new(),
            lanes: 1,
            block: [BLOCK, 1],
            inputs: slots(views, |i| (graph.operands[i].dtype, graph.operands[i].components)),
            outputs: slots(outputs, |i| (graph.node(graph.outputs[i].node).dtype, 1)),
            checked: (0..views.len() as u16).map(|i| binding.checked(i)).collect(),
        };
        plan.refuse_wide_coordinates(graph)?;
        Ok(plan)
    }

    /// Plans evaluation on the host: the loops alone.
    pub fn host(graph: &Graph, views: &[View<'_>], outputs: &[View<'_>]) -> Result<Plan, Error> {
        let mut plan = Plan::unscheduled(graph, views, outputs)?;
        plan.merge(graph);
        Ok(plan)
    }

    /// Everything that the source text depends on beside the graph.
    pub fn key(&self) -> Vec<u64> {
        let mut key = vec![u64::from(self.lanes), u64::from(self.block[0]), u64::from(self.block[1])];
        key.push(u64::from(self.large_grid()));
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
            key.push(u64::from(slot.alignment) << 8 | u64::from(slot.place == Place::Device) << 4 | slot.axes.len() as u64);
            for a in &slot.axes {
                let known = u64::from(a.exact_extent) | u64::from(a.exact_stride) << 1;
                key.extend([a.axis.dim, known]);
                key.extend(a.exact_extent.then_some(a.axis.extent as u64));
                key.extend(a.exact_stride.then_some(a.axis.stride as u64));
            }
        }
        key.extend(self.checked.iter().map(|c| u64::from(*c)));
        key
    }

    /// The operands as lowering sees them; extents are literals where the kernel knows them (`all`: everywhere).
    pub fn operands(&self, all: bool) -> Vec<crate::lower::Operand> {
        let operand = |(slot, checked): (&Slot, &bool)| crate::lower::Operand {
            axes: slot.axes.iter().map(|a| (a.axis.dim, (all || a.exact_extent).then_some(a.axis.extent))).collect(),
            checked: *checked,
        };
        self.inputs.iter().zip(&self.checked).map(operand).collect()
    }

    /// The inner dimension, along which neighbouring threads work. `None` for a single point.
    pub fn inner(&self) -> Option<&WorldDim> {
        self.world.last()
    }

    /// Whether every thread has all its points: no row ends within one.
    pub fn full_lanes(&self) -> bool {
        self.lanes == 1 || self.inner().is_some_and(|w| w.class.divides(self.lanes))
    }

    /// Points of the iteration space, register dimensions not counted.
    pub fn points(&self) -> i64 {
        self.world.iter().map(|w| w.extent).product()
    }

    /// Blocks along each loop: the inner ones tiled, the others one each.
    pub fn tiles(&self) -> Vec<i64> {
        let n = self.world.len();
        let tile = |i: usize| match n - i {
            1 => i64::from(self.block[0] * self.lanes),
            2 => i64::from(self.block[1]),
            _ => 1,
        };
        (0..n).map(|i| (self.world[i].extent + tile(i) - 1) / tile(i)).collect()
    }

    /// Whether a block's number needs 64 bits.
    pub fn large_grid(&self) -> bool {
        self.tiles().iter().product::<i64>() > i64::from(i32::MAX)
    }

    /// The grid of this call: all tiles along x, beyond 2^31 - 1 along y too.
    pub fn grid(&self) -> [u32; 3] {
        let tiles: i64 = self.tiles().iter().product();
        let limit = i64::from(i32::MAX);
        let rows = (tiles + limit - 1) / limit;
        let rows = rows.max(1);
        [((tiles + rows - 1) / rows) as u32, rows as u32, 1]
    }

    fn refuse_wide_coordinates(&self, graph: &Graph) -> Result<(), Error> {
        for w in self.world.iter().filter(|w| w.wide()) {
            if uses_coordinate(graph, w.dim) {
                return Err(Error::TooLong { dim: graph.dim_name(w.dim), extent: w.extent });
            }
        }
        Ok(())
    }

    /// Neighbouring loops that are one run of memory in every operand become one.
    fn merge(&mut self, graph: &Graph) {
        let mut i = self.world.len();
        while i >= 2 {
            i -= 1;
            let (outer, inner) = (self.world[i - 1], self.world[i]);
            let apart = uses_coordinate(graph, outer.dim) || uses_coordinate(graph, inner.dim);
            if apart || !self.inputs.iter().chain(&self.outputs).all(|s| mergeable(s, outer.dim, inner.dim)) {
                continue;
            }
            for slot in self.inputs.iter_mut().chain(&mut self.outputs) {
                slot.axes.retain(|a| a.axis.dim != outer.dim);
                for a in slot.axes.iter_mut().filter(|a| a.axis.dim == inner.dim) {
                    a.axis.extent *= outer.extent;
                }
            }
            self.world[i].extent *= outer.extent;
            self.world.remove(i - 1);
        }
    }

    /// A short dimension that is innermost in some operand's memory lives in registers.
    fn choose_registers(&mut self) {
        let fits = |w: &WorldDim| (2..=MAX_REGISTERS).contains(&w.extent);
        let packed = |s: &Slot| match s.axes.as_slice() {
            [.., _, last] if s.components == 1 && s.place == Place::Device => Some(last.axis.dim),
            _ => None,
        };
        let slots = || self.inputs.iter().chain(&self.outputs);
        let Some(dim) = slots().filter_map(packed).find(|d| self.world.iter().any(|w| w.dim == *d && fits(w))) else {
            return;
        };
        if self.world.len() < 2 {
            return;
        }
        let at = self.world.iter().position(|w| w.dim == dim).unwrap_or(0);
        let w = self.world.remove(at);
        self.registers.push((w.dim, w.extent));
    }

    /// Points per thread: 16 bytes of the widest operand that is contiguous along the inner dimension.
    fn choose_lanes(&mut self) {
        let Some(inner) = self.inner().copied() else { return };
        let held: u32 = self.registers.iter().map(|(_, n)| *n as u32).product();
        let run = |s: &Slot| {
            let packed = self.registers.iter().find_map(|(d, n)| (s.stride(*d) == Some(1)).then_some(*n)).unwrap_or(1);
            s.stride(inner.dim) == Some(packed)
        };
        let widest = self.inputs.iter().chain(&self.outputs).filter(|s| run(s)).map(|s| s.dtype.size()).max();
        let Some(widest) = widest else { return };
        let mut lanes = (16 / widest) as u32;
        while lanes > 1 && (lanes * held > MAX_VALUES || i64::from(lanes) > inner.extent) {
            lanes /= 2;
        }
        self.lanes = lanes;
    }

    fn classify(&mut self, graph: &Graph) {
        let most = self.lanes;
        let last = self.world.len().saturating_sub(1);
        for (i, w) in self.world.iter_mut().enumerate() {
            let literal = graph.outputs.iter().any(|o| graph.size_of(o.node, w.dim) == Size::Const(w.extent));
            w.class = if literal {
                Extent::Exact(w.extent)
            } else {
                let known = if i == last { most } else { 1 };
                let divisor = 1u32 << (w.extent.max(1).trailing_zeros().min(4));
                Extent::MultipleOf(divisor.min(known))
            };
        }
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
        for slot in self.inputs.iter_mut().chain(&mut self.outputs) {
            let mut dense = Some(1i64);
            for a in slot.axes.iter_mut().rev() {
                a.exact_extent = exact.contains(&(a.axis.dim, a.axis.extent));
                a.exact_stride = a.axis.stride.abs() <= 8 || dense == Some(a.axis.stride);
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

    fn choose_block(&mut self) {
        let n = self.world.len();
        let Some(inner) = self.inner() else {
            self.block = [1, 1];
            return;
        };
        let chunks = (inner.extent + i64::from(self.lanes) - 1) / i64::from(self.lanes);
        let clamp = |v: i64, most: u32| (v.clamp(1, i64::from(most)) as u32).next_power_of_two();
        let x = match inner.class {
            Extent::Exact(_) => clamp(chunks, BLOCK),
            Extent::MultipleOf(_) if n == 1 => BLOCK,
            Extent::MultipleOf(_) if chunks >= 128 => BLOCK,
            Extent::MultipleOf(_) => 32,
        };
        let y = if n >= 2 { BLOCK / x } else { 1 };
        self.block = [x, y];
    }
}

fn check_outputs(graph: &Graph, binding: &Binding<'_>, outputs: &[View<'_>]) -> Result<(), Error> {
    if outputs.len() != graph.outputs.len() {
        return Err(Error::Count { what: "outputs", expected: graph.outputs.len(), got: outputs.len() });
    }
    for (i, (view, output)) in outputs.iter().zip(&graph.outputs).enumerate() {
        let sizes = binding.output(i)?;
        for (dim, expected) in output.dims.iter().zip(&sizes) {
            let got = view.axes.iter().find(|a| a.dim == *dim).map_or(0, |a| a.extent);
            if got != *expected {
                return Err(Error::Output { output: i, dim: graph.dim_name(*dim), got, expected: *expected });
            }
        }
        let mut by_stride: Vec<&Axis> = view.axes.iter().filter(|a| a.extent > 1).collect();
        by_stride.sort_unstable_by_key(|a| a.stride.abs());
        let mut reach = 0;
        for a in by_stride {
            if a.stride.abs() <= reach {
                return Err(Error::Overlap { output: i, dim: graph.dim_name(a.dim), stride: a.stride });
            }
            reach += (a.extent - 1) * a.stride.abs();
        }
    }
    Ok(())
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
    debug_assert!(graph.outputs.len() == outputs.len());
    world
}

fn slots(views: &[View<'_>], of: impl Fn(usize) -> (DType, u8)) -> Vec<Slot> {
    let slot = |(i, v): (usize, &View<'_>)| {
        let (dtype, components) = of(i);
        let axes = v.axes.iter().map(|a| SlotAxis { axis: *a, exact_extent: false, exact_stride: false }).collect();
        Slot { dtype, components, axes, place: v.place, alignment: v.alignment.min(16) }
    };
    views.iter().enumerate().map(slot).collect()
}

/// Whether a dimension's coordinate or size is used as a number, so that it must stay a loop of its own.
fn uses_coordinate(graph: &Graph, dim: DimId) -> bool {
    graph.nodes().any(|node| match &node.op {
        Op::Index(d) => *d == dim,
        Op::Extent(Size::Operand(_, d)) => *d == dim,
        Op::At { coords, sizes, .. } => {
            coords.iter().any(|(d, _)| *d == dim) || sizes.iter().any(|(d, _)| *d == dim)
        }
        _ => false,
    })
}

fn mergeable(slot: &Slot, outer: DimId, inner: DimId) -> bool {
    let find = |dim| slot.axes.iter().find(|a| a.axis.dim == dim).map(|a| a.axis);
    match (find(outer), find(inner)) {
        (None, None) => true,
        (Some(o), Some(i)) => o.stride == i.stride * i.extent,
        _ => false,
    }
}
