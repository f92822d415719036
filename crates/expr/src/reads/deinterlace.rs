//! Interlaced pictures.

use super::sampled;
use crate::dtype::DType;
use crate::graph::{Binary, DimId, Graph, NodeId};

/// How the two fields of an interlaced picture become one picture. The mean of two rows is `(a + b + 1) * 0.5` for integer
/// pixels and `(a + b) * 0.5` for floating-point ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deinterlace {
    /// Each row is the mean of itself and the row above; row 0 is kept.
    Blend,
    /// Even rows are kept; each odd row is the mean of the rows above and below, or kept where there is none below.
    KeepEven,
    /// Odd rows are kept; each even row is the mean of the rows above and below, or kept where one of them is not there.
    KeepOdd,
}

impl Graph {
    /// `source` deinterlaced along `dim`, in its floating-point type.
    pub fn deinterlace(&mut self, source: NodeId, dim: DimId, mode: Deinterlace) -> NodeId {
        let dtype = self.node(source).dtype;
        let real = sampled(dtype);
        let size = self.needed(source, dim, 0);
        let (index, extent) = (self.index(dim), self.extent(size));
        let (zero, one, last) = (self.int(0), self.int(1), self.last(extent));
        let here = self.cast(source, real);
        let (above, below) = (self.binary(Binary::Sub, index, one), self.binary(Binary::Add, index, one));
        let (above, below) = (self.limited(above, zero, last), self.limited(below, zero, last));
        let row = |g: &mut Self, at: NodeId| {
            let row = g.at(source, &[(dim, at)], &[(dim, size)]);
            g.cast(row, real)
        };
        let (not_first, not_last) = (self.binary(Binary::Gt, index, zero), self.binary(Binary::Lt, index, last));
        let above = row(self, above);
        let (other, replaced) = match mode {
            Deinterlace::Blend => (here, not_first),
            Deinterlace::KeepEven | Deinterlace::KeepOdd => {
                let parity = self.binary(Binary::And, index, one);
                let kept = if mode == Deinterlace::KeepEven { zero } else { one };
                let replaced = self.binary(Binary::Ne, parity, kept);
                let replaced = self.binary(Binary::And, replaced, not_first);
                (row(self, below), self.binary(Binary::And, replaced, not_last))
            }
        };
        let mean = self.mean_of_rows(above, other, !dtype.is_float());
        self.select(replaced, mean, here)
    }

    fn mean_of_rows(&mut self, a: NodeId, b: NodeId, integers: bool) -> NodeId {
        let real: DType = self.node(a).dtype;
        let mut sum = self.binary(Binary::Add, a, b);
        if integers {
            let one = self.real(real, 1.0);
            sum = self.binary(Binary::Add, sum, one);
        }
        let half = self.real(real, 0.5);
        self.binary(Binary::Mul, sum, half)
    }
}
