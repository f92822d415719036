//! Iterations: the same step again and again, as a loop in the kernel and not as so many statements.

use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, Op};
use std::collections::HashSet;

impl Graph {
    /// What the steps of an iteration of `times` steps start from.
    ///
    /// A step may read whatever has the dimensions of `start`; the value that it gets it may not read at other coordinates.
    pub fn carry(&mut self, start: NodeId, times: u32) -> NodeId {
        let dtype = self.node(start).dtype;
        self.push(Op::Carry { start, number: self.traced(), times }, dtype)
    }

    /// The value of `carry` after its steps, each of which makes `next` of it.
    pub fn iterated(&mut self, start: NodeId, carry: NodeId, next: NodeId) -> NodeId {
        let lacks = |dim: &DimId| self.node(start).shape.iter().all(|(s, _)| s != dim);
        if let Some((dim, _)) = self.node(next).shape.iter().find(|(d, _)| lacks(d)) {
            let dim = self.dim_name(*dim);
            self.fail(Error::Step { dim });
            return start;
        }
        if self.elsewhere(next, carry) {
            self.fail(Error::Carried);
            return start;
        }
        match self.node(carry).op {
            Op::Carry { times: 0, .. } => start,
            _ => {
                let dtype = self.node(next).dtype;
                self.push(Op::Iterate { carry, next }, dtype)
            }
        }
    }

    /// Whether `node` reads `carry` through a read at other coordinates, a reduction or a scan.
    pub(crate) fn elsewhere(&self, node: NodeId, carry: NodeId) -> bool {
        let mut seen: HashSet<(NodeId, bool)> = HashSet::new();
        let mut stack = vec![(node, false)];
        while let Some((at, moved)) = stack.pop() {
            if at == carry && moved {
                return true;
            }
            // What is older than the carried value cannot read it.
            if at <= carry || !seen.insert((at, moved)) {
                continue;
            }
            match &self.node(at).op {
                Op::At { source, coords, .. } => {
                    stack.push((*source, true));
                    stack.extend(coords.iter().map(|(_, c)| (*c, moved)));
                }
                op @ (Op::Reduce { .. } | Op::Scan { .. }) => op.for_each_arg(|a| stack.push((a, true))),
                op => op.for_each_arg(|a| stack.push((a, moved))),
            }
        }
        false
    }
}
