//! Functions in a graph: nodes that are known by a name, and calls of functions that are given as text.

use super::{Graph, NodeId, Op};
use crate::extend::Function;

impl Graph {
    /// Says that `result` is function `name` of `of`, so that an explanation takes the nodes between for one. Gives `result`.
    pub(crate) fn called(&mut self, name: &'static str, of: &[NodeId], result: NodeId) -> NodeId {
        if !of.contains(&result) && !self.is_followed() {
            self.functions.entry(result).or_insert((name, of.into()));
        }
        result
    }

    /// As [`Graph::called`] of a part that holds others: of two names for a result, this is the one that is shown.
    pub(crate) fn named(&mut self, name: &'static str, of: &[NodeId], result: NodeId) {
        if !of.contains(&result) && !self.is_followed() {
            self.functions.insert(result, (name, of.into()));
        }
    }

    /// The function that a node is the result of, and what that was given.
    pub(crate) fn made_by(&self, node: NodeId) -> Option<(&'static str, &[NodeId])> {
        self.functions.get(&node).map(|(name, of)| (*name, &of[..]))
    }

    /// A function that is given as text, of arguments of its types.
    pub(crate) fn call(&mut self, function: Function, args: &[NodeId]) -> NodeId {
        self.push(Op::Call(function, args.into()), function.result())
    }
}
