//! Batches of products of matrices with vectors: of what lies anywhere, into what goes anywhere.

use super::shelf::{Lies, Number, STORES, Shelf, Whole, read, values};
use crate::device::on_the_gpu::{eager, shrinking};
use bytemuck::Pod;
use ndarray::{Array2, ArrayView2, s};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Bound, Choice, Rates, Reason, Tiles, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{Element, Extents, MemorySource, PinnedSink, PinnedSource};
use tilewright_hybrid::stream::{Budgets, Cancel, Factor, Product, Verify};
use tilewright_hybrid::{Class, Complex32, Complex64, Device, Error, MatMut, MatRef, Operand, Rows, Side, Target};

/// Matrices of a batch, their rows and columns.
type Sizes = [usize; 3];

const SIZES: Sizes = [7, 23, 17];

/// Operands of a batch with one vector for all matrices, or one for each; all whole numbers, so that sums are exact in f32 too.
fn operands<T: Number>([count, rows, columns]: Sizes, vectors: usize) -> [Array2<T>; 3] {
    [values([count * rows, columns], 1), values([vectors * columns, 1], 2), values([count * rows, 1], 3)]
}

fn expected<T: Number>(sizes: Sizes, vectors: usize, beta: f64) -> Array2<T> {
    let ([count, rows, columns], [a, x, mut y]) = (sizes, operands::<T>(sizes, vectors));
    for i in 0..count {
        let (matrix, vector) = (i * rows..(i + 1) * rows, i % vectors * columns..(i % vectors + 1) * columns);
        let product = a.slice(s![matrix.clone(), ..]).dot(&x.slice(s![vector, ..]));
        let mut part = y.slice_mut(s![matrix, ..]);
        part.zip_mut_with(&product, |y, product| *y = *product * T::of(3.0, 0.0) + *y * T::of(beta, 0.0));
    }
    y
}

/// One batch: where matrices, vectors and results lie.
fn batch<T: Number + Pod>(
    shelf: &Shelf<'_>,
    device: &Device,
    [a, x, y]: [Lies; 3],
    (sizes, vectors, beta): (Sizes, usize, f64),
) -> Result<Array2<T>, Error> {
    let [matrices, of_x, old] = operands::<T>(sizes, vectors);
    let (matrices, of_x) = (shelf.put(a, "a", &matrices), shelf.put(x, "x", &of_x));
    let (alpha, factor) = (T::of(3.0, 0.0), T::of(beta, 0.0));
    let start = if beta == 0.0 { Array2::from_elem(old.dim(), T::of(f64::NAN, 0.0)) } else { old.clone() };
    let multiply = |y: Target<'_, T>| {
        matrices.operand(|a| of_x.operand(|x| device.matvec_batched(Precision::Auto, alpha, a, x, factor, y)))
    };
    let extents = Extents::new(old.nrows(), 1);
    match y {
        Lies::Host => {
            let mut here = start;
            multiply((&mut here).into())?;
            Ok(here)
        }
        Lies::Locked => {
            let (mut new, old) = (shelf.locked(&start), shelf.locked(&old));
            let old = PinnedSource::new(&old, extents).unwrap();
            multiply(Target::updating(&old, PinnedSink::new(&mut new, extents).unwrap()))?;
            Ok(ArrayView2::from_shape(start.dim(), &new).unwrap().to_owned())
        }
        _ => {
            let added = shelf.put(y, "old", &old);
            let sink = Whole(shelf.sink(y, "new", T::ELEMENT, [extents.rows, 1]));
            match beta == 0.0 {
                true => multiply(sink.into())?,
                false => multiply(Target::updating(&**added.source.as_ref().unwrap(), sink))?,
            }
            Ok(read(&*shelf.source(y, "new")))
        }
    }
}

fn every<T: Number + Pod>(shelf: &Shelf<'_>, device: &Device, places: &[Lies], sizes: Sizes, check: impl Fn(&str)) {
    for (a, x, y) in
        places.iter().flat_map(|a| places.iter().flat_map(move |x| places.iter().map(move |y| (*a, *x, *y))))
    {
        for vectors in [sizes[0], 1] {
            let beta = if (a as usize + x as usize + y as usize).is_multiple_of(2) { 0.0 } else { -2.0 };
            let what = format!("{} {a:?} {x:?} {y:?} {vectors} {beta}", T::NAME);
            let got = batch::<T>(shelf, device, [a, x, y], (sizes, vectors, beta)).unwrap();
            assert_eq!(got, expected::<T>(sizes, vectors, beta), "{what}");
            check(&what);
        }
    }
}

#[test]
fn d4_batches_lie_anywhere_on_the_cpu() {
    let shelf = Shelf::new(None);
    let places = [&[Lies::Host], &STORES[..]].concat();
    let on_cpu = |what: &str| {
        let decision = last_decision().unwrap();
        assert_eq!((decision.operation, decision.side), ("matvec_batched", Side::Cpu), "{what}");
    };
    // Room for all, and for some rows of a matrix.
    for bytes in [1 << 20, 2000] {
        let host = Budget::new(Memory::Host, bytes);
        let device = Device::cpu().falling_back_within(host.clone());
        every::<f64>(&shelf, &device, &places, SIZES, on_cpu);
        if bytes == 2000 {
            every::<f32>(&shelf, &device, &places[1..], SIZES, on_cpu);
            every::<Complex32>(&shelf, &device, &places[1..], SIZES, on_cpu);
        }
        assert!(host.used() == 0 && (1000..=bytes).contains(&host.peak()), "{}", host.peak());
    }
    every::<Complex64>(&shelf, &Device::cpu(), &places, [1, 5, 3], on_cpu);
}

/// A GPU that has to be used, with so much of its memory, and what that counted.
fn tight(gpu: &Gpu, bytes: u64) -> (Device, Budgets) {
    let budgets = Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, 16 << 10) };
    let device = Device::with(gpu).rated(Rates::h200()).within(budgets.clone()).choosing(Choice::Gpu);
    (device.guarded(Breaker::new(0, Settings::default())), budgets)
}

#[test]
fn d4_batches_are_streamed_through_a_gpu_within_its_budgets() {
    let test = "device::stored::batches::d4_batches_are_streamed_through_a_gpu_within_its_budgets";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let places = [&[Lies::Host, Lies::Locked], &STORES[..1]].concat();
    let on_gpu = |what: &str| {
        let (decision, side) = (last_decision().unwrap(), last_outcome().unwrap().side);
        assert_eq!((decision.side, side, decision.reason), (Side::Gpu, Side::Gpu, Reason::Asked), "{what}");
        // A little that is page-locked goes there whole.
        let (tiles, stored) = (decision.gpu.unwrap().tiles, STORES.iter().any(|it| what.contains(&format!("{it:?}"))));
        let is_little = !stored && what.contains("Locked") && decision.bytes <= 4 << 10;
        assert!(matches!(tiles, Some(Tiles::Matvec(_))) || tiles.is_none() && is_little, "{what}: {decision:?}");
    };
    // Some rows of a matrix, one matrix, and two: none of them divides 23 rows or 7 matrices.
    for bytes in [4 << 10, 12 << 10, 20 << 10] {
        let (device, budgets) = tight(&gpu, bytes);
        every::<f64>(&shelf, &device, &places, SIZES, on_gpu);
        for budget in [&budgets.device, &budgets.pinned] {
            assert!(budget.used() == 0 && budget.peak() > 0 && budget.peak() <= budget.limit(), "{budget:?}");
        }
        assert!(budgets.device.peak() > bytes / 2, "{:?}", budgets.device);
        assert_eq!(device.health().unwrap().recent_failures, 0);
    }
    for sizes in [SIZES, [1, 31, 13], [5, 1, 29], [11, 3, 1]] {
        let (device, _) = tight(&gpu, 4 << 10);
        let stored = [Lies::Locked, STORES[STORES.len() - 1]];
        every::<f32>(&shelf, &device, &stored, sizes, on_gpu);
        every::<Complex32>(&shelf, &device, &stored, sizes, on_gpu);
        every::<Complex64>(&shelf, &device, &stored, sizes, on_gpu);
    }
}

/// In slices, each matrix, vector and result by itself, of any strides.
fn in_slices<T: Number + Pod>(device: &Device, beta: f64) -> Result<(), Error> {
    let ([count, rows, columns], [a, x, y]) = (SIZES, operands::<T>(SIZES, 7));
    let part = |all: &Array2<T>, i: usize, rows: usize| all.slice(s![i * rows..(i + 1) * rows, ..]).to_owned();
    let turned: Vec<_> = (0..count).map(|i| part(&a, i, rows).t().as_standard_layout().to_owned()).collect();
    let spread = Array2::from_shape_fn((2 * x.nrows(), 1), |(i, _)| x[[i / 2, 0]]);
    let vectors: Vec<_> = (0..count).map(|i| spread.slice(s![2 * i * columns..2 * (i + 1) * columns;2, ..])).collect();
    let mut results: Vec<_> = (0..count).map(|i| part(&y, i, rows)).collect();
    let a: Vec<_> = turned.iter().map(|one| MatRef::from(one).t()).collect();
    let x: Vec<_> = vectors.iter().map(MatRef::from).collect();
    let mut of_results: Vec<_> = results.iter_mut().map(MatMut::from).collect();
    device.matmul_batched(Precision::Auto, T::of(3.0, 0.0), &a, &x, T::of(beta, 0.0), &mut of_results)?;
    let all = expected::<T>(SIZES, 7, beta);
    assert!((0..count).all(|i| results[i] == part(&all, i, rows)), "{} {beta}", T::NAME);
    Ok(())
}

#[test]
fn d4_batches_in_slices_are_streamed_too() {
    in_slices::<f64>(&Device::cpu(), -2.0).unwrap();
    let Some(gpu) = crate::gpu("device::stored::batches::d4_batches_in_slices_are_streamed_too") else { return };
    for (bytes, is_streamed) in [(4 << 10, true), (12 << 10, true), (1 << 30, false)] {
        let (device, budgets) = tight(&gpu, bytes);
        for beta in [0.0, -2.0] {
            in_slices::<f64>(&device, beta).unwrap();
            let tiles = last_decision().unwrap().gpu.unwrap().tiles;
            assert_eq!(matches!(tiles, Some(Tiles::Matvec(_))), is_streamed, "{bytes}: {tiles:?}");
            assert_eq!(last_outcome().unwrap().side, Side::Gpu);
            in_slices::<f32>(&device, beta).unwrap();
            in_slices::<Complex64>(&device, beta).unwrap();
        }
        assert!(budgets.device.used() == 0 && budgets.device.peak() <= bytes, "{:?}", budgets.device);
    }
    // What fails there goes on: smaller, then on the CPU.
    for (then, side) in [(16 << 10, Side::Gpu), (0, Side::Cpu)] {
        let budgets = Budgets { device: shrinking(1, then), pinned: Budget::new(Memory::Pinned, 16 << 10) };
        in_slices::<f64>(&eager(&gpu, budgets, &Breaker::new(0, Settings::default())), 1.0).unwrap();
        assert_eq!(last_outcome().unwrap().side, side);
    }
}

/// What fits is one call, of operands in host memory; what is not streamed, as f32 with sums in f64, is read whole first.
#[test]
fn d4_batches_that_fit_are_one_call_on_a_gpu() {
    let Some(gpu) = crate::gpu("device::stored::batches::d4_batches_that_fit_are_one_call_on_a_gpu") else { return };
    let shelf = Shelf::new(Some(&gpu));
    let (device, budgets) = tight(&gpu, 1 << 30);
    let whole = |what: &str| {
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert_eq!((decision.side, outcome.side, decision.gpu.unwrap().tiles), (Side::Gpu, Side::Gpu, None), "{what}");
    };
    every::<f64>(&shelf, &device, &[Lies::Host], SIZES, whole);
    every::<Complex64>(&shelf, &device, &[Lies::Host], SIZES, whole);
    let [a, x, _] = operands::<f32>(SIZES, 7);
    let (of_a, of_x) = (shelf.put(Lies::Npy, "a", &a), shelf.put(Lies::Npy, "x", &x));
    for side in [Side::Cpu, Side::Gpu] {
        let device = device.clone().choosing(if side == Side::Cpu { Choice::Cpu } else { Choice::Gpu });
        let mut y = Array2::from_elem((a.nrows(), 1), f32::NAN);
        let target = Target::from(&mut y);
        of_a.operand(|a| of_x.operand(|x| device.matvec_batched(Precision::F64, 3.0, a, x, 0.0, target))).unwrap();
        assert_eq!((y, last_outcome().unwrap().side), (expected::<f32>(SIZES, 7, 0.0), side));
    }
    assert!(budgets.device.used() == 0 && budgets.device.peak() > 0);
}

/// Without a batch: a matrix that is larger than the GPU goes through it in panels of rows; one without room for a row, in tiles.
#[test]
fn d4_a_matrix_larger_than_the_gpu_is_multiplied_with_a_vector() {
    let test = "device::stored::batches::d4_a_matrix_larger_than_the_gpu_is_multiplied_with_a_vector";
    let Some(gpu) = crate::gpu(test) else { return };
    let a = values::<f64>([231, 119], 1);
    let x = values::<f64>([119, 1], 2);
    for (bytes, is_in_panels) in [(16 << 10, true), (3 << 10, false)] {
        let (device, budgets) = tight(&gpu, bytes);
        let mut y = values::<f64>([231, 1], 3);
        let sum = a.dot(&x) * 2.0 - &y;
        device.matvec(Precision::Auto, 2.0, (&a).into(), (&x).into(), -1.0, (&mut y).into()).unwrap();
        assert_eq!(y, sum);
        let tiles = last_decision().unwrap().gpu.unwrap().tiles.unwrap();
        assert_eq!(matches!(tiles, Tiles::Matvec(_)), is_in_panels, "{tiles}");
        assert!(budgets.device.peak() <= bytes && budgets.device.used() == 0, "{:?}", budgets.device);
        // Checked, where that is asked for: it is one product.
        let verifying = device.verifying(Verify::default());
        verifying.matvec(Precision::Auto, 1.0, (&a).into(), (&x).into(), 0.0, (&mut y).into()).unwrap();
        assert_eq!(y, a.dot(&x));
    }
}

/// Against sums in f64 of numbers that are no whole ones, in all four types; each sum of n terms may lose n units in the last place of its largest part.
fn near<T: Number + Pod>(shelf: &Shelf<'_>, gpu: &Gpu) {
    let [count, rows, columns] = [9, 301, 257];
    let of = |rows, columns, seed: usize| {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            let value = ((i * 31 + j * 17 + seed * 7 + i * j % 5) % 101) as f64 / 101.0 - 0.5;
            T::of(value, 0.3 - value * value)
        })
    };
    let (a, x) = (of(count * rows, columns, 1), of(count * columns, 1, 2));
    // Three matrices at a time: the last panel has all of its three.
    let (device, budgets) = tight(gpu, (size_of::<T>() * 4 * 3 * rows * columns) as u64);
    for lies in [Lies::Host, Lies::Locked, Lies::Npy] {
        let (of_a, of_x) = (shelf.put(lies, "a", &a), shelf.put(lies, "x", &x));
        let mut y = Array2::from_elem((count * rows, 1), T::of(f64::NAN, 0.0));
        of_a.operand(|a| {
            of_x.operand(|x| {
                device.matvec_batched(Precision::Auto, T::of(1.0, 0.0), a, x, T::of(0.0, 0.0), (&mut y).into())
            })
        })
        .unwrap();
        for (row, got) in y.iter().enumerate() {
            let vector = row / rows * columns;
            let terms = (0..columns).map(|j| (a[[row, j]].wide(), x[[vector + j, 0]].wide()));
            let (sum, size) = terms
                .fold((Complex64::default(), 0.0), |(sum, size), (a, x)| (sum + a * x, size + a.norm() * x.norm()));
            let off = (got.wide() - sum).norm();
            assert!(off <= columns as f64 * T::EPSILON * size, "{} {lies:?} {row}: {off}", T::NAME);
        }
        assert!(budgets.device.used() == 0 && budgets.device.peak() <= budgets.device.limit());
    }
}

#[test]
fn d4_g10_batches_of_any_numbers_on_a_gpu() {
    let Some(gpu) = crate::gpu("device::stored::batches::d4_g10_batches_of_any_numbers_on_a_gpu") else { return };
    let shelf = Shelf::new(Some(&gpu));
    near::<f32>(&shelf, &gpu);
    near::<f64>(&shelf, &gpu);
    near::<Complex32>(&shelf, &gpu);
    near::<Complex64>(&shelf, &gpu);
}

#[test]
fn m9_a_cancelled_batch_changes_nothing_and_gives_all_memory_back() {
    let test = "device::stored::batches::m9_a_cancelled_batch_changes_nothing_and_gives_all_memory_back";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let [a, x, old] = operands::<f64>(SIZES, 7);
    for at in [0u64, 1, 4, 20] {
        let (cancel, steps) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
        let (device, budgets) = tight(&gpu, 4 << 10);
        let (told, watched) = (cancel.clone(), steps.clone());
        let device = device.cancelled_by(&cancel).telling(move |done, _| {
            watched.store(done, Ordering::Relaxed);
            if done == at {
                told.cancel();
            }
        });
        if at == 0 {
            cancel.cancel();
        }
        let mut y = old.clone();
        let asked = device.matvec_batched(Precision::Auto, 1.0, (&a).into(), (&x).into(), 1.0, (&mut y).into());
        assert!(matches!(asked, Err(Error::Cancelled { done, steps: 21 }) if done == at), "{asked:?}");
        assert_eq!((steps.load(Ordering::Relaxed), &y), (at, &old), "a step at most, and nothing of y");
        let sink = Whole(shelf.sink(Lies::Npy, "cancelled", Element::F64, [y.nrows(), 1]));
        let asked = device.matvec_batched(Precision::Auto, 1.0, (&a).into(), (&x).into(), 0.0, sink.into());
        assert_eq!(asked.unwrap_err().class(), Class::Cancelled);
        assert!(!shelf.path("cancelled").exists() && [&budgets.device, &budgets.pinned].map(Budget::used) == [0, 0]);
    }
}

/// What fails on the GPU is tried in smaller panels, then on the CPU.
#[test]
fn b2_batches_go_on_in_smaller_panels_and_then_on_the_cpu() {
    let test = "device::stored::batches::b2_batches_go_on_in_smaller_panels_and_then_on_the_cpu";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    for (then, side, fallbacks) in [(16 << 10, Side::Gpu, 0), (0, Side::Cpu, 1)] {
        let breaker = Breaker::new(0, Settings::default());
        let budgets = Budgets { device: shrinking(1, then), pinned: Budget::new(Memory::Pinned, 16 << 10) };
        let device = eager(&gpu, budgets, &breaker);
        let got = batch::<f64>(&shelf, &device, [Lies::Npy, Lies::Npy, Lies::Npy], (SIZES, 7, -2.0)).unwrap();
        assert_eq!(got, expected::<f64>(SIZES, 7, -2.0));
        assert_eq!((last_outcome().unwrap().side, breaker.health().fallbacks), (side, fallbacks));
        assert_eq!(last_decision().unwrap().side, Side::Gpu);
    }
}

/// Where there is a choice the CPU does it: the link is slower than its memory, which all threads read of so much, and the decision says that this is what binds.
#[test]
fn d4_a_batch_in_host_memory_stays_there_and_the_decision_says_why() {
    let test = "device::stored::batches::d4_a_batch_in_host_memory_stays_there_and_the_decision_says_why";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let device = tight(&gpu, 4 << 10).0.choosing(Choice::Auto);
    batch::<f64>(&shelf, &device, [Lies::Host; 3], ([400, 61, 50], 400, 0.0)).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::Cost), "{decision}");
    let on_gpu = decision.gpu.unwrap();
    assert!(on_gpu.cost.bring > decision.cpu.wall, "{decision}");
    assert!(matches!(on_gpu.tiles, Some(Tiles::Matvec(_))) && on_gpu.cost.bound() != Bound::Back, "{on_gpu:?}");
}

#[test]
fn batches_that_cannot_be_say_so() {
    let device = Device::cpu();
    let [a, x, mut y] = operands::<f64>(SIZES, 7);
    let mut asked = |a: &Array2<f64>, x: Operand<'_, f64>| {
        device.matvec_batched(Precision::Auto, 1.0, a.into(), x, 0.0, (&mut y).into()).unwrap_err()
    };
    let error = asked(&a, (&values::<f64>([7 * 17 - 1, 1], 2)).into());
    assert!(matches!(error, Error::Shape { what: "rows of each vector", expected: 17, got: 118, .. }), "{error}");
    let error = asked(&a, (&values::<f64>([6 * 17, 1], 2)).into());
    let what = "rows of the matrices, as many for each vector";
    assert!(matches!(error, Error::Shape { what: of, expected: 156, got: 161, .. } if of == what), "{error}");
    let error = asked(&a, (&values::<f64>([17, 2], 2)).into());
    assert!(matches!(error, Error::Shape { what: "columns of x", expected: 1, got: 2, .. }), "{error}");
    let error = asked(&values::<f64>([160, 17], 1), (&x).into());
    assert!(matches!(error, Error::Shape { what: "rows of y", expected: 160, got: 161, .. }), "{error}");
    let (two, mut four) = (values::<f64>([8, 1], 1), values::<f64>([4, 1], 1));
    let identity = Operand::identity(Rows(4));
    let asked = device.matvec_batched(Precision::Auto, 1.0, identity, (&two).into(), 0.0, (&mut four).into());
    let error = asked.unwrap_err();
    assert!(matches!(&error, Error::Unsupported { operation: "matvec_batched", .. }), "{error}");
    // Nothing at all is no mistake.
    let nothing = Array2::<f64>::zeros((0, 17));
    let mut none = Array2::<f64>::zeros((0, 1));
    let of_none = Array2::<f64>::zeros((0, 1));
    device.matvec_batched(Precision::Auto, 1.0, (&nothing).into(), (&of_none).into(), 0.0, (&mut none).into()).unwrap();
    let Some(gpu) = crate::gpu("device::stored::batches::batches_that_cannot_be_say_so") else { return };
    // Nothing is streamed of what lies on the GPU, and nothing converts there.
    let (there, mut y) = (DeviceMat::upload(&gpu, (&a).into()).unwrap(), values::<f64>([161, 1], 1));
    let (device, _) = tight(&gpu, 1 << 10);
    let asked = device.matvec_batched(Precision::Auto, 1.0, (&there).into(), (&x).into(), 0.0, (&mut y).into());
    assert!(matches!(&asked, Err(Error::Budget { .. })), "{asked:?}");
    let single = |values: &Array2<f64>| values.mapv(|value| value as f32);
    let (there, mut y) = (DeviceMat::upload(&gpu, (&single(&a)).into()).unwrap(), single(&y));
    let (device, of_x) = (tight(&gpu, 1 << 20).0, single(&x));
    let asked = device.matvec_batched(Precision::F64, 1.0, (&there).into(), (&of_x).into(), 0.0, (&mut y).into());
    assert!(matches!(&asked, Err(Error::Unsupported { place: "GPU", .. })), "{asked:?}");
}

/// From files into files, which are read before they have names; and what somebody else made of it.
#[test]
fn batches_are_verified_product_by_product() {
    let test = "device::stored::batches::batches_are_verified_product_by_product";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let verifying = tight(&gpu, 4 << 10).0.verifying(Verify::default());
    let [count, rows, _] = SIZES;
    for y in [&[Lies::Host], &STORES[..]].concat() {
        let result = batch::<f64>(&shelf, &verifying, [Lies::Npy, Lies::Host, y], (SIZES, count, 0.0)).unwrap();
        assert_eq!(result, expected::<f64>(SIZES, count, 0.0), "{y:?}");
        assert!(last_decision().unwrap().gpu.unwrap().tiles.is_some());
    }
    let ([a, x, _], mut wrong) = (operands::<f64>(SIZES, count), expected::<f64>(SIZES, count, 0.0));
    wrong[[5 * rows + 3, 0]] += 0.25;
    let (a, x) = (MemorySource::new(a.view()), MemorySource::new(x.view()));
    let product = Product { a: Factor::plain(&a), b: Factor::plain(&x), c: None, alpha: 3.0, beta: 0.0 };
    let asked = Verify::default().check(&product, Precision::Auto, &MemorySource::new(wrong.view()));
    assert!(matches!(asked, Err(Error::WrongProduct { product: Some(5), row: 3, wrong: 1, .. })), "{asked:?}");
}
