//! How values between pixels are computed: which pixels are taken, and how much of each.

use super::lanczos;
use crate::dtype::DType;
use crate::graph::{Binary, Graph, NodeId, Unary};

/// Where pixels are sampled when a picture is resized, `from` pixels becoming `to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Centres {
    /// A pixel's sample is at its centre: `s = (x + 0.5) * from / to - 0.5`. PyTorch's and OpenCV's convention.
    #[default]
    Half,
    /// A pixel's sample is at its corner: `s = x * from / to`. OpenCV-CUDA's and the Fused Kernel Library's convention, and
    /// OpenCV's for the nearest pixel.
    Corner,
}

/// How values between pixels are computed, along each dimension by itself. Pixels that are not there are a border's.
///
/// With `s` the place, `i = floor(s)` and `f = s - i`; weights are in the floating-point type of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// One pixel. In a resize the one that the sample lies in: index `floor((x + 0.5) * from / to)` with centres at halves,
    /// `floor(x * from / to)` (OpenCV's `INTER_NEAREST`) with corners, in exact integers. At a computed place `s` the pixel
    /// nearest, halves to even, as OpenCV's `remap`.
    Nearest,
    /// Pixels `i` and `i + 1`: `p + f * (q - p)`.
    #[default]
    Linear,
    /// Pixels `i - 1` to `i + 2`, weighted by Keys' cubic with `a = -0.75`, as OpenCV's `INTER_CUBIC`:
    /// `a f (1 - f)^2`, `1 - (a + 3) f^2 + (a + 2) f^3`, the same two for `1 - f`.
    Cubic,
    /// Pixels `i - 3` to `i + 4`, weighted by `sinc(t) sinc(t / 4)` of their distance `t`, divided by the sum of the weights,
    /// as OpenCV's `INTER_LANCZOS4`; `sinc(t) = sin(pi t) / (pi t)`, from polynomials (within 5e-9 in `f32`, 5e-16 in `f64`).
    Lanczos4,
    /// Every pixel that the sample covers, weighted by how much of it is covered: sample `x` covers `x * from / to` to
    /// `(x + 1) * from / to`, and pixel `i` is from `i` to `i + 1`. OpenCV's `INTER_AREA` where both dimensions become smaller, or
    /// both larger. Corners are where they are, so that [`Centres`] say nothing here. For resizing alone: at computed places, of
    /// no extent, it is [`Filter::Linear`].
    Area,
}

impl Filter {
    /// With this convention for resizing.
    pub fn at(self, centres: Centres) -> Sampling {
        Sampling { filter: self, centres }
    }
}

/// How a picture is resized. A [`Filter`] alone is meant with centres at halves, [`Centres`] alone with the linear filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// How values between pixels are computed.
    pub filter: Filter,
    /// Where samples are.
    pub centres: Centres,
}

impl From<Filter> for Sampling {
    fn from(filter: Filter) -> Self {
        filter.at(Centres::default())
    }
}
impl From<Centres> for Sampling {
    fn from(centres: Centres) -> Self {
        Filter::default().at(centres)
    }
}

/// How values of neighbouring pixels become one.
#[derive(Clone, Debug)]
pub(super) enum Weights {
    /// The only value.
    One,
    /// `p + f * (q - p)`.
    Between(NodeId),
    /// A sum of products.
    Each(Vec<NodeId>),
}

impl Graph {
    /// The pixels that a filter takes around the place `at` (floating-point), and their weights in the type `real`. Indices are
    /// not yet brought inside; `at` has to fit an `i32`.
    pub(super) fn taps(&mut self, at: NodeId, filter: Filter, real: DType) -> (Vec<NodeId>, Weights) {
        let first = match filter {
            Filter::Nearest => return (vec![self.cast(at, DType::I32)], Weights::One),
            Filter::Linear | Filter::Area => 0,
            Filter::Cubic => -1,
            Filter::Lanczos4 => -3,
        };
        let floor = self.unary(Unary::Floor, at);
        // Not contracted with the product that made `at`: exact as it stands, and never below 0.
        let fraction = self.rounded(Binary::Sub, at, floor);
        let fraction = self.cast(fraction, real);
        let index = self.cast(floor, DType::I32);
        let weights = match filter {
            Filter::Nearest | Filter::Linear | Filter::Area => Weights::Between(fraction),
            Filter::Cubic => Weights::Each(self.cubic(fraction)),
            Filter::Lanczos4 => Weights::Each(self.lanczos(fraction)),
        };
        let count = match &weights {
            Weights::Each(list) => list.len() as i32,
            _ => 2,
        };
        let index = |g: &mut Self, i: i32| {
            let step = g.int(i.abs());
            match i {
                0 => index,
                1.. => g.binary(Binary::Add, index, step),
                _ => g.binary(Binary::Sub, index, step),
            }
        };
        ((first..first + count).map(|i| index(self, i)).collect(), weights)
    }

    /// Keys' weights with `a = -0.75`, as polynomials in the fraction.
    fn cubic(&mut self, f: NodeId) -> Vec<NodeId> {
        [[0.0, -0.75, 1.5, -0.75], [1.0, 0.0, -2.25, 1.25], [0.0, 0.75, 1.5, -1.25], [0.0, 0.0, -0.75, 0.75]]
            .iter()
            .map(|c| self.polynomial(f, c))
            .collect()
    }

    /// Lanczos' weights: a polynomial in `v = f - 0.5` for each distance, even and odd powers apart, as the pixel as far on the
    /// other side needs the same ones of `-v`.
    fn lanczos(&mut self, f: NodeId) -> Vec<NodeId> {
        let real = self.node(f).dtype;
        let half = self.real(real, -0.5);
        let v = self.binary(Binary::Add, f, half);
        let square = self.binary(Binary::Mul, v, v);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for distance in 0..4 {
            let (even, odd) = lanczos::coefficients(distance, real == DType::F64);
            let (even, odd) = (self.polynomial(square, even), self.polynomial(square, odd));
            left.insert(0, self.fma(odd, v, even));
            let back = self.unary(Unary::Neg, v);
            right.push(self.fma(odd, back, even));
        }
        let weights: Vec<NodeId> = left.into_iter().chain(right).collect();
        let sum = weights.iter().copied().reduce(|a, b| self.binary(Binary::Add, a, b)).unwrap_or(v);
        let one = self.real(real, 1.0);
        let scale = self.binary(Binary::Div, one, sum);
        weights.into_iter().map(|w| self.binary(Binary::Mul, w, scale)).collect()
    }

    /// Values of neighbouring pixels as one.
    pub(super) fn blend(&mut self, weights: &Weights, values: &[NodeId]) -> NodeId {
        match (weights, values) {
            (Weights::Between(f), [p, q]) => {
                let step = self.binary(Binary::Sub, *q, *p);
                self.fma(*f, step, *p)
            }
            (Weights::Each(weights), [first, rest @ ..]) => {
                let mut sum = self.binary(Binary::Mul, weights[0], *first);
                for (w, value) in weights[1..].iter().zip(rest) {
                    sum = self.fma(*w, *value, sum);
                }
                sum
            }
            _ => values[0],
        }
    }
}
