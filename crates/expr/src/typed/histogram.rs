//! Histograms.

use super::expr::{Expr, Per};
use super::gather::whole;
use super::literal::Integer;
use super::marks::{Fresh, Reducible};
use super::reductions::Reduced;
use tilewright_dims::{Dim, First, Merge, Minus, Over, Set, Union, Without};

impl<T, S: Set> Expr<T, S> {
    /// How many values along the dimensions `L` are each of `0..bins`, over the new dimension `B`. Other values count nowhere, so
    /// that of numbers between any limits one computes the bin first: `((x - low) * scale).floor().to::<i32>()`.
    ///
    /// Each bin goes through all values: the cost grows with their number times that of bins.
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
            g.name_dim(B::ID, B::NAME);
            L::IDS.iter().zip(L::NAMES).for_each(|(id, name)| g.name_dim(*id, name));
            g.histogram(a, L::IDS, B::ID, whole(bins))
        })
    }
}
