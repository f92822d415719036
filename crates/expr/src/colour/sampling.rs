//! Chroma of half the size: read at every pixel, made of two pixels.

use crate::dtype::Scalar;
use crate::graph::{Binary, DimId, Equation, Graph, NodeId, Note, Size};

/// Where chroma samples lie between the pixels of a frame whose chroma is of half the size, and how the others are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChromaSiting {
    /// Each sample stands for its two (or 2x2) pixels, as it is: what most fast converters do.
    #[default]
    Replicate,
    /// A sample lies between its pixels in both directions (JPEG, MPEG-1). Others are interpolated linearly, with weights
    /// 3/4 and 1/4.
    Centre,
    /// A sample lies on the left one of its columns, between its rows (MPEG-2, H.264, H.265 by default).
    Left,
    /// A sample lies on the first of its columns and rows (BT.2020, BT.2100).
    TopLeft,
}

/// Which pixels a chroma sample is made of when it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subsampling {
    /// The mean of its two (or 2x2) pixels; at the edge of an odd size the last pixel counts twice.
    #[default]
    Mean,
    /// The first of its columns and rows.
    First,
}

/// Where samples lie along one dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Both,
    Between,
    First,
}

impl ChromaSiting {
    fn rows(self) -> Place {
        match self {
            ChromaSiting::Replicate => Place::Both,
            ChromaSiting::Centre | ChromaSiting::Left => Place::Between,
            ChromaSiting::TopLeft => Place::First,
        }
    }

    fn columns(self) -> Place {
        match self {
            ChromaSiting::Replicate => Place::Both,
            ChromaSiting::Centre => Place::Between,
            ChromaSiting::Left | ChromaSiting::TopLeft => Place::First,
        }
    }
}

/// A dimension of a frame's pixels with its size, and that of its chroma samples: the same where chroma is not subsampled.
#[derive(Clone, Copy)]
pub(crate) struct Halved {
    pub(crate) pixels: DimId,
    pub(crate) size: Size,
    pub(crate) samples: DimId,
}

impl Graph {
    /// A whole number.
    pub(crate) fn whole(&mut self, value: i32) -> NodeId {
        self.constant(Scalar::of(value))
    }

    /// `(size + 1) / 2`.
    pub(crate) fn half_of(&mut self, size: Size) -> Size {
        let (extent, one) = (self.extent(size), self.whole(1));
        let sum = self.binary(Binary::Add, extent, one);
        Size::Node(self.binary(Binary::Shr, sum, one))
    }

    /// A chroma plane of floats at every pixel. Its sizes must be `(n + 1) / 2` for `n` pixels.
    pub(crate) fn at_pixels(&mut self, chroma: NodeId, rows: Halved, columns: Halved, siting: ChromaSiting) -> NodeId {
        let wide = self.doubled(chroma, columns, siting.columns());
        self.doubled(wide, rows, siting.rows())
    }

    fn doubled(&mut self, chroma: NodeId, halved: Halved, place: Place) -> NodeId {
        let Halved { pixels, size, samples } = halved;
        if pixels == samples {
            return chroma;
        }
        let given = self.size_of(chroma, samples);
        let equation = Equation { dim: samples, a: self.half_of(size), b: given };
        self.note(Note::Equation(equation));
        let (index, one) = (self.index(pixels), self.whole(1));
        let nearest = self.binary(Binary::Shr, index, one);
        let sizes = [(pixels, size)];
        let first = self.at(chroma, &[(samples, nearest)], &sizes);
        let odd = self.binary(Binary::And, index, one);
        let (other, weight) = match place {
            Place::Both => return first,
            Place::First => (self.binary(Binary::Add, nearest, odd), 0.5),
            Place::Between => {
                let before = self.binary(Binary::Sub, nearest, one);
                let both = self.binary(Binary::Add, odd, odd);
                let other = self.binary(Binary::Add, before, both);
                let zero = self.whole(0);
                (self.binary(Binary::Max, other, zero), 0.25)
            }
        };
        let extent = self.extent(given);
        let last = self.binary(Binary::Sub, extent, one);
        let other = self.binary(Binary::Min, other, last);
        let second = self.at(chroma, &[(samples, other)], &sizes);
        let weight = self.number(self.node(chroma).dtype, weight);
        let step = self.binary(Binary::Sub, second, first);
        self.fma(weight, step, first)
    }

    /// A plane of pixels at every chroma sample.
    pub(crate) fn at_samples(&mut self, plane: NodeId, dims: [(DimId, DimId); 2], subsampling: Subsampling) -> NodeId {
        let (mut value, mut factor) = (plane, 1.0);
        for (pixels, samples) in dims.into_iter().filter(|(pixels, samples)| pixels != samples) {
            let [first, second] = self.pair(value, pixels, samples);
            value = match subsampling {
                Subsampling::First => first,
                Subsampling::Mean => {
                    factor *= 0.5;
                    self.binary(Binary::Add, first, second)
                }
            };
        }
        if factor == 1.0 {
            return value;
        }
        let factor = self.number(self.node(value).dtype, factor);
        self.binary(Binary::Mul, value, factor)
    }

    /// Pixels `2 * i` and `2 * i + 1` of a plane at sample `i`; the last pixel twice where there is no second.
    pub(crate) fn pair(&mut self, plane: NodeId, pixels: DimId, samples: DimId) -> [NodeId; 2] {
        let size = self.size_of(plane, pixels);
        let sizes = [(samples, self.half_of(size))];
        let (extent, index, one) = (self.extent(size), self.index(samples), self.whole(1));
        let even = self.binary(Binary::Shl, index, one);
        let next = self.binary(Binary::Add, even, one);
        let last = self.binary(Binary::Sub, extent, one);
        let odd = self.binary(Binary::Min, next, last);
        [even, odd].map(|at| self.at(plane, &[(pixels, at)], &sizes))
    }
}
