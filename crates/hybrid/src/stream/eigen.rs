//! The largest eigenvalues of matrices that are larger than a GPU's memory, by products alone.

use super::control::Control;
use super::face::{Budgets, matmul};
use super::matmul::{Factor, Product};
use crate::linear::{Gpu, HermitianEigen, Multiply, Place, Precision, Qr, Scalar, eigen_hermitian, product};
use crate::store::{MemorySink, MemorySource, Sink, Stored};
use crate::{Error, MatRef};
use ndarray::{Array2, Axis, concatenate, s};
use tilewright_driver::blas::Element;

const OPERATION: &str = "the largest eigenvalues";
/// Vectors besides those that are wanted: the gap behind them is what the search goes by.
const SPARE: usize = 8;
/// Blocks of the basis, before it begins anew from the best vectors.
const BLOCKS: usize = 4;

/// When a search for eigenvalues ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenSearch {
    /// Most products with the matrix, each of which reads all of it.
    pub products: usize,
    /// The norm of `a v - value v`, relative to the largest value, that is good enough; `None`: 16 times the square root of the size times the
    /// precision of the element type.
    pub tolerance: Option<f64>,
}

impl Default for EigenSearch {
    fn default() -> Self {
        Self { products: 200, tolerance: None }
    }
}

/// The `count` largest eigenvalues of a Hermitian matrix, smallest first, and their eigenvectors, by block Krylov spaces with restarts: products with
/// the matrix are streamed through the GPU, and what is made of them, matrices of its height and some dozens of columns, is done by the CPU in memory.
/// All of the matrix is read, both triangles.
///
/// This is as far as streaming goes. All eigenvalues are for matrices in the memory of a GPU ([`linear::eigen_hermitian`](crate::linear::eigen_hermitian)):
/// with vectors they take three times the matrix, so that f64 ends at a size of about 78,000 on a GPU of 140 GB. Larger ones would have to be read once for
/// each column that is reduced: at a size of 131,072, a third of `n^3` elements are more than a day of copies.
///
/// Progress is told in products. Errors: [`Error::NotSquare`]; [`Error::Shape`] for more eigenvalues than there are; [`Error::NotConverged`], where
/// the largest ones stand close to the next; those of [`matmul`].
pub fn largest_eigenvalues<T: Scalar + Stored + Multiply<Factor = T> + Element<Coefficient = T, Sum = T>>(
    gpu: &Gpu,
    budgets: &Budgets,
    a: Factor<'_>,
    count: usize,
    search: EigenSearch,
    control: Control<'_>,
) -> Result<HermitianEigen<T>, Error> {
    let [rows, columns] = a.extents();
    if rows != columns {
        return Err(Error::NotSquare { operation: OPERATION, rows, columns });
    }
    let mut done = 0;
    largest(rows, count, search, |block: &Array2<T>| {
        let mut image = Array2::from_elem(block.dim(), T::ZERO);
        let (of_block, sink) = (MemorySource::new(block.view()), MemorySink::new(image.view_mut()));
        let b = Factor::plain(&of_block);
        let image_of_block = Product { a, b, c: None, alpha: T::ONE, beta: T::ZERO };
        let stop = Control { progress: None, ..control };
        matmul(gpu, budgets, Precision::Auto, &image_of_block, &sink, stop)?;
        Box::new(sink).commit()?;
        done += 1;
        control.tell(done, search.products as u64);
        Ok(image)
    })
}

/// Elements that a search keeps at most: as columns of the matrix's height the basis and its images, joined to what is new, the best of them with images and
/// residuals, and what is orthogonalised; and as squares of the basis' width Rayleigh's quotients, their vectors, and a copy of either.
pub(crate) fn elements_of_search(size: usize, count: usize) -> usize {
    let width = count.saturating_add(SPARE).min(size);
    let basis = width.saturating_mul(BLOCKS).min(size);
    let columns = width.saturating_mul(4 * BLOCKS + 2);
    columns.saturating_mul(size).saturating_add(basis.saturating_mul(basis).saturating_mul(4))
}

/// The same, with products by whatever makes them.
pub(crate) fn largest<T: Scalar + Multiply<Factor = T>>(
    size: usize,
    count: usize,
    search: EigenSearch,
    mut multiply: impl FnMut(&Array2<T>) -> Result<Array2<T>, Error>,
) -> Result<HermitianEigen<T>, Error> {
    if count > size {
        let what = "eigenvalues, at most";
        return Err(Error::Shape { operation: OPERATION, what, expected: size, got: count });
    }
    if count == 0 {
        return Ok(HermitianEigen { values: Vec::new(), vectors: Array2::from_elem((size, 0), T::ZERO) });
    }
    let width = (count + SPARE).min(size);
    let most = width.saturating_mul(BLOCKS).min(size);
    let tolerance = search.tolerance.unwrap_or(16.0 * (size as f64).sqrt() * T::EPSILON);
    let mut basis = orthonormal(&Array2::from_elem((size, 0), T::ZERO), start(size, width))?;
    let mut images = Array2::from_elem((size, 0), T::ZERO);
    for _ in 0..search.products {
        let fresh = basis.slice(s![.., images.ncols()..]).to_owned();
        images = joined(&images, &multiply(&fresh)?)?;
        let best = Best::of(&basis, &images, width)?;
        if best.converged(count, tolerance) {
            let from = width - count;
            let vectors = best.vectors.slice(s![.., from..]).to_owned();
            return Ok(HermitianEigen { values: best.values[from..].to_vec(), vectors });
        }
        let more = width.min(size - basis.ncols());
        if basis.ncols() + more > most {
            (basis, images) = (best.vectors, best.images);
        }
        let more = width.min(size - basis.ncols());
        // Those of the values that are wanted come last.
        let residuals = best.residuals.slice(s![.., width - more..]).to_owned();
        let fresh = orthonormal(&basis, residuals)?;
        basis = joined(&basis, &fresh)?;
    }
    Err(Error::NotConverged { operation: OPERATION, iterations: search.products })
}

/// The best that a basis has to offer.
struct Best<T: Scalar> {
    values: Vec<T::Real>,
    vectors: Array2<T>,
    images: Array2<T>,
    residuals: Array2<T>,
    /// The largest absolute value of all.
    largest: f64,
}

impl<T: Scalar + Multiply<Factor = T>> Best<T> {
    /// Of an orthonormal basis and its images, by Rayleigh's quotients (Ritz).
    fn of(basis: &Array2<T>, images: &Array2<T>, width: usize) -> Result<Self, Error> {
        let gram = product(&Place::Cpu, MatRef::from(basis).h(), images.into())?;
        let ritz = eigen_hermitian(&Place::Cpu, (&gram).into())?;
        let from = ritz.values.len() - width;
        let chosen = ritz.vectors.slice(s![.., from..]).to_owned();
        let vectors = product(&Place::Cpu, basis.into(), (&chosen).into())?;
        let images = product(&Place::Cpu, images.into(), (&chosen).into())?;
        let values = ritz.values[from..].to_vec();
        let mut residuals = images.clone();
        for (mut residual, (vector, value)) in
            residuals.columns_mut().into_iter().zip(vectors.columns().into_iter().zip(&values))
        {
            residual.iter_mut().zip(vector).for_each(|(r, v)| *r = T::nearest(r.wide() - v.wide() * value.wide()));
        }
        let largest = ritz.values.iter().map(|value| value.modulus()).fold(0.0, f64::max);
        Ok(Best { values, vectors, images, residuals, largest })
    }

    /// Whether the last `count` are good enough.
    fn converged(&self, count: usize, tolerance: f64) -> bool {
        let last = self.residuals.columns().into_iter().skip(self.values.len() - count);
        let norm = |column: ndarray::ArrayView1<'_, T>| column.iter().map(|x| x.modulus().powi(2)).sum::<f64>().sqrt();
        last.map(norm).all(|norm| norm <= tolerance * self.largest)
    }
}

/// Columns that are orthonormal, and orthogonal to a basis. Small ones become larger on the way, with all that they had of the basis by rounding:
/// so it is done again.
fn orthonormal<T: Scalar + Multiply<Factor = T>>(
    basis: &Array2<T>,
    mut columns: Array2<T>,
) -> Result<Array2<T>, Error> {
    for _ in 0..3 {
        if basis.ncols() > 0 {
            let along = product(&Place::Cpu, MatRef::from(basis).h(), (&columns).into())?;
            let part = product(&Place::Cpu, basis.into(), (&along).into())?;
            columns.zip_mut_with(&part, |x, part| *x = T::nearest(x.wide() - part.wide()));
        }
        columns = Qr::factor(&Place::Cpu, (&columns).into())?.q()?;
    }
    Ok(columns)
}

fn joined<T: Scalar>(left: &Array2<T>, right: &Array2<T>) -> Result<Array2<T>, Error> {
    let misfit = |_| Error::Shape { operation: OPERATION, what: "rows", expected: left.nrows(), got: right.nrows() };
    concatenate(Axis(1), &[left.view(), right.view()]).map_err(misfit)
}

/// Where the search begins: numbers that have nothing to do with any matrix, the same each time.
fn start<T: Scalar>(size: usize, width: usize) -> Array2<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    Array2::from_shape_simple_fn((size, width), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f64((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    fn hermitian<T: Scalar>(size: usize, seed: u64) -> Array2<T> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let any = Array2::from_shape_simple_fn((size, size), || Complex64::new(next(), next()));
        Array2::from_shape_fn((size, size), |(i, j)| T::nearest((any[[i, j]] + any[[j, i]].conj()) / 2.0))
    }

    /// Against all eigenvalues in memory; vectors by what the matrix makes of them.
    fn found<T: Scalar + Multiply<Factor = T>>(a: &Array2<T>, counts: &[usize]) {
        let size = a.nrows();
        let all = crate::linear::eigenvalues_hermitian(&Place::Cpu, a.into()).unwrap();
        let scale = all.iter().map(|value| value.modulus()).fold(0.0, f64::max);
        for count in counts.iter().copied().filter(|count| *count <= size) {
            let multiply = |block: &Array2<T>| product(&Place::Cpu, a.into(), block.into());
            let got = largest(size, count, EigenSearch::default(), multiply).unwrap();
            for (value, expected) in got.values.iter().zip(&all[size - count..]) {
                let off = (value.wide() - expected.wide()).norm();
                assert!(off <= 1000.0 * T::EPSILON * scale, "{} {size} {count}: {off}", T::NAME);
            }
            let image = product(&Place::Cpu, a.into(), (&got.vectors).into()).unwrap();
            for (j, value) in got.values.iter().enumerate() {
                for (x, y) in image.column(j).iter().zip(got.vectors.column(j)) {
                    let off = (x.wide() - y.wide() * value.wide()).norm();
                    assert!(off <= 1000.0 * T::EPSILON * scale.max(1.0), "{} {size} {count}: {off}", T::NAME);
                }
            }
            let gram = product(&Place::Cpu, MatRef::from(&got.vectors).h(), (&got.vectors).into()).unwrap();
            let identity = |i, j| if i == j { 1.0 } else { 0.0 };
            assert!(gram.indexed_iter().all(|((i, j), x)| (x.wide() - identity(i, j)).norm() <= 1000.0 * T::EPSILON));
        }
    }

    #[test]
    fn the_largest_are_those_of_all() {
        for size in [1, 2, 9, 30, 120] {
            found::<f64>(&hermitian(size, 3), &[1, 2, 5, size]);
            found::<Complex64>(&hermitian(size, 4), &[1, 3]);
        }
        // Several times the same, and all the same.
        let twice = Array2::from_shape_fn((60, 60), |(i, j)| if i == j { (i / 20) as f64 } else { 0.0 });
        found::<f64>(&twice, &[1, 5]);
        found::<f64>(&Array2::from_shape_fn((40, 40), |(i, j)| f64::from(u8::from(i == j))), &[3]);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let a = hermitian::<f64>(80, 1);
        let multiply = |block: &Array2<f64>| product(&Place::Cpu, (&a).into(), block.into());
        let error = largest(80, 81, EigenSearch::default(), multiply).unwrap_err();
        assert!(matches!(error, Error::Shape { expected: 80, got: 81, .. }), "{error}");
        let error = largest(80, 3, EigenSearch { products: 2, tolerance: None }, multiply).unwrap_err();
        assert!(matches!(error, Error::NotConverged { iterations: 2, .. }), "{error}");
        assert!(largest(80, 0, EigenSearch::default(), multiply).unwrap().values.is_empty());
        let error =
            largest(80, 1, EigenSearch::default(), |block: &Array2<f64>| Ok(block.mapv(|_| f64::NAN))).unwrap_err();
        assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    }
}
