//! Scans at a point: shared by the threads of a row, or reductions of as many values as the coordinate says.

use super::{Lower, Task, find};
use crate::dtype::Scalar;
use crate::graph::{Binary, DimId, NodeId};
use crate::program::Val;
use crate::reduce::Reduction;
use crate::scan::is_shared;

impl Lower<'_> {
    pub(super) fn scan(
        &mut self,
        (node, point): Task,
        (reduction, source): (Reduction, NodeId),
        dim: DimId,
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        if let Some(lane) = self.lane_of(node, point) {
            return self.share_scan((reduction, source), (point, lane), stack);
        }
        let coord = find(&self.points[point as usize].0, dim).unwrap_or_else(|| self.zero());
        let one = self.program.constant_of(Scalar::of(1i32));
        let extent = self.program.binary(Binary::Add, coord, one);
        self.steps((node, point), (reduction, source, None), (dim, extent), stack)
    }

    /// Which of the thread's points of a row it is that threads share a scan at.
    fn lane_of(&self, node: NodeId, point: u32) -> Option<usize> {
        let (own, moved) = &self.points[point as usize];
        let lanes = self.shared.as_ref().filter(|s| !moved && is_shared(self.graph, node, &s.set))?;
        lanes.points.iter().position(|lane| lane.iter().all(|(d, v)| find(own, *d) == Some(*v)))
    }

    /// A shared scan takes a value at each of the thread's points of the row.
    fn share_scan(
        &mut self,
        (reduction, source): (Reduction, NodeId),
        (point, lane): (u32, usize),
        stack: &mut Vec<Task>,
    ) -> Option<Val> {
        let lanes = self.shared.as_ref()?;
        let (points, along) = (lanes.points.clone(), lanes.along);
        let mut tasks: Vec<Task> = Vec::with_capacity(points.len());
        for other in &points {
            let mut at = self.points[point as usize].0.clone();
            for (d, v) in &mut at {
                *v = find(other, *d).unwrap_or(*v);
            }
            tasks.push((source, self.project(source, &at, false)));
        }
        let missing: Vec<Task> = tasks.iter().rev().filter(|t| !self.memo.contains_key(t)).copied().collect();
        if !missing.is_empty() {
            stack.extend(missing);
            return None;
        }
        let terms = tasks.iter().map(|t| self.memo[t]).collect();
        Some(self.program.scan(reduction, terms, lane as u16, along))
    }
}
