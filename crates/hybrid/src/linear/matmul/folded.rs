use super::Product;
use crate::linear::Scalar;
use crate::{Error, MatRef, matrix::Dense};

/// Operands whose scales are part of `alpha`, or of copies.
pub(crate) struct Folded<T> {
    pub(crate) alpha: T,
    a: Option<Dense<T>>,
    b: Option<Dense<T>>,
}

/// Takes the scales of both operands into `alpha` where the product of all three is as good there as in each element; elsewhere (scales
/// that are 0, not finite, or whose product leaves the range) into copies of the operands.
pub(crate) fn fold<T: Scalar>(alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Folded<T>, Error> {
    let harmless = |x: T| {
        // The eighth root of the range of the type: products of three such numbers and of elements do not leave it sooner.
        let bound = if T::EPSILON > 1e-10 { 1e4 } else { 1e38 };
        (1.0 / bound..=bound).contains(&x.modulus())
    };
    if [a, b].iter().all(|operand| operand.scale() == T::ONE || harmless(operand.scale())) {
        return Ok(Folded { alpha: alpha.times(a.scale()).times(b.scale()), a: None, b: None });
    }
    let copy = |operand: MatRef<'_, T>| match operand.scale() == T::ONE {
        true => Ok(None),
        false => operand.to_dense().map(Some),
    };
    Ok(Folded { alpha, a: copy(a)?, b: copy(b)? })
}

impl<T: Scalar> Folded<T> {
    /// What stands for `a` now, without a scale.
    pub(crate) fn a<'a>(&'a self, a: MatRef<'a, T>) -> MatRef<'a, T> {
        self.a.as_ref().map_or(a.unscaled(), Dense::view)
    }

    /// What stands for `b` now, without a scale.
    pub(crate) fn b<'a>(&'a self, b: MatRef<'a, T>) -> MatRef<'a, T> {
        self.b.as_ref().map_or(b.unscaled(), Dense::view)
    }
}

/// In the type's own arithmetic, by faer.
pub(super) fn multiply<T: Scalar + super::Multiply<Factor = T>>(mut product: Product<'_, T>) -> Result<(), Error> {
    let folded = fold(product.alpha, product.a, product.b)?;
    let (a, b) = (folded.a(product.a), folded.b(product.b));
    let added = product.beta != T::ZERO;
    if added {
        product.scale_c();
    }
    T::multiply(
        product.c.elements(),
        added,
        folded.alpha,
        (a.elements(), a.is_conjugated()),
        (b.elements(), b.is_conjugated()),
    );
    Ok(())
}
