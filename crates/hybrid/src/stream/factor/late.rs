//! The test device eliminates, by textbook algorithms.

use super::super::engine::{Divisor, Eliminator, Form, Pivoted, Queue};
use super::super::late::{Buffer, Device, Memory};
use crate::Error;
use std::sync::{Arc, Mutex};
use tilewright_driver::blas::Layout;

/// A part of a buffer as a matrix of its own, to read.
#[derive(Clone)]
struct Read {
    from: Memory,
    layout: Layout,
    form: Form,
}

impl Read {
    fn new((from, layout): (&Buffer, Layout), form: Form) -> Read {
        Read { from: Memory::clone(from), layout, form }
    }

    /// Its values as they are now.
    fn values(&self) -> Matrix {
        let values = self.from.lock();
        let stored = Matrix::of(&values, self.layout);
        if self.form == Form::Plain { stored } else { stored.transposed() }
    }
}

#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    fn of(values: &[f64], layout: Layout) -> Matrix {
        let Layout { offset, rows, columns, leading } = layout;
        assert!(leading >= rows.max(1) && (columns == 0 || offset + (columns - 1) * leading + rows <= values.len()));
        let column = |j: usize| &values[offset + j * leading..][..rows];
        Matrix { rows, columns, values: (0..columns).flat_map(|j| column(j).iter().copied()).collect() }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.rows + i]
    }

    fn at_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.values[j * self.rows + i]
    }

    fn transposed(&self) -> Matrix {
        let values = (0..self.rows).flat_map(|i| (0..self.columns).map(move |j| self.at(i, j))).collect();
        Matrix { rows: self.columns, columns: self.rows, values }
    }

    fn exchange(&mut self, one: usize, other: usize) {
        (0..self.columns).for_each(|j| self.values.swap(j * self.rows + one, j * self.rows + other));
    }

    fn put(&self, values: &mut [f64], layout: Layout) {
        assert_eq!((self.rows, self.columns), (layout.rows, layout.columns));
        for j in 0..self.columns {
            values[layout.offset + j * layout.leading..][..self.rows]
                .copy_from_slice(&self.values[j * self.rows..][..self.rows]);
        }
    }
}

impl Device {
    /// Queues a change of a matrix.
    fn change(
        &self,
        (buffer, layout): (&mut Buffer, Layout),
        change: impl FnOnce(&mut Matrix) + Send + 'static,
    ) -> usize {
        let buffer = Memory::clone(buffer);
        self.queue(Queue::Compute, move || {
            let mut matrix = Matrix::of(&buffer.lock(), layout);
            change(&mut matrix);
            matrix.put(&mut buffer.lock(), layout);
        })
    }

    /// Does a change now, and what it found.
    fn change_now<R: Send + 'static>(
        &self,
        target: (&mut Buffer, Layout),
        change: impl FnOnce(&mut Matrix) -> R + Send + 'static,
    ) -> R {
        let found = Arc::new(Mutex::new(None));
        let there = found.clone();
        let number = self.change(target, move |matrix| *there.lock().unwrap() = Some(change(matrix)));
        self.run_now(number);
        found.lock().unwrap().take().unwrap()
    }
}

impl Eliminator<f64> for Device {
    type Exchanges = Vec<usize>;

    fn copy(&self, form: Form, from: (&Buffer, Layout), to: (&mut Buffer, Layout)) -> Result<(), Error> {
        let from = Read::new(from, form);
        self.change(to, move |to| *to = from.values());
        Ok(())
    }

    fn subtract(
        &self,
        forms: [Form; 2],
        [a, b]: [(&Buffer, Layout); 2],
        c: (&mut Buffer, Layout),
    ) -> Result<(), Error> {
        let (a, b) = (Read::new(a, forms[0]), Read::new(b, forms[1]));
        self.change(c, move |c| {
            let (a, b) = (a.values(), b.values());
            assert_eq!((a.rows, a.columns, b.columns), (c.rows, b.rows, c.columns));
            for j in 0..c.columns {
                for i in 0..c.rows {
                    *c.at_mut(i, j) -= (0..a.columns).map(|k| a.at(i, k) * b.at(k, j)).sum::<f64>();
                }
            }
        });
        Ok(())
    }

    fn divide(&self, divisor: Divisor, a: (&Buffer, Layout), b: (&mut Buffer, Layout)) -> Result<(), Error> {
        let a = Read::new(a, if divisor == Divisor::LowerAdjoint { Form::Adjoint } else { Form::Plain });
        self.change(b, move |b| divide(divisor, &a.values(), b));
        Ok(())
    }

    fn divide_by_adjoint(&self, a: (&Buffer, Layout), b: (&mut Buffer, Layout)) -> Result<(), Error> {
        let a = Read::new(a, Form::Plain);
        self.change(b, move |b| {
            // The transposed equation.
            let mut turned = b.transposed();
            divide(Divisor::Lower, &a.values(), &mut turned);
            *b = turned.transposed();
        });
        Ok(())
    }

    fn exchanges(&self, rows: &[usize]) -> Result<Vec<usize>, Error> {
        Ok(rows.to_vec())
    }

    fn exchange(&self, exchanges: &Vec<usize>, a: (&mut Buffer, Layout)) -> Result<(), Error> {
        let exchanges = exchanges.clone();
        self.change(a, move |a| exchanges.iter().enumerate().for_each(|(row, other)| a.exchange(row, *other)));
        Ok(())
    }

    fn lu(&self, a: (&mut Buffer, Layout)) -> Result<Pivoted<f64>, Error> {
        Ok(self.change_now(a, lu))
    }

    fn cholesky(&self, a: (&mut Buffer, Layout)) -> Result<Result<Vec<f64>, usize>, Error> {
        Ok(self.change_now(a, cholesky))
    }
}

fn divide(divisor: Divisor, a: &Matrix, b: &mut Matrix) {
    assert_eq!((a.rows, a.columns), (b.rows, b.rows));
    let upwards = matches!(divisor, Divisor::Upper | Divisor::LowerAdjoint);
    let order = |step: usize| if upwards { a.rows - 1 - step } else { step };
    for j in 0..b.columns {
        for step in 0..a.rows {
            let row = order(step);
            let known: f64 = (0..step).map(order).map(|k| a.at(row, k) * b.at(k, j)).sum();
            let pivot = if divisor == Divisor::UnitLower { 1.0 } else { a.at(row, row) };
            *b.at_mut(row, j) = (b.at(row, j) - known) / pivot;
        }
    }
}

fn lu(a: &mut Matrix) -> Pivoted<f64> {
    let mut found = Pivoted::default();
    for k in 0..a.columns {
        let largest = (k..a.rows).fold(k, |best, i| if a.at(i, k).abs() > a.at(best, k).abs() { i } else { best });
        a.exchange(k, largest);
        let pivot = a.at(k, k);
        found.rows.push(largest);
        found.diagonal.push(pivot);
        for i in (k + 1..a.rows).filter(|_| pivot != 0.0) {
            *a.at_mut(i, k) /= pivot;
            let factor = a.at(i, k);
            (k + 1..a.columns).for_each(|j| *a.at_mut(i, j) -= factor * a.at(k, j));
        }
    }
    found
}

fn cholesky(a: &mut Matrix) -> Result<Vec<f64>, usize> {
    for k in 0..a.columns {
        let pivot = a.at(k, k) - (0..k).map(|p| a.at(k, p).powi(2)).sum::<f64>();
        if pivot.is_nan() || pivot <= 0.0 {
            return Err(k + 1);
        }
        *a.at_mut(k, k) = pivot.sqrt();
        for i in k + 1..a.rows {
            let known: f64 = (0..k).map(|p| a.at(i, p) * a.at(k, p)).sum();
            *a.at_mut(i, k) = (a.at(i, k) - known) / pivot.sqrt();
        }
    }
    Ok((0..a.columns).map(|k| a.at(k, k)).collect())
}
