//! Reads at other coordinates, all built from [`Op::At`]: a file a kind of read.

mod area;
mod aspect;
mod borders;
mod crop;
mod deinterlace;
mod filter;
mod gather;
mod lanczos;
mod order;
mod resize;
mod shift;
mod warp;

pub use aspect::Aspect;
pub use borders::Border;
pub use deinterlace::Deinterlace;
pub use filter::{Centres, Filter, Sampling};
pub use order::PlaneOrder;
pub(crate) use shift::Padded;
pub use warp::Edge;

use crate::dtype::{DType, Scalar};
use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, NodeId, Op, Size};

impl Graph {
    /// The coordinate along `dim`.
    pub fn index(&mut self, dim: DimId) -> NodeId {
        self.push(Op::Index(dim), DType::I32)
    }

    pub(crate) fn int(&mut self, value: i32) -> NodeId {
        self.constant(Scalar::of(value))
    }

    /// A literal of the floating-point type `real`.
    fn real(&mut self, real: DType, value: f64) -> NodeId {
        self.constant(if real == DType::F64 { Scalar::of(value) } else { Scalar::of(value as f32) })
    }

    /// `extent - 1`.
    fn last(&mut self, extent: NodeId) -> NodeId {
        let one = self.int(1);
        self.binary(Binary::Sub, extent, one)
    }

    /// `value` limited to `0..extent`.
    pub(crate) fn inside_of(&mut self, value: NodeId, extent: NodeId) -> NodeId {
        let (zero, last) = (self.int(0), self.last(extent));
        self.limited(value, zero, last)
    }

    /// `value` limited to `low..=high`.
    fn limited(&mut self, value: NodeId, low: NodeId, high: NodeId) -> NodeId {
        let value = self.binary(Binary::Max, value, low);
        self.binary(Binary::Min, value, high)
    }

    /// `c0 + c1 x + c2 x^2 + ..` in the type of `x`, each step rounded once.
    fn polynomial(&mut self, x: NodeId, coefficients: &[f64]) -> NodeId {
        let real = self.node(x).dtype;
        let mut terms = coefficients.iter().rev();
        let mut value = self.real(real, terms.next().copied().unwrap_or(0.0));
        for term in terms {
            let term = self.real(real, *term);
            value = self.fma(value, x, term);
        }
        value
    }

    /// Whether `size` is one that a dimension can have; else the trace has failed.
    pub(crate) fn legal(&mut self, dim: DimId, size: i64, least: i64) -> bool {
        let legal = (least..=i64::from(i32::MAX)).contains(&size);
        if !legal {
            let dim = self.dim_name(dim);
            self.fail(Error::Size { dim, size });
        }
        legal
    }

    /// The sizes of what is read at `coords`: along a dimension that only a plain coordinate brings in, as long as the source.
    fn kept(&self, source: NodeId, coords: &[(DimId, NodeId)]) -> Vec<(DimId, Size)> {
        let varies = |dim: DimId| {
            let mut sizes = coords.iter().flat_map(|(_, c)| self.node(*c).shape.iter()).filter(|(d, _)| *d == dim);
            let first = sizes.next();
            first.is_some_and(|(_, s)| *s == Size::Any) && sizes.all(|(_, s)| *s == Size::Any)
        };
        coords.iter().filter(|(d, _)| varies(*d)).map(|(d, _)| (*d, self.size_of(source, *d))).collect()
    }
}

/// The floating-point type in which values of a type are interpolated.
pub fn sampled(dtype: DType) -> DType {
    match dtype {
        DType::I32 | DType::U32 | DType::I64 | DType::U64 | DType::F64 => DType::F64,
        _ => DType::F32,
    }
}
