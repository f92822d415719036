//! Products of i8.

use tilewright_driver::blas::{Compute, Layout, Matrix, MatrixMut, Operation};

use super::Gpu;
use crate::dispatch;
use crate::linear::matmul::IntegerProduct;
use crate::{Error, MatRef};

/// Extents are padded to multiples of this, so that tensor cores take every size.
const UNIT: usize = 16;

/// Extents as a GPU has them. Those that an address cannot count stay as they are.
pub(crate) fn padded<const N: usize>(extents: [usize; N]) -> [usize; N] {
    extents.map(|extent| extent.checked_next_multiple_of(UNIT).unwrap_or(extent))
}

/// i8 into i32, where no sum can overflow.
pub(crate) fn multiply_integers(gpu: &Gpu, product: &mut IntegerProduct<'_, i8>) -> Result<(), Error> {
    if !product.fits_always() {
        let why =
            format!("{} products may overflow an i32, which cuBLAS does not tell; use the CPU", product.a.columns());
        return Err(Error::Unsupported { operation: "matmul_integer", element: "i8", place: "GPU", why });
    }
    let (rows, depth, columns) = (product.a.rows(), product.a.columns(), product.b.columns());
    if depth == 0 {
        product.c.elements().fill(|_| 0);
        return Ok(());
    }
    let [m, k, n] = padded([rows, depth, columns]);
    let too_large = || product.c.shape().too_large::<i32>();
    let length = |one: usize, other: usize| one.checked_mul(other).ok_or_else(too_large);
    let (stream, blas) = (gpu.stream(), gpu.blas()?);
    let a = stream.upload(&with_zeros(product.a.t(), k, length(k, m)?))?;
    let b = stream.upload(&with_zeros(product.b, k, length(k, n)?))?;
    let mut c = stream.alloc::<i32>(length(m, n)?)?;
    blas.gemm(
        Compute::Own,
        1,
        (Operation::Transposed, Matrix::new(&a, Layout::dense(k, m))?),
        (Operation::Plain, Matrix::new(&b, Layout::dense(k, n))?),
        0,
        MatrixMut::new(&mut c, Layout::dense(m, n))?,
    )?;
    dispatch::to_gpu(a.len() + b.len());
    dispatch::to_host(c.len() * size_of::<i32>());
    let sums = c.to_vec()?;
    product.c.elements().fill(|index| sums[index / rows * m + index % rows]);
    Ok(())
}

/// Columns of a matrix, each followed by zeros up to `leading`, and columns of zeros.
fn with_zeros(matrix: MatRef<'_, i8>, leading: usize, length: usize) -> Vec<i8> {
    let (rows, mut values) = (matrix.rows(), vec![0; length]);
    matrix.each(|index, value| values[index / rows * leading + index % rows] = value);
    values
}
