//! Norms of matrices, in f64 whatever the element type.

use super::{Given, Place, Scalar, svd};
use crate::kernel::is_of_compiler;
use crate::{Error, MatRef};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Which norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Norm {
    /// The largest sum of absolute values in a column.
    One,
    /// The largest sum of absolute values in a row.
    Infinity,
    /// The root of the sum of squares, without overflow on the way.
    Frobenius,
    /// The largest absolute value.
    Max,
    /// The largest singular value.
    Spectral,
    /// The sum of the singular values.
    Nuclear,
}

/// A norm of a matrix: 0 of one without elements, NaN where an element is. Those of singular values are computed at `place`, the others on
/// the CPU, where the matrix lies; of one on a GPU [`Device::norm`](crate::Device::norm) has them computed there.
pub fn norm<T: Scalar>(place: &Place, kind: Norm, a: MatRef<'_, T>) -> Result<f64, Error> {
    norm_of(place, kind, Given::Host(a))
}

/// The same, wherever the matrix lies.
pub(crate) fn norm_of<T: Scalar>(place: &Place, kind: Norm, a: Given<'_, T>) -> Result<f64, Error> {
    if let Norm::Spectral | Norm::Nuclear = kind {
        let values = svd::values_of(place, a)?.into_iter().map(|value| value.modulus());
        return Ok(if kind == Norm::Nuclear { values.sum() } else { values.fold(0.0, f64::max) });
    }
    match a {
        Given::Host(a) => Ok(of_elements(kind, a)),
        Given::Gpu(a) => match place {
            Place::Cpu => Ok(of_elements(kind, a.download_dense()?.view())),
            Place::Gpu(_) => a.norm(kind),
        },
    }
}

fn of_elements<T: Scalar>(kind: Norm, a: MatRef<'_, T>) -> f64 {
    match kind {
        Norm::One => one(a),
        Norm::Infinity => infinity(a),
        Norm::Frobenius => frobenius(a),
        Norm::Max | Norm::Spectral | Norm::Nuclear => {
            let mut most = 0.0;
            a.each(|_, value| most = larger(most, value.modulus()));
            most
        }
    }
}

/// The largest sum of absolute values in a column, where the matrix lies: of one on a GPU whose kernel no compiler makes, and where it finds no number, in parts
/// on the host.
pub(super) fn one_of<T: Scalar>(a: Given<'_, T>) -> Result<f64, Error> {
    let there = match a {
        Given::Host(a) => return Ok(one(a)),
        Given::Gpu(there) => there,
    };
    match there.norm(Norm::One) {
        Ok(norm) if norm.is_nan() => {}
        Err(Error::Driver(error)) if is_of_compiler(&error) => {
            tracing::debug!(%error, "no kernel finds the norm of a matrix on the GPU, which comes to the host in parts");
        }
        found => return found,
    }
    let mut norms = Vec::new();
    there.each_part(|_, part| {
        norms.push(one(part.view()));
        Ok(())
    })?;
    Ok(largest(norms))
}

/// The largest sum of absolute values in a column.
pub(super) fn one<T: Scalar>(a: MatRef<'_, T>) -> f64 {
    let of = |part: MatRef<'_, T>| {
        let mut sums = vec![0.0; part.columns()];
        part.each_at(|_, column, value| sums[column] += value.modulus());
        largest(sums)
    };
    match a.bands() {
        None => of(a),
        Some(bands) => largest(bands.collect::<Vec<_>>().into_par_iter().map(of).collect::<Vec<_>>()),
    }
}

/// The largest sum of absolute values in a row.
pub(super) fn infinity<T: Scalar>(a: MatRef<'_, T>) -> f64 {
    one(a.t())
}

/// The largest of absolute values; NaN where one is, 0 where there are none.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, larger)
}

fn larger(one: f64, other: f64) -> f64 {
    if other > one || other.is_nan() { other } else { one }
}

/// Squares are of numbers divided by the largest.
fn frobenius<T: Scalar>(a: MatRef<'_, T>) -> f64 {
    let mut scale = 0.0;
    a.each(|_, value| scale = larger(scale, value.modulus()));
    if scale == 0.0 || !scale.is_finite() {
        return scale;
    }
    let mut squares = 0.0;
    a.each(|_, value| squares += (value.modulus() / scale).powi(2));
    scale * squares.sqrt()
}
