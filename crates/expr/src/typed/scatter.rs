//! Values that go to computed places of a result, and stores under a condition.

use super::expr::{Arg, Expr, Per, Union3};
use super::gather::whole;
use super::marks::{AllStored, Fresh, NoExtra, Scatterable};
use super::reductions::Reduced;
use super::trace::{Out, TraceId, with};
use crate::dtype::{Element, Scalar, Value};
use crate::graph::{DimId, Graph, NodeId};
use crate::scatter::{Collision, Initial, Scattering};
use half::{bf16, f16};
use std::marker::PhantomData;
use tilewright_dims::{Dim, Dims, First, Merge, Minus, Over, Set, Union, Without};

/// What values of `T` that meet in one place of a result become. A type for each [`Collision`], so that a combination whose bits
/// would depend on the order is a compile error.
#[diagnostic::on_unimplemented(
    message = "values of `{T}` that meet in a scatter cannot be combined by `{Self}`",
    label = "not a way for values of `{T}` to meet",
    note = "`Sum` takes integers: a sum of floats depends on the order in which they meet; scale them to `i64` first, or reduce with `.sum`",
    note = "`Min` and `Max` take numbers, `And`, `Or` and `Xor` integers and `bool`, `Unique` every scalar"
)]
pub trait Meet<T> {
    /// Its value.
    const COLLISION: Collision;
}

/// Ways in which values meet, as types.
pub mod meet {
    /// Their sum; integers wrap.
    #[derive(Clone, Copy, Debug)]
    pub struct Sum;
    /// The smallest; NaN if one is, and `-0 < +0`.
    #[derive(Clone, Copy, Debug)]
    pub struct Min;
    /// The largest; NaN if one is, and `-0 < +0`.
    #[derive(Clone, Copy, Debug)]
    pub struct Max;
    /// The bits that all have.
    #[derive(Clone, Copy, Debug)]
    pub struct And;
    /// The bits that any has.
    #[derive(Clone, Copy, Debug)]
    pub struct Or;
    /// The bits that an odd number of them has.
    #[derive(Clone, Copy, Debug)]
    pub struct Xor;
    /// No two meet; each replaces what its place held.
    #[derive(Clone, Copy, Debug)]
    pub struct Unique;
}

macro_rules! meets {
    ($($name:ident: $($t:ty)*;)*) => { $($(impl Meet<$t> for meet::$name {
        const COLLISION: Collision = Collision::$name;
    })*)* };
}
meets! {
    Sum: u8 i8 u16 i16 u32 i32 u64 i64;
    Min: u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64;
    Max: u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64;
    And: bool u8 i8 u16 i16 u32 i32 u64 i64;
    Or: bool u8 i8 u16 i16 u32 i32 u64 i64;
    Xor: bool u8 i8 u16 i16 u32 i32 u64 i64;
    Unique: bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64;
}

/// Values of `T` on their way to a result over the dimensions `S`; [`Scattered::store`] says under which layout.
#[must_use = "a scatter does nothing until it is stored"]
#[derive(Debug)]
pub struct Scattered<T, S> {
    pub(super) scattering: Scattering,
    trace: TraceId,
    _types: PhantomData<(T, S, *const ())>,
}

/// The dimensions of values over `S` at places over `C`, scattered along those of `L` to `D`.
pub type ScatteredTo<S, C, L, D> = Union<Reduced<Union<S, C>, L>, Per<D>>;

/// Values of `T` over `S` at points over `A` and `B` of a plane of `Y` and `X`, scattered along the dimensions of `L`.
pub type ScatteredPoints<T, S, A, B, L, Y, X> = Scattered<T, Union<Union<Reduced<Union3<S, A, B>, L>, Per<Y>>, Per<X>>>;

impl<T: Value, S> Scattered<T, S> {
    fn new<M: Meet<T>>(
        value: Expr<T, impl Set>,
        initial: Initial<T>,
        places: impl FnOnce(&mut Graph) -> Vec<(DimId, NodeId, i64)>,
    ) -> Self {
        let mut found = Vec::new();
        let value_node = with(value.trace, |g| {
            found = places(g);
            value.node
        });
        let scattering =
            Scattering { value: value_node, places: found, collision: M::COLLISION, initial: initial.map(Scalar::of) };
        Scattered { scattering, trace: value.trace, _types: PhantomData }
    }

    /// Ends the expression: its result under the layout `L`, a tuple of its dimensions, outermost first.
    pub fn store<L: Dims>(self) -> Out<T, L>
    where
        T: Element,
        S: Minus<L::Set, Out: First<Out: AllStored>>,
        L::Set: Minus<S, Out: First<Out: NoExtra>>,
    {
        Out::scattered(self.scattering, self.trace)
    }
}

fn name<L: Over, D: Dim>(graph: &mut Graph) {
    graph.name_dim(D::ID, D::NAME);
    L::IDS.iter().zip(L::NAMES).for_each(|(id, name)| graph.name_dim(*id, name));
}

impl<T: Value, S: Set> Expr<T, S> {
    /// Stores each value at index `coord` of the result's dimension `D`, which is `n` long: the mirror of [`Expr::at`].
    ///
    /// `coord` is an `i32` expression; values and coordinates lose the dimensions `L`, along which values may meet in one place,
    /// and keep their others: a result for each point of those. A coordinate outside of `0..n` drops its value.
    /// Values that meet become one by `M`, a type of [`meet`], and so do they and what the place held before: `initial`. Whatever
    /// the order in which they come, the bits are the same.
    ///
    /// On a GPU this is a launch of its own that gives places their initial value (none for [`Initial::Held`] and a tensor that is
    /// there), and one that scatters: with places of their own in each block's shared memory where they are few, else with atomic
    /// operations on the result.
    ///
    /// # Errors
    /// `n` is from 1 to `i32::MAX`. On the host, two values of a [`meet::Unique`] scatter in one place are an error; a GPU keeps
    /// either.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, Initial, meet, trace};
    /// dims! { N, Points, Cell, Y, X }
    /// // The weights of a cloud's points, summed in cells; and the highest point of each cell.
    /// let _ = trace(|weight: In<i32, (Points,)>, height: In<f32, (Points,)>, cell: In<i32, (Points,)>| {
    ///     let sums = weight.scatter::<Points, Cell, _, _>(cell, 500, meet::Sum, Initial::Filled(0));
    ///     let tops = height.scatter::<Points, Cell, _, _>(cell, 500, meet::Max, Initial::Filled(f32::NEG_INFINITY));
    ///     (sums.store::<(Cell,)>(), tops.store::<(Cell,)>())
    /// });
    /// // Rows in another order.
    /// let _ = trace(|x: In<u8, (Y, X)>, to: In<i32, (Y,)>| {
    ///     x.scatter::<Y, Y, _, _>(to, 100, meet::Unique, Initial::Filled(0)).store::<(Y, X)>()
    /// });
    /// ```
    pub fn scatter<L: Over, D: Dim, C: Arg<i32>, M: Meet<T>>(
        self,
        coord: C,
        n: usize,
        _collision: M,
        initial: Initial<T>,
    ) -> Scattered<T, ScatteredTo<S, C::Set, L, D>>
    where
        S: Merge<C::Set>,
        Union<S, C::Set>: Minus<L::Set, Out: Merge<Per<D>> + Without<D, Was: Fresh<D>>>,
        L::Set: Minus<Union<S, C::Set>, Out: First<Out: Scatterable>>,
    {
        Scattered::new::<M>(self, initial, |g| {
            name::<L, D>(g);
            vec![(D::ID, coord.node(g), whole(n))]
        })
    }

    /// Stores each value at the point (`y`, `x`) of a plane of `height` rows `Y` and `width` columns `X`: [`Expr::scatter`] along
    /// both dimensions at once, and the mirror of [`Expr::at_point`].
    #[allow(clippy::too_many_arguments, reason = "two coordinates and two lengths")]
    pub fn scatter_point<L: Over, Y: Dim, X: Dim, A: Arg<i32>, B: Arg<i32>, M: Meet<T>>(
        self,
        (y, x): (A, B),
        (height, width): (usize, usize),
        _collision: M,
        initial: Initial<T>,
    ) -> ScatteredPoints<T, S, A::Set, B::Set, L, Y, X>
    where
        S: Merge<A::Set>,
        Union<S, A::Set>: Merge<B::Set>,
        Union3<S, A::Set, B::Set>:
            Minus<L::Set, Out: Merge<Per<Y>> + Without<Y, Was: Fresh<Y>> + Without<X, Was: Fresh<X>>>,
        Union<Reduced<Union3<S, A::Set, B::Set>, L>, Per<Y>>: Merge<Per<X>>,
        L::Set: Minus<Union3<S, A::Set, B::Set>, Out: First<Out: Scatterable>>,
    {
        Scattered::new::<M>(self, initial, |g| {
            name::<L, Y>(g);
            g.name_dim(X::ID, X::NAME);
            vec![(Y::ID, y.node(g), whole(height)), (X::ID, x.node(g), whole(width))]
        })
    }

    /// Ends the expression: its values under the layout `L` where `condition` holds. Elsewhere the tensor given to `call_into`
    /// keeps what it held, and a new one holds `initial`. The layout has the dimensions of the values and of the condition.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { Y, X }
    /// // Draws a sprite over a picture, where the sprite is not transparent.
    /// let _ = trace(|sprite: In<u8, (Y, X)>| sprite.store_where::<(Y, X), _>(sprite.ne(0), 0));
    /// ```
    pub fn store_where<L: Dims, C: Arg<bool>>(self, condition: C, initial: T) -> Out<T, L>
    where
        T: Element,
        S: Merge<C::Set>,
        Union<S, C::Set>: Minus<L::Set, Out: First<Out: AllStored>>,
        L::Set: Minus<Union<S, C::Set>, Out: First<Out: NoExtra>>,
    {
        let mut holds = self.node;
        let node = with(self.trace, |g| {
            holds = condition.node(g);
            self.node
        });
        Out::under((node, holds), Scalar::of(initial), self.trace)
    }
}
