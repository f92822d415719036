//! The same step again and again.

use super::expr::Expr;
use crate::dtype::Value;
use tilewright_dims::Set;

impl<T: Value, S: Set> Expr<T, S> {
    /// `step` applied `times` times: a loop in the kernel, however often, where a loop around the expression would make as many
    /// statements. A step sees its own point of the value that it is given, and whatever else has the dimensions of `self`.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { X }
    /// let chain = trace(|x: In<f32, (X,)>| x.iterate(500, |x| x * 0.54 + 0.54).store::<(X,)>());
    /// # assert!(chain.graph.check().is_ok() && chain.graph.len() < 10);
    /// ```
    pub fn iterate(self, times: u32, step: impl FnOnce(Self) -> Self) -> Self {
        // The closure extends the trace itself, so the graph is not held open around it.
        let carry = self.then(|g, start| g.carry(start, times));
        let next = step(carry);
        self.then(
            |g, start| if next.trace == carry.trace { g.iterated(start, carry.node, next.node) } else { g.stale() },
        )
    }
}
