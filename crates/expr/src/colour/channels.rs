//! Single channels: taken out of a picture, put together to one.

use crate::dtype::{DType, Scalar, Value};
use crate::error::Error;
use crate::fold;
use crate::graph::{Binary, DimId, Graph, NodeId, Note, Size};
use crate::typed::{Expr, Per, constant};
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

/// Most channels that are taken one by one: each is code of its own.
const MOST_CHANNELS: usize = 64;

impl Graph {
    /// The number `value` of type `dtype`.
    pub(crate) fn number(&mut self, dtype: DType, value: f64) -> NodeId {
        self.constant(fold::cast(Scalar::of(value), dtype))
    }

    /// `source` at index `index` of `dim`.
    pub fn channel(&mut self, source: NodeId, dim: DimId, index: i32) -> NodeId {
        let size = self.size_of(source, dim);
        if size != Size::Any {
            self.note(Note::Order(dim, size, index, index));
        }
        let at = self.constant(Scalar::of(index));
        self.at(source, &[(dim, at)], &[])
    }

    /// All `n` channels of `source`, which must have that many along `dim`.
    pub(crate) fn channels(&mut self, source: NodeId, dim: DimId, n: usize) -> Vec<NodeId> {
        if n > MOST_CHANNELS {
            let dim = self.dim_name(dim);
            self.fail(Error::Channels { dim, channels: n, limit: MOST_CHANNELS });
            return Vec::new();
        }
        let sized = self.at(source, &[], &[(dim, Size::Const(n as i64))]);
        (0..n as i32).map(|i| self.channel(sized, dim, i)).collect()
    }

    /// One expression over `dim`: `channels[i]` at index `i`. Where the index is a literal, as it is for a dimension in
    /// registers, nothing else is computed.
    pub fn stack(&mut self, dim: DimId, channels: &[NodeId]) -> NodeId {
        let Some((last, rest)) = channels.split_last() else {
            let dim = self.dim_name(dim);
            self.fail(Error::Size { dim, size: 0 });
            return self.constant(Scalar::of(0i32));
        };
        let index = self.index(dim);
        let mut value = *last;
        for (i, channel) in rest.iter().enumerate().rev() {
            let here = self.constant(Scalar::of(i as i32));
            let matches = self.binary(Binary::Eq, index, here);
            value = self.select(matches, *channel, value);
        }
        self.at(value, &[], &[(dim, Size::Const(channels.len() as i64))])
    }
}

/// Expressions of one type and one set of dimensions: an array of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array of expressions",
    label = "expected expressions of one element type and the same dimensions",
    note = "write `stack::<C, _>([red, green, blue])`"
)]
pub trait Channels {
    /// Their element type.
    type Elem;
    /// Their dimensions.
    type Set: Set;
    /// They, as one expression over `C` too.
    fn stacked<C: Dim>(self) -> Expr<Self::Elem, Union<Self::Set, Per<C>>>
    where
        Self::Set: Merge<Per<C>>;
}

impl<T: Value, S: Set, const N: usize> Channels for [Expr<T, S>; N] {
    type Elem = T;
    type Set = S;
    fn stacked<C: Dim>(self) -> Expr<T, Union<S, Per<C>>>
    where
        S: Merge<Per<C>>,
    {
        use crate::typed::Arg;
        let Some(first) = self.first().copied() else {
            return constant(T::default()).then(|g, _| {
                g.name_dim(C::ID, C::NAME);
                g.stack(C::ID, &[])
            });
        };
        first.then(|g, _| {
            g.name_dim(C::ID, C::NAME);
            let channels: Vec<NodeId> = self.into_iter().map(|c| c.node(g)).collect();
            g.stack(C::ID, &channels)
        })
    }
}

/// One expression over `C` whose index `i` is `channels[i]`: as long along `C` as the array.
///
/// ```
/// # use tilewright_expr::{In, trace, colour::stack};
/// # use tilewright_dims::dims;
/// # dims! { Y, X, C }
/// trace(|red: In<u8, (Y, X)>, green: In<u8, (Y, X)>, blue: In<u8, (Y, X)>| {
///     stack::<C, _>([red, green, blue]).store::<(Y, X, C)>()
/// });
/// ```
pub fn stack<C: Dim, A: Channels<Set: Merge<Per<C>>>>(channels: A) -> Expr<A::Elem, Union<A::Set, Per<C>>> {
    channels.stacked::<C>()
}

/// A literal for each channel: means, deviations, a colour.
pub fn per_channel<C: Dim, T: Value, const N: usize>(values: [T; N]) -> Expr<T, Per<C>> {
    values.map(constant).stacked::<C>()
}

impl<T, S: Set> Expr<T, S> {
    /// Channel `index` alone: the values at that index of `C`.
    pub fn channel<C: Dim>(self, index: usize) -> Expr<T, S::Rest>
    where
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| g.channel(source, C::ID, i32::try_from(index).unwrap_or(i32::MAX)))
    }
}
