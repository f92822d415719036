//! Histograms.

use super::expr::{Arg, Expr, Per};
use super::gather::whole;
use super::literal::Integer;
use super::marks::{Fresh, Reducible};
use super::reductions::Reduced;
use super::scatter::ScatteredTo;
use crate::graph::Graph;
use tilewright_dims::{Dim, First, Merge, Minus, Over, Set, Union, Without};

impl<T, S: Set> Expr<T, S> {
    /// How many values along the dimensions `L` are each of `0..bins`, over the new dimension `B`. Other values count nowhere, so
    /// that of numbers between any limits one computes the bin first: `((x - low) * scale).floor().to::<i32>()`.
    ///
    /// Stored as it stands, it reads its source once: each block counts in its shared memory, if the bins of a thread's channels
    /// fit into 48 KiB of it, and adds to the result at the end. It is two launches then, the first of which writes zeros. Used in
    /// an expression (normalised, scanned), or of crops whose boxes differ in size, it is one launch, in which each bin goes
    /// through all values: the cost grows with their number times that of bins. To do more with many bins, store the counts first.
    ///
    /// # Errors
    /// There is at least one bin.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { N, Y, X, C, Bin }
    /// // A histogram of each channel of each picture.
    /// let _ = trace(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>());
    /// ```
    pub fn histogram<L: Over, B: Dim>(self, bins: usize) -> Expr<i64, Union<Reduced<S, L>, Per<B>>>
    where
        T: Integer,
        S: Minus<L::Set, Out: Merge<Per<B>>> + Without<B, Was: Fresh<B>>,
        L::Set: Minus<S, Out: First<Out: Reducible>>,
    {
        self.then(|g, a| {
            name::<L, B>(g);
            g.histogram(a, L::IDS, B::ID, whole(bins))
        })
    }

    /// As [`Expr::histogram`], each value counting as much as its weight: integers of the same world, since a sum of floats would
    /// depend on the order (scale those to integers first). Sums wrap; weights beyond those of an `i64` are clamped to it.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{In, trace};
    /// # dims! { Y, X, Bin }
    /// let _ = trace(|x: In<u8, (Y, X)>, weight: In<u16, (Y,)>| {
    ///     x.weighted_histogram::<(Y, X), Bin, _, _>(16, weight).store::<(Bin,)>()
    /// });
    /// ```
    pub fn weighted_histogram<L: Over, B: Dim, W: Integer, R: Set>(
        self,
        bins: usize,
        weights: Expr<W, R>,
    ) -> Expr<i64, ScatteredTo<S, R, L, B>>
    where
        T: Integer,
        S: Merge<R>,
        Union<S, R>: Minus<L::Set, Out: Merge<Per<B>>> + Without<B, Was: Fresh<B>>,
        L::Set: Minus<Union<S, R>, Out: First<Out: Reducible>>,
    {
        self.then(|g, a| {
            name::<L, B>(g);
            let weights = Arg::<W>::node(weights, g);
            g.weighted_histogram((a, weights), L::IDS, (B::ID, whole(bins)))
        })
    }
}

fn name<L: Over, B: Dim>(graph: &mut Graph) {
    graph.name_dim(B::ID, B::NAME);
    L::IDS.iter().zip(L::NAMES).for_each(|(id, name)| graph.name_dim(*id, name));
}
