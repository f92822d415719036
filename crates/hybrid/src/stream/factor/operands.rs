//! What fits together, and what does not.

use super::super::matmul::Factor;
use crate::Error;
use crate::store::{Element, Extents, Scratch, Sink, Stored};

/// The side of a matrix that is to be factored into a scratch. [`Error::NotSquare`], [`Error::Shape`] for a scratch of another size,
/// [`Error::ElementType`].
pub(super) fn square<T: Stored>(
    operation: &'static str,
    a: &Factor<'_>,
    scratch: &dyn Scratch,
) -> Result<usize, Error> {
    let [rows, columns] = a.extents();
    if rows != columns {
        return Err(Error::NotSquare { operation, rows, columns });
    }
    let (what_rows, what_columns) = ("rows of the scratch", "columns of the scratch");
    same(operation, (what_rows, what_columns), Extents::new(rows, columns), scratch.extents())?;
    elements::<T>(operation, [a.source.element(), scratch.element()])?;
    Ok(rows)
}

/// The columns of a solution by factors of this size. [`Error::Shape`], [`Error::ElementType`].
pub(super) fn solution<T: Stored>(size: usize, b: &Factor<'_>, sink: &dyn Sink) -> Result<usize, Error> {
    let operation = "solve";
    let [rows, columns] = b.extents();
    same(operation, ("rows of b", ""), Extents::new(size, columns), Extents::new(rows, columns))?;
    same(operation, ("rows of the solution", "columns of the solution"), Extents::new(size, columns), sink.extents())?;
    elements::<T>(operation, [b.source.element(), sink.element()])?;
    Ok(columns)
}

fn same(
    operation: &'static str,
    (rows, columns): (&'static str, &'static str),
    expected: Extents,
    got: Extents,
) -> Result<(), Error> {
    let extents = [(rows, expected.rows, got.rows), (columns, expected.columns, got.columns)];
    extents.into_iter().try_for_each(|(what, expected, got)| crate::matrix::expect(operation, what, expected, got))
}

fn elements<T: Stored>(operation: &'static str, elements: [Element; 2]) -> Result<(), Error> {
    let (got, other) = (T::ELEMENT.name(), |element: &Element| *element != T::ELEMENT);
    elements.iter().find(|element| other(element)).map_or(Ok(()), |element| {
        let expected = element.name();
        Err(Error::ElementType { operation, expected, got })
    })
}
