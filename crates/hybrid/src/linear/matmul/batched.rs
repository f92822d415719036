use rayon::prelude::*;

use super::{Multiply, Product, check_shapes};
use crate::linear::{Place, Precision};
use crate::matrix::{Element, expect};
use crate::{Error, MatMut, MatRef};

/// Below so many multiplications a product is the business of one core, and several products are done at once.
const SMALL: usize = 96 * 96 * 96;

/// `c[i] = alpha * a[i] * b[i] + beta * c[i]` for all i, all products of one size.
///
/// Operands that do not vary are given again and again. Everything else is as for [`matmul`](super::matmul); that different `c` are apart
/// follows from their borrows.
pub fn matmul_batched<T: Multiply>(
    place: &Place,
    precision: Precision,
    alpha: T::Factor,
    a: &[MatRef<'_, T>],
    b: &[MatRef<'_, T>],
    beta: T::Factor,
    c: &mut [MatMut<'_, T>],
) -> Result<(), Error> {
    let operation = "matmul_batched";
    let arithmetic = precision.arithmetic::<T>(operation)?;
    check_batch(operation, a, b, c)?;
    let mut products: Vec<_> = a
        .iter()
        .zip(b)
        .zip(c)
        .map(|((a, b), c)| Product { arithmetic, alpha, a: *a, b: *b, beta, c: c.reborrow() })
        .collect();
    if products.iter().any(Product::is_only_c) {
        products.iter_mut().for_each(Product::scale_c);
        return Ok(());
    }
    match place {
        Place::Cpu => on_cpu(products),
        Place::Gpu(gpu) => T::multiply_batch_on_gpu(gpu, products),
    }
}

/// That there are as many of each, all of one size, and that no result is an operand of its own.
pub(crate) fn check_batch<T: Element>(
    operation: &'static str,
    a: &[MatRef<'_, T>],
    b: &[MatRef<'_, T>],
    c: &[MatMut<'_, T>],
) -> Result<(), Error> {
    expect(operation, "matrices of b", a.len(), b.len())?;
    expect(operation, "matrices of c", a.len(), c.len())?;
    let (Some(first_a), Some(first_b)) = (a.first(), b.first()) else { return Ok(()) };
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        expect(operation, "rows of a", first_a.rows(), a.rows())?;
        expect(operation, "columns of a", first_a.columns(), a.columns())?;
        expect(operation, "columns of b", first_b.columns(), b.columns())?;
        check_shapes(operation, a.shape(), b.shape(), c.shape())?;
        c.refuse_overlap(operation, "a", *a)?;
        c.refuse_overlap(operation, "b", *b)?;
    }
    Ok(())
}

fn on_cpu<T: Multiply>(products: Vec<Product<'_, T>>) -> Result<(), Error> {
    let work = |product: &Product<'_, T>| {
        let (rows, depth, columns) = (product.a.rows(), product.a.columns(), product.b.columns());
        rows.saturating_mul(depth).saturating_mul(columns)
    };
    if products.first().is_some_and(|product| work(product) < SMALL) {
        return products.into_par_iter().try_for_each(T::multiply_on_cpu);
    }
    products.into_iter().try_for_each(T::multiply_on_cpu)
}
