//! Operands and results on the GPU and in host memory, side by side.

use super::{X, Y, budgets, numbers};
use ndarray::Array2;
use tilewright_expr::{Border, In, concatenate, coordinate};
use tilewright_hybrid::store::{DeviceSink, DeviceSource, Extents, MemorySink, MemorySource, Sink, Source};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, Traffic, evaluate};
use tilewright_ops::{Device, Tensor, fuse};

/// Where operands and results of [`in_places`] lie: on the GPU, or in host memory.
const PLACES: [[bool; 3]; 5] =
    [[true, true, true], [true, false, true], [false, true, true], [true, true, false], [false, false, true]];

/// An expression of two matrices and a row, each on the GPU or not, as the result is: bits of the result, and what was copied.
fn in_places(
    device: &Device,
    on: &Device,
    budgets: &Budgets,
    places: [bool; 3],
    is_shifted: bool,
) -> (Vec<u32>, Traffic) {
    let (stream, [rows, columns]) = (on.as_gpu().unwrap().device().stream().unwrap(), [333, 129]);
    let values = [numbers(rows * columns, 1), numbers(rows * columns, 2), numbers(columns, 3)];
    let extents = [Extents::new(rows, columns), Extents::new(rows, columns), Extents::new(1, columns)];
    let buffers = values.each_ref().map(|values| stream.upload(values).unwrap());
    let memory = [0, 1, 2].map(|i| MemorySource::from_slice(&values[i], extents[i]).unwrap());
    let there = [0, 1, 2].map(|i| DeviceSource::new(&buffers[i], extents[i]).unwrap());
    // The row lies where the first matrix does.
    let source = |i: usize, place: usize| if places[place] { &there[i] as &dyn Source } else { &memory[i] };
    let a = Array::<f32, (Y, X)>::new(source(0, 0), [rows, columns]).unwrap();
    let b = Array::<f32, (Y, X)>::new(source(1, 1), [rows, columns]).unwrap();
    let row = Array::<f32, (X,)>::new(source(2, 0), [columns]).unwrap();
    let plain = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>, row: In<f32, (X,)>| {
        ((a + b * 0.5).abs().sqrt() - row + coordinate::<Y>().to::<f32>()).store::<(Y, X)>()
    });
    let shifted = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>, row: In<f32, (X,)>| {
        (a.gaussian_blur::<Y, X>((5, 5), (1.0, 1.0), Border::Reflect101) * b - row).store::<(Y, X)>()
    });
    let expression = if is_shifted { &shifted } else { &plain };
    let (mut here, mut on_gpu) =
        (Array2::from_elem((rows, columns), f32::NAN), stream.upload(&vec![f32::NAN; rows * columns]).unwrap());
    let whole = Extents::new(rows, columns);
    let traffic = if places[2] {
        let sink = DeviceSink::new(&mut on_gpu, whole).unwrap();
        let evaluation = Evaluation::new(expression, (&a, &b, &row), &[&sink]).unwrap();
        let traffic = evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(sink).commit().unwrap();
        traffic
    } else {
        let sink = MemorySink::new(here.view_mut());
        let evaluation = Evaluation::new(expression, (&a, &b, &row), &[&sink]).unwrap();
        let traffic = evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(sink).commit().unwrap();
        traffic
    };
    let result = if places[2] { on_gpu.to_vec().unwrap() } else { here.into_raw_vec_and_offset().0 };
    (result.iter().map(|x| x.to_bits()).collect(), traffic)
}

/// What lies on the GPU is read and written there; the rest is streamed.
pub(super) fn mixed_places(device: &Device, compare: bool) {
    let matrix = 4 * 333 * 129;
    for is_shifted in [false, true] {
        let (expected, _) = in_places(&Device::Cpu, device, &budgets(0, 1 << 20), [false; 3], is_shifted);
        for places in PLACES {
            // With a margin a result that stays there is made at once: what is brought for it has to fit.
            let bytes = if is_shifted { 1 << 20 } else { 96 << 10 };
            let budgets = budgets(bytes, 64 << 10);
            let (result, traffic) = in_places(device, device, &budgets, places, is_shifted);
            let what = format!("{places:?} {is_shifted}");
            assert!(!compare || result == expected, "{what}");
            let row = if places[0] { 0 } else { 4 * 129 };
            let least = row + places[..2].iter().map(|there| if *there { 0 } else { matrix }).sum::<u64>();
            assert!((least..=least * 2).contains(&traffic.to_gpu), "{what}: {traffic:?}");
            assert_eq!(traffic.to_host, if places[2] { 0 } else { matrix }, "{what}");
            assert!(budgets.device.peak() <= bytes && budgets.device.used() == 0, "{what}");
            assert_eq!(budgets.device.peak() == 0, places == [true; 3], "{what}");
        }
    }
}

/// The CPU has copies of what lies on a GPU, as large as its bands, and copies its results there.
pub(super) fn places_on_the_cpu(on: &Device) {
    for is_shifted in [false, true] {
        let (expected, _) = in_places(&Device::Cpu, on, &budgets(0, 1 << 20), [false; 3], is_shifted);
        for places in PLACES {
            let budgets = budgets(0, 48 << 10);
            let (result, traffic) = in_places(&Device::Cpu, on, &budgets, places, is_shifted);
            assert!(result == expected, "{places:?} {is_shifted}");
            // The row lies where the first matrix does. Margins come twice.
            let bytes = |is_there, elements: u64| if is_there { 4 * elements } else { 0 };
            let least = bytes(places[0], 333 * 129 + 129) + bytes(places[1], 333 * 129);
            assert_eq!(traffic.to_gpu, bytes(places[2], 333 * 129), "{places:?} {is_shifted}");
            let margins = is_shifted && (places[0] || places[1]);
            assert!(traffic.to_host >= least && (traffic.to_host > least) == margins, "{places:?} {traffic:?}");
            assert!((1..=48 << 10).contains(&budgets.pinned.peak()) && budgets.pinned.used() == 0);
        }
    }
}

/// Parts of a result on the GPU, one after the other along rows, and along columns, where a part has gaps between its rows. No part of them fits whole.
pub(super) fn parts_there(device: &Device, on: &Device, budgets: &Budgets, compare: bool) {
    let (stream, shape @ [rows, columns]) = (on.as_gpu().unwrap().device().stream().unwrap(), [301, 37]);
    let values: Vec<f32> = (0..rows * columns).map(|i| (i * 7919 % 13) as f32 - 6.0).collect();
    let source = MemorySource::from_slice(&values, Extents::new(rows, columns)).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let memory = if device.as_gpu().is_some() { budgets.device.limit() } else { budgets.pinned.limit() };
    macro_rules! check {
        ($expression:expr, $shape:expr, along $dim:ty) => {{
            let (expression, [rows, columns]) = ($expression, $shape);
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let mut there = stream.upload(&vec![f32::NAN; rows * columns]).unwrap();
            let sink = DeviceSink::new(&mut there, Extents::new(rows, columns)).unwrap();
            let evaluation = Evaluation::new(&expression, (&x,), &[&sink]).unwrap().along::<$dim>().unwrap();
            let plan = evaluation.plan(memory).unwrap();
            assert!(plan.count() as u128 + plan.others.bands > 6, "{plan:?}");
            let traffic = evaluate(device, budgets, &evaluation, Control::default()).unwrap();
            drop(evaluation);
            Box::new(sink).commit().unwrap();
            let bytes = 4 * (rows * columns) as u64;
            match device.as_gpu() {
                // What bands are reduced to comes back, and nothing of the result.
                Some(_) => assert!(traffic.to_host < bytes / 4, "{traffic:?} of {bytes}"),
                None => assert!(traffic.to_gpu >= bytes, "{traffic:?} of {bytes}"),
            }
            assert!(!compare || there.to_vec().unwrap() == whole);
        }};
    }
    let below = fuse(|x: In<f32, (Y, X)>| {
        let back = x.slice::<Y>(3, 200).reverse::<Y>().box_filter::<Y, X>(3, 1, Border::Constant(0.0));
        concatenate::<Y, _>((x * 2.0, back * 3.0, x.cumsum::<Y>(), x.maximum::<Y>(), x + 1.0)).store::<(Y, X)>()
    });
    check!(below, [rows + 200 + rows + 1 + rows, columns], along Y);
    let beside = fuse(|x: In<f32, (Y, X)>| {
        concatenate::<X, _>((x.slice::<X>(5, 31), x.maximum::<X>(), x.reverse::<X>() - 1.0)).store::<(Y, X)>()
    });
    check!(beside, [rows, 31 + 1 + columns], along X);
}
