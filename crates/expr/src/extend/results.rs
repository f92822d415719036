//! What scalar functions give: a scalar, or several.

use super::Function;
use crate::dtype::{DType, Value};
use crate::eval::each;
use crate::graph::{Graph, NodeId};
use crate::typed::{self, Expr};
pub(super) use sealed::Sealed as Types;
pub(super) use sealed::Points;
use sealed::Sealed;
use tilewright_dims::Set;

/// What a [`ScalarFunction`](super::ScalarFunction) gives: a scalar, or a tuple of two to four.
pub trait Results: Sealed {
    /// Expressions of them.
    type Exprs<S: Set>;
    /// The results of `function` of what `operands` adds to the trace.
    fn exprs<S: Set>(function: Function, operands: impl FnOnce(&mut Graph) -> Vec<NodeId>) -> Self::Exprs<S>;
}

mod sealed {
    use super::DType;

    /// What the results are at each point of a block.
    pub trait Points<R> {
        fn at(&self, i: usize) -> R;
    }

    /// Results that go into blocks.
    pub trait Sealed: Sized {
        /// Their types.
        const DTYPES: &'static [DType];
        /// Writes `n` values of result `number`.
        fn write(number: usize, out: &mut [u64], n: usize, points: &impl Points<Self>);
    }
}

impl<A: Value> Sealed for A {
    const DTYPES: &'static [DType] = &[A::DTYPE];
    #[inline(always)]
    fn write(_: usize, out: &mut [u64], n: usize, points: &impl Points<Self>) {
        each!(A, out, n, i => points.at(i));
    }
}

impl<A: Value> Results for A {
    type Exprs<S: Set> = Expr<A, S>;
    fn exprs<S: Set>(function: Function, operands: impl FnOnce(&mut Graph) -> Vec<NodeId>) -> Expr<A, S> {
        typed::grown(|g| {
            let nodes = operands(g);
            g.call(function, &nodes)
        })
    }
}

macro_rules! results {
    ($A:ident $first:tt $(, $B:ident $i:tt)+) => {
        impl<$A: Value, $($B: Value),+> Sealed for ($A, $($B),+) {
            const DTYPES: &'static [DType] = &[$A::DTYPE, $($B::DTYPE),+];
            #[inline(always)]
            fn write(number: usize, out: &mut [u64], n: usize, points: &impl Points<Self>) {
                match number {
                    $first => each!($A, out, n, i => points.at(i).$first),
                    $($i => each!($B, out, n, i => points.at(i).$i),)+
                    _ => {}
                }
            }
        }
        impl<$A: Value, $($B: Value),+> Results for ($A, $($B),+) {
            type Exprs<S: Set> = (Expr<$A, S>, $(Expr<$B, S>),+);
            fn exprs<S: Set>(
                function: Function,
                operands: impl FnOnce(&mut Graph) -> Vec<NodeId>,
            ) -> (Expr<$A, S>, $(Expr<$B, S>),+) {
                let mut nodes = Vec::new();
                let first: Expr<$A, S> = typed::grown(|g| {
                    nodes = operands(g);
                    g.call(function, &nodes)
                });
                (first, $(first.then(|g, _| g.call(function.giving($i), &nodes))),+)
            }
        }
    };
}
results!(A 0, B 1);
results!(A 0, B 1, C 2);
results!(A 0, B 1, C 2, D 3);
