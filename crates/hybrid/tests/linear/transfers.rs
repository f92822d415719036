//! Matrices of all lengths and layouts on their way to a GPU and back, through page-locked memory and without. Without a GPU these run on stubs.

use super::numbers::random;
use ndarray::{Array2, ArrayView2, ShapeBuilder, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Scalar};
use tilewright_hybrid::{Columns, Complex64, Rows};

/// Bytes about those at which the way changes: what passes through page-locked memory, what threads fill, one piece or several, and more than there are pieces.
const BYTES: [usize; 9] =
    [8, 32 << 10, (32 << 10) + 24, 2 << 20, (2 << 20) + 8, (4 << 20) + 8, (6 << 20) + 40, 9 << 20, (37 << 20) + 8];

/// A matrix to a GPU and back, each way.
fn to_and_fro<T: Scalar>(gpu: &Gpu, matrix: ArrayView2<'_, T>, about: &str) {
    let copied = DeviceMat::upload(gpu, (&matrix).into()).unwrap();
    assert!(copied.download().unwrap() == matrix, "copied {about}");
    let brought = DeviceMat::bring(gpu, (&matrix).into()).unwrap();
    assert!(brought.download().unwrap() == matrix, "brought {about}");
    let turned = brought.view().t().download().unwrap();
    assert!(turned == matrix.t(), "turned {about}");
    // A part without gaps begins anywhere.
    let columns = matrix.ncols() / 3..matrix.ncols();
    let part = brought.view().part(Rows(0)..Rows(matrix.nrows()), Columns(columns.start)..Columns(columns.end));
    assert!(part.unwrap().download().unwrap() == matrix.slice(s![.., columns]), "a part of {about}");
}

fn of_all_lengths<T: Scalar>(gpu: &Gpu, way: &str) {
    for bytes in BYTES {
        let count = (bytes / size_of::<T>()).max(1);
        // The longest ones take long to make up.
        let all_rows = if bytes > 8 << 20 { &[1025][..] } else { &[1, 7, 1025] };
        for rows in all_rows.iter().copied() {
            let columns = count.div_ceil(rows);
            let values = random::<T>(bytes as u64, 1, rows * columns).into_raw_vec_and_offset().0;
            let about = format!("{rows} x {columns} {} {way}", T::NAME);
            let by_rows = Array2::from_shape_vec((rows, columns), values.clone()).unwrap();
            to_and_fro(gpu, by_rows.view(), &format!("{about} by rows"));
            let by_columns = Array2::from_shape_vec((rows, columns).f(), values).unwrap();
            to_and_fro(gpu, by_columns.view(), &format!("{about} by columns"));
        }
    }
}

fn with_gaps<T: Scalar>(gpu: &Gpu, way: &str) {
    let matrix = random::<T>(5, 1543, 1201);
    to_and_fro(gpu, matrix.slice(s![..;2, ..]), &format!("every second row {way}"));
    to_and_fro(gpu, matrix.slice(s![3..1500, 5..1100;-1]), &format!("columns backwards {way}"));
    to_and_fro(gpu, matrix.t().slice(s![..;-3, 7..]), &format!("every third column backwards {way}"));
}

#[test]
fn matrices_of_all_lengths_and_layouts() {
    let Some(gpu) = crate::gpu("linear::transfers::matrices_of_all_lengths_and_layouts") else { return };
    of_all_lengths::<f64>(&gpu, "through page-locked memory");
    with_gaps::<f32>(&gpu, "through page-locked memory");
    with_gaps::<Complex64>(&gpu, "through page-locked memory");
}

#[test]
fn without_page_locked_memory() {
    let Some(gpu) = crate::gpu("linear::transfers::without_page_locked_memory") else { return };
    let gpu = gpu.passing_within(Budget::new(Memory::Pinned, 1 << 20));
    of_all_lengths::<f32>(&gpu, "without page-locked memory");
    with_gaps::<f64>(&gpu, "without page-locked memory");
}

#[test]
fn what_is_page_locked_already() {
    let Some(gpu) = crate::gpu("linear::transfers::what_is_page_locked_already") else { return };
    let device = gpu.stream().device();
    let mut memory = device.pinned::<f64>(1025 * 513).unwrap();
    let values = random::<f64>(9, 1, memory.len());
    memory.iter_mut().zip(&values).for_each(|(to, from)| *to = *from);
    assert!(device.is_pinned(&memory[..]) && device.is_pinned(&memory[5..9]));
    assert!(!device.is_pinned(values.as_slice().unwrap()) && !device.is_pinned::<f64>(&[]));
    let matrix = ArrayView2::from_shape((1025, 513), &memory[..]).unwrap();
    to_and_fro(&gpu, matrix, "of page-locked memory by rows");
    to_and_fro(&gpu, matrix.t(), "of page-locked memory by columns");
}
