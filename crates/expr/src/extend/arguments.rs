//! What scalar functions take: the types of their arguments, and what stands for these in an expression.

use crate::dtype::{DType, Value};
use crate::eval::Lane;
use crate::graph::{Graph, NodeId};
use crate::typed;
pub(super) use sealed::Sealed as Types;
use sealed::Sealed;
use tilewright_dims::{Merge, Set, Union};

/// What a [`ScalarFunction`](super::ScalarFunction) takes: a scalar, or a tuple of two to six.
pub trait Arguments: Sealed + Copy {}

/// What stands for the arguments `A`: an expression, or a tuple of expressions and literals.
#[diagnostic::on_unimplemented(
    message = "these are no arguments of `{A}`",
    label = "expected an expression of `{A}`, or a tuple of expressions and literals",
    note = "convert an expression with `.to::<..>()`"
)]
pub trait Operands<A> {
    /// Their dimensions.
    type Set: Set;
    /// Their nodes in the trace.
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId>;
}

impl<A, P: typed::Arg<A>> Operands<(A,)> for (P,) {
    type Set = P::Set;
    fn nodes(self, graph: &mut Graph) -> Vec<NodeId> {
        vec![self.0.node(graph)]
    }
}

mod sealed {
    use super::DType;

    /// Arguments that stand in blocks.
    pub trait Sealed {
        /// Their types.
        const DTYPES: &'static [DType];
        /// A block of values of each.
        type Blocks<'a>: Copy;
        /// The first `n` values of each block.
        fn blocks<'a>(blocks: &[&'a [u64]], n: usize) -> Self::Blocks<'a>;
        /// The arguments of point `i`.
        fn at(blocks: Self::Blocks<'_>, i: usize) -> Self;
    }
}

/// The dimensions of several, the first two of which come last.
macro_rules! union {
    ($P:ident) => { $P::Set };
    ($P:ident $($rest:ident)+) => { Union<union!($($rest)+), $P::Set> };
}

/// Names of an argument and of its operand with their place, the last one first.
macro_rules! arguments {
    ($($A:ident $P:ident $i:tt),*) => {
        impl<$($A: Lane),*> Sealed for ($($A,)*) {
            const DTYPES: &'static [DType] = &[$(<$A as Value>::DTYPE),*];
            type Blocks<'a> = ($(&'a [$A::Rep],)*);
            #[inline(always)]
            fn blocks<'a>(blocks: &[&'a [u64]], n: usize) -> Self::Blocks<'a> {
                ($(&bytemuck::cast_slice(blocks[$i])[..n],)*)
            }
            #[inline(always)]
            fn at(blocks: Self::Blocks<'_>, i: usize) -> Self {
                ($($A::val(blocks.$i[i]),)*)
            }
        }
        impl<$($A: Lane),*> Arguments for ($($A,)*) {}
    };
    (@operands $($A:ident $P:ident $i:tt),*; $($whole:ident)+; $($bounds:tt)*) => {
        impl<$($A),*, $($P: typed::Arg<$A>),*> Operands<($($A,)*)> for ($($P,)*)
        where
            $($bounds)*
        {
            type Set = union!($($whole)+);
            fn nodes(self, graph: &mut Graph) -> Vec<NodeId> {
                vec![$(self.$i.node(graph)),*]
            }
        }
    };
}
arguments!(A P 0);
arguments!(A P 0, B Q 1);
arguments!(A P 0, B Q 1, C R 2);
arguments!(A P 0, B Q 1, C R 2, D U 3);
arguments!(A P 0, B Q 1, C R 2, D U 3, E V 4);
arguments!(A P 0, B Q 1, C R 2, D U 3, E V 4, F W 5);
arguments!(@operands A P 0, B Q 1; Q P; union!(P): Merge<Q::Set>);
arguments!(@operands A P 0, B Q 1, C R 2; R Q P; union!(P): Merge<Q::Set>, union!(Q P): Merge<R::Set>);
arguments!(@operands A P 0, B Q 1, C R 2, D U 3; U R Q P;
    union!(P): Merge<Q::Set>, union!(Q P): Merge<R::Set>, union!(R Q P): Merge<U::Set>);
arguments!(@operands A P 0, B Q 1, C R 2, D U 3, E V 4; V U R Q P;
    union!(P): Merge<Q::Set>, union!(Q P): Merge<R::Set>, union!(R Q P): Merge<U::Set>, union!(U R Q P): Merge<V::Set>);
arguments!(@operands A P 0, B Q 1, C R 2, D U 3, E V 4, F W 5; W V U R Q P;
    union!(P): Merge<Q::Set>, union!(Q P): Merge<R::Set>, union!(R Q P): Merge<U::Set>, union!(U R Q P): Merge<V::Set>,
    union!(V U R Q P): Merge<W::Set>);
