//! Eager expressions: tensors used directly, evaluated when asked.
//!
//! A convenience over [`fuse`](crate::fuse): the expression is recorded in a trace of the thread, and the same expression
//! evaluated again finds its kernel.

use crate::device::Device;
use crate::error::Error;
use crate::feed::{Operand, Results, Source, of_gpu, of_host};
use crate::fused::Core;
use crate::tensor::{Axes, GpuMemory, Item, Memory, Tensor};
use std::cell::RefCell;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Expr, IntoExpr, eager};

thread_local! {
    /// Tensors of the open eager trace, by operand number.
    static OPERANDS: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
    /// Expressions evaluated before.
    static KNOWN: RefCell<Vec<Arc<Core>>> = const { RefCell::new(Vec::new()) };
}

/// Most expressions that a thread keeps.
const KEPT: usize = 256;

/// A tensor of some type, kept until the evaluation.
struct Kept {
    memory: Held,
    axes: Axes,
    start: usize,
}

/// Its memory.
enum Held {
    Host(Arc<dyn Values>),
    Gpu(Arc<GpuMemory>, usize),
}

/// Elements of some type.
trait Values {
    fn source(&self, axes: &Axes, start: usize) -> Source<'_>;
}

impl<T: Item> Values for Vec<T> {
    fn source(&self, axes: &Axes, start: usize) -> Source<'_> {
        of_host(self, axes, start)
    }
}

impl Kept {
    fn new<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> Kept {
        let (memory, axes, start) = tensor.parts();
        let memory = match memory.clone() {
            Memory::Host(values) => Held::Host(values),
            Memory::Gpu(memory) => Held::Gpu(memory, size_of::<T>()),
        };
        Kept { memory, axes: *axes, start }
    }

    fn operand(&self) -> Operand<'_> {
        let memory = match &self.memory {
            Held::Host(values) => values.source(&self.axes, self.start),
            Held::Gpu(memory, element) => of_gpu(memory, self.start * element),
        };
        Operand { axes: self.axes.as_slice(), memory }
    }
}

impl<T: Item, L: Dims> Tensor<T, L> {
    /// The tensor in an eager expression, which lives until the next [`Evaluate::eval`] on this thread.
    pub fn expr(&self) -> Expr<T, L::Set> {
        let (number, expr) = eager::input::<T, L::Set>();
        OPERANDS.with_borrow_mut(|operands| {
            operands.truncate(usize::from(number));
            operands.push(Kept::new(self));
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
        let core = eager::finish(&self, known);
        // Taken, because what frees a tensor may be anybody's code; put back for its room.
        let mut held = OPERANDS.take();
        let result = with_operands(&held, |operands| core.call::<Self>(operands, device));
        held.clear();
        OPERANDS.set(held);
        result
    }
}
impl<O: Results> Evaluate for O {}

/// Calls `f` with all operands, which few need no allocation for.
fn with_operands<R>(held: &[Kept], f: impl FnOnce(&[Operand<'_>]) -> R) -> R {
    match held {
        [a] => f(&[a.operand()]),
        [a, b] => f(&[a.operand(), b.operand()]),
        [a, b, c] => f(&[a.operand(), b.operand(), c.operand()]),
        [a, b, c, d] => f(&[a.operand(), b.operand(), c.operand(), d.operand()]),
        more => f(&more.iter().map(Kept::operand).collect::<Vec<_>>()),
    }
}

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
