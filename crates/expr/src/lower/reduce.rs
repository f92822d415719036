//! Reductions within a thread, and what threads that share one take.

use super::{Lower, Task, Windows};
use crate::collective::{chain, is_shared};
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, DimId, NodeId, Op, Size};
use crate::program::{Along, Val};
use crate::reduce::Reduction;

/// Most values of a reduction that are written one by one.
const UNROLLED: i64 = 16;
/// Steps of a window that are taken at once.
const STRIDE: usize = 4;
/// What tells the two loops of a window apart from others of as many steps.
const TURNS: u32 = u32::MAX;
const LEFT: u32 = u32::MAX - 1;

impl Lower<'_> {
    /// One value after the other: as many statements where the number is known and small, else a loop.
    pub(super) fn reduce(
        &mut self,
        (node, point): Task,
        (reduction, source): (Reduction, NodeId),
        (dim, size): (DimId, Size),
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        if self.shares(node, point) {
            return self.share(node, point, stack);
        }
        let extent = match size {
            Size::Node(n) => self.arg(n, point, stack)?,
            Size::Const(n) => self.program.constant_of(Scalar::of(n as i32)),
            _ => self.extent(size),
        };
        let (value, times) = self.graph.terms(reduction, source);
        self.steps((node, point), (reduction, value, times), (dim, extent), stack)
    }

    /// A reduction of `extent` values, or products of two, within the thread.
    pub(super) fn steps(
        &mut self,
        (node, point): Task,
        (reduction, value, times): (Reduction, NodeId, Option<NodeId>),
        (dim, extent): (DimId, Val),
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        let known = self.program.constant(extent).map(|s| i64::from(s.get::<i32>().max(0)));
        let dtype = self.graph.node(node).dtype;
        if let Some(n) = known.filter(|n| *n <= UNROLLED) {
            return self.unrolled((reduction, n, dtype), (value, times), point, dim, stack);
        }
        let (mut outer, mut depth) = (0, self.program.depth(extent));
        let graph = self.graph;
        let seen = |n: NodeId, d: DimId| graph.node(n).shape.binary_search_by_key(&d, |(s, _)| *s).is_ok();
        for (d, v) in &self.points[point as usize].0 {
            if *d != dim && (seen(value, *d) || times.is_some_and(|t| seen(t, *d))) {
                outer |= self.program.varies(*v);
                depth = depth.max(self.program.depth(*v));
            }
        }
        let nest = (outer, depth + graph.node(node).depth);
        let plain = |n: NodeId| graph.node(n).depth == 0;
        let window = matches!(graph.node(node).op, Op::Reduce { size: Size::Node(_), .. });
        if self.windows == Windows::Strided && window && plain(value) && times.is_none_or(plain) {
            return self.strided((node, point), (reduction, value, times), (dim, extent), nest, stack);
        }
        let Some(within) = self.program.loop_of(extent, nest.0, nest.1, 0) else {
            return Some(self.too_many_loops(reduction, dtype));
        };
        let step = self.program.step(within);
        let (value, times) = self.terms_at((value, times), point, (dim, step), stack)?;
        Some(self.program.reduce(within, reduction, value, times))
    }

    /// A window [`STRIDE`] steps at a time, and what is left of it one by one: the same values in the same order.
    fn strided(
        &mut self,
        (node, point): Task,
        (reduction, value, times): (Reduction, NodeId, Option<NodeId>),
        (dim, extent): (DimId, Val),
        (outer, depth): (Along, u16),
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        let dtype = self.graph.node(node).dtype;
        let mut whole = |n: i32| self.program.constant_of(Scalar::of(n));
        let (zero, log) = (whole(0), whole(STRIDE.ilog2() as i32));
        let extent = self.program.binary(Binary::Max, extent, zero);
        let turns = self.program.binary(Binary::Shr, extent, log);
        let done = self.program.binary(Binary::Shl, turns, log);
        let left = self.program.binary(Binary::Sub, extent, done);
        let loops = (self.program.loop_of(turns, outer, depth, TURNS), self.program.loop_of(left, outer, depth, LEFT));
        let (Some(many), Some(one)) = loops else { return Some(self.too_many_loops(reduction, dtype)) };

        let number = u64::from(node.0) << 32 | u64::from(point) | 1 << 63;
        let step = self.program.step(many);
        let first = self.program.binary(Binary::Shl, step, log);
        let mut steps = Vec::with_capacity(STRIDE);
        for k in 0..STRIDE as i32 {
            let k = self.program.constant_of(Scalar::of(k));
            steps.push(self.program.binary(Binary::Add, first, k));
        }
        let last = self.program.step(one);
        steps.push(self.program.binary(Binary::Add, done, last));
        // Backwards, so that what is missing comes off the stack in order.
        let terms: Vec<_> =
            steps.iter().rev().map(|at| self.terms_at((value, times), point, (dim, *at), stack)).collect();
        let mut terms = terms.into_iter().rev().collect::<Option<Vec<_>>>()?;
        let (value, times) = terms.pop()?;

        let start = self.program.constant_of(reduction.identity(dtype));
        let carry = self.program.carry(many, start, number);
        let next = terms.into_iter().fold(carry, |sum, (v, t)| self.program.accumulate(reduction, sum, v, t));
        let sum = self.program.iterate(carry, next);
        let carry = self.program.carry(one, sum, number);
        let next = self.program.accumulate(reduction, carry, value, times);
        Some(self.program.iterate(carry, next))
    }

    fn too_many_loops(&mut self, reduction: Reduction, dtype: DType) -> Val {
        self.crowded = true;
        self.program.constant_of(reduction.identity(dtype))
    }

    /// Whether threads share a reduction at this point.
    pub(super) fn shares(&self, node: NodeId, point: u32) -> bool {
        !self.points[point as usize].1 && self.shared.as_ref().is_some_and(|s| is_shared(self.graph, node, &s.set))
    }

    /// A shared reduction takes a value, or a product, at each of the thread's points of the row.
    fn share(&mut self, node: NodeId, point: u32, stack: &mut Vec<Task>) -> Option<Val> {
        let (chain, lanes) = (chain(self.graph, node)?, self.shared.as_ref()?);
        let (points, along) = (lanes.points.clone(), lanes.along);
        let (value, times) = self.graph.terms(chain.reduction, chain.source);
        let mut tasks: Vec<(Task, Option<Task>)> = Vec::with_capacity(points.len());
        for lane in &points {
            let mut at = self.points[point as usize].0.clone();
            at.extend(lane);
            at.sort_unstable_by_key(|(d, _)| *d);
            let first = (value, self.project(value, &at, false));
            let second = times.map(|t| (t, self.project(t, &at, false)));
            tasks.push((first, second));
        }
        let all = tasks.iter().rev().flat_map(|(a, b)| [*b, Some(*a)]).flatten();
        let missing: Vec<Task> = all.filter(|t| !self.memo.contains_key(t)).collect();
        if !missing.is_empty() {
            stack.extend(missing);
            return None;
        }
        let terms = tasks.iter().map(|(a, b)| (self.memo[a], b.map(|b| self.memo[&b]))).collect();
        Some(self.program.share(chain.reduction, terms, along))
    }

    fn unrolled(
        &mut self,
        (reduction, n, dtype): (Reduction, i64, DType),
        terms: (NodeId, Option<NodeId>),
        point: u32,
        dim: DimId,
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        let steps: Vec<Val> = (0..n).map(|i| self.program.constant_of(Scalar::of(i as i32))).collect();
        // Backwards, so that what is missing comes off the stack in order.
        let values: Vec<_> = steps.iter().rev().map(|step| self.terms_at(terms, point, (dim, *step), stack)).collect();
        let values = values.into_iter().rev().collect::<Option<Vec<_>>>()?;
        let start = self.program.constant_of(reduction.identity(dtype));
        Some(
            values.into_iter().fold(start, |sum, (value, times)| self.program.accumulate(reduction, sum, value, times)),
        )
    }

    /// The values that one step of a reduction takes, or `None` after putting what is missing on the stack.
    fn terms_at(
        &mut self,
        (value, times): (NodeId, Option<NodeId>),
        point: u32,
        along: (DimId, Val),
        stack: &mut Vec<Task>,
    ) -> Option<(Val, Option<Val>)> {
        let first = self.moved(value, point, along, stack);
        match times {
            None => Some((first?, None)),
            Some(times) => {
                let second = self.moved(times, point, along, stack);
                Some((first?, Some(second?)))
            }
        }
    }

    /// The value of `source` at a point with another coordinate along one dimension, or `None` after putting it on the stack.
    fn moved(&mut self, source: NodeId, point: u32, (dim, coord): (DimId, Val), stack: &mut Vec<Task>) -> Option<Val> {
        let mut moved = self.points[point as usize].0.clone();
        match moved.binary_search_by_key(&dim, |(d, _)| *d) {
            Ok(i) => moved[i].1 = coord,
            Err(i) => moved.insert(i, (dim, coord)),
        }
        let task = (source, self.project(source, &moved, true));
        let known = self.memo.get(&task).copied();
        if known.is_none() {
            stack.push(task);
        }
        known
    }
}
