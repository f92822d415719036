//! How many bits of an element are used, and scaling from one depth to another.

use crate::dtype::Value;
use crate::graph::{Binary, Graph, NodeId};
use crate::reads::sampled;
use crate::typed::{Expr, Sampled};
use std::fmt;
use tilewright_dims::Set;

/// The range of the values of a picture: from 0 to [`Depth::max`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 0 to 255.
    Bits8,
    /// 0 to 1023, in 16-bit elements.
    Bits10,
    /// 0 to 4095, in 16-bit elements.
    Bits12,
    /// 0 to 65535.
    Bits16,
    /// 0 to 1, in floats.
    Unit,
}

impl Depth {
    /// The largest value.
    pub const fn max(self) -> f64 {
        match self {
            Depth::Bits8 => 255.0,
            Depth::Bits10 => 1023.0,
            Depth::Bits12 => 4095.0,
            Depth::Bits16 => 65535.0,
            Depth::Unit => 1.0,
        }
    }

    /// Bits that a value has; those of 8 for [`Depth::Unit`], whose constants are the 8-bit ones.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Depth::Bits8 | Depth::Unit => 8,
            Depth::Bits10 => 10,
            Depth::Bits12 => 12,
            Depth::Bits16 => 16,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Depth::Unit => f.write_str("0 to 1"),
            _ => write!(f, "{}-bit", self.bits()),
        }
    }
}

impl Graph {
    /// `value` limited to `0..=max` and converted to `dtype`, which is an integer; floats are left as they are.
    pub(crate) fn limited_to(&mut self, value: NodeId, depth: Depth, dtype: crate::DType) -> NodeId {
        let real = self.node(value).dtype;
        if dtype.is_float() {
            return self.cast(value, dtype);
        }
        let (zero, max) = (self.number(real, 0.0), self.number(real, depth.max()));
        let limited = self.binary(Binary::Max, value, zero);
        let limited = self.binary(Binary::Min, limited, max);
        self.cast(limited, dtype)
    }
}

impl<T, S: Set> Expr<T, S> {
    /// Values of depth `from` scaled to depth `to`, as elements of `U`: `value * to.max() / from.max()`, computed in the
    /// floating-point type. Integers are rounded half to even and limited to `0..=to.max()`, floats neither rounded nor
    /// limited; NaN becomes 0 in integers.
    ///
    /// From `u8` to `0..=1` this is `value / 255`; from 8 to 16 bits `value * 257`, exactly.
    ///
    /// ```
    /// # use tilewright_expr::{In, trace, colour::Depth};
    /// # use tilewright_dims::dims;
    /// # dims! { Y, X }
    /// trace(|deep: In<u16, (Y, X)>| deep.scale::<u8>(Depth::Bits10, Depth::Bits8).store::<(Y, X)>());
    /// ```
    pub fn scale<U: Value>(self, from: Depth, to: Depth) -> Expr<U, S>
    where
        T: Sampled,
    {
        self.then(|g, value| {
            let real = sampled(g.node(value).dtype);
            let value = g.cast(value, real);
            let scaled = match (from.max(), to.max()) {
                (a, b) if a == b => value,
                (a, 1.0) => {
                    let a = g.number(real, a);
                    g.binary(Binary::Div, value, a)
                }
                (a, b) => {
                    let factor = g.number(real, b / a);
                    g.binary(Binary::Mul, value, factor)
                }
            };
            g.limited_to(scaled, to, U::DTYPE)
        })
    }
}
