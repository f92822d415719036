//! Values that go to computed places: counts and sums of an array that does not fit, into results that do.

use super::steps::{SHAPE, check};
use super::{K, X, Y};
use ndarray::Array2;
use tilewright_expr::{Border, In, Initial, coordinate, meet};
use tilewright_hybrid::store::{DeviceSink, Extents, MemorySink, MemorySource, PinnedSink, Sink};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_ops::{Device, Tensor, fuse};

/// Histograms, sums and extremes; of stencils, scans and what runs backwards; beside a result that is not scattered, and in rows of their own.
pub(super) fn scattered(device: &Device, [little, more]: [&Budgets; 2]) {
    let values: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(|i| (i * 7919 % 13) as f32 - 2.0).collect();
    let source = MemorySource::from_slice(&values, Extents::new(SHAPE[0], SHAPE[1])).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    macro_rules! same {
        ($budgets:ident: $expression:expr, $t:ty, $shape:expr) => {{
            let expression = $expression;
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
                run(&Evaluation::new(&expression, (&x,), sinks).unwrap().along::<Y>().unwrap())
            };
            check::<$t>(device, $budgets, of, &[(&whole, $shape)]);
        }};
    }
    let [rows, columns] = SHAPE;
    let counts = fuse(|x: In<f32, (Y, X)>| x.to::<i32>().histogram::<(Y, X), K>(9).store::<(K,)>());
    same!(little: counts, i64, [9, 1]);
    // More places than blocks have for themselves, and values that meet by themselves alone.
    let far = fuse(|x: In<f32, (Y, X)>| {
        let to = (coordinate::<Y>() * 37 + coordinate::<X>() * 1013) & 4095;
        x.to::<i32>().scatter::<(Y, X), K, _, _>(to, 4096, meet::Sum, Initial::Filled(-5)).store::<(K,)>()
    });
    same!(more: far, i32, [64, 64]);
    let highest = fuse(|x: In<f32, (Y, X)>| {
        let low = x.correlate::<Y, X>([[1.0f32], [0.0], [2.0], [-1.0], [0.0]], Border::Wrap);
        low.scatter::<Y, K, _, _>(x.to::<i32>(), 9, meet::Max, Initial::Filled(0.5)).store::<(K, X)>()
    });
    same!(little: highest, f32, [9, columns]);
    let low = fuse(|x: In<f32, (Y, X)>| {
        let low = x.box_filter::<Y, X>(3, 5, Border::Reflect).to::<i32>();
        low.histogram::<Y, K>(9).store::<(X, K)>()
    });
    same!(little: low, i64, [columns, 9]);
    let scanned = fuse(|x: In<f32, (Y, X)>| {
        let to = x.cumsum::<Y>().to::<i32>() & 15;
        to.scatter::<(Y, X), K, _, _>(to, 16, meet::Sum, Initial::Filled(0)).store::<(K,)>()
    });
    same!(little: scanned, i32, [16, 1]);
    let backwards = fuse(|x: In<f32, (Y, X)>| {
        let to = coordinate::<Y>() / 10;
        x.reverse::<Y>().scatter::<Y, K, _, _>(to, 70, meet::Min, Initial::Filled(0.25)).store::<(X, K)>()
    });
    same!(little: backwards, f32, [columns, 70]);
    let moved = fuse(|x: In<f32, (Y, X)>| {
        let to = 600 - coordinate::<Y>();
        (x * 2.0).scatter::<Y, Y, _, _>(to, 601, meet::Unique, Initial::Filled(0.0)).store::<(Y, X)>()
    });
    same!(more: moved, f32, [rows, columns]);
    let in_rows = fuse(|x: In<f32, (Y, X)>| {
        x.scatter::<X, K, _, _>(x.to::<i32>(), 4, meet::Max, Initial::Filled(-1.0)).store::<(Y, K)>()
    });
    same!(little: in_rows, f32, [rows, 4]);

    let beside = fuse(|x: In<f32, (Y, X)>| {
        let largest = x.scatter::<(Y, X), K, _, _>(x.to::<i32>(), 9, meet::Max, Initial::Filled(0.5));
        (largest.store::<(K,)>(), (x * 2.0).store::<(Y, X)>())
    });
    let (largest, twice) = beside.call(&tensor).unwrap();
    let (largest, twice) = (largest.to_vec().unwrap(), twice.to_vec().unwrap());
    let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
        run(&Evaluation::new(&beside, (&x,), sinks).unwrap())
    };
    check(device, little, of, &[(&largest, [9, 1]), (&twice, SHAPE)]);
}

/// Into results on a GPU, where they are, and in page-locked memory.
pub(super) fn scattered_there(device: &Device, on: &Device, budgets: &Budgets) {
    let values: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(|i| (i * 7919 % 13) as f32 - 2.0).collect();
    let source = MemorySource::from_slice(&values, Extents::new(SHAPE[0], SHAPE[1])).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let low = fuse(|x: In<f32, (Y, X)>| {
        let low = x.box_filter::<Y, X>(3, 5, Border::Reflect).to::<i32>();
        low.histogram::<Y, K>(9).store::<(X, K)>()
    });
    let (whole, all) = (low.call(&tensor).unwrap().to_vec().unwrap(), Extents::new(SHAPE[1], 9));
    let run = |sink: &dyn Sink| {
        let evaluation = Evaluation::new(&low, (&x,), &[sink]).unwrap();
        assert!(evaluation.plan(8 << 10).unwrap().count() > 2);
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
    };
    let gpu = on.as_gpu().unwrap().device();
    let mut there = gpu.stream().unwrap().upload(&vec![-7i64; whole.len()]).unwrap();
    let sink = DeviceSink::new(&mut there, all).unwrap();
    run(&sink);
    Box::new(sink).commit().unwrap();
    assert_eq!(there.to_vec().unwrap(), whole);
    let mut locked = gpu.pinned::<i64>(whole.len()).unwrap();
    locked.fill(-7);
    let sink = PinnedSink::new(&mut locked, all).unwrap();
    run(&sink);
    Box::new(sink).commit().unwrap();
    assert_eq!(locked.to_vec(), whole);
    let mut here = Array2::from_elem((SHAPE[1], 9), -7i64);
    let sink = MemorySink::new(here.view_mut());
    run(&sink);
    Box::new(sink).commit().unwrap();
    assert_eq!(here.as_slice().unwrap(), whole);
}
