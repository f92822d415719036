//! Operands of streamed expressions: stored arrays over named dimensions, and numbers.

use crate::Error;
use crate::store::{Element, Extents, Source, Stored, Tile};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::Expr;
use tilewright_expr::graph::DimId;

/// A stored array of `T` over the dimensions of the tuple `L`, outermost first: its elements are those of the stored matrix, row by row. So
/// a file of any number of dimensions is one, whatever the store takes for rows and columns.
#[derive(Clone)]
pub struct Array<'a, T, L> {
    source: &'a dyn Source,
    extents: Vec<usize>,
    of: PhantomData<fn() -> (T, L)>,
}

impl<'a, T: Stored, L: Dims> Array<'a, T, L> {
    /// An array of these extents, in `L`'s order. [`Error::ElementType`] where elements are of another type, [`Error::Shape`] where there are
    /// more or fewer.
    pub fn new<const R: usize>(source: &'a dyn Source, extents: [usize; R]) -> Result<Self, Error> {
        let operation = "a streamed expression";
        if R != L::RANK {
            return Err(Error::Shape { operation, what: "number of an array's extents", expected: L::RANK, got: R });
        }
        if source.element() != T::ELEMENT {
            let (expected, got) = (source.element().name(), T::ELEMENT.name());
            return Err(Error::ElementType { operation, expected, got });
        }
        let Extents { rows, columns } = source.extents();
        let (expected, got) = (rows * columns, extents.iter().fold(1usize, |n, extent| n.saturating_mul(*extent)));
        if expected != got {
            return Err(Error::Shape { operation, what: "elements of an array's extents", expected, got });
        }
        Ok(Array { source, extents: extents.into(), of: PhantomData })
    }

    /// The sizes, in `L`'s order.
    pub fn extents(&self) -> &[usize] {
        &self.extents
    }
}

impl<T, L: Dims> fmt::Debug for Array<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = L::NAMES.iter().zip(&self.extents).map(|(name, n)| format!("{name}: {n}")).collect();
        write!(f, "Array of {} ({})", self.source.element().name(), sizes.join(", "))
    }
}

/// An operand as an evaluation sees it.
#[derive(Clone)]
pub struct Operand<'a> {
    pub(super) source: Held<'a>,
    pub(super) dims: Arc<[DimId]>,
    pub(super) extents: Vec<usize>,
}

/// Where an operand is read from.
#[derive(Clone)]
pub(super) enum Held<'a> {
    There(&'a dyn Source),
    Here(Arc<dyn Source + 'a>),
}

impl Held<'_> {
    pub(super) fn source(&self) -> &dyn Source {
        match self {
            Held::There(source) => *source,
            Held::Here(source) => &**source,
        }
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Operand of {} {:?}", self.source.source().element().name(), self.extents)
    }
}

/// What can be streamed to an operand `E` of a fused expression: a reference to an array with the same elements and dimensions, in any order,
/// or a number for an operand without dimensions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be streamed to the operand `{E}`",
    label = "the elements or the dimensions differ",
    note = "an operand `In<T, (dims)>` takes `&Array<T, L>` where `L` names the same dimensions in any order"
)]
pub trait Streams<'a, E> {
    /// The operand.
    fn operand(self) -> Operand<'a>;
}

impl<'a, T: Stored, L: Dims> Streams<'a, Expr<T, L::Set>> for &'a Array<'a, T, L> {
    fn operand(self) -> Operand<'a> {
        Operand { source: Held::There(self.source), dims: L::IDS.into(), extents: self.extents.clone() }
    }
}

/// One value as a matrix.
struct Number<T>(T);

impl<T: Stored> Source for Number<T> {
    fn extents(&self) -> Extents {
        Extents::new(1, 1)
    }

    fn element(&self) -> Element {
        T::ELEMENT
    }

    fn read_tile(&self, tile: &Tile, out: &mut [u8]) -> Result<(), Error> {
        let (expected, got) = (tile.extents().byte_count(T::ELEMENT)?, out.len());
        if expected != got {
            return Err(Error::Shape { operation: "read", what: "bytes of the buffer for the tile", expected, got });
        }
        out.copy_from_slice(&T::bytes(std::slice::from_ref(&self.0))[..got]);
        Ok(())
    }
}

macro_rules! numbers {
    ($($t:ty),*) => { $(impl<'a> Streams<'a, Expr<$t, ()>> for $t {
        fn operand(self) -> Operand<'a> {
            Operand { source: Held::Here(Arc::new(Number(self))), dims: [].into(), extents: Vec::new() }
        }
    })* };
}
numbers!(bool, u8, i8, u16, i16, u32, i32, u64, i64, half::f16, half::bf16, f32, f64);

/// A tuple of what is streamed to the operands `A` of a fused expression, in their order.
pub trait Operands<'a, A> {
    /// The operands.
    fn list(self) -> Vec<Operand<'a>>;
}

macro_rules! tuples {
    ($($P:ident $T:ident $S:ident $i:tt),*) => {
        impl<'a, $($P: Streams<'a, Expr<$T, $S>>, $T, $S),*> Operands<'a, ($(Expr<$T, $S>,)*)> for ($($P,)*) {
            fn list(self) -> Vec<Operand<'a>> {
                vec![$(self.$i.operand()),*]
            }
        }
    };
}
tuples!();
tuples!(A TA SA 0);
tuples!(A TA SA 0, B TB SB 1);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2, D TD SD 3);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2, D TD SD 3, E TE SE 4);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2, D TD SD 3, E TE SE 4, F TF SF 5);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2, D TD SD 3, E TE SE 4, F TF SF 5, G TG SG 6);
tuples!(A TA SA 0, B TB SB 1, C TC SC 2, D TD SD 3, E TE SE 4, F TF SF 5, G TG SG 6, H TH SH 7);
