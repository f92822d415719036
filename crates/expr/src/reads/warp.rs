//! Pictures read at computed places between pixels: remap, and affine and perspective warps.

use super::borders::{Border, Inside};
use super::filter::Filter;
use super::sampled;
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId, Size};

/// What a warp gives outside of the picture. A [`Border`] alone is meant as [`Edge::Border`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge<T> {
    /// Each pixel that a filter takes outside is the border's: at a constant border the picture fades into it. OpenCV's way.
    Border(Border<T>),
    /// A place `(v, u)` outside of `0 <= u < width`, `0 <= v < height` gives the value; at a place inside, pixels outside are
    /// the nearest inside. The Fused Kernel Library's way, with 0.
    Cut(T),
}

impl<T> From<Border<T>> for Edge<T> {
    fn from(border: Border<T>) -> Self {
        Edge::Border(border)
    }
}

impl<T> Edge<T> {
    /// The same edge with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Edge<U> {
        match self {
            Edge::Border(border) => Edge::Border(border.map(f)),
            Edge::Cut(value) => Edge::Cut(f(value)),
        }
    }
}

/// Places further out are as far out as this, in pixels.
const FAR: f64 = (1 << 30) as f64;

impl Graph {
    /// `source` at the place (`v`, `u`), two `f32` expressions, in its floating-point type. A NaN is as far before the first
    /// pixel as places go.
    pub fn remap(
        &mut self,
        source: NodeId,
        (dim_y, v): (DimId, NodeId),
        (dim_x, u): (DimId, NodeId),
        sizes: &[(DimId, Size)],
        filter: Filter,
        edge: Edge<NodeId>,
    ) -> NodeId {
        let kept = self.kept(source, &[(dim_y, v), (dim_x, u)]);
        let sizes: Vec<(DimId, Size)> =
            kept.into_iter().filter(|(d, _)| sizes.iter().all(|(s, _)| s != d)).chain(sizes.iter().copied()).collect();
        let real = sampled(self.node(source).dtype);
        let border = match edge {
            Edge::Border(border) => border,
            Edge::Cut(_) => Border::Replicate,
        };
        let (v, u) = (self.near(v), self.near(u));
        let (rows, weights_y) = self.lines(source, dim_y, v, (filter, real), border);
        let (columns, weights_x) = self.lines(source, dim_x, u, (filter, real), border);
        let mut lines = Vec::with_capacity(rows.len());
        for row in rows {
            let mut pixels = Vec::with_capacity(columns.len());
            for column in &columns {
                let pixel = self.at_inside(source, &[(dim_y, row), (dim_x, *column)], &sizes, border);
                pixels.push(self.cast(pixel, real));
            }
            lines.push(self.blend(&weights_x, &pixels));
        }
        let value = self.blend(&weights_y, &lines);
        let Edge::Cut(outside) = edge else { return value };
        let (in_y, in_x) = (self.covers(source, dim_y, v), self.covers(source, dim_x, u));
        let (inside, outside) = (self.binary(Binary::And, in_y, in_x), self.cast(outside, real));
        self.select(inside, value, outside)
    }

    /// The pixels around a place along one dimension, brought inside, and their weights.
    fn lines(
        &mut self,
        source: NodeId,
        dim: DimId,
        place: NodeId,
        (filter, real): (Filter, DType),
        border: Border<NodeId>,
    ) -> (Vec<Inside>, super::filter::Weights) {
        let (pixels, weights) = self.taps(place, filter, real);
        (pixels.into_iter().map(|p| self.inside(source, dim, p, border)).collect(), weights)
    }

    /// A place that fits an `i32` with room to spare.
    fn near(&mut self, place: NodeId) -> NodeId {
        let (low, high) = (self.real(DType::F32, -FAR), self.real(DType::F32, FAR));
        let place = self.limited(place, low, high);
        let number = self.binary(Binary::Eq, place, place);
        self.select(number, place, low)
    }

    /// Whether `0 <= place < size`.
    fn covers(&mut self, source: NodeId, dim: DimId, place: NodeId) -> NodeId {
        let size = self.needed(source, dim, 1);
        let extent = self.extent(size);
        let (zero, extent) = (self.real(DType::F32, 0.0), self.cast(extent, DType::F32));
        let (after, before) = (self.binary(Binary::Ge, place, zero), self.binary(Binary::Lt, place, extent));
        self.binary(Binary::And, after, before)
    }

    /// The result's point (`y`, `x`) is read from the place `u = (m0 x + m1 y) + m2`, `v = (m3 x + m4 y) + m5`, with `matrix`
    /// an expression of [`Affine`](crate::Affine).
    pub fn warp_affine(
        &mut self,
        source: NodeId,
        y: (DimId, i64),
        x: (DimId, i64),
        matrix: NodeId,
        filter: Filter,
        edge: Edge<NodeId>,
    ) -> NodeId {
        self.warp(source, y, x, (filter, edge), |g| [3, 0].map(|row| g.row(matrix, row, y.0, x.0)))
    }

    /// As [`Graph::warp_affine`], with `u` and `v` multiplied by `1 / ((m6 x + m7 y) + m8)`, and `matrix` an expression of
    /// [`Perspective`](crate::Perspective).
    pub fn warp_perspective(
        &mut self,
        source: NodeId,
        y: (DimId, i64),
        x: (DimId, i64),
        matrix: NodeId,
        filter: Filter,
        edge: Edge<NodeId>,
    ) -> NodeId {
        self.warp(source, y, x, (filter, edge), |g| {
            let [u, v, w] = [0, 3, 6].map(|row| g.row(matrix, row, y.0, x.0));
            let one = g.real(DType::F32, 1.0);
            let scale = g.binary(Binary::Div, one, w);
            [v, u].map(|c| g.binary(Binary::Mul, scale, c))
        })
    }

    /// A picture of the sizes `y.1` x `x.1`, read at the places `[v, u]`.
    fn warp(
        &mut self,
        source: NodeId,
        y: (DimId, i64),
        x: (DimId, i64),
        (filter, edge): (Filter, Edge<NodeId>),
        places: impl FnOnce(&mut Graph) -> [NodeId; 2],
    ) -> NodeId {
        if !self.legal(y.0, y.1, 1) || !self.legal(x.0, x.1, 1) {
            return source;
        }
        let [v, u] = places(self);
        self.remap(source, (y.0, v), (x.0, u), &[(y.0, Size::Const(y.1)), (x.0, Size::Const(x.1))], filter, edge)
    }

    /// `(a x + b y) + c` for a row of a matrix.
    fn row(&mut self, matrix: NodeId, first: u8, dim_y: DimId, dim_x: DimId) -> NodeId {
        let [a, b, c] = [0, 1, 2].map(|i| self.component(matrix, first + i));
        let [x, y] = [dim_x, dim_y].map(|dim| {
            let index = self.index(dim);
            self.cast(index, DType::F32)
        });
        let (ax, by) = (self.binary(Binary::Mul, a, x), self.binary(Binary::Mul, b, y));
        let sum = self.binary(Binary::Add, ax, by);
        self.binary(Binary::Add, sum, c)
    }
}
