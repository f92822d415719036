//! Streamed products of what lies in page-locked memory, which the GPU reads and writes itself. Without a GPU these run on stubs.

use super::numbers::random;
use super::reference::{adjoint, distance, exact, norm, wide};
use bytemuck::Pod;
use ndarray::{Array2, ArrayView2};
use tilewright_driver::PinnedBuffer;
use tilewright_driver::blas::Element;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::ProductExtents;
use tilewright_hybrid::linear::{Gpu, Precision, Scalar};
use tilewright_hybrid::store::{
    Extents, MemorySink, MemorySource, PinnedSink, PinnedSource, ReadTyped, Sink, Source, Stored, Tile, WriteTyped,
};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor, Form, MatmulPlan, Product};
use tilewright_hybrid::{Complex64, Error};

fn locked<T: Scalar + Pod>(gpu: &Gpu, values: &Array2<T>) -> PinnedBuffer<T> {
    let mut buffer = gpu.stream().device().pinned(values.len()).unwrap();
    buffer.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
    buffer
}

fn extents<T>(values: &Array2<T>) -> Extents {
    Extents::new(values.nrows(), values.ncols())
}

/// A product of three matrices in page-locked memory, or in ordinary memory, each as the bits of `where_from` say.
fn products<T: Scalar + Stored + Pod + Element<Coefficient = T, Sum = T>>(gpu: &Gpu) {
    let [rows, columns, depth] = [37, 45, 53];
    let extents_of_all = ProductExtents { rows, columns, depth };
    let whole = MatmulPlan::by_rows(extents_of_all, size_of::<T>(), 1 << 20, 3).unwrap();
    assert_eq!(whole.tile[1], columns);
    // Parts of rows go through slots, whole ones do not.
    let plans = [([16, 20], 11), ([16, columns], 11), ([16, columns], depth)];
    for form in [Form::Plain, Form::Transposed, Form::Adjoint] {
        let plain = (random::<T>(1, rows, depth), random::<T>(2, depth, columns), random::<T>(3, rows, columns));
        let undone = |values: &Array2<T>| match form {
            Form::Plain => values.clone(),
            Form::Transposed => values.t().as_standard_layout().into_owned(),
            Form::Adjoint => adjoint(values),
        };
        let (a, b, c) = (undone(&plain.0), undone(&plain.1), plain.2);
        let half = T::from_f64(0.5);
        let expected = exact::product(&wide(&plain.0), &wide(&plain.1)) + wide(&c).mapv(|x| x * 0.5);
        let (la, lb, lc) = (locked(gpu, &a), locked(gpu, &b), locked(gpu, &c));
        for (where_from, (tile, panel)) in (0..16).flat_map(|it| plans.map(|plan| (it, plan))) {
            let choose = |bit: usize| where_from >> bit & 1 == 1;
            let pinned = Budget::new(Memory::Pinned, 8 << 10);
            let budgets = Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned };
            let source = |bit, buffer, values| -> Box<dyn Source + '_> { of::<T>(choose(bit), buffer, values) };
            let (sa, sb, sc) = (source(0, &la, &a), source(1, &lb, &b), source(2, &lc, &c));
            let [fa, fb] = [&sa, &sb].map(|source| Factor { source: &**source, form });
            let product = Product { a: fa, b: fb, c: Some(&*sc), alpha: T::ONE, beta: half };
            let mut result = locked(gpu, &Array2::from_elem((rows, columns), T::from_f64(f64::NAN)));
            let mut ordinary = Array2::from_elem((rows, columns), T::from_f64(f64::NAN));
            {
                let sink: Box<dyn Sink> = match choose(3) {
                    true => Box::new(PinnedSink::new(&mut result, extents(&c)).unwrap()),
                    false => Box::new(MemorySink::new(ordinary.view_mut())),
                };
                let plan = MatmulPlan { tile, panel, ..whole };
                stream::matmul_by(&plan, gpu, &budgets, Precision::Auto, &product, &*sink, Control::default()).unwrap();
                sink.commit().unwrap();
            }
            let of_result = ArrayView2::from_shape((rows, columns), &result).unwrap();
            let got = if choose(3) { of_result.to_owned() } else { ordinary };
            let off = distance(&got, &expected) / (norm(&got) * depth as f64 * T::EPSILON);
            assert!(off <= 20.0, "{} {form:?} from {where_from:04b}: {off}", T::NAME);
            // There are no slots where nothing goes through them.
            let is_direct = where_from == 15 && form == Form::Plain && panel == depth;
            let (peak, most) = (budgets.pinned.peak(), if is_direct { 0 } else { 8 << 10 });
            assert!(peak <= most && budgets.pinned.used() == 0, "{form:?} {where_from:04b} {tile:?}: {peak}");
        }
    }
}

fn of<'a, T: Scalar + Stored + Pod>(
    is_locked: bool,
    buffer: &'a PinnedBuffer<T>,
    values: &'a Array2<T>,
) -> Box<dyn Source + 'a> {
    match is_locked {
        true => Box::new(PinnedSource::new(buffer, extents(values)).unwrap()),
        false => Box::new(MemorySource::new(values.view())),
    }
}

#[test]
fn page_locked_operands_give_the_same_product() {
    let Some(gpu) = crate::gpu("linear::page_locked::page_locked_operands_give_the_same_product") else { return };
    products::<f32>(&gpu);
    products::<f64>(&gpu);
    products::<Complex64>(&gpu);
}

#[test]
fn page_locked_matrices_are_sources_and_sinks_for_the_host_too() {
    let test = "linear::page_locked::page_locked_matrices_are_sources_and_sinks_for_the_host_too";
    let Some(gpu) = crate::gpu(test) else { return };
    let values = random::<f64>(7, 9, 6);
    let buffer = locked(&gpu, &values);
    let source = PinnedSource::new(&buffer, Extents::new(9, 6)).unwrap();
    let tile = Tile { rows: 2..7, columns: 1..5 };
    let mut got = vec![f64::NAN; 20];
    source.read(&tile, &mut got).unwrap();
    assert_eq!(got, values.slice(ndarray::s![2..7, 1..5]).iter().copied().collect::<Vec<_>>());

    let mut target = locked(&gpu, &Array2::from_elem((9, 6), f64::NAN));
    let sink = PinnedSink::new(&mut target, Extents::new(9, 6)).unwrap();
    sink.write(&tile, &got).unwrap();
    let error = Box::new(sink).commit().unwrap_err();
    assert!(matches!(error, Error::Incomplete { row: 0, column: 0, .. }), "{error}");
    let sink = PinnedSink::new(&mut target, Extents::new(9, 6)).unwrap();
    for tile in Extents::new(9, 6).tiles(Extents::new(4, 5)) {
        let part = values.slice(ndarray::s![tile.rows.clone(), tile.columns.clone()]);
        sink.write(&tile, &part.iter().copied().collect::<Vec<_>>()).unwrap();
    }
    Box::new(sink).commit().unwrap();
    assert_eq!(target[..], *values.as_slice().unwrap());
    // Threads write the same rows at once.
    let values = random::<f64>(8, 300, 24);
    let mut target = locked(&gpu, &Array2::from_elem((300, 24), f64::NAN));
    let sink = PinnedSink::new(&mut target, Extents::new(300, 24)).unwrap();
    std::thread::scope(|scope| {
        for column in 0..8 {
            let (sink, values) = (&sink, &values);
            scope.spawn(move || {
                for tile in Extents::new(300, 3).tiles(Extents::new(47, 2)) {
                    let columns = tile.columns.start + 3 * column..tile.columns.end + 3 * column;
                    let part = values.slice(ndarray::s![tile.rows.clone(), columns.clone()]);
                    sink.write(&Tile { columns, ..tile }, &part.iter().copied().collect::<Vec<_>>()).unwrap();
                }
            });
        }
    });
    Box::new(sink).commit().unwrap();
    assert_eq!(target[..], *values.as_slice().unwrap());
    let mut target = locked(&gpu, &Array2::from_elem((9, 6), f64::NAN));
    for wrong in [Extents::new(9, 5), Extents::new(usize::MAX, 2)] {
        assert!(PinnedSource::new(&buffer, wrong).is_err() && PinnedSink::new(&mut target, wrong).is_err());
    }
}

/// A run that ends early leaves a sink that is not whole, though every tile before it landed.
#[test]
fn a_cancelled_product_leaves_nothing_to_commit() {
    let Some(gpu) = crate::gpu("linear::page_locked::a_cancelled_product_leaves_nothing_to_commit") else { return };
    let a = random::<f64>(1, 40, 40);
    let buffer = locked(&gpu, &a);
    let source = PinnedSource::new(&buffer, extents(&a)).unwrap();
    let product = Product { a: Factor::plain(&source), b: Factor::plain(&source), c: None, alpha: 1.0, beta: 0.0 };
    let mut result = locked(&gpu, &Array2::from_elem((40, 40), f64::NAN));
    let sink = PinnedSink::new(&mut result, extents(&a)).unwrap();
    let extents = ProductExtents { rows: 40, columns: 40, depth: 40 };
    let plan = MatmulPlan { tile: [10, 10], panel: 10, ..MatmulPlan::new(extents, 8, 1 << 20, 3).unwrap() };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned: Budget::new(Memory::Pinned, 64 << 10) };
    let cancel = stream::Cancel::default();
    let progress = |done, _| {
        if done == 30 {
            cancel.cancel()
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
    let error = stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, &sink, control).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    assert!(matches!(Box::new(sink).commit(), Err(Error::Incomplete { .. })));
}

/// Rows so long that the GPU reads and writes parts of them itself.
#[test]
fn parts_of_long_rows_need_no_slots() {
    let Some(gpu) = crate::gpu("linear::page_locked::parts_of_long_rows_need_no_slots") else { return };
    let columns = 300_001;
    let (a, b) = (random::<f64>(1, 2, 2), random::<f64>(2, 2, columns));
    let (la, lb) = (locked(&gpu, &a), locked(&gpu, &b));
    let (sa, sb) = (PinnedSource::new(&la, extents(&a)).unwrap(), PinnedSource::new(&lb, extents(&b)).unwrap());
    let product = Product { a: Factor::plain(&sa), b: Factor::plain(&sb), c: None, alpha: 1.0, beta: 0.0 };
    let mut result = locked(&gpu, &Array2::from_elem((2, columns), f64::NAN));
    let sink = PinnedSink::new(&mut result, extents(&b)).unwrap();
    let of_all = ProductExtents { rows: 2, columns, depth: 2 };
    let plan = MatmulPlan { tile: [2, 150_000], panel: 2, ..MatmulPlan::new(of_all, 8, 1 << 30, 3).unwrap() };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 30), pinned: Budget::new(Memory::Pinned, 1 << 10) };
    stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, &sink, Control::default()).unwrap();
    Box::new(sink).commit().unwrap();
    let expected = exact::product(&wide(&a), &wide(&b));
    let got = ArrayView2::from_shape((2, columns), &result).unwrap().to_owned();
    assert!(distance(&got, &expected) <= 20.0 * 2.0 * f64::EPSILON * norm(&b));
}
