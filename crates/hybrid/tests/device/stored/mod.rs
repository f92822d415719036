//! Products of what lies anywhere: in host memory, in page-locked memory, on the GPU, in files; and results that go anywhere.

mod batches;
mod beyond;
mod factors;
mod shelf;
mod systems;

pub(crate) use self::beyond::child_beyond_host_memory;

use self::shelf::{Lies, Number, STORES, Shelf, Whole, read, values};
use super::on_the_gpu::{budgets, eager, shrinking};
use super::verbs::near;
use super::{matrix, small};
use bytemuck::Pod;
use half::f16;
use ndarray::{Array2, ArrayView2};
use std::sync::atomic::{AtomicU64, Ordering};
use tilewright_hybrid::budget::{Budget, Level, Memory};
use tilewright_hybrid::dispatch::{Choice, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Precision};
use tilewright_hybrid::store::{Element, Extents, MemorySink, MemorySource, NpySource, PinnedSink, PinnedSource};
use tilewright_hybrid::stream::{Factor, Verify};
use tilewright_hybrid::{Class, Complex32, Complex64, Device, Error, Operand, Rows, Side, Target};

const SIZES: [usize; 3] = [23, 17, 19];

/// One product: `a` and `b` somewhere, the first stored transposed, `c` somewhere else.
fn product<T: Number + Pod>(shelf: &Shelf<'_>, device: &Device, [a, b, c]: [Lies; 3], beta: f64) -> Array2<T> {
    let [rows, columns, depth] = SIZES;
    let (left, right) = (values::<T>([depth, rows], 1), values::<T>([depth, columns], 2));
    let old = values::<T>([rows, columns], 3);
    let (left, right) = (shelf.put(a, "a", &left), shelf.put(b, "b", &right));
    let (alpha, beta) = (T::of(3.0, 0.0), T::of(beta, 0.0));
    let start =
        if beta == T::of(0.0, 0.0) { Array2::from_elem((rows, columns), T::of(f64::NAN, 0.0)) } else { old.clone() };
    let multiply = |target: Target<'_, T>| {
        left.operand(|a| right.operand(|b| device.matmul(Precision::Auto, alpha, a.t(), b, beta, target))).unwrap()
    };
    match c {
        Lies::Host => {
            let mut here = start;
            multiply((&mut here).into());
            here
        }
        Lies::Gpu => {
            let mut there = DeviceMat::upload(shelf.gpu.unwrap(), (&start).into()).unwrap();
            multiply((&mut there).into());
            there.download().unwrap()
        }
        Lies::Locked => {
            let (mut new, old) = (shelf.locked(&start), shelf.locked(&old));
            let extents = Extents::new(rows, columns);
            let old = PinnedSource::new(&old, extents).unwrap();
            multiply(Target::updating(&old, PinnedSink::new(&mut new, extents).unwrap()));
            ArrayView2::from_shape((rows, columns), &new).unwrap().to_owned()
        }
        _ => {
            let added = shelf.put(c, "old", &old);
            let sink = Whole(shelf.sink(c, "new", T::ELEMENT, [rows, columns]));
            match beta == T::of(0.0, 0.0) {
                true => multiply(sink.into()),
                false => multiply(Target::updating(&**added.source.as_ref().unwrap(), sink)),
            }
            read(&*shelf.source(c, "new"))
        }
    }
}

fn expected<T: Number>(beta: f64) -> Array2<T> {
    let [rows, columns, depth] = SIZES;
    let product = values::<T>([depth, rows], 1).t().dot(&values::<T>([depth, columns], 2));
    product.mapv(|x| x * T::of(3.0, 0.0)) + values::<T>([rows, columns], 3).mapv(|x| x * T::of(beta, 0.0))
}

fn every<T: Number + Pod>(shelf: &Shelf<'_>, device: &Device, places: &[Lies], check: impl Fn(&str)) {
    for (a, b, c) in
        places.iter().flat_map(|a| places.iter().flat_map(move |b| places.iter().map(move |c| (*a, *b, *c))))
    {
        // Half of them, with each pair of places in it.
        let beta = if (a as usize + b as usize + c as usize).is_multiple_of(2) { 0.0 } else { -2.0 };
        let what = format!("{} {a:?} {b:?} {c:?} {beta}", T::NAME);
        assert_eq!(product::<T>(shelf, device, [a, b, c], beta), expected::<T>(beta), "{what}");
        check(&what);
    }
}

#[test]
fn operands_and_results_lie_anywhere_on_the_cpu() {
    let shelf = Shelf::new(None);
    let places = [&[Lies::Host], &STORES[..]].concat();
    let on_cpu = |what: &str| assert_eq!(last_decision().unwrap().side, Side::Cpu, "{what}");
    // Room for all, and for a few rows.
    for (bytes, counts) in [(1 << 20, false), (6000, true)] {
        let host = Budget::new(Memory::Host, bytes);
        let device = Device::cpu().falling_back_within(host.clone());
        every::<f64>(&shelf, &device, &places, on_cpu);
        every::<f32>(&shelf, &device, &places[1..], on_cpu);
        every::<Complex32>(&shelf, &device, &places[1..], on_cpu);
        if !counts {
            every::<Complex64>(&shelf, &device, &places, on_cpu);
        }
        assert!(host.used() == 0 && (1000..=bytes).contains(&host.peak()), "{}", host.peak());
    }
}

#[test]
fn stored_operands_are_read_as_they_enter() {
    let shelf = Shelf::new(None);
    adjoint_and_conjugate(&shelf, &Device::cpu());
}

/// `adjoint(a) conjugate(b)`.
fn adjoint_and_conjugate(shelf: &Shelf<'_>, device: &Device) {
    let [rows, columns, depth] = SIZES;
    let (a, b) = (values::<Complex64>([depth, rows], 1), values::<Complex64>([depth, columns], 2));
    let (left, right) = (shelf.put(Lies::Npy, "a", &a), shelf.put(Lies::Fortran, "b", &b));
    let [left, right] = [&left, &right].map(|it| Factor::adjoint(&**it.source.as_ref().unwrap()));
    let product = device.product::<Complex64>(left.into(), Operand::from(right).t()).unwrap();
    assert_eq!(product, a.t().mapv(|x| x.conj()).dot(&b.mapv(|x| x.conj())));
}

#[test]
fn a_decision_knows_what_lies_on_a_disk() {
    let shelf = Shelf::new(None);
    let device = Device::cpu();
    product::<f64>(&shelf, &device, [Lies::Npy, Lies::Host, Lies::Npy], -2.0);
    let [rows, columns, depth] = SIZES;
    let decision = last_decision().unwrap();
    // The file of a, what is added, and the result, at a disk's rate.
    let from_disk = 8 * (rows * depth + 2 * rows * columns);
    let expected = from_disk as f64 / device.rates().disk;
    assert!(((decision.cpu.bring + decision.cpu.back) / expected - 1.0).abs() < 1e-12, "{decision}");
}

#[test]
fn a_factor_off_whose_diagonal_nothing_is_scales_what_is_stored() {
    let shelf = Shelf::new(None);
    let a = values::<f64>([23, 17], 1);
    let stored = shelf.put(Lies::Npy, "a", &a);
    let (down, across): (Vec<f64>, Vec<f64>) = ((0..23).map(f64::from).collect(), (0..17).map(f64::from).collect());
    for bytes in [1 << 20, 900] {
        let device = Device::cpu().falling_back_within(Budget::new(Memory::Host, bytes));
        for is_left in [true, false] {
            let sink = shelf.sink(Lies::Npy, "scaled", Element::F64, [23, 17]);
            stored
                .operand(|a| match is_left {
                    true => device.matmul(Precision::Auto, 2.0, Operand::diagonal(&down), a, 0.0, Whole(sink).into()),
                    false => {
                        device.matmul(Precision::Auto, 2.0, a, Operand::diagonal(&across), 0.0, Whole(sink).into())
                    }
                })
                .unwrap();
            let expected =
                Array2::from_shape_fn((23, 17), |(i, j)| 2.0 * a[[i, j]] * (if is_left { i } else { j }) as f64);
            assert_eq!(read::<f64>(&*shelf.source(Lies::Npy, "scaled")), expected, "{bytes} {is_left}");
        }
    }
}

#[test]
fn mixtures_that_cannot_be_say_so_and_leave_nothing() {
    let shelf = Shelf::new(None);
    let device = Device::cpu();
    let a = shelf.put(Lies::Npy, "a", &values::<f64>([6, 6], 1));
    let npy = NpySource::open(shelf.path("a")).unwrap();
    let sink = |name: &str, element, sizes| Whole(shelf.sink(Lies::Npy, name, element, sizes));
    let refused = |b: Operand<'_, f64>, beta, target: Target<'_, f64>| {
        a.operand(|a| device.matmul(Precision::Auto, 1.0, a, b, beta, target)).unwrap_err()
    };
    let error = refused((&npy).into(), 1.0, sink("c", Element::F64, [6, 6]).into());
    assert!(matches!(&error, Error::Unsupported { why, .. } if why.contains("Target::updating")), "{error}");
    let error = refused((&npy).into(), 0.0, sink("c", Element::F32, [6, 6]).into());
    assert!(matches!(error, Error::ElementType { operation: "matmul", expected: "f32", got: "f64" }), "{error}");
    let error = refused((&npy).into(), 0.0, sink("c", Element::F64, [6, 5]).into());
    assert!(matches!(error, Error::Shape { what: "columns of c", expected: 6, got: 5, .. }), "{error}");
    let wrong = values::<f64>([6, 5], 1);
    let other = tilewright_hybrid::store::MemorySource::new(wrong.view());
    let error = refused((&npy).into(), 1.0, Target::updating(&other, sink("c", Element::F64, [6, 6])));
    assert!(matches!(error, Error::Shape { what: "columns of what is added", expected: 6, got: 5, .. }), "{error}");
    let error = device
        .matmul(
            Precision::Auto,
            1.0,
            Operand::identity(Rows(6)),
            Operand::identity(Rows(6)),
            0.0,
            Target::<f64>::from(sink("c", Element::F64, [6, 6])),
        )
        .unwrap_err();
    assert_eq!(error.class(), Class::User);
    // One element of the result needs a row, a column, and itself.
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, 8 * 13 - 1));
    let error = short.matmul::<f64>(
        Precision::Auto,
        1.0,
        (&npy).into(),
        (&npy).into(),
        0.0,
        sink("c", Element::F64, [6, 6]).into(),
    );
    assert!(matches!(error, Err(Error::Budget { requested: 104, .. })), "{error:?}");
    // A file that ends early is found while the product is under way.
    let truncated = shelf.path("a");
    std::fs::OpenOptions::new().write(true).open(&truncated).unwrap().set_len(200).unwrap();
    let mut here = Array2::from_elem((6, 6), 7.0);
    let error = device.matmul(Precision::Auto, 1.0, (&npy).into(), (&npy).into(), 0.0, (&mut here).into()).unwrap_err();
    assert_eq!(error.class(), Class::Io, "{error}");
    assert!(here.iter().all(|x| *x == 7.0), "as it was");
    let error = device.matmul::<f64>(
        Precision::Auto,
        1.0,
        (&npy).into(),
        (&npy).into(),
        0.0,
        sink("c", Element::F64, [6, 6]).into(),
    );
    assert_eq!(error.unwrap_err().class(), Class::Io);
    assert!(!shelf.path("c").exists());
}

#[test]
fn operands_and_results_lie_anywhere_on_the_gpu() {
    let test = "device::stored::operands_and_results_lie_anywhere_on_the_gpu";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let device = small(&gpu, 1 << 30).choosing(Choice::Gpu);
    let on_gpu = |fits: bool| {
        move |what: &str| {
            let decision = last_decision().unwrap();
            assert_eq!((decision.side, last_outcome().unwrap().side), (Side::Gpu, Side::Gpu), "{what}");
            // What is stored is streamed, unless something is there, and but for a little that is in memory.
            let is_stored = ["Npy", "Zarr", "Fortran"].iter().any(|store| what.contains(store));
            let is_streamed = (is_stored || what.contains("Locked") && !fits) && !what.contains("Gpu");
            assert_eq!(decision.gpu.unwrap().tiles.is_some(), is_streamed, "{what}");
        }
    };
    let places = [&[Lies::Host, Lies::Gpu, Lies::Locked], &STORES[..]].concat();
    every::<f64>(&shelf, &device, &places, on_gpu(true));
    for lies in STORES {
        let places = [Lies::Locked, lies];
        every::<f32>(&shelf, &device, &places, on_gpu(true));
        every::<Complex32>(&shelf, &device, &places, on_gpu(true));
        every::<Complex64>(&shelf, &device, &places, on_gpu(true));
    }
    adjoint_and_conjugate(&shelf, &device);
    // In tiles.
    let host = Budget::new(Memory::Host, 6000);
    let in_tiles = small(&gpu, 8 << 10).choosing(Choice::Gpu).falling_back_within(host.clone());
    every::<f64>(&shelf, &in_tiles, &[&[Lies::Locked], &STORES[..]].concat(), on_gpu(false));
    assert!(host.used() == 0 && host.peak() <= 6000);
    // Fetched by the CPU.
    let on_cpu = |what: &str| assert_eq!(last_outcome().unwrap().side, Side::Cpu, "{what}");
    every::<f64>(&shelf, &device.choosing(Choice::Cpu), &[Lies::Gpu, Lies::Locked, Lies::Npy], on_cpu);
}

/// Nobody reads it into other memory first, nor computes the result there.
#[test]
fn what_is_page_locked_is_taken_where_it_is() {
    let test = "device::stored::what_is_page_locked_is_taken_where_it_is";
    let Some(gpu) = crate::gpu(test) else { return };
    let (shelf, host) = (Shelf::new(Some(&gpu)), Budget::new(Memory::Host, 0));
    let cpu = Device::cpu().falling_back_within(host.clone());
    let gpu = small(&gpu, 1 << 30).choosing(Choice::Gpu).falling_back_within(host.clone());
    for (device, side) in [(&cpu, Side::Cpu), (&gpu, Side::Gpu)] {
        let ran = |what: &str| {
            let tiles = last_decision().unwrap().gpu.and_then(|it| it.tiles);
            assert_eq!((last_outcome().unwrap().side, tiles), (side, None), "{what}");
        };
        every::<f64>(&shelf, device, &[Lies::Locked], ran);
        every::<Complex32>(&shelf, device, &[Lies::Locked], ran);
    }
    assert_eq!(host.peak(), 0);
    // What is checked is streamed.
    let device = gpu.verifying(Verify::default());
    every::<f64>(&shelf, &device, &[Lies::Locked], |what| {
        assert!(last_decision().unwrap().gpu.unwrap().tiles.is_some(), "{what}");
    });
}

/// A result in shards is not gathered whole in host memory: a few of its shards are.
#[cfg(feature = "zarr")]
#[test]
fn a_sharded_result_takes_a_few_shards_of_host_memory() {
    let test = "device::stored::a_sharded_result_takes_a_few_shards_of_host_memory";
    let shard = 8 * 6 * 8;
    let places = [Lies::Npy, Lies::Npy, Lies::Zarr];
    let check = |device: Device, shelf: &Shelf<'_>, side: Side, host: &Budget| {
        let device = device.falling_back_within(host.clone());
        assert_eq!(product::<f64>(shelf, &device, places, -2.0), expected::<f64>(-2.0));
        assert_eq!(last_outcome().unwrap().side, side);
        assert!(host.used() == 0 && (shard..=host.limit()).contains(&host.peak()), "{host:?}");
    };
    // On the CPU a tile of the result, and what it is made of, take the rest.
    let host = Budget::new(Memory::Host, shard + 1200);
    check(Device::cpu(), &Shelf::new(None), Side::Cpu, &host);
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, shard - 1));
    let shelf = Shelf::new(None);
    let a = shelf.put(Lies::Npy, "a", &values::<f64>([23, 23], 1));
    let sink = Whole(shelf.sink(Lies::Zarr, "c", Element::F64, [23, 23]));
    let refused = a.operand(|a| short.matmul(Precision::Auto, 1.0, a, a, 0.0, sink.into())).unwrap_err();
    assert!(matches!(refused, Error::Budget { requested, .. } if requested == shard), "{refused}");
    assert!(!shelf.path("c").exists());
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    for shards in [1, 3] {
        let host = Budget::new(Memory::Host, shards * shard);
        check(small(&gpu, 8 << 10).choosing(Choice::Gpu), &shelf, Side::Gpu, &host);
    }
}

/// What would be widened on its way: halves, and f32 with sums in f64. On a GPU that has room stored operands are read whole first.
fn gathered(device: &Device, side: Side) {
    let [rows, columns, depth] = SIZES;
    let (a, b) = (values::<f32>([rows, depth], 1), values::<f32>([depth, columns], 2));
    let product = a.dot(&b);
    let (ha, hb) = (a.mapv(f16::from_f32), b.mapv(f16::from_f32));
    let mut half = Array2::from_elem((rows, columns), f16::NAN);
    let (left, right) = (MemorySource::new(ha.view()), MemorySource::new(hb.view()));
    let to = MemorySink::new(half.view_mut());
    device.matmul(Precision::Auto, 1.0, (&left).into(), (&right).into(), 0.0, Target::<f16>::from(to)).unwrap();
    assert_eq!((half.mapv(f16::to_f32), last_outcome().unwrap().side), (product.clone(), side));
    assert!(last_decision().unwrap().gpu.is_none_or(|gpu| gpu.tiles.is_none()));
    let mut wide = Array2::from_elem((rows, columns), f32::NAN);
    let left = MemorySource::new(a.view());
    let to = MemorySink::new(wide.view_mut());
    device.matmul(Precision::F64, 1.0, (&left).into(), (&b).into(), 0.0, to.into()).unwrap();
    assert_eq!((wide, last_outcome().unwrap().side), (product, side));
}

#[test]
fn halves_and_sums_in_f64_are_gathered() {
    gathered(&Device::cpu().falling_back_within(Budget::new(Memory::Host, 2000)), Side::Cpu);
    let Some(gpu) = crate::gpu("device::stored::halves_and_sums_in_f64_are_gathered") else { return };
    gathered(&small(&gpu, 1 << 30).choosing(Choice::Gpu), Side::Gpu);
}

/// What fails on the GPU is computed on the CPU: sources are read again, and sinks written.
#[test]
fn b2_what_is_stored_goes_on_in_smaller_tiles_and_then_on_the_cpu() {
    let test = "device::stored::b2_what_is_stored_goes_on_in_smaller_tiles_and_then_on_the_cpu";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    let places = [Lies::Npy, Lies::Locked, Lies::Npy];
    for (asked, then, side, fallbacks) in [(1, 16 << 10, Side::Gpu, 0), (1, 0, Side::Cpu, 1)] {
        let breaker = Breaker::new(0, Settings::default());
        let device = eager(&gpu, budgets(shrinking(asked, then)), &breaker);
        assert_eq!(product::<f64>(&shelf, &device, places, -2.0), expected::<f64>(-2.0));
        assert_eq!((last_outcome().unwrap().side, breaker.health().fallbacks), (side, fallbacks));
        assert_eq!(last_decision().unwrap().side, Side::Gpu);
    }
}

/// In a control group what is free changes while somebody plans by it.
#[test]
fn m2_memory_that_is_less_when_it_is_taken_makes_smaller_tiles() {
    let (a, b) = (matrix(60, 50, 1), matrix(50, 40, 2));
    let source = MemorySource::new(a.view());
    for begin in 0..2 {
        let asked = AtomicU64::new(begin);
        let host = Budget::measured(Memory::Host, move || {
            let is_first = asked.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
            let available = if is_first { 30_000 } else { 25_000 };
            Level { capacity: 1 << 20, available }
        });
        let mut c = Array2::zeros((60, 40));
        let device = Device::cpu().falling_back_within(host.clone());
        device.matmul(Precision::Auto, 1.0, (&source).into(), (&b).into(), 0.0, (&mut c).into()).unwrap();
        near(&c, &a.dot(&b));
        assert_eq!(host.used(), 0);
    }
}
