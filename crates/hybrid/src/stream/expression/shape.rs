//! How an array over dimensions lies in the matrix of a store.

use crate::Error;
use crate::store::{Element, Extents, Tile};
use std::ops::Range;
use tilewright_expr::DType;
use tilewright_expr::bind::{Axis, dense};
use tilewright_expr::graph::DimId;

/// An array whose elements, the last dimension fastest, are those of a matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    dims: Vec<DimId>,
    extents: Vec<usize>,
    matrix: Extents,
    element: Element,
}

impl Shape {
    /// [`Error::Shape`] where the matrix has more or fewer elements, [`Error::ElementType`] where they are of another type.
    pub(super) fn new(
        what: &'static str,
        (dims, extents): (&[DimId], Vec<usize>),
        dtype: DType,
        (matrix, element): (Extents, Element),
    ) -> Result<Shape, Error> {
        let operation = "a streamed expression";
        if stored(dtype) != element {
            return Err(Error::ElementType { operation, expected: element.name(), got: dtype.name() });
        }
        let expected = extents.iter().fold(1usize, |n, extent| n.saturating_mul(*extent));
        let got = matrix.byte_count(element)? / element.bytes();
        if expected != got {
            return Err(Error::Shape { operation, what, expected, got });
        }
        Ok(Shape { dims: dims.into(), extents, matrix, element })
    }

    /// Its dimensions, outermost first.
    pub(super) fn dims(&self) -> &[DimId] {
        &self.dims
    }

    /// The same under other dimensions.
    pub(super) fn renamed(&self, to: impl Fn(DimId) -> DimId) -> Shape {
        let dims = self.dims.iter().map(|dim| to(*dim)).collect();
        Shape { dims, extents: self.extents.clone(), ..*self }
    }

    /// Its lengths, in the order of its dimensions.
    pub(super) fn extents(&self) -> &[usize] {
        &self.extents
    }

    /// The type of its elements.
    pub(super) fn element(&self) -> Element {
        self.element
    }

    /// The length along a dimension.
    pub(super) fn extent(&self, dim: DimId) -> Option<usize> {
        self.axis(dim).map(|axis| self.extents[axis])
    }

    /// Bytes of all of it.
    pub(super) fn bytes(&self) -> usize {
        self.extents.iter().product::<usize>() * self.element.bytes()
    }

    /// Bytes of one index along a dimension.
    pub(super) fn bytes_along(&self, dim: DimId) -> usize {
        let others = self.dims.iter().zip(&self.extents).filter(|(d, _)| **d != dim);
        others.map(|(_, extent)| extent).product::<usize>() * self.element.bytes()
    }

    /// Bytes of an element.
    pub(super) fn element_bytes(&self) -> usize {
        self.element.bytes()
    }

    /// All of it in memory without gaps.
    pub(super) fn axes(&self) -> Vec<Axis> {
        dense(&self.dims, &self.extents.iter().map(|extent| *extent as i64).collect::<Vec<_>>())
    }

    /// So many indices along a dimension in memory without gaps.
    pub(super) fn axes_of(&self, dim: DimId, indices: usize) -> Vec<Axis> {
        let extent = |(d, extent): (&DimId, &usize)| if *d == dim { indices as i64 } else { *extent as i64 };
        dense(&self.dims, &self.dims.iter().zip(&self.extents).map(extent).collect::<Vec<_>>())
    }

    /// The whole matrix.
    pub(super) fn whole(&self) -> Tile {
        self.matrix.whole()
    }

    /// The tile that is these indices along a dimension, in the order in which memory has them; `None` where they are no tile.
    pub(super) fn tile(&self, dim: DimId, indices: Range<usize>) -> Option<Tile> {
        let axis = self.axis(dim)?;
        let Extents { rows, columns } = self.matrix;
        if rows * columns == 0 {
            return Some(Tile { rows: 0..0, columns: 0..0 });
        }
        let inner: usize = self.extents[axis + 1..].iter().product();
        let times = |by: usize| indices.start * by..indices.end * by;
        if self.is_outermost(dim) && inner.is_multiple_of(columns) {
            Some(Tile { rows: times(inner / columns), columns: 0..columns })
        } else if inner * self.extents[axis] == columns {
            Some(Tile { rows: 0..rows, columns: times(inner) })
        } else {
            None
        }
    }

    /// Whether nothing stands outside of a dimension, so that its indices follow one another in memory.
    pub(super) fn is_outermost(&self, dim: DimId) -> bool {
        self.axis(dim).is_some_and(|axis| self.extents[..axis].iter().all(|extent| *extent == 1))
    }

    fn axis(&self, dim: DimId) -> Option<usize> {
        self.dims.iter().position(|d| *d == dim)
    }
}

/// The elements of a store that are values of a type.
pub(super) fn stored(dtype: DType) -> Element {
    match dtype {
        DType::Bool => Element::Bool,
        DType::U8 => Element::U8,
        DType::I8 => Element::I8,
        DType::U16 => Element::U16,
        DType::I16 => Element::I16,
        DType::U32 => Element::U32,
        DType::I32 => Element::I32,
        DType::U64 => Element::U64,
        DType::I64 => Element::I64,
        DType::F16 => Element::F16,
        DType::BF16 => Element::Bf16,
        DType::F32 => Element::F32,
        DType::F64 => Element::F64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: DimId = 1;
    const B: DimId = 2;
    const C: DimId = 3;

    fn shape(extents: [usize; 3], matrix: [usize; 2]) -> Shape {
        let matrix = Extents::new(matrix[0], matrix[1]);
        Shape::new("elements", (&[A, B, C], extents.into()), DType::F32, (matrix, Element::F32)).unwrap()
    }

    /// Every tile has the elements of the indices, and no others.
    #[test]
    fn tiles_are_what_the_indices_are() {
        for (extents, matrix) in
            [([4, 3, 5], [12, 5]), ([4, 3, 5], [4, 15]), ([1, 6, 5], [6, 5]), ([4, 3, 5], [1, 60]), ([1, 1, 7], [1, 7])]
        {
            let shape = shape(extents, matrix);
            for (axis, dim) in [A, B, C].into_iter().enumerate() {
                let indices = extents[axis] / 3..extents[axis].div_ceil(2);
                let Some(tile) = shape.tile(dim, indices.clone()) else { continue };
                let index = |flat: usize| flat / extents[axis + 1..].iter().product::<usize>() % extents[axis];
                let expected: Vec<usize> =
                    (0..extents.iter().product()).filter(|flat| indices.contains(&index(*flat))).collect();
                let got: Vec<usize> = tile
                    .rows
                    .flat_map(|row| tile.columns.clone().map(move |column| row * matrix[1] + column))
                    .collect();
                assert_eq!(got, expected, "{extents:?} as {matrix:?} along {dim}");
            }
        }
        assert!(shape([4, 3, 5], [12, 5]).tile(A, 1..2).is_some());
        assert!(shape([4, 3, 5], [12, 5]).tile(C, 1..2).is_some());
        assert!(shape([4, 3, 5], [12, 5]).tile(B, 1..2).is_none());
    }
}
