//! Matrices that stay on the GPU, and routines of the driver crate that nothing above has called. Without a GPU these run on stubs.

use super::layouts::FORMS;
use super::layouts::Form;
use super::numbers::random;
use super::reference::{adjoint, distance, exact, wide};
use ndarray::{Array2, ShapeBuilder, s};
use tilewright_driver::blas::{Diagonal, Layout, Matrix, MatrixMut, Operation, Triangle};
use tilewright_driver::solver::{Exchanges, Outcome};
use tilewright_hybrid::linear::{DeviceMat, DeviceRef, Gpu, Multiply, Precision, Scalar};
use tilewright_hybrid::{Columns, Complex32, Complex64, Error, MatRef, Rows, Shape};

fn formed<T: Scalar>(form: Form, a: DeviceRef<'_, T>) -> DeviceRef<'_, T> {
    match form {
        Form::Plain => a,
        Form::Transposed => a.t(),
        Form::Adjoint => a.h(),
        Form::Conjugate => a.conj(),
    }
}

fn products<T: Scalar + Multiply<Factor = T>>(gpu: &Gpu) {
    let (a, b, c) = (random::<T>(1, 9, 6), random::<T>(2, 6, 5), random::<T>(3, 9, 5));
    let (alpha, beta) = (T::nearest(Complex64::new(0.5, 1.0)), T::nearest(Complex64::new(-1.0, 0.5)));
    let plain = exact::product(&wide(&a), &wide(&b));
    for (form_a, form_b) in FORMS.iter().flat_map(|a| FORMS.map(|b| (*a, b))) {
        let turned = T::nearest(Complex64::new(0.0, 2.0));
        let scales = [(T::ONE, beta), (T::from_f64(-3.0), T::ZERO), (T::ZERO, beta), (T::ONE, T::ONE), (turned, beta)];
        for (scale, beta) in scales {
            let device_a = DeviceMat::upload(gpu, (&form_a.undone(&a)).into()).unwrap();
            let device_b = DeviceMat::upload(gpu, (&form_b.undone(&b)).into()).unwrap();
            let mut device_c = DeviceMat::upload(gpu, (&c).into()).unwrap();
            let (view_a, view_b) = (formed(form_a, device_a.view()).scaled(scale), formed(form_b, device_b.view()));
            gpu.matmul(Precision::Auto, alpha, view_a, view_b, beta, &mut device_c).unwrap();
            let expected = plain.mapv(|x| x * alpha.wide() * scale.wide()) + wide(&c).mapv(|x| x * beta.wide());
            let off = distance(&device_c.download().unwrap(), &expected);
            assert!(off <= 400.0 * T::EPSILON, "{} {form_a:?} {form_b:?} {scale:?} {beta:?}: {off}", T::NAME);
        }
    }
    // Parts, of transposed views too.
    let large = DeviceMat::upload(gpu, (&a).into()).unwrap();
    let part = large.view().t().part(Rows(1)..Rows(5), Columns(2)..Columns(8)).unwrap();
    let right = DeviceMat::upload(gpu, (&b).into()).unwrap();
    let mut small = DeviceMat::uninitialised(gpu, Shape::new(Rows(4), Columns(5))).unwrap();
    gpu.matmul(Precision::Auto, T::ONE, part, right.view(), T::ZERO, &mut small).unwrap();
    let expected = exact::product(&wide(&a.t().slice(s![1..5, 2..8]).to_owned()), &wide(&b));
    assert!(distance(&small.download().unwrap(), &expected) <= 100.0 * T::EPSILON);
    assert!(matches!(large.view().part(Rows(0)..Rows(10), Columns(0)..Columns(1)), Err(Error::Shape { .. })));
    // Without depth, and with alpha 0, there is beta c alone.
    let [thin, flat] =
        [(9, 0), (0, 5)].map(|dim| DeviceMat::upload(gpu, (&Array2::<T>::from_elem(dim, T::ONE)).into()).unwrap());
    let mut result = DeviceMat::upload(gpu, (&c).into()).unwrap();
    gpu.matmul(Precision::Auto, T::ONE, thin.view(), flat.view(), T::from_f64(2.0), &mut result).unwrap();
    assert!(distance(&result.download().unwrap(), &wide(&c).mapv(|x| x * 2.0)) <= 20.0 * T::EPSILON);
    gpu.matmul(Precision::Auto, T::ZERO, large.view(), right.view(), T::ZERO, &mut result).unwrap();
    assert!(result.download().unwrap().iter().all(|x| *x == T::ZERO));
    let error = gpu.matmul(Precision::Auto, T::ONE, right.view(), right.view(), T::ZERO, &mut result).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}

/// Matrices are made of buffers and become buffers, without a copy.
#[test]
fn matrices_and_their_buffers() {
    let Some(gpu) = crate::gpu("linear::device::matrices_and_their_buffers") else { return };
    let a = random::<f64>(1, 4, 3);
    let shape = Shape::new(Rows(4), Columns(3));
    let buffer = gpu.stream().upload(&columns(&a)).unwrap();
    let address = buffer.device_ptr();
    let matrix = DeviceMat::from_buffer(&gpu, buffer, shape).unwrap();
    assert_eq!((matrix.download().unwrap(), matrix.buffer().device_ptr()), (a.clone(), address));
    // Row by row it is the transposed matrix.
    let by_rows = gpu.stream().upload(a.as_slice().unwrap()).unwrap();
    let turned = DeviceMat::from_buffer(&gpu, by_rows, shape.transposed()).unwrap();
    assert_eq!(turned.view().t().download().unwrap(), a);
    let buffer = matrix.into_buffer();
    assert_eq!((buffer.device_ptr(), buffer.to_vec().unwrap()), (address, columns(&a)));
    let error = DeviceMat::from_buffer(&gpu, buffer, Shape::new(Rows(4), Columns(4))).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "elements of the buffer", expected: 16, got: 12, .. }), "{error}");
    let other = gpu.stream().device().stream().unwrap().upload(&columns(&a)).unwrap();
    let error = DeviceMat::from_buffer(&gpu, other, shape).unwrap_err();
    assert!(error.to_string().contains("gpu.stream()"), "{error}");
}

#[test]
fn products_on_the_device() {
    let Some(gpu) = crate::gpu("linear::device::products_on_the_device") else { return };
    products::<f32>(&gpu);
    products::<f64>(&gpu);
    products::<Complex32>(&gpu);
    products::<Complex64>(&gpu);
}

/// A matrix column by column.
fn columns<T: Scalar>(a: &Array2<T>) -> Vec<T> {
    a.t().iter().copied().collect()
}

fn array<T: Scalar>(rows: usize, columns: usize, values: Vec<T>) -> Array2<T> {
    Array2::from_shape_vec((rows, columns).f(), values).unwrap()
}

fn routines<T: Scalar>(gpu: &Gpu) {
    let (stream, blas) = (gpu.stream(), gpu.blas().unwrap());
    let (x, y, a) = (random::<T>(1, 7, 1), random::<T>(2, 4, 1), random::<T>(3, 7, 4));
    let alpha = T::nearest(Complex64::new(2.0, -1.0));
    for operation in [Operation::Transposed, Operation::Adjoint] {
        let (device_x, device_y) = (stream.upload(&columns(&x)).unwrap(), stream.upload(&columns(&y)).unwrap());
        let mut device_a = stream.upload(&columns(&a)).unwrap();
        let left = Matrix::new(&device_x, Layout::dense(7, 1)).unwrap();
        let right = Matrix::new(&device_y, Layout::dense(4, 1)).unwrap();
        let target = MatrixMut::new(&mut device_a, Layout::dense(7, 4)).unwrap();
        blas.ger(alpha, left, (operation, right), target).unwrap();
        let row = if operation == Operation::Adjoint { adjoint(&y) } else { y.t().to_owned() };
        let expected = exact::product(&wide(&x), &wide(&row)).mapv(|v| v * alpha.wide()) + wide(&a);
        assert!(distance(&array(7, 4, device_a.to_vec().unwrap()), &expected) <= 50.0 * T::EPSILON);
    }
    // Of a square with something in both triangles each routine sees one.
    let mut square = random::<T>(4, 6, 6);
    (0..6).for_each(|i| square[[i, i]] = T::from_f64(4.0));
    let right = random::<T>(5, 6, 3);
    for (triangle, diagonal) in [(Triangle::Lower, Diagonal::Stored), (Triangle::Upper, Diagonal::Ones)] {
        let seen = Array2::from_shape_fn((6, 6), |(i, j)| match (i == j, (i > j) == (triangle == Triangle::Lower)) {
            (true, _) if diagonal == Diagonal::Ones => T::ONE,
            (true, _) | (false, true) => square[[i, j]],
            (false, false) => T::ZERO,
        });
        for operation in [Operation::Plain, Operation::Adjoint] {
            let device_a = stream.upload(&columns(&square)).unwrap();
            let mut device_b = stream.upload(&columns(&right)).unwrap();
            let matrix = Matrix::new(&device_a, Layout::dense(6, 6)).unwrap();
            let target = MatrixMut::new(&mut device_b, Layout::dense(6, 3)).unwrap();
            blas.trsm((triangle, diagonal), alpha, (operation, matrix), target).unwrap();
            let x = array(6, 3, device_b.to_vec().unwrap());
            let matrix = if operation == Operation::Plain { seen.clone() } else { adjoint(&seen) };
            let expected = wide(&right).mapv(|v| v * alpha.wide());
            let got = exact::product(&wide(&matrix), &wide(&x));
            let off = (&got - &expected).iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!(off <= 1000.0 * T::EPSILON, "{} {triangle:?} {operation:?}: {off}", T::NAME);
        }
    }
}

/// What streamed factors need besides: triangles from the right, exchanges of rows.
fn triangles_and_exchanges<T: Scalar>(gpu: &Gpu) {
    let (stream, blas, solver) = (gpu.stream(), gpu.blas().unwrap(), gpu.solver().unwrap());
    let mut square = random::<T>(4, 6, 6);
    (0..6).for_each(|i| square[[i, i]] = T::from_f64(4.0));
    let lower = Array2::from_shape_fn((6, 6), |(i, j)| if i >= j { square[[i, j]] } else { T::ZERO });
    let b = random::<T>(5, 3, 6);
    for (operation, seen) in [(Operation::Plain, lower.clone()), (Operation::Adjoint, adjoint(&lower))] {
        let device_a = stream.upload(&columns(&square)).unwrap();
        let mut device_b = stream.upload(&columns(&b)).unwrap();
        let matrix = Matrix::new(&device_a, Layout::dense(6, 6)).unwrap();
        let target = MatrixMut::new(&mut device_b, Layout::dense(3, 6)).unwrap();
        blas.trsm_right((Triangle::Lower, Diagonal::Stored), T::ONE, (operation, matrix), target).unwrap();
        let x = array(3, 6, device_b.to_vec().unwrap());
        let off = distance(&b, &exact::product(&wide(&x), &wide(&seen)));
        assert!(off <= 1000.0 * T::EPSILON, "{} {operation:?}: {off}", T::NAME);
    }
    // In a part of a buffer: rows 2 to 6 of 7.
    let a = random::<T>(6, 7, 5);
    let exchanges = Exchanges::new(stream, &[3, 1, 4]).unwrap();
    let part = Layout { offset: 2, rows: 5, columns: 5, leading: 7 };
    let mut device_a = stream.upload(&columns(&a)).unwrap();
    solver.laswp(MatrixMut::new(&mut device_a, part).unwrap(), &exchanges).unwrap();
    let order = [0, 1, 5, 3, 6, 2, 4];
    let expected = Array2::from_shape_fn((7, 5), |(i, j)| a[[order[i], j]]);
    assert_eq!(array(7, 5, device_a.to_vec().unwrap()), expected, "{}", T::NAME);
    let short = Layout { rows: 4, ..part };
    assert!(solver.laswp(MatrixMut::new(&mut device_a, short).unwrap(), &exchanges).is_err());
    assert!(solver.getrf_bytes::<T>(700, 30).unwrap() < 1 << 30);
}

#[test]
fn triangles_and_exchanges_on_the_device() {
    let Some(gpu) = crate::gpu("linear::device::triangles_and_exchanges_on_the_device") else { return };
    triangles_and_exchanges::<f32>(&gpu);
    triangles_and_exchanges::<f64>(&gpu);
    triangles_and_exchanges::<Complex32>(&gpu);
    triangles_and_exchanges::<Complex64>(&gpu);
}

fn grams<T: Scalar>(gpu: &Gpu, number: fn(f64) -> T::Magnitude) {
    let (stream, blas) = (gpu.stream(), gpu.blas().unwrap());
    let a = random::<T>(6, 5, 3);
    for (operation, order, gram) in [
        (Operation::Plain, 5, exact::product(&wide(&a), &wide(&adjoint(&a)))),
        (Operation::Adjoint, 3, exact::product(&wide(&adjoint(&a)), &wide(&a))),
    ] {
        let device_a = stream.upload(&columns(&a)).unwrap();
        let mut device_c = stream.upload(&vec![T::from_f64(7.0); order * order]).unwrap();
        let matrix = Matrix::new(&device_a, Layout::dense(5, 3)).unwrap();
        let target = MatrixMut::new(&mut device_c, Layout::dense(order, order)).unwrap();
        blas.herk(Triangle::Lower, number(2.0), (operation, matrix), number(0.0), target).unwrap();
        let c = array(order, order, device_c.to_vec().unwrap());
        let seven = Complex64::new(7.0, 0.0);
        let expected = Array2::from_shape_fn((order, order), |(i, j)| if i < j { seven } else { gram[[i, j]] * 2.0 });
        assert!(distance(&c, &expected) <= 100.0 * T::EPSILON, "{} {operation:?}", T::NAME);
    }
}

#[test]
fn routines_of_the_driver() {
    let Some(gpu) = crate::gpu("linear::device::routines_of_the_driver") else { return };
    routines::<f32>(&gpu);
    routines::<f64>(&gpu);
    routines::<Complex32>(&gpu);
    routines::<Complex64>(&gpu);
    grams::<f32>(&gpu, |x| x as f32);
    grams::<f64>(&gpu, |x| x);
    grams::<Complex32>(&gpu, |x| x as f32);
    grams::<Complex64>(&gpu, |x| x);
}

/// Work on memory of another stream, and what does not fit.
#[test]
fn streams_and_refusals() {
    let Some(gpu) = crate::gpu("linear::device::streams_and_refusals") else { return };
    let other = gpu.stream().device().stream().unwrap();
    let mut square = other.upload(&[0.0_f64, 2.0, 0.0, 0.0]).unwrap();
    let mut pivots = other.alloc(2).unwrap();
    let matrix = MatrixMut::new(&mut square, Layout::dense(2, 2)).unwrap();
    assert_eq!(gpu.solver().unwrap().getrf(matrix, &mut pivots).unwrap(), Outcome::Stopped(2));
    assert_eq!(pivots.to_vec().unwrap()[0], 2);
    let refused = |layout| assert!(MatrixMut::new(&mut other.upload(&[0.0_f64; 6]).unwrap(), layout).is_err());
    refused(Layout { offset: 1, rows: 2, columns: 3, leading: 2 });
    refused(Layout { offset: 0, rows: 3, columns: 2, leading: 2 });
    refused(Layout { offset: 0, rows: 2, columns: usize::MAX, leading: 2 });
    assert!(gpu.blas().unwrap().version().unwrap() >= 120_000);
}

/// Large ones go through slots that threads fill: any layout, and back.
#[test]
fn large_matrices_come_and_go() {
    let Some(gpu) = crate::gpu("linear::device::large_matrices_come_and_go") else { return };
    // 129 MB, and no multiple of anything.
    let (rows, columns) = (4099, 4127);
    let by_rows = Array2::from_shape_fn((rows, columns), |(i, j)| (i * 8191 + j) as f64);
    let by_columns = by_rows.t().as_standard_layout().into_owned().reversed_axes();
    let plain = DeviceMat::upload(&gpu, (&by_rows).into()).unwrap();
    assert!(plain.download().unwrap() == by_rows);
    assert!(DeviceMat::upload(&gpu, (&by_columns).into()).unwrap().download().unwrap() == by_rows);
    let view = MatRef::from(&by_rows).t().scaled(-2.0);
    assert!(DeviceMat::upload(&gpu, view).unwrap().download().unwrap() == &by_rows.t() * -2.0);
    // Turned on the GPU, or, where there is a scale, on the way.
    assert!(DeviceMat::bring(&gpu, (&by_rows).into()).unwrap().download().unwrap() == by_rows);
    assert!(DeviceMat::bring(&gpu, view).unwrap().download().unwrap() == &by_rows.t() * -2.0);
}

/// Columns that are many bytes come through page-locked memory, wherever they begin.
#[test]
fn large_parts_come_to_the_host() {
    let Some(gpu) = crate::gpu("linear::device::large_parts_come_to_the_host") else { return };
    let (rows, columns) = (1000, 300..18_000);
    let values = Array2::from_shape_fn((18_100, rows), |(j, i)| (j * rows + i) as f64).reversed_axes();
    let there = DeviceMat::upload(&gpu, (&values).into()).unwrap();
    let part = there.view().part(Rows(0)..Rows(rows), Columns(columns.start)..Columns(columns.end)).unwrap();
    let expected = values.slice(s![.., columns]);
    assert!(part.download().unwrap() == expected);
    assert!(part.t().scaled(-2.0).download().unwrap() == &expected.t() * -2.0);
}

/// Part by part: one row is longer than a part, and the last part is a short one.
#[test]
fn small_matrices_are_turned_on_the_gpu() {
    let Some(gpu) = crate::gpu("linear::device::small_matrices_are_turned_on_the_gpu") else { return };
    for (rows, columns) in [(1, 1), (3, 5), (5, 1), (1, 7), (700, 901), (2, 1_100_000)] {
        let values = Array2::from_shape_fn((rows, columns), |(i, j)| Complex64::new(i as f64, j as f64 + 0.5));
        let view = MatRef::from(&values);
        for matrix in [view, view.t(), view.conj(), view.h(), view.scaled(Complex64::new(0.0, 2.0))] {
            let [brought, uploaded] = [DeviceMat::bring, DeviceMat::upload].map(|to| to(&gpu, matrix).unwrap());
            assert!(brought.download().unwrap() == uploaded.download().unwrap(), "{rows} x {columns}");
        }
    }
}
