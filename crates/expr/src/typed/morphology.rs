//! Pictures filtered by order: medians, the smallest and the largest value under a mask. Results are values of the picture, in
//! its type.

use super::expr::Expr;
use super::literal::Number;
use crate::dtype::{Scalar, Value};
use crate::graph::{Graph, NodeId};
use crate::reads::Border;
use crate::stencils::{Mask, Outside};
use tilewright_dims::{Dim, Present, Set, Without};

impl<T: Value> Outside<T> {
    /// With its constant in the graph.
    fn node(self, graph: &mut Graph) -> Outside<NodeId> {
        self.map(|value| graph.constant(Scalar::of(value)))
    }
}

impl<T, S: Set> Expr<T, S> {
    /// The middle one of the `size` x `size` values around each pixel (1, 3, 5 or 7): exact, by a network of minima and maxima.
    /// NaN if one is. OpenCV's `medianBlur`, whose border is [`Border::Replicate`].
    pub fn median<Y: Dim, X: Dim>(self, size: usize, border: Border<T>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| {
            let border = border.node(g);
            g.median(source, (Y::ID, X::ID), size, border)
        })
    }

    /// The smallest of the values that `mask` takes around each pixel: rows of it lie along `Y`, columns along `X`, its anchor on
    /// the pixel itself. NaN if one is, and `-0 < +0`. A rectangle of any size is two passes; other masks have up to 31 rows and
    /// columns.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_expr::{Border, In, stencils::{Mask, Outside}, trace};
    /// dims! { Y, X }
    /// let _ = trace(|p: In<u8, (Y, X)>| {
    ///     let thinner = p.erode::<Y, X>(&Mask::ellipse(5, 5), Outside::Ignored);
    ///     (thinner - thinner.erode::<Y, X>(&Mask::rectangle(3, 3), Border::Replicate)).store::<(Y, X)>()
    /// });
    /// ```
    pub fn erode<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| {
            let outside = outside.into().node(g);
            g.erode(source, (Y::ID, X::ID), mask, outside)
        })
    }

    /// The largest of the values that `mask` takes around each pixel, as [`Expr::erode`]. The mask is not turned, as OpenCV does
    /// not turn it.
    pub fn dilate<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.then(|g, source| {
            let outside = outside.into().node(g);
            g.dilate(source, (Y::ID, X::ID), mask, outside)
        })
    }

    /// Eroded, then dilated: bright spots smaller than the mask go.
    pub fn open<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let outside = outside.into();
        self.erode::<Y, X>(mask, outside).dilate::<Y, X>(mask, outside)
    }

    /// Dilated, then eroded: dark spots smaller than the mask go.
    pub fn close<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let outside = outside.into();
        self.dilate::<Y, X>(mask, outside).erode::<Y, X>(mask, outside)
    }

    /// The largest value under the mask less the smallest; integers saturate.
    pub fn morphological_gradient<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        let outside = outside.into();
        self.dilate::<Y, X>(mask, outside).less(self.erode::<Y, X>(mask, outside))
    }

    /// The picture less what opening leaves of it: the bright spots. Integers saturate.
    pub fn top_hat<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.less(self.open::<Y, X>(mask, outside))
    }

    /// What closing makes of the picture less the picture: the dark spots. Integers saturate.
    pub fn black_hat<Y: Dim, X: Dim>(self, mask: &Mask, outside: impl Into<Outside<T>>) -> Self
    where
        T: Number,
        S: Without<Y, Was: Present<Y>> + Without<X, Was: Present<X>>,
    {
        self.close::<Y, X>(mask, outside).less(self)
    }

    fn less(self, other: Self) -> Self {
        self.then(|g, a| g.saturating_difference(a, other.node))
    }
}
