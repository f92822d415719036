//! Whether a solution is one: its residual, in parts of what rounding explains.

use super::images::{Entry, LANES, image};
use super::matmul::Factor;
use super::verify::{Verify, signs};
use crate::Error;
use crate::linear::Scalar;
use crate::matrix::expect;
use crate::store::{Source, Stored};

const OPERATION: &str = "the check of a solution";

impl Verify {
    /// That x solves `a x = b`: else [`Error::WrongSolution`]. What the largest scaled residual was: `norm(a x - b) / (norm(a) norm(x) n eps)` with
    /// Frobenius' norms, where the columns of x and of `b` are added up with random signs, for each vector. `margin` is allowed; solutions by LU factors with
    /// partial pivoting stay below 1 in our tests. All is read once more for each eight vectors, and `a` once besides, on the host, in bands.
    ///
    /// Where `a` or `b` have NaN or infinities, or norms overflow, nothing is known, and the solution passes.
    ///
    /// Errors besides: [`Error::NotSquare`], [`Error::Shape`] and [`Error::ElementType`] as of solutions; those of sources.
    pub fn check_solution<T: Scalar + Stored>(&self, [a, b]: [Factor<'_>; 2], x: &dyn Source) -> Result<f64, Error> {
        self.check_solution_with::<T>([a, b], x, &|| Ok(()))
    }

    /// The same, while somebody wants it.
    pub(super) fn check_solution_with<T: Scalar + Stored>(
        &self,
        [a, b]: [Factor<'_>; 2],
        x: &dyn Source,
        go_on: &dyn Fn() -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let ([rows, size], [of_b, columns], of_x) = (a.extents(), b.extents(), x.extents());
        if rows != size {
            return Err(Error::NotSquare { operation: OPERATION, rows, columns: size });
        }
        expect(OPERATION, "rows of b", size, of_b)?;
        expect(OPERATION, "rows of x", size, of_x.rows)?;
        expect(OPERATION, "columns of x", columns, of_x.columns)?;
        for element in [a.source.element(), b.source.element(), x.element()] {
            if element != T::ELEMENT {
                let (expected, got) = (element.name(), T::ELEMENT.name());
                return Err(Error::ElementType { operation: OPERATION, expected, got });
            }
        }
        if size == 0 || columns == 0 {
            return Ok(0.0);
        }
        let norm = norm(&image::<T>(&a, &signs(size, self.seed), go_on)?);
        let passes = self.vectors.div_ceil(LANES).max(1) as u64;
        (0..passes).try_fold(0.0, |largest: f64, pass| {
            let signs = signs(columns, self.seed.wrapping_add(pass));
            let of_x = image::<T>(&Factor::plain(x), &signs, go_on)?;
            let scale = Scale { norm, of_x: self::norm(&of_x), size: size as f64 }.of::<T>();
            let residual = residual(&image::<T>(&a, &of_x, go_on)?, &image::<T>(&b, &signs, go_on)?);
            match residual.map(|residual| residual / scale) {
                // Of what is no number nothing is known.
                None => Ok(largest),
                Some(_) if !norm.is_finite() => Ok(largest),
                Some(residual) if residual <= self.margin => Ok(largest.max(residual)),
                Some(residual) => Err(Error::WrongSolution { residual, allowed: self.margin, size }),
            }
        })
    }
}

/// What a residual is measured in.
struct Scale {
    norm: f64,
    of_x: f64,
    size: f64,
}

impl Scale {
    /// With what vanishes below the smallest normal number.
    fn of<T: Scalar>(&self) -> f64 {
        let smallest = if T::EPSILON == f64::EPSILON { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
        self.size * (self.norm * self.of_x * T::EPSILON + smallest * (1.0 + self.norm))
    }
}

/// The norm of a matrix by its rows times vectors of signs.
fn norm(rows: &[Entry]) -> f64 {
    rows.iter().map(|row| row.square).sum::<f64>().sqrt()
}

/// The largest norm of the difference of two vectors, of those of which the second is a number; nothing where none is.
fn residual(is: &[Entry], should: &[Entry]) -> Option<f64> {
    let of_lane = |lane: usize| {
        let mut sum = 0.0;
        for (is, should) in is.iter().zip(should) {
            let parts = [should.re[lane], should.im[lane]];
            if parts.iter().any(|part| !part.is_finite()) {
                return None;
            }
            sum += (is.re[lane] - parts[0]).powi(2) + (is.im[lane] - parts[1]).powi(2);
        }
        Some(f64::sqrt(sum))
    };
    // What is no number stays none.
    (0..LANES).filter_map(of_lane).reduce(|largest, it| if it <= largest { largest } else { it })
}
