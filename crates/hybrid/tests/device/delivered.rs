//! Operands and results that pass through page-locked memory which is kept: however they lie, on whichever side they are computed.

use super::matrix;
use ndarray::{Array2, ShapeBuilder, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Columns, Complex64, Device, MatMut, Operand, Rows};

type Matrix = Array2<Complex64>;

fn complex(rows: usize, columns: usize, seed: usize) -> Matrix {
    let (re, im) = (matrix(rows, columns, seed), matrix(rows, columns, seed + 5));
    Array2::from_shape_fn((rows, columns), |at| Complex64::new(re[at], im[at]))
}

/// As it lies, conjugated, transposed, or a part of something larger.
const FORMS: usize = 4;

/// What is stored so that a form of it is this matrix.
fn stored(of: &Matrix, form: usize) -> Matrix {
    let (rows, columns) = of.dim();
    match form {
        0 => of.clone(),
        1 => of.mapv(|x| x.conj()),
        2 => of.t().to_owned(),
        _ => {
            let mut larger = Array2::from_elem((rows + 3, columns + 2), Complex64::new(f64::NAN, 0.0));
            larger.slice_mut(s![2..rows + 2, 1..columns + 1]).assign(of);
            larger
        }
    }
}

/// Whatever was stored, as the matrix.
fn as_stored(there: &DeviceMat<Complex64>, form: usize) -> Operand<'_, Complex64> {
    let view = there.view();
    let (rows, columns) = (there.shape().rows.0, there.shape().columns.0);
    match form {
        0 => view.into(),
        1 => view.conj().into(),
        2 => view.t().into(),
        _ => view.part(Rows(2)..Rows(rows - 1), Columns(1)..Columns(columns - 1)).unwrap().into(),
    }
}

/// More than what goes without: 100 x 90 complex numbers are 144 kB.
const EXTENTS: [usize; 3] = [100, 90, 110];

fn device(gpu: &Gpu, choice: Choice, pinned: &Budget) -> Device {
    let budgets = Budgets { device: Budget::new(Memory::Device, 1 << 30), pinned: pinned.clone() };
    Device::with(gpu).rated(Rates::h200()).within(budgets).choosing(choice)
}

#[test]
fn operands_and_results_pass_however_they_lie() {
    let Some(gpu) = crate::gpu("device::delivered::operands_and_results_pass_however_they_lie") else { return };
    let [rows, columns, depth] = EXTENTS;
    let (a, b, before) = (complex(rows, depth, 1), complex(depth, columns, 2), complex(rows, columns, 3));
    let two = Complex64::new(2.0, 0.0);
    // Less than what a device keeps, and what passes goes by ordinary memory.
    for bytes in [256 << 20, 64 << 20] {
        let pinned = Budget::new(Memory::Pinned, bytes);
        for (choice, form) in
            [Choice::Cpu, Choice::Gpu].into_iter().flat_map(|side| (0..FORMS).map(move |form| (side, form)))
        {
            let device = device(&gpu, choice, &pinned);
            let there = DeviceMat::upload(&gpu, (&stored(&a, form)).into()).unwrap();
            // The other factor in host memory, row by row and column by column.
            let here = if form % 2 == 0 { b.clone() } else { b.t().as_standard_layout().into_owned().reversed_axes() };
            for beta in [Complex64::ZERO, Complex64::ONE] {
                let expected = a.dot(&b) * two + &before * beta;
                let old = if beta == Complex64::ZERO {
                    before.mapv(|_| Complex64::new(f64::NAN, 1.0))
                } else {
                    before.clone()
                };
                let multiply = |c: MatMut<'_, Complex64>| {
                    device
                        .matmul(Precision::Auto, two, as_stored(&there, form), (&here).into(), beta, c.into())
                        .unwrap();
                };
                let about = format!("{choice:?}, form {form}, beta {beta}, {bytes} bytes");
                let mut by_rows = old.clone();
                multiply((&mut by_rows).into());
                assert_eq!(by_rows, expected, "row by row: {about}");
                let mut by_columns = Array2::zeros((rows, columns).f());
                by_columns.assign(&old);
                multiply((&mut by_columns).into());
                assert_eq!(by_columns, expected, "column by column: {about}");
                let mut apart = Array2::zeros((rows, 2 * columns));
                apart.slice_mut(s![.., ..;2]).assign(&old);
                multiply((&mut apart.slice_mut(s![.., ..;2])).into());
                assert_eq!(apart.slice(s![.., ..;2]), expected, "with gaps: {about}");
                let mut stays = DeviceMat::upload(&gpu, (&old).into()).unwrap();
                let operands = [as_stored(&there, form), Operand::from(&here)];
                let [left, right] = operands;
                device.matmul(Precision::Auto, two, left, right, beta, (&mut stays).into()).unwrap();
                assert_eq!(stays.download().unwrap(), expected, "on the GPU: {about}");
            }
        }
        assert_eq!(pinned.used(), 0);
        assert_eq!(pinned.peak() > 0, bytes > 128 << 20, "what passes is counted");
    }
}
