use super::{Multiply, Product};
use crate::linear::Scalar;
use crate::{Columns, Error, Rows, matrix::Dense, matrix::Element};

/// Depth of the panels of both operands that are there in the larger type at a time.
const PANEL: usize = 512;

/// Factors become numbers of a larger type `W`, in which products are added; the result is rounded once, with `alpha` and `beta` applied
/// before. The result takes memory in that type, and so do panels of the operands.
pub(super) fn multiply<T: Multiply, W: Scalar>(
    mut product: Product<'_, T>,
    widen: fn(T) -> W,
    narrow: fn(W) -> T,
    factor: fn(T::Factor) -> W,
) -> Result<(), Error> {
    let (a, b) = (product.a, product.b);
    let mut sum = Dense::<W>::zeros(product.c.shape())?;
    for start in (0..a.columns()).step_by(PANEL) {
        let end = a.columns().min(start + PANEL);
        let left = widened(a.part(Rows(0)..Rows(a.rows()), Columns(start)..Columns(end))?, widen)?;
        let right = widened(b.part(Rows(start)..Rows(end), Columns(0)..Columns(b.columns()))?, widen)?;
        let (left, right) = (left.view().elements(), right.view().elements());
        W::multiply(sum.view_mut().elements(), start > 0, W::ONE, (left, false), (right, false));
    }
    let (sum, alpha, beta) = (sum.values(), factor(product.alpha), factor(product.beta));
    let elements = product.c.elements();
    if beta == W::ZERO {
        elements.fill(|index| narrow(alpha.times(sum[index])));
    } else {
        elements
            .update(|index, old| narrow(W::nearest(alpha.times(sum[index]).wide() + beta.times(widen(old)).wide())));
    }
    Ok(())
}

fn widened<T: Element, W: Element>(part: crate::MatRef<'_, T>, widen: fn(T) -> W) -> Result<Dense<W>, Error> {
    let mut dense = Dense::zeros(part.shape())?;
    let values = dense.values_mut();
    // The scale too is applied in the larger type.
    let scale = widen(part.scale());
    let conjugated = part.is_conjugated();
    part.elements().each(|index, stored| {
        let value = widen(if conjugated { stored.conjugate() } else { stored });
        values[index] = if scale == W::ONE { value } else { scale.times(value) };
    });
    Ok(dense)
}
