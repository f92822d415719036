//! Channels mixed: matrices, literal and at run time, and the mean.

use crate::dtype::{Element, Scalar, Value};
use crate::error::Error;
use crate::fold;
use crate::graph::{Binary, DimId, Graph, NodeId};
use crate::reads::sampled;
use crate::typed::{Expr, Float, IntoExpr, Per, Pixel, SameElement, Sampled, Union3};
use tilewright_dims::{Dim, Merge, Present, Set, Union, Without};

/// One row of a matrix of literals: its coefficients, and what is added.
pub(crate) struct Row {
    pub(crate) coefficients: Vec<Scalar>,
    pub(crate) offset: Scalar,
}

impl Graph {
    /// `offset + coefficients[0] * channels[0] + coefficients[1] * channels[1] + ..`, from left to right, each product fused
    /// with the sum so far. Terms whose coefficient is 0, and an offset of 0, are left out.
    pub(crate) fn mixed(&mut self, channels: &[NodeId], row: &Row) -> NodeId {
        let one = |s: Scalar| fold::cast(Scalar::of(1.0), s.dtype) == s;
        let zero = |s: Scalar| fold::cast(Scalar::of(0.0), s.dtype) == s;
        let mut sum = (!zero(row.offset)).then(|| self.constant(row.offset));
        for (channel, coefficient) in channels.iter().zip(&row.coefficients).filter(|(_, c)| !zero(**c)) {
            let factor = self.constant(*coefficient);
            sum = Some(match sum {
                Some(sum) => self.fma(*channel, factor, sum),
                None if one(*coefficient) => *channel,
                None => self.binary(Binary::Mul, *channel, factor),
            });
        }
        sum.unwrap_or_else(|| self.constant(row.offset))
    }

    /// As [`Graph::mixed`], with literals of the channels' type.
    pub(crate) fn weighted(&mut self, channels: &[NodeId], weights: &[f64]) -> NodeId {
        let dtype = channels.first().map_or(crate::DType::F32, |c| self.node(*c).dtype);
        let number = |v: f64| fold::cast(Scalar::of(v), dtype);
        self.mixed(channels, &Row { coefficients: weights.iter().map(|w| number(*w)).collect(), offset: number(0.0) })
    }

    /// `n` channels of `source` and of `matrix`, multiplied in pairs and added up.
    fn contracted(&mut self, source: NodeId, matrix: NodeId, dim: DimId, n: usize) -> NodeId {
        let (values, factors) = (self.channels(source, dim, n), self.channels(matrix, dim, n));
        let mut pairs = values.into_iter().zip(factors);
        let Some((value, factor)) = pairs.next() else {
            let dim = self.dim_name(dim);
            self.fail(Error::Size { dim, size: 0 });
            return source;
        };
        let first = self.binary(Binary::Mul, value, factor);
        pairs.fold(first, |sum, (value, factor)| self.fma(value, factor, sum))
    }
}

/// The dimensions of two expressions together, without `C`, along which they are multiplied and added up.
pub type Mixed<A, B, C> = Union<<A as Without<C>>::Rest, <B as Without<C>>::Rest>;

/// A matrix of literals with `N` rows, one for each channel of the result: an array of rows, or a pair of one and of what is
/// added to each channel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}`",
    label = "expected `[[{T}; channels]; results]`, or a pair of that and `[{T}; results]`",
    note = "a matrix that changes from call to call is an operand: `.mix_by::<C, _>(matrix, channels)`"
)]
pub trait Matrix<T> {
    /// How many channels it mixes.
    const CHANNELS: usize;
    /// Coefficients of each result, and what is added.
    fn rows(&self) -> Vec<(Vec<T>, T)>;
}

impl<T: Value, const M: usize, const N: usize> Matrix<T> for [[T; M]; N] {
    const CHANNELS: usize = M;
    fn rows(&self) -> Vec<(Vec<T>, T)> {
        self.iter().map(|row| (row.to_vec(), T::default())).collect()
    }
}

impl<T: Value, const M: usize, const N: usize> Matrix<T> for ([[T; M]; N], [T; N]) {
    const CHANNELS: usize = M;
    fn rows(&self) -> Vec<(Vec<T>, T)> {
        self.0.iter().zip(&self.1).map(|(row, offset)| (row.to_vec(), *offset)).collect()
    }
}

impl<T, S: Set> Expr<T, S> {
    /// The channels along `C` mixed by a matrix of literals: result `i` along `K` is `offset[i] + matrix[i][0] * x[0] +
    /// matrix[i][1] * x[1] + ..`, from left to right, each product fused with the sum so far. A coefficient of 0 reads
    /// nothing. `K` may be `C` itself.
    ///
    /// ```
    /// # use tilewright_expr::{In, trace};
    /// # use tilewright_dims::dims;
    /// # dims! { Y, X, C }
    /// let sepia = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]];
    /// trace(|rgb: In<f32, (Y, X, C)>| rgb.mix::<C, C>(sepia).store::<(C, Y, X)>());
    /// ```
    pub fn mix<C: Dim, K: Dim>(self, matrix: impl Matrix<T>) -> Expr<T, Union<S::Rest, Per<K>>>
    where
        T: Float,
        S: Without<C, Was: Present<C>, Rest: Merge<Per<K>>>,
    {
        fn of<T: Float, M: Matrix<T>>(g: &mut Graph, source: NodeId, from: DimId, to: DimId, matrix: &M) -> NodeId {
            let channels = g.channels(source, from, M::CHANNELS);
            let row = |(coefficients, offset): (Vec<T>, T)| Row {
                coefficients: coefficients.into_iter().map(Scalar::of).collect(),
                offset: Scalar::of(offset),
            };
            let mixed: Vec<NodeId> = matrix.rows().into_iter().map(|r| g.mixed(&channels, &row(r))).collect();
            g.stack(to, &mixed)
        }
        self.then(|g, source| {
            g.name_dim(K::ID, K::NAME);
            of(g, source, C::ID, K::ID, &matrix)
        })
    }

    /// The channels along `C` mixed by a matrix that is an expression: over `(K, C)` for one, over `(N, K, C)` for one per
    /// picture. Each result is `matrix[0] * x[0] + matrix[1] * x[1] + ..` over the `channels` indices of `C`, from left to
    /// right, each product fused with the sum so far.
    pub fn mix_by<C: Dim, B: IntoExpr<Elem: SameElement<T>>>(
        self,
        matrix: B,
        channels: usize,
    ) -> Expr<T, Mixed<S, B::Set, C>>
    where
        T: Float,
        B::Set: Without<C, Was: Present<C>>,
        S: Without<C, Was: Present<C>, Rest: Merge<<B::Set as Without<C>>::Rest>>,
    {
        use crate::typed::Arg;
        let matrix = matrix.into_expr();
        self.then(|g, source| {
            let matrix = matrix.node(g);
            g.contracted(source, matrix, C::ID, channels)
        })
    }

    /// The mean of the `channels` values along `C`: their sum from left to right, divided by their number.
    pub fn mean_channels<C: Dim>(self, channels: usize) -> Expr<<T as Pixel>::Real, S::Rest>
    where
        T: Sampled,
        S: Without<C, Was: Present<C>>,
    {
        self.then(|g, source| {
            let real = sampled(g.node(source).dtype);
            let source = g.cast(source, real);
            let values = g.channels(source, C::ID, channels);
            let Some((first, rest)) = values.split_first() else {
                g.fail(Error::Size { dim: C::NAME, size: 0 });
                return source;
            };
            let sum = rest.iter().fold(*first, |sum, v| g.binary(Binary::Add, sum, *v));
            let n = g.number(real, channels as f64);
            g.binary(Binary::Div, sum, n)
        })
    }

    /// `(self - mean) / deviation`, expressions both: over `(C,)` for a value per
    /// channel, such as [`per_channel`](crate::colour::per_channel).
    pub fn normalise<M: IntoExpr<Elem: SameElement<T>>, D: IntoExpr<Elem: SameElement<T>>>(
        self,
        mean: M,
        deviation: D,
    ) -> Expr<T, Union3<S, M::Set, D::Set>>
    where
        T: Float + Value + Element,
        S: Merge<M::Set>,
        Union<S, M::Set>: Merge<D::Set>,
    {
        use crate::typed::Arg;
        let (mean, deviation) = (mean.into_expr(), deviation.into_expr());
        self.then(|g, x| {
            let (mean, deviation) = (mean.node(g), deviation.node(g));
            let centred = g.binary(Binary::Sub, x, mean);
            g.binary(Binary::Div, centred, deviation)
        })
    }
}
