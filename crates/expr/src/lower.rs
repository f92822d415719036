//! Lowering: the graph, at given coordinates, becomes straight-line code.

mod reduce;
mod scan;
mod scatter;

use crate::collective::Group;
use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use crate::map::Map;
use crate::program::{Along, LOOPS, PartialStore, Program, Site, Store, Val};
use crate::stage::{Around, Stages};
use std::collections::BTreeSet;

/// Most instructions of a thread: beyond that nobody waits for a compiler.
const MOST: usize = 1 << 18;

/// What lowering knows of an operand.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The dimensions of its axes, loops that were merged counting as one.
    pub axes: Vec<DimId>,
    /// Its dimensions, and their sizes where those are known.
    pub shape: Vec<(DimId, Option<i64>)>,
    /// Whether guards on its values were settled on the host.
    pub checked: bool,
}

/// A point of the world: the coordinate along each dimension, sorted by id.
pub type Point = Vec<(DimId, Val)>;

/// How windows of computed length are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// A step at a time.
    Stepwise,
    /// Several steps at once, so that neighbouring loads become one: on a GPU. The same values in the same order.
    Strided,
}

/// Lowers every output of `graph` at every point of `points` (made by the callback, which may add instructions). `outputs`
/// names the axes of each output's memory, loops that were merged counting as one.
pub fn lower(
    graph: &Graph,
    operands: &[Operand],
    (outputs, world): (&[Vec<DimId>], &[DimId]),
    group: Option<&Group>,
    windows: Windows,
    points: impl FnOnce(&mut Program) -> Vec<Point>,
) -> Result<Program, Error> {
    let mut lower = Lower { windows, ..Lower::new(graph, operands) };
    let points = points(&mut lower.program);
    lower.shared = group.map(|group| Lanes::new(group, world, &points));
    lower.results(points, outputs, world);
    lower.finish()
}

/// As [`lower`], what blocks keep being read; or what they keep itself, at every point of `points`.
pub(crate) fn lower_stages(
    graph: &Graph,
    operands: &[Operand],
    outputs: &[Vec<DimId>],
    stages: Stages<'_>,
    points: impl FnOnce(&mut Program) -> Vec<Point>,
) -> Result<Program, Error> {
    let (around, world) = (stages.around, stages.world);
    let mut lower = Lower { stages: Some(stages), windows: Windows::Strided, ..Lower::new(graph, operands) };
    let points = points(&mut lower.program);
    match around {
        Around::Results | Around::Inner => lower.results(points, outputs, world),
        Around::Inside(stage) | Around::Edge(stage) => lower.fill(stage, points),
    }
    lower.finish()
}

pub(crate) fn find(point: &[(DimId, Val)], dim: DimId) -> Option<Val> {
    point.binary_search_by_key(&dim, |(d, _)| *d).ok().map(|i| point[i].1)
}

/// Lowering at work.
pub(crate) struct Lower<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) operands: &'a [Operand],
    pub(crate) program: Program,
    memo: Map<(NodeId, u32), Val>,
    /// Points, and whether each is one that something is read at rather than the thread's own.
    pub(crate) points: Vec<(Point, bool)>,
    /// The number of each point.
    numbers: Map<(Point, bool), u32>,
    /// Whether there were more loops than a program can have.
    crowded: bool,
    windows: Windows,
    /// Where threads share reductions.
    shared: Option<Lanes>,
    /// What blocks keep.
    pub(crate) stages: Option<Stages<'a>>,
    /// Where the border of a stage that is filled brings the coordinates along the loops of the tile.
    pub(crate) brought: [Option<Val>; 2],
}

/// The points that a thread takes of a row at a time.
struct Lanes {
    set: BTreeSet<DimId>,
    /// The coordinates along the reduced loops, for each.
    points: Vec<Point>,
    /// The reduced loops.
    along: Along,
}

impl Lanes {
    fn new(group: &Group, world: &[DimId], points: &[Point]) -> Lanes {
        let reduced = &world[world.len() - group.loops..];
        let mut lanes: Vec<Point> = Vec::new();
        for point in points {
            let lane: Point = point.iter().filter(|(d, _)| reduced.contains(d)).copied().collect();
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        let along = (world.len() - group.loops..world.len()).fold(0, |bits, i| bits | 1 << i);
        Lanes { set: group.set.clone(), points: lanes, along }
    }
}

/// A node at a point (an index into the interned points).
type Task = (NodeId, u32);

impl<'a> Lower<'a> {
    fn new(graph: &'a Graph, operands: &'a [Operand]) -> Lower<'a> {
        Lower {
            graph,
            operands,
            program: Program::default(),
            memo: Map::default(),
            points: Vec::new(),
            numbers: Map::default(),
            crowded: false,
            windows: Windows::Stepwise,
            shared: None,
            stages: None,
            brought: [None; 2],
        }
    }

    fn finish(self) -> Result<Program, Error> {
        if self.program.len() > MOST {
            return Err(Error::Long { limit: MOST });
        }
        if self.crowded { Err(Error::Crowded { limit: (Along::BITS - LOOPS) as usize }) } else { Ok(self.program) }
    }

    /// Every output at every point.
    fn results(&mut self, points: Vec<Point>, outputs: &[Vec<DimId>], world: &[DimId]) {
        for mut point in points {
            point.sort_unstable_by_key(|(d, _)| *d);
            for (number, dims) in outputs.iter().enumerate().take(self.graph.outputs.len()) {
                self.result(&point, (number, dims), world);
            }
        }
    }

    /// One output at one point.
    fn result(&mut self, point: &Point, (number, dims): (usize, &[DimId]), world: &[DimId]) {
        let graph = self.graph;
        let partial = graph.partial(number);
        let lacks = |d: &DimId| match partial {
            Some(partial) => partial.world.iter().all(|(w, _)| w != d),
            None => !dims.contains(d),
        };
        let missing = point.iter().filter(|(d, _)| lacks(d));
        let value = self.value(graph.outputs[number].node, point);
        let Some(index) = dims.iter().map(|d| self.place(number, *d, point)).collect::<Option<Box<[Val]>>>() else {
            return;
        };
        if missing.clone().any(|(_, v)| self.program.constant(*v).is_some_and(|s| s.bits != 0)) {
            return;
        }
        if missing.clone().any(|(_, v)| self.program.affine(*v).1 != 0) {
            return;
        }
        let only_at_zero = missing.filter_map(|(d, _)| world.iter().position(|w| w == d).map(|i| i as u8)).collect();
        let partial = partial.map(|p| PartialStore {
            condition: self.condition(p, point),
            collision: p.collision,
            computed: !p.places.is_empty(),
            along: (0..world.len()).filter(|i| p.world.iter().any(|(d, _)| *d == world[*i])).fold(0, |a, i| a | 1 << i),
        });
        self.program.stores.push(Store { output: number as u16, index, value, only_at_zero, partial });
    }

    /// The value of `node` at `point`. Works through a stack of its own, so that long chains need no deep recursion.
    pub(crate) fn value(&mut self, node: NodeId, point: &Point) -> Val {
        let root = (node, self.project(node, point, false));
        let mut stack = vec![root];
        while let Some(&task) = stack.last() {
            if self.memo.contains_key(&task) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            if self.program.len() > MOST {
                return self.zero();
            }
            if let Some(value) = self.step(task, &mut stack) {
                debug_assert_eq!(before, stack.len());
                self.memo.insert(task, value);
                stack.pop();
            }
        }
        self.memo[&root]
    }

    /// The part of a point that a node can see, interned.
    fn project(&mut self, node: NodeId, point: &Point, moved: bool) -> u32 {
        let shape = &self.graph.node(node).shape;
        let seen: Point =
            point.iter().filter(|(d, _)| shape.binary_search_by_key(d, |(s, _)| *s).is_ok()).copied().collect();
        // Where nothing is shared a point is a point.
        let moved = moved && self.shared.is_some();
        let next = self.points.len() as u32;
        let number = *self.numbers.entry((seen.clone(), moved)).or_insert(next);
        if number == next {
            self.points.push((seen, moved));
        }
        number
    }

    /// The value of an argument at the task's point, or `None` after putting it on the stack.
    fn arg(&mut self, node: NodeId, point: u32, stack: &mut Vec<Task>) -> Option<Val> {
        let (point, moved) = self.points[point as usize].clone();
        let task = (node, self.project(node, &point, moved));
        let known = self.memo.get(&task).copied();
        if known.is_none() {
            stack.push(task);
        }
        known
    }

    fn step(&mut self, (node, point): Task, stack: &mut Vec<Task>) -> Option<Val> {
        if let Some(kept) = self.kept(node, point) {
            return Some(kept);
        }
        if let Some(source) = self.open(node, point) {
            return self.arg(source, point, stack);
        }
        let graph = self.graph;
        let dtype = graph.node(node).dtype;
        let mut arg = |this: &mut Self, n: &NodeId| this.arg(*n, point, stack);
        Some(match &graph.node(node).op {
            Op::Const(s) => self.program.constant_of(*s),
            Op::Input { operand, component } => self.load(*operand, *component, dtype, point),
            Op::Index(dim) => find(&self.points[point as usize].0, *dim).unwrap_or_else(|| self.zero()),
            Op::Extent(size) => self.extent(*size),
            Op::Unary(op, a) => {
                let a = arg(self, a)?;
                self.program.unary(*op, a)
            }
            Op::Binary(op, a, b) => {
                let (a, b) = both(arg(self, a), arg(self, b))?;
                self.program.binary(*op, a, b)
            }
            Op::Fma(a, b, c) => {
                let ((a, b), c) = both(both(arg(self, a), arg(self, b)), arg(self, c))?;
                self.program.fma(a, b, c)
            }
            Op::Select(c, a, b) => {
                let ((c, a), b) = both(both(arg(self, c), arg(self, a)), arg(self, b))?;
                self.program.select(c, a, b)
            }
            Op::Cast(a) => {
                let a = arg(self, a)?;
                self.program.cast(a, dtype)
            }
            Op::Bits(a) => {
                let a = arg(self, a)?;
                self.program.bits(a, dtype)
            }
            Op::Call(function, args) => {
                // Backwards, so that what is missing comes off the stack in order.
                let values: Vec<Option<Val>> = args.iter().rev().map(|a| arg(self, a)).collect();
                let values = values.into_iter().rev().collect::<Option<Box<[Val]>>>()?;
                self.program.call(*function, values)
            }
            Op::Guard { value, low, high, operand } => {
                let value = arg(self, value)?;
                let Some(operand) = operand else {
                    let (low, high) = both(arg(self, low), arg(self, high))?;
                    return Some(self.program.guard(value, low, high, None));
                };
                if self.operands[*operand as usize].checked || self.program.constant(value).is_some() {
                    return Some(value);
                }
                let (low, high) = both(arg(self, low), arg(self, high))?;
                let index = self.innermost(*operand, value);
                self.program.guard(value, low, high, Some(index))
            }
            Op::At { source, coords, .. } => {
                let mut moved = self.points[point as usize].0.clone();
                for (dim, coord) in coords {
                    let value = arg(self, coord)?;
                    match moved.binary_search_by_key(dim, |(d, _)| *d) {
                        Ok(i) => moved[i].1 = value,
                        Err(i) => moved.insert(i, (*dim, value)),
                    }
                }
                let moved = self.project(*source, &moved, true);
                match self.memo.get(&(*source, moved)) {
                    Some(value) => {
                        let at = self.points[moved as usize].0.clone();
                        self.program.sites.push(Site { source: *source, at, value: *value });
                        *value
                    }
                    None => {
                        stack.push((*source, moved));
                        return None;
                    }
                }
            }
            Op::Carry { start, number, times } => {
                let start = arg(self, start)?;
                self.carry(point, start, (*number, *times))
            }
            Op::Iterate { carry, next } => {
                let (carry, next) = both(arg(self, carry), arg(self, next))?;
                self.program.iterate(carry, next)
            }
            Op::Reduce { reduction, source, dim, size } => {
                return self.reduce((node, point), (*reduction, *source), (*dim, *size), stack);
            }
            Op::Scan { reduction, source, dim } => return self.scan((node, point), (*reduction, *source), *dim, stack),
        })
    }

    /// What the steps of an iteration start from: a loop that all points of the thread share.
    fn carry(&mut self, point: u32, start: Val, (number, times): (u32, u32)) -> Val {
        let extent = self.program.constant_of(Scalar::of(i32::try_from(times).unwrap_or(i32::MAX)));
        let (mut outer, mut depth) = (self.program.varies(start), self.program.depth(start));
        for (_, v) in &self.points[point as usize].0 {
            outer |= self.program.varies(*v);
            depth = depth.max(self.program.depth(*v));
        }
        match self.program.loop_of(extent, outer, depth + 1, number + 1) {
            Some(within) => self.program.carry(within, start, u64::from(number) << 32 | u64::from(point)),
            None => {
                self.crowded = true;
                start
            }
        }
    }

    fn zero(&mut self) -> Val {
        self.program.constant_of(Scalar::of(0i32))
    }

    fn load(&mut self, operand: u16, component: u8, dtype: DType, point: u32) -> Val {
        let dims = &self.operands[operand as usize].axes;
        let index =
            dims.iter().map(|d| find(&self.points[point as usize].0, *d).unwrap_or_else(|| self.zero())).collect();
        self.program.load(operand, component, index, dtype)
    }

    /// The coordinate along the last axis of the operand that a guarded value was loaded from.
    fn innermost(&mut self, operand: u16, value: Val) -> Val {
        match self.program.inst(value) {
            crate::program::Inst::Load { operand: o, index, .. } if *o == operand && !index.is_empty() => {
                index[index.len() - 1]
            }
            _ => self.zero(),
        }
    }

    fn extent(&mut self, size: Size) -> Val {
        let Size::Operand(operand, dim) = size else { return self.zero() };
        let axes = &self.operands[operand as usize].shape;
        match axes.iter().position(|(d, _)| *d == dim) {
            Some(axis) => match axes[axis].1 {
                Some(n) => self.program.constant_of(Scalar::of(n as i32)),
                None => self.program.extent(operand, axis as u8),
            },
            None => self.zero(),
        }
    }
}

fn both<A, B>(a: Option<A>, b: Option<B>) -> Option<(A, B)> {
    Some((a?, b?))
}
