//! Reductions: dimensions that an expression loses, because all values along them become one.

use super::expr::Expr;
use super::literal::{Float, Number, Pixel, Sampled};
use super::marks::{Condition, Reducible};
use super::trace::with;
use crate::dtype::{Element, Value};
use crate::graph::{Binary, Graph, NodeId, Op, Unary};
use crate::reduce::Reduction;
use half::{bf16, f16};
use tilewright_dims::{Dim, First, Merge, Minus, Over, Set, Union};

/// What is left of the dimensions `S` without those of `L`.
pub type Reduced<S, L> = <S as Minus<<L as Over>::Set>>::Out;

/// The type that values of a type are summed in: `u64` and `i64` for integers, so that no sum of fewer than 2^32 values of
/// 32 bits overflows; `f32` for halves, the type itself for `f32` and `f64`.
pub trait Summed: Number {
    /// That type.
    type Sum: Number;
}
macro_rules! summed {
    ($($t:ty => $sum:ty),*) => { $(impl Summed for $t { type Sum = $sum; })* };
}
summed!(u8 => u64, u16 => u64, u32 => u64, u64 => u64, i8 => i64, i16 => i64, i32 => i64, i64 => i64, f16 => f32, bf16 => f32, f32 => f32, f64 => f64);

fn name<L: Over>(graph: &mut Graph) {
    L::IDS.iter().zip(L::NAMES).for_each(|(id, name)| graph.name_dim(*id, name));
}

impl<T, S: Set> Expr<T, S> {
    fn reduced<U, L: Over>(self, f: impl FnOnce(&mut Graph, NodeId, &[u64]) -> NodeId) -> Expr<U, Reduced<S, L>>
    where
        S: Minus<L::Set>,
    {
        self.then(|g, a| {
            name::<L>(g);
            f(g, a, L::IDS)
        })
    }
}

/// Methods that lose the dimensions `L`, which the expression must have.
macro_rules! reductions {
    ($($(#[$meta:meta])* $name:ident: $Bound:ident -> $Out:ty = $f:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name<L: Over>(self) -> Expr<$Out, Reduced<S, L>>
        where
            T: $Bound,
            S: Minus<L::Set>,
            L::Set: Minus<S, Out: First<Out: Reducible>>,
        {
            let f: fn(&mut Graph, NodeId, &[u64]) -> NodeId = $f;
            self.reduced::<_, L>(f)
        }
    )* };
}

/// Methods that give a value for every value along `L`, computed from all of them.
macro_rules! normalisations {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $Arg:ty)?) = $f:expr;)*) => { $(
        $(#[$meta])*
        pub fn $name<L: Over>(self $(, $arg: $Arg)?) -> Self
        where
            T: Float,
            S: Minus<L::Set> + Merge<Reduced<S, L>, Out = S>,
            L::Set: Minus<S, Out: First<Out: Reducible>>,
        {
            let f: fn(&mut Graph, NodeId, &[u64] $(, $Arg)?) -> NodeId = $f;
            self.then(|g, a| {
                name::<L>(g);
                g.widened(a, |g, a| f(g, a, L::IDS $(, $arg)?))
            })
        }
    )* };
}

/// Bounds on the element type stand at each method, so that a mistake meets their messages.
impl<T, S: Set> Expr<T, S> {
    reductions! {
        /// The sum along the dimensions `L`: one (`sum::<X>()`) or several (`sum::<(Y, X)>()`). Products that are summed are not
        /// rounded before. An empty sum is 0; integers wrap.
        ///
        /// The order of additions is part of the plan and the same on every machine; it depends on the sizes and on which
        /// dimension memory is contiguous along, never on the device.
        ///
        /// ```
        /// # use tilewright_dims::dims;
        /// # use tilewright_expr::{In, trace};
        /// # dims! { M, N, K }
        /// // A matrix product: a factor lacks a dimension of the result, and both have the one that is summed.
        /// let matmul = trace(|a: In<f32, (M, K)>, b: In<f32, (K, N)>| (a * b).sum::<K>().store::<(M, N)>());
        /// # assert!(matmul.graph.check().is_ok());
        /// ```
        sum: Summed -> T::Sum = |g, a, along| {
            let wide = g.cast(a, <T::Sum as Value>::DTYPE);
            g.reduce_all(Reduction::Sum, wide, along)
        };
        /// The product along `L`; 1 of nothing. Integers wrap.
        product: Summed -> T::Sum = |g, a, along| {
            let wide = g.cast(a, <T::Sum as Value>::DTYPE);
            g.reduce_all(Reduction::Product, wide, along)
        };
        /// The smallest value along `L`, which must not be empty; NaN if one is, and `-0 < +0`.
        minimum: Number -> T = |g, a, along| g.reduce_all(Reduction::Min, a, along);
        /// The largest value along `L`, which must not be empty; NaN if one is, and `-0 < +0`.
        maximum: Number -> T = |g, a, along| g.reduce_all(Reduction::Max, a, along);
        /// Whether it holds everywhere along `L`; true of nothing.
        all: Condition -> bool = |g, a, along| g.reduce_all(Reduction::Product, a, along);
        /// Whether it holds anywhere along `L`; false of nothing.
        any: Condition -> bool = |g, a, along| g.reduce_all(Reduction::Sum, a, along);
        /// The mean along `L`, in the type that pixels of `T` are interpolated in: the sum over the number of values.
        mean: Sampled -> <T as Pixel>::Real = |g, a, along| {
            let real = g.cast(a, <<T as Pixel>::Real as Value>::DTYPE);
            g.mean(real, along)
        };
        /// The mean squared distance from the mean along `L`, by two passes over the values.
        variance: Sampled -> <T as Pixel>::Real = |g, a, along| {
            let real = g.cast(a, <<T as Pixel>::Real as Value>::DTYPE);
            g.variance(real, along)
        };
        /// The square root of [`Expr::variance`].
        standard_deviation: Sampled -> <T as Pixel>::Real = |g, a, along| {
            let real = g.cast(a, <<T as Pixel>::Real as Value>::DTYPE);
            let variance = g.variance(real, along);
            g.unary(Unary::Sqrt, variance)
        };
        /// The sum of absolute values along `L`.
        norm_l1: Float -> T = |g, a, along| {
            g.widened(a, |g, a| {
                let size = g.unary(Unary::Abs, a);
                g.reduce_all(Reduction::Sum, size, along)
            })
        };
        /// The square root of the sum of squares along `L`.
        norm_l2: Float -> T = |g, a, along| {
            g.widened(a, |g, a| {
                let square = g.rounded(Binary::Mul, a, a);
                let sum = g.reduce_all(Reduction::Sum, square, along);
                g.unary(Unary::Sqrt, sum)
            })
        };
        /// The largest absolute value along `L`.
        norm_max: Float -> T = |g, a, along| {
            let size = g.unary(Unary::Abs, a);
            g.reduce_all(Reduction::Max, size, along)
        };
    }

    /// The index along `D` of the smallest value, the first of equal ones; a NaN counts as smaller than everything.
    pub fn argmin<D: Dim>(self) -> Expr<i64, Reduced<S, D>>
    where
        T: Number,
        S: Minus<(D, ())>,
        (D, ()): Minus<S, Out: First<Out: Reducible>>,
    {
        self.reduced::<_, D>(|g, a, _| g.arg(Reduction::Min, a, D::ID))
    }

    /// The index along `D` of the largest value, the first of equal ones; a NaN counts as larger than everything.
    pub fn argmax<D: Dim>(self) -> Expr<i64, Reduced<S, D>>
    where
        T: Number,
        S: Minus<(D, ())>,
        (D, ()): Minus<S, Out: First<Out: Reducible>>,
    {
        self.reduced::<_, D>(|g, a, _| g.arg(Reduction::Max, a, D::ID))
    }

    normalisations! {
        /// `exp(x - max)` times the reciprocal of its sum along `L`: values from 0 to 1 with the sum 1. What is so far below the
        /// largest that its power is below 0.7 of the smallest normal number (87.7 in f32) becomes 0.
        softmax() = |g, a, along| {
            let power = g.exp_from_largest(a, along);
            let sum = g.reduce_all(Reduction::Sum, power, along);
            g.over(power, sum)
        };
        /// `x - mean` times the reciprocal of `sqrt(variance + epsilon)` along `L`: mean 0, variance 1.
        layer_norm(epsilon: T) = |g, a, along, epsilon| {
            let away = g.away_from_mean(a, along);
            g.over_root_mean_square(away, along, epsilon)
        };
        /// `x` times the reciprocal of `sqrt(mean(x * x) + epsilon)` along `L`.
        rms_norm(epsilon: T) = |g, a, along, epsilon| g.over_root_mean_square(a, along, epsilon);
    }
}

impl<T: Number + Element, S: Set> Expr<T, S> {
    /// The sum of the values at indices `0..count` along `D`, `count` being computed for each point; 0 where it is below 1.
    /// What is summed usually reads another operand at an index made from `D`.
    pub fn sum_to<D: Dim, C: super::IntoExpr<Elem = i32>>(self, count: C) -> Expr<T, Union<Reduced<S, D>, C::Set>>
    where
        S: Minus<(D, ()), Out: Merge<C::Set>>,
        (D, ()): Minus<S, Out: First<Out: Reducible>>,
    {
        let count = count.into_expr();
        let node = with(self.trace, |g| {
            g.name_dim(D::ID, D::NAME);
            let count = super::Arg::<i32>::node(count, g);
            g.reduce_to(Reduction::Sum, self.node, D::ID, crate::graph::Size::Node(count))
        });
        Expr::new(node, self.trace)
    }
}

impl Graph {
    fn mean(&mut self, value: NodeId, dims: &[u64]) -> NodeId {
        let dtype = self.node(value).dtype;
        let (sum, count) = (self.reduce_all(Reduction::Sum, value, dims), self.count(value, dims, dtype));
        self.rounded(Binary::Div, sum, count)
    }

    fn away_from_mean(&mut self, value: NodeId, dims: &[u64]) -> NodeId {
        let mean = self.mean(value, dims);
        self.rounded(Binary::Sub, value, mean)
    }

    fn variance(&mut self, value: NodeId, dims: &[u64]) -> NodeId {
        let away = self.away_from_mean(value, dims);
        let square = self.rounded(Binary::Mul, away, away);
        self.mean(square, dims)
    }

    fn over_root_mean_square<T: Value>(&mut self, value: NodeId, dims: &[u64], epsilon: T) -> NodeId {
        let square = self.rounded(Binary::Mul, value, value);
        let mean = self.mean(square, dims);
        let epsilon = self.constant(crate::dtype::Scalar::of(epsilon));
        let epsilon = self.cast(epsilon, self.node(mean).dtype);
        let sum = self.rounded(Binary::Add, mean, epsilon);
        let root = self.unary(Unary::Sqrt, sum);
        self.over(value, root)
    }

    /// `value` times the reciprocal of what all values of a row share: one division a row.
    fn over(&mut self, value: NodeId, shared: NodeId) -> NodeId {
        let one = crate::fold::cast(crate::dtype::Scalar::of(1.0), self.node(shared).dtype);
        let one = self.constant(one);
        let inverse = self.rounded(Binary::Div, one, shared);
        self.rounded(Binary::Mul, value, inverse)
    }

    fn exp_from_largest(&mut self, value: NodeId, dims: &[u64]) -> NodeId {
        let largest = self.reduce_all(Reduction::Max, value, dims);
        let below = self.rounded(Binary::Sub, value, largest);
        let power = self.exp_of_negative(below);
        // One value to keep, and not the two factors that a sum would take: a power of two rounds nothing but what vanishes.
        let whole = self.push(Op::Bits(power), self.node(power).dtype);
        self.called("exp_of_negative", &[below], whole)
    }
}
