//! Eager expressions: tensors used directly, evaluated when asked.
//!
//! A convenience over [`fuse`](crate::fuse): the expression is recorded in a trace of the thread, and the same expression
//! evaluated again finds its kernel.

use crate::device::Device;
use crate::error::Error;
use crate::feed::{Operand, Results, of_tensor};
use crate::fused::Core;
use crate::tensor::{Item, Tensor};
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Expr, IntoExpr, eager};

thread_local! {
    /// Tensors of the open eager trace, by operand number.
    static OPERANDS: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(Vec::new()) };
    /// Expressions evaluated before.
    static KNOWN: RefCell<Vec<Arc<Core>>> = const { RefCell::new(Vec::new()) };
}

/// Most expressions that a thread keeps.
const KEPT: usize = 256;

/// A tensor of some type, kept until the evaluation.
trait Held: Any {
    fn operand(&self) -> Operand<'_>;
}

struct Kept<T, L>(Tensor<T, L>);

impl<T: Item, L: Dims> Held for Kept<T, L> {
    fn operand(&self) -> Operand<'_> {
        of_tensor(&self.0)
    }
}

impl<T: Item, L: Dims> Tensor<T, L> {
    /// The tensor in an eager expression, which lives until the next [`Evaluate::eval`] on this thread.
    pub fn expr(&self) -> Expr<T, L::Set> {
        let (number, expr) = eager::input::<T, L::Set>();
        OPERANDS.with_borrow_mut(|operands| {
            operands.truncate(usize::from(number));
            operands.push(Box::new(Kept(self.clone())));
        });
        expr
    }
}

impl<T: Item, L: Dims> IntoExpr for &Tensor<T, L> {
    type Elem = T;
    type Set = L::Set;
    fn into_expr(self) -> Expr<T, L::Set> {
        self.expr()
    }
}

/// Evaluation of eager expressions.
pub trait Evaluate: Results {
    /// Computes the stored expression, or the tuple of them, as one kernel, where its tensors are.
    ///
    /// ```
    /// use tilewright_dims::dims;
    /// use tilewright_ops::{Evaluate, Tensor};
    /// dims! { Y, X }
    /// let x = Tensor::<f32, (Y, X)>::from_vec([1, 3], vec![1.0, 2.0, 3.0])?;
    /// let y = (x.expr() * 2.0 + &x).store::<(X, Y)>().eval()?;
    /// assert_eq!(y.to_vec()?, [3.0, 6.0, 9.0]);
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    fn eval(self) -> Result<Self::Tensors, Error>
    where
        Self: Sized,
    {
        self.eval_on(None)
    }

    /// As [`Evaluate::eval`]; `device` decides when no tensor does.
    fn eval_on(self, device: Option<&Device>) -> Result<Self::Tensors, Error>
    where
        Self: Sized,
    {
        let graph = eager::finish(&self);
        let held = OPERANDS.take();
        let core = known(graph);
        let operands: Vec<Operand<'_>> = held.iter().map(|h| h.operand()).collect();
        core.call::<Self>(&operands, device)
    }
}
impl<O: Results> Evaluate for O {}

/// The core of an equal graph, or a new one.
fn known(graph: Graph) -> Arc<Core> {
    KNOWN.with_borrow_mut(|known| {
        if let Some(core) = known.iter().find(|c| c.graph().same(&graph)) {
            return core.clone();
        }
        if known.len() == KEPT {
            known.remove(0);
        }
        let core = Arc::new(Core::new(graph, "an eager expression"));
        known.push(core.clone());
        core
    })
}
