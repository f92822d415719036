//! The CPU as a device, for which nothing is queued. Reading and writing go on while it computes.

use super::super::engine::{Divisor, Eliminator, Engine, Form, Pivoted, Queue};
use crate::linear::{Scalar, Triangle};
use crate::matrix::Dense;
use crate::{Error, MatMut, MatRef};
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};
use tilewright_driver::blas::Layout;

/// All is done when it is queued.
pub(super) struct HostEngine;

impl<T: Scalar> Engine<T> for HostEngine {
    type Host = Vec<T>;
    type Buffer = Vec<T>;
    type Mark = ();

    fn host(&self, elements: usize, _: bool) -> Result<Vec<T>, Error> {
        Ok(vec![T::ZERO; elements])
    }

    fn buffer(&self, elements: usize) -> Result<Vec<T>, Error> {
        Ok(vec![T::ZERO; elements])
    }

    fn bring(&self, from: &Vec<T>, elements: usize, to: &mut Vec<T>, at: usize) -> Result<(), Error> {
        to[at..at + elements].copy_from_slice(&from[..elements]);
        Ok(())
    }

    fn take_back(&self, from: &Vec<T>, at: usize, elements: usize, to: &mut Vec<T>) -> Result<(), Error> {
        to[..elements].copy_from_slice(&from[at..at + elements]);
        Ok(())
    }

    fn mark(&self, _: Queue) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&self, _: Queue, (): &()) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&self) {}
}

/// A part of a buffer as a matrix. What reaches beyond it is [`Error::Shape`].
fn read<T: Scalar>(buffer: &[T], layout: Layout) -> Result<ArrayView2<'_, T>, Error> {
    let Layout { offset, rows, columns, leading } = layout;
    let part = buffer.get(offset..).unwrap_or_default();
    ArrayView2::from_shape((rows, columns).strides((1, leading)), part).map_err(|_| beyond(buffer.len(), layout))
}

fn write<T: Scalar>(buffer: &mut [T], layout: Layout) -> Result<ArrayViewMut2<'_, T>, Error> {
    let Layout { offset, rows, columns, leading } = layout;
    let length = buffer.len();
    let part = buffer.get_mut(offset..).unwrap_or_default();
    ArrayViewMut2::from_shape((rows, columns).strides((1, leading)), part).map_err(|_| beyond(length, layout))
}

/// A matrix wants more elements than there are.
fn beyond(got: usize, Layout { offset, rows, columns, leading }: Layout) -> Error {
    let expected = offset.saturating_add(leading.saturating_mul(columns.saturating_sub(1))).saturating_add(rows);
    Error::Shape { operation: "a panel in host memory", what: "elements of its memory", expected, got }
}

fn entering<T: Scalar>(form: Form, matrix: MatRef<'_, T>) -> MatRef<'_, T> {
    match form {
        Form::Plain => matrix,
        Form::Transposed => matrix.t(),
        Form::Adjoint => matrix.h(),
    }
}

impl<T: Scalar> Eliminator<T> for HostEngine {
    type Exchanges = Vec<usize>;

    fn copy(&self, form: Form, from: (&Vec<T>, Layout), to: (&mut Vec<T>, Layout)) -> Result<(), Error> {
        let (from, mut to) = (read(from.0, from.1)?, write(to.0, to.1)?);
        match form {
            Form::Plain => to.assign(&from),
            Form::Transposed => to.assign(&from.t()),
            Form::Adjoint => to.zip_mut_with(&from.t(), |to, from| *to = from.conjugate()),
        }
        Ok(())
    }

    fn subtract(
        &self,
        forms: [Form; 2],
        [a, b]: [(&Vec<T>, Layout); 2],
        c: (&mut Vec<T>, Layout),
    ) -> Result<(), Error> {
        let (a, b, mut c) = (read(a.0, a.1)?, read(b.0, b.1)?, write(c.0, c.1)?);
        let (a, b) = (entering(forms[0], (&a).into()), entering(forms[1], (&b).into()));
        if c.is_empty() || a.columns() == 0 {
            return Ok(());
        }
        let factors = [a, b].map(|it| (it.elements(), it.is_conjugated()));
        T::multiply(MatMut::from(&mut c).elements(), true, T::from_f64(-1.0), factors[0], factors[1]);
        Ok(())
    }

    fn divide(&self, divisor: Divisor, a: (&Vec<T>, Layout), b: (&mut Vec<T>, Layout)) -> Result<(), Error> {
        let (a, mut b) = (read(a.0, a.1)?, write(b.0, b.1)?);
        let a = MatRef::from(&a);
        let (triangle, a) = match divisor {
            Divisor::Lower => (Triangle::Lower, a),
            Divisor::UnitLower => (Triangle::UnitLower, a),
            Divisor::Upper => (Triangle::Upper, a),
            Divisor::LowerAdjoint => (Triangle::Upper, a.h()),
        };
        if !b.is_empty() {
            T::triangular_solve(triangle, (a.elements(), a.is_conjugated()), MatMut::from(&mut b).elements());
        }
        Ok(())
    }

    /// The transposed equation: `conj(a) transpose(x) = transpose(b)`.
    fn divide_by_adjoint(&self, a: (&Vec<T>, Layout), b: (&mut Vec<T>, Layout)) -> Result<(), Error> {
        let (a, mut b) = (read(a.0, a.1)?, write(b.0, b.1)?);
        let a = MatRef::from(&a).conj();
        if !b.is_empty() {
            let mut turned = MatMut::from(&mut b).t();
            T::triangular_solve(Triangle::Lower, (a.elements(), a.is_conjugated()), turned.elements());
        }
        Ok(())
    }

    fn exchanges(&self, rows: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(rows.to_vec())
    }

    fn exchange(&self, exchanges: &Vec<usize>, a: (&mut Vec<T>, Layout)) -> Result<(), Error> {
        for mut column in write(a.0, a.1)?.columns_mut() {
            exchanges.iter().enumerate().for_each(|(row, other)| column.swap(row, *other));
        }
        Ok(())
    }

    fn lu(&self, (buffer, layout): (&mut Vec<T>, Layout)) -> Result<Pivoted<T>, Error> {
        let mut factors = dense(buffer, layout)?;
        let permutation = T::lu(&mut factors)?;
        put(&factors, buffer, layout)?;
        let diagonal = (0..layout.columns).map(|at| factors.at(at, at)).collect();
        Ok(Pivoted { rows: exchanges_of(&permutation, layout.columns), diagonal })
    }

    fn cholesky(&self, (buffer, layout): (&mut Vec<T>, Layout)) -> Result<Result<Vec<T>, usize>, Error> {
        let mut factor = dense(buffer, layout)?;
        let step = layout.rows + 1;
        factor.values_mut().iter_mut().step_by(step).for_each(|value| *value = T::from_f64(value.wide().re));
        if let Err(order) = T::cholesky(&mut factor)? {
            return Ok(Err(order));
        }
        put(&factor, buffer, layout)?;
        let diagonal: Vec<T> = (0..layout.columns).map(|at| factor.at(at, at)).collect();
        // One that is no number is not positive.
        let refused = diagonal.iter().position(|value| value.wide().re.is_nan() || value.wide().re <= 0.0);
        Ok(refused.map_or(Ok(diagonal), |at| Err(at + 1)))
    }
}

fn dense<T: Scalar>(buffer: &[T], layout: Layout) -> Result<Dense<T>, Error> {
    MatRef::from(&read(buffer, layout)?).to_dense()
}

fn put<T: Scalar>(values: &Dense<T>, buffer: &mut [T], layout: Layout) -> Result<(), Error> {
    for (mut column, values) in
        write(buffer, layout)?.columns_mut().into_iter().zip(values.values().chunks(layout.rows.max(1)))
    {
        column.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}

/// The exchanges, in the order of so many steps, that make a permutation: row i of what is permuted is row `permutation[i]`.
fn exchanges_of(permutation: &[usize], steps: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..permutation.len()).collect();
    let mut at = rows.clone();
    let exchange = |step: usize| {
        let (other, moved) = (at[permutation[step]], rows[step]);
        rows.swap(step, other);
        (at[permutation[step]], at[moved]) = (step, other);
        other
    };
    (0..steps.min(permutation.len())).map(exchange).collect()
}

#[cfg(test)]
mod tests {
    use super::exchanges_of;

    #[test]
    fn a_permutation_is_made_of_exchanges() {
        for permutation in [vec![2, 0, 1, 3], vec![0, 1, 2, 3], vec![3, 2, 1, 0], vec![1, 2, 3, 0]] {
            let mut rows: Vec<usize> = (0..4).collect();
            let exchanges = exchanges_of(&permutation, 4);
            exchanges.iter().enumerate().for_each(|(row, other)| rows.swap(row, *other));
            assert_eq!(rows, permutation);
            assert!(exchanges.iter().enumerate().all(|(row, other)| *other >= row));
        }
    }
}
