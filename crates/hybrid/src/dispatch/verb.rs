//! What the operations of linear algebra ask of a machine.
//!
//! Operations are counted as in LAPACK Working Note 41 (Blackford and Dongarra, Installation Guide for LAPACK, appendix C), without the terms
//! of lower order; iterations, whose number depends on the matrix, as in Golub and Van Loan, Matrix Computations, 4th edition (figure 8.6.1
//! for singular values, 7.5.6 for eigenvalues).

use super::job::{matrix_bytes, real_operations};
use super::{At, Divisible, Job, Operand, Unit};
use crate::linear::refused_qr;
use crate::matrix::{Columns, Element, Shape};
use crate::{Error, Side};

/// An operation of [`linear`](crate::linear) on a matrix, and on right-hand sides where it solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// LU factors, which stay where they are computed, or in host memory if they are streamed.
    Lu,
    /// x with `a x = b`.
    Solve,
    /// The same by factors of the smaller type.
    SolveRefined,
    /// The inverse.
    Inverse,
    /// The determinant, or its logarithm.
    Determinant,
    /// An estimate of the condition.
    Condition,
    /// Cholesky's factor, which stays where it is computed, or in host memory if it is streamed.
    Cholesky,
    /// QR factors, which stay where they are computed.
    Qr,
    /// Q of QR factors.
    Orthogonal,
    /// Least squares by QR.
    LeastSquares,
    /// Eigenvalues and vectors of a Hermitian matrix.
    EigenHermitian,
    /// Its eigenvalues alone.
    EigenvaluesHermitian,
    /// Eigenvalues and vectors of any square matrix.
    Eigen,
    /// Its eigenvalues alone.
    Eigenvalues,
    /// Singular values and vectors.
    Svd,
    /// Singular values alone.
    SingularValues,
}

/// Of a matrix with `long` and `short` sides and `right` columns beside it, in elements and in operations on real numbers.
struct Work {
    flops: f64,
    /// Elements that pass through memory for products with vectors.
    swept: f64,
    /// Columns one after the other.
    steps: f64,
    /// Elements in the memory of a GPU.
    device: f64,
    /// Elements of the result.
    written: f64,
}

/// Residuals for which the matrix goes to a GPU anew, roughly.
const CORRECTIONS: f64 = 4.0;
/// Solutions for an estimate of the condition, roughly.
const SOLUTIONS: f64 = 6.0;

impl Verb {
    /// As messages and decisions call it.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Lu => "lu",
            Verb::Solve => "solve",
            Verb::SolveRefined => "solve_refined",
            Verb::Inverse => "inverse",
            Verb::Determinant => "determinant",
            Verb::Condition => "reciprocal_condition",
            Verb::Cholesky => "cholesky",
            Verb::Qr => "qr",
            Verb::Orthogonal => "q",
            Verb::LeastSquares => "least_squares",
            Verb::EigenHermitian => "eigen_hermitian",
            Verb::EigenvaluesHermitian => "eigenvalues_hermitian",
            Verb::Eigen => "eigen",
            Verb::Eigenvalues => "eigenvalues",
            Verb::Svd => "svd",
            Verb::SingularValues => "singular_values",
        }
    }

    fn work(self, Shape { rows, columns }: Shape, Columns(right): Columns) -> Work {
        let (m, n, r) = (rows.0 as f64, columns.0 as f64, right as f64);
        let (l, s) = (m.max(n), m.min(n));
        let cube = s * s * s;
        let lu = Work { flops: l * s * s - cube / 3.0, swept: 0.0, steps: s, device: m * n + s, written: s };
        let qr = Work { flops: 2.0 * lu.flops, ..lu };
        // One half of a reduction to a band are products with vectors: of a symmetric matrix, whose elements serve twice, ...
        let symmetric =
            Work { flops: cube * 2.0 / 3.0, swept: cube / 6.0, steps: 2.0 * s, device: m * n + s, written: s };
        // ... and of a general one, from both sides.
        let band = l * s * s - cube / 3.0;
        let two_sided = Work { flops: 2.0 * band, swept: band, steps: 2.0 * s, device: m * n + l + s, written: s };
        match self {
            Verb::Lu => lu,
            Verb::Solve => Work { flops: lu.flops + 2.0 * m * n * r, device: m * n + m * r + s, written: n * r, ..lu },
            // Factors have half the bytes.
            Verb::SolveRefined => {
                let flops = lu.flops + 2.0 * (2.0 * CORRECTIONS + 1.0) * m * n * r;
                Work { flops, device: 1.5 * m * n + 2.0 * m * r + s, written: n * r, ..lu }
            }
            // The factors are solved for the columns of the identity.
            Verb::Inverse => Work { flops: lu.flops + 2.0 * cube, device: 2.0 * m * n + s, written: m * n, ..lu },
            Verb::Determinant => Work { written: 1.0, ..lu },
            Verb::Condition => Work { swept: SOLUTIONS * m * n, written: 1.0, ..lu },
            Verb::Cholesky => Work { flops: cube / 3.0, ..lu },
            Verb::Qr => qr,
            // As many operations once more.
            Verb::Orthogonal => Work { flops: 2.0 * qr.flops, device: 2.0 * m * n + s, written: m * s, ..qr },
            // R, reflections once more, and right-hand sides; Q is applied and R solved for.
            Verb::LeastSquares => {
                let flops = qr.flops + (4.0 * l * s - s * s) * r;
                Work { flops, device: 2.0 * m * n + m * r + s, written: n * r, ..qr }
            }
            Verb::EigenvaluesHermitian => symmetric,
            // Products of halves that are merged, n^3 and a quarter of it for each level below, and 2 n^3 to go back; workspace of two matrices.
            Verb::EigenHermitian => Work {
                flops: symmetric.flops + cube * (4.0 / 3.0 + 2.0),
                device: 3.0 * m * n + s,
                written: m * n + s,
                ..symmetric
            },
            // A quarter of Hessenberg's reduction and a bit are products with vectors.
            Verb::Eigenvalues => Work {
                flops: 9.0 * cube,
                swept: cube / 2.0,
                steps: 4.0 * s,
                device: 2.0 * m * n + 2.0 * s,
                written: 2.0 * s,
            },
            Verb::Eigen => Work {
                flops: 24.0 * cube,
                swept: cube / 2.0,
                steps: 4.0 * s,
                device: 3.0 * m * n + 2.0 * s,
                written: 2.0 * (m * n + s),
            },
            Verb::SingularValues => two_sided,
            // All of it but the products with vectors.
            Verb::Svd => Work {
                flops: 14.0 * l * s * s + 8.0 * cube - two_sided.flops,
                device: 2.0 * l * s + 2.0 * s * s + s,
                written: l * s + s * s + s,
                ..two_sided
            },
        }
    }
}

impl Job {
    /// An operation of linear algebra on a matrix of `T` in host memory, with so many right-hand sides. Refuses what an address cannot count.
    pub fn verb<T: Element>(verb: Verb, shape: Shape, right: Columns) -> Result<Job, Error> {
        let (rows, columns, size) = (shape.rows.0, shape.columns.0, size_of::<T>());
        let host = |bytes| Operand { bytes, at: At::Pageable };
        let a = host(matrix_bytes(rows, columns, size)?);
        let b = host(matrix_bytes(rows, right.0, size)?);
        let work = verb.work(shape, right);
        let bytes = |elements: f64| (elements * size as f64) as u64;
        let again = host(a.bytes.saturating_mul(CORRECTIONS as u64));
        let read = [Some(a), (right.0 > 0).then_some(b), (verb == Verb::SolveRefined).then_some(again)];
        let flops = real_operations(T::NAME) * work.flops;
        let mut job = Job::of(verb.name(), (T::NAME, unit::<T>(verb)), flops, read, host(bytes(work.written)));
        job.swept = work.swept * size as f64;
        job.steps = work.steps as u64;
        job.device_bytes = bytes(work.device);
        // In memory any columns are read alike.
        let together = 1;
        let divisible = match verb {
            Verb::Solve => Some(Divisible::Solution { size: rows, columns: right.0, together }),
            Verb::Inverse => Some(Divisible::Solution { size: rows, columns, together }),
            // Determinants and conditions follow from factors in host memory.
            Verb::Lu | Verb::Determinant | Verb::Condition => Some(Divisible::Lu { size: rows, together }),
            Verb::Cholesky => Some(Divisible::Cholesky { size: rows, together }),
            _ => None,
        };
        job.divisible = divisible.filter(|_| rows == columns).map(|what| (what, size));
        if matches!(verb, Verb::Qr | Verb::Orthogonal | Verb::LeastSquares) {
            job.not_on_gpu = refused_qr(shape);
        }
        // Each begins with a copy.
        job.host_bytes = a.bytes.saturating_add(job.written.bytes);
        Ok(job)
    }
}

impl Job {
    /// What follows from factors of a matrix of `T` that are kept on this processor: a verb less the one that factored, whose right-hand sides, if there are any, are
    /// read first. It is not streamed.
    pub(crate) fn by_factors<T: Element>(
        [verb, factored]: [Verb; 2],
        (shape, side): (Shape, Side),
        right: Columns,
    ) -> Result<Job, Error> {
        let (made, whole) = (Job::verb::<T>(factored, shape, right)?, Job::verb::<T>(verb, shape, right)?);
        let [of_a, of_b, _] = whole.read;
        let at = if side == Side::Gpu { At::Gpu } else { At::Pageable };
        let factors = of_a.map(|it| Operand { at, ..it });
        Ok(Job {
            read: if of_b.is_some() { [of_b, factors, None] } else { [factors, None, None] },
            flops: (whole.flops - made.flops).max(0.0),
            // Factors pass through memory once for each equation, which is what binds a few right-hand sides.
            swept: whole.swept.max(factors.map_or(0.0, |it| it.bytes as f64)),
            steps: 0,
            device_bytes: whole.device_bytes.saturating_sub(made.device_bytes),
            divisible: None,
            kept_on: Some(side),
            ..whole
        })
    }
}

/// What a verb computes in: numbers of the element type.
fn unit<T: Element>(verb: Verb) -> Unit {
    match T::NAME {
        "f64" | "c128" if verb != Verb::SolveRefined => Unit::F64,
        _ => Unit::F32,
    }
}
