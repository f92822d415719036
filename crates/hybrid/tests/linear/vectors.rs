//! Batches of products with vectors that are streamed through a GPU, or through stubs, by the stream's own face.

use super::layouts::Form;
use super::numbers::random;
use super::reference::{exact, wide};
use ndarray::{Array2, s};
use tilewright_driver::blas::Element;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::{Gpu, Precision, Scalar};
use tilewright_hybrid::store::{
    self, MemorySink, MemorySource, NpySink, NpySource, Order, ReadTyped, Sink, Source, Stored,
};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor, Product, Traffic, Verify};
use tilewright_hybrid::{Class, Complex32, Complex64, Error};

const COUNT: usize = 5;
const ROWS: usize = 31;
const COLUMNS: usize = 13;

fn budgets(device: u64) -> Budgets {
    Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, 8 << 10) }
}

fn factor<'a>(form: Form, source: &'a MemorySource<'a, impl Stored>) -> Factor<'a> {
    match form {
        Form::Transposed => Factor::transposed(source),
        Form::Adjoint => Factor::adjoint(source),
        _ => Factor::plain(source),
    }
}

/// Matrices and vectors that are stored in any form, against sums in f64.
fn forms<T: Scalar + Stored + Element<Coefficient = T, Sum = T>>(gpu: &Gpu) {
    let (a, x, y) =
        (random::<T>(1, COUNT * ROWS, COLUMNS), random::<T>(2, COUNT * COLUMNS, 1), random::<T>(3, COUNT * ROWS, 1));
    let (wide_a, wide_x) = (wide(&a), wide(&x));
    // A part of the rows of a matrix, a matrix, and two of them.
    for (form, elements) in [Form::Plain, Form::Transposed, Form::Adjoint]
        .into_iter()
        .flat_map(|form| [10 * COLUMNS * 4, 4 * ROWS * COLUMNS, 7 * ROWS * COLUMNS].map(|elements| (form, elements)))
    {
        let (stored_a, stored_x) = (form.undone(&a), form.undone(&x));
        let budgets = budgets((elements * size_of::<T>()) as u64);
        let (of_a, of_x, of_y) =
            (MemorySource::new(stored_a.view()), MemorySource::new(stored_x.view()), MemorySource::new(y.view()));
        let mut result = Array2::from_elem(y.dim(), T::from_f64(f64::NAN));
        let sink = MemorySink::new(result.view_mut());
        let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-0.5));
        let product = Product { a: factor(form, &of_a), b: factor(form, &of_x), c: Some(&of_y), alpha, beta };
        let Traffic { to_gpu, to_host } =
            stream::matvec(gpu, &budgets, Precision::Auto, &product, &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        // Everything once.
        let bytes = |elements: usize| (elements * size_of::<T>()) as u64;
        assert_eq!([to_gpu, to_host], [bytes(a.len() + x.len() + y.len()), bytes(y.len())]);
        assert!([&budgets.device, &budgets.pinned].iter().all(|it| it.used() == 0 && it.peak() <= it.limit()));
        for i in 0..COUNT {
            let (rows, columns) = (i * ROWS..(i + 1) * ROWS, i * COLUMNS..(i + 1) * COLUMNS);
            let one = wide_a.slice(s![rows.clone(), ..]).to_owned();
            let expected = exact::product(&one, &wide_x.slice(s![columns, ..]).to_owned());
            for (row, expected) in rows.zip(&expected) {
                let expected = expected * 2.0 - y[[row, 0]].wide() * 0.5;
                let off = (result[[row, 0]].wide() - expected).norm();
                // Sums of numbers below 2 in absolute value, each with a rounding.
                assert!(off <= 8.0 * (COLUMNS + 1) as f64 * T::EPSILON, "{} {form:?} {row}: {off}", T::NAME);
            }
        }
    }
}

#[test]
fn d4_g3_streamed_batches_of_every_form() {
    let Some(gpu) = crate::gpu("linear::vectors::d4_g3_streamed_batches_of_every_form") else { return };
    forms::<f32>(&gpu);
    forms::<f64>(&gpu);
    forms::<Complex32>(&gpu);
    forms::<Complex64>(&gpu);
}

/// Stacks as NumPy has them: `(count, rows, columns)` times `(count, columns, 1)` is `(count, rows, 1)`.
#[test]
fn d4_g10_streamed_stacks_of_npy_files() {
    let Some(gpu) = crate::gpu("linear::vectors::d4_g10_streamed_stacks_of_npy_files") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, shape: [usize; 3], values: &[f64]| {
        let sink = NpySink::create(folder.path().join(name), &shape, store::Element::F64, Order::C).unwrap();
        sink.write_tile(&sink.extents().whole(), f64::bytes(values)).unwrap();
        Box::new(sink).commit().unwrap();
        NpySource::open(folder.path().join(name)).unwrap()
    };
    let whole = |count: usize, seed: usize| (0..count).map(|i| ((i * seed) % 9) as f64 - 4.0).collect::<Vec<_>>();
    let (a, x) = (whole(COUNT * ROWS * COLUMNS, 7), whole(COUNT * COLUMNS, 5));
    let (of_a, of_x) = (file("a.npy", [COUNT, ROWS, COLUMNS], &a), file("x.npy", [COUNT, COLUMNS, 1], &x));
    let path = folder.path().join("y.npy");
    let sink = NpySink::create(&path, &[COUNT, ROWS, 1], store::Element::F64, Order::C).unwrap();
    let product = Product { a: Factor::plain(&of_a), b: Factor::plain(&of_x), c: None, alpha: 1.0, beta: 0.0 };
    stream::matvec(&gpu, &budgets(8 << 10), Precision::Auto, &product, &sink, Control::default()).unwrap();
    assert!(!path.exists(), "before it is committed there is none");
    Box::new(sink).commit().unwrap();
    let (result, mut y) = (NpySource::open(&path).unwrap(), vec![f64::NAN; COUNT * ROWS]);
    result.read(&result.extents().whole(), &mut y).unwrap();
    for (row, got) in y.iter().enumerate() {
        let (row_of_a, vector) = (&a[row * COLUMNS..][..COLUMNS], &x[row / ROWS * COLUMNS..][..COLUMNS]);
        assert_eq!(*got, row_of_a.iter().zip(vector).map(|(a, x)| a * x).sum::<f64>(), "{row}");
    }
}

#[test]
fn streamed_batches_that_cannot_be_say_so() {
    let Some(gpu) = crate::gpu("linear::vectors::streamed_batches_that_cannot_be_say_so") else { return };
    let (a, x, wrong) = (random::<f64>(1, 12, 5), random::<f64>(2, 15, 1), random::<f64>(3, 14, 1));
    let asked = |x: &Array2<f64>, rows: usize, device: u64, control: Control<'_>| {
        let mut result = Array2::from_elem((rows, 1), f64::NAN);
        let (of_a, of_x, sink) =
            (MemorySource::new(a.view()), MemorySource::new(x.view()), MemorySink::new(result.view_mut()));
        let product = Product { a: Factor::plain(&of_a), b: Factor::plain(&of_x), c: None, alpha: 1.0, beta: 0.0 };
        stream::matvec(&gpu, &budgets(device), Precision::Auto, &product, &sink, control)
    };
    let plain = Control::default();
    let error = asked(&wrong, 12, 1 << 20, plain).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of each vector", expected: 5, got: 14, .. }), "{error}");
    let error = asked(&x, 11, 1 << 20, plain).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of c", expected: 12, got: 11, .. }), "{error}");
    let error = asked(&random(4, 15, 2), 12, 1 << 20, plain).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of the vectors", expected: 1, got: 2, .. }), "{error}");
    let error = asked(&x, 12, 100, plain).unwrap_err();
    assert_eq!(error.class(), Class::Resource, "{error}");
    let verified = Control { verify: Some(Verify::default()), ..plain };
    for vectors in [&x, &random(5, 5, 1)] {
        asked(vectors, 12, 1 << 20, verified).unwrap();
    }
}
