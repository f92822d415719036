//! Products of integers whose operands lie anywhere.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Reason, last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, IntegerElement, Overflow};
use tilewright_hybrid::store::{
    Element, MemorySink, MemorySource, NpySink, NpySource, Order, ReadTyped, Sink, Source, Stored, WriteTyped,
};
use tilewright_hybrid::{Class, Columns, Device, Error, Operand, Rows, Side, Target};

use super::on_the_gpu::{ROOM, budgets, forced};
use super::{matrix, small};

const WIDE: Reason = Reason::Unsupported("cuBLAS multiplies no integers of 32 bits");

/// Each factor and the result in memory, on the GPU and stored.
fn anywhere<T: IntegerElement>(of: impl Fn(f64) -> T + Copy, sum: impl Fn(f64) -> T::Sum + Copy, is_for_gpu: bool) {
    let Some(gpu) = crate::gpu("device::integers::d4_integers_lie_anywhere") else { return };
    let (a, b) = (matrix(9, 6, 1).mapv(of), matrix(6, 5, 2).mapv(of));
    let expected = matrix(9, 6, 1).dot(&matrix(6, 5, 2)).mapv(sum);
    let (there_a, there_b) =
        (DeviceMat::upload(&gpu, (&a.t()).into()).unwrap(), DeviceMat::upload(&gpu, (&b).into()).unwrap());
    let (of_a, of_b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    for (choice, places) in [Choice::Cpu, Choice::Auto, Choice::Gpu]
        .into_iter()
        .flat_map(|choice| (0..27).map(move |places| (choice, places)))
    {
        let lies = [places % 3, places / 3 % 3, places / 9];
        let left = [Operand::from(&a), Operand::from(&there_a).t(), Operand::from(&of_a)][lies[0]];
        let right = [Operand::from(&b), Operand::from(&there_b), Operand::from(&of_b)][lies[1]];
        let device = small(&gpu, ROOM).choosing(choice);
        let multiply = |target: Target<'_, T::Sum>| device.matmul_integer(Overflow::Error, left, right, target);
        let mut c = Array2::from_elem((9, 5), sum(77.0));
        let done = match lies[2] {
            0 => multiply((&mut c).into()),
            1 => {
                let mut there = DeviceMat::upload(&gpu, (&c).into()).unwrap();
                let done = multiply((&mut there).into());
                c = there.download().unwrap();
                done
            }
            _ => multiply(MemorySink::new(c.view_mut()).into()),
        };
        if choice == Choice::Gpu && !is_for_gpu {
            assert!(matches!(done, Err(Error::Unsupported { place: "GPU", .. })), "{lies:?}: {done:?}");
            assert!(c.iter().all(|x| *x == sum(77.0)), "as it was");
            continue;
        }
        done.unwrap();
        assert_eq!(c, expected, "{choice:?} {lies:?}");
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        // By itself what lies on the GPU may stay there.
        let side = match choice {
            Choice::Gpu => Side::Gpu,
            Choice::Auto if is_for_gpu && lies.contains(&1) => decision.side,
            _ => Side::Cpu,
        };
        assert_eq!((decision.operation, decision.side, outcome.side), ("matmul_integer", side, side));
        assert!(choice != Choice::Auto || is_for_gpu || decision.reason == WIDE, "{decision}");
        assert_eq!(decision.bytes, (size_of::<T>() * (54 + 30) + size_of::<T::Sum>() * 45) as u64);
    }
}

/// Parts of matrices on the GPU that begin anywhere, plain and transposed, with what cuBLAS takes as it lies among them, into what it writes as it lies and what it does not.
#[test]
fn g13_parts_of_integers_are_multiplied_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::integers::g13_parts_of_integers_are_multiplied_on_the_gpu") else { return };
    let bytes =
        |rows, columns| Array2::from_shape_fn((rows, columns), |(i, j)| (i * i * 31 + j * 57 + i * j * 5) as i8);
    let device = forced(&gpu);
    for [m, k, n] in [[32, 48, 16], [33, 17, 5], [1, 129, 1], [16, 16, 47], [7, 3, 64]] {
        for (offset, around) in [(0, 0), (16, 32), (3, 5)] {
            for turned in 0..4 {
                let of = |is_turned: bool, [rows, columns]: [usize; 2]| {
                    if is_turned { [columns, rows] } else { [rows, columns] }
                };
                let shapes = [of(turned & 1 > 0, [m, k]), of(turned & 2 > 0, [k, n])];
                let frames = shapes.map(|[rows, columns]| bytes(rows + around, columns + around));
                let parts: [_; 2] = std::array::from_fn(|i| {
                    let [rows, columns] = shapes[i];
                    frames[i].slice(ndarray::s![offset..offset + rows, offset..offset + columns])
                });
                let there = frames.each_ref().map(|frame| DeviceMat::upload(&gpu, frame.into()).unwrap());
                let views: [Operand<'_, i8>; 2] = std::array::from_fn(|i| {
                    let [rows, columns] = shapes[i];
                    let (rows, columns) =
                        (Rows(offset)..Rows(offset + rows), Columns(offset)..Columns(offset + columns));
                    let view: Operand<'_, i8> = there[i].view().part(rows, columns).unwrap().into();
                    if turned & (1 << i) > 0 { view.t() } else { view }
                });
                let [a, b] = std::array::from_fn(|i| {
                    let part = parts[i].mapv(i32::from);
                    if turned & (1 << i) > 0 { part.reversed_axes() } else { part }
                });
                let mut sums = DeviceMat::upload(&gpu, (&Array2::from_elem((m, n), 77i32)).into()).unwrap();
                device.matmul_integer(Overflow::Error, views[0], views[1], (&mut sums).into()).unwrap();
                let side = last_outcome().unwrap().side;
                assert_eq!((sums.download().unwrap(), side), (a.dot(&b), Side::Gpu), "{m} {k} {n} {offset} {turned}");
            }
        }
    }
}

/// Sums longer than an i32 holds are made in parts: each policy is exact, wherever factors lie and sums are wanted.
#[test]
fn g13_long_sums_of_integers_are_exact_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::integers::g13_long_sums_of_integers_are_exact_on_the_gpu") else { return };
    let depth = 140_000;
    // Of all least numbers, which overflow; of greatest and least, which do not reach the least sum by one; of small ones.
    let a = Array2::from_shape_fn((3, depth), |(row, _)| [-128i8, 1, -3][row]);
    let b = Array2::from_shape_fn((depth, 2), |(term, column)| [-128, (term % 7) as i8 - 3][column]);
    let (a_there, b_there) =
        (DeviceMat::upload(&gpu, (&a).into()).unwrap(), DeviceMat::upload(&gpu, (&b).into()).unwrap());
    let multiply = |device: Device, overflow, is_there: bool| {
        let mut sums = Array2::from_elem((3, 2), 5i32);
        let mut there = DeviceMat::upload(&gpu, (&sums).into()).unwrap();
        let done = match is_there {
            true => device.matmul_integer(overflow, (&a_there).into(), (&b_there).into(), (&mut there).into()),
            false => device.matmul_integer(overflow, (&a).into(), (&b).into(), (&mut sums).into()),
        };
        (done, if is_there { there.download().unwrap() } else { sums })
    };
    for is_there in [false, true] {
        for overflow in [Overflow::Wrap, Overflow::Saturate] {
            let (done, sums) = multiply(forced(&gpu), overflow, is_there);
            done.unwrap();
            assert_eq!(last_outcome().unwrap().side, Side::Gpu);
            assert_eq!(sums, multiply(Device::cpu(), overflow, is_there).1, "{overflow:?}");
        }
        let (done, sums) = multiply(forced(&gpu), Overflow::Error, is_there);
        assert!(matches!(done, Err(Error::Overflow { row: 0, column: 0, element: "i32", .. })), "{done:?}");
        assert!(sums.iter().all(|sum| *sum == 5), "as it was");
    }
    // The host adds them in memory of its budget.
    let host = Budget::new(Memory::Host, 16 * 16 * 12);
    let less = Budget::new(Memory::Host, host.limit() - 1);
    multiply(forced(&gpu).falling_back_within(host.clone()), Overflow::Wrap, true).0.unwrap();
    assert_eq!((host.peak(), host.used()), (host.limit(), 0));
    let (refused, _) = multiply(forced(&gpu).falling_back_within(less), Overflow::Wrap, true);
    assert!(matches!(refused, Err(Error::Budget { .. })), "{refused:?}");
}

#[test]
fn d4_integers_lie_anywhere() {
    anywhere(|x| x as i8, |x| x as i32, true);
    anywhere(|x| x as i32, |x| x as i64, false);
}

/// What comes to the host, and what is made there for elsewhere, takes its budget.
#[test]
fn integers_take_the_hosts_budget() {
    let Some(gpu) = crate::gpu("device::integers::integers_take_the_hosts_budget") else { return };
    let (a, b) = (matrix(9, 6, 1).mapv(|x| x as i8), matrix(6, 5, 2).mapv(|x| x as i8));
    let framed = Array2::from_shape_fn((10, 7), |(i, j)| if i < 9 && j < 6 { a[[i, j]] } else { 99 });
    let frame = DeviceMat::upload(&gpu, (&framed).into()).unwrap();
    let part = frame.view().part(Rows(0)..Rows(9), Columns(0)..Columns(6)).unwrap();
    let mut there = DeviceMat::upload(&gpu, (&Array2::from_elem((9, 5), 0i32)).into()).unwrap();
    let of_b = MemorySource::new(b.view());
    // All that it is a part of, the part, the other factor, and sums.
    let bytes = 70 + 54 + 30 + 4 * 45;
    let mut multiply = |bytes| {
        let host = Budget::new(Memory::Host, bytes);
        let device = Device::cpu().falling_back_within(host.clone());
        let done = device.matmul_integer(Overflow::Error, part.into(), (&of_b).into(), (&mut there).into());
        done.map(|()| (there.download().unwrap(), host.used(), host.peak()))
    };
    let expected = matrix(9, 6, 1).dot(&matrix(6, 5, 2)).mapv(|x| x as i32);
    assert_eq!(multiply(bytes).unwrap(), (expected.clone(), 0, bytes));
    // Of what is stored less is read at a time; what lies on the GPU comes whole, and sums are made before any is put there.
    let least = bytes - 30 + 6;
    for bytes in [bytes - 1, least] {
        let (sums, used, peak) = multiply(bytes).unwrap();
        assert_eq!((sums, used), (expected.clone(), 0));
        assert!(peak <= bytes);
    }
    let error = multiply(least - 1).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
}

/// Files of factors and of sums, of which the budget holds a part.
fn beyond_memory<T: IntegerElement>(of: impl Fn(f64) -> T, sum: impl Fn(f64) -> T::Sum) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (m, k, n) = (70, 90, 50);
    let (a, b) = (matrix(m, k, 1), matrix(k, n, 2));
    let write = |name: &str, values: &Array2<f64>| {
        let (rows, columns) = values.dim();
        let sink = NpySink::create(path(name), &[rows, columns], T::ELEMENT, Order::C).unwrap();
        sink.write(&sink.extents().whole(), &values.iter().map(|x| of(*x)).collect::<Vec<_>>()).unwrap();
        Box::new(sink).commit().unwrap();
        NpySource::open(path(name)).unwrap()
    };
    let (of_a, of_b) = (write("a.npy", &a), write("b.npy", &b.t().as_standard_layout().into_owned()));
    let whole = (size_of::<T>() * (m * k + k * n) + size_of::<T::Sum>() * m * n) as u64;
    for bytes in [2 * whole, whole / 3, whole / 9] {
        let host = Budget::new(Memory::Host, bytes);
        let told = Arc::new(AtomicU64::new(0));
        let steps = told.clone();
        let device = Device::cpu().falling_back_within(host.clone());
        let device = device.telling(move |_, all| steps.store(all, Ordering::SeqCst));
        let sink = NpySink::create(path("c.npy"), &[m, n], T::Sum::ELEMENT, Order::C).unwrap();
        let right = Operand::<T>::from(&of_b).t();
        device.matmul_integer(Overflow::Error, (&of_a).into(), right, sink.into()).unwrap();
        let mut sums = vec![sum(0.0); m * n];
        let made = NpySource::open(path("c.npy")).unwrap();
        made.read(&made.extents().whole(), &mut sums).unwrap();
        assert_eq!(Array2::from_shape_vec((m, n), sums).unwrap(), a.dot(&b).mapv(&sum), "{bytes}");
        assert!(host.used() == 0 && host.peak() <= bytes);
        let tiles = told.load(Ordering::SeqCst);
        assert_eq!(tiles > 1, bytes < whole, "{tiles} tiles in {bytes} bytes");
    }
}

#[test]
fn stored_integers_beyond_memory() {
    beyond_memory(|x| x as i8, |x| x as i32);
    beyond_memory(|x| x as i32, |x| x as i64);
}

/// The first in the order of columns, in whichever tile it is, and nothing is committed.
#[test]
fn sums_that_overflow_in_tiles_are_the_first_as_well() {
    let (k, folder) = (140_000, tempfile::tempdir().unwrap());
    let large = |lines: &[usize], count: usize| {
        Array2::from_shape_fn((count, k), |(line, _)| if lines.contains(&line) { -128i8 } else { 1 })
    };
    // Of rows 2 and 5 with columns 1 and 3.
    let (a, b) = (large(&[2, 5], 6), large(&[1, 3], 4));
    let (of_a, of_b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let path = folder.path().join("sums.npy");
    for lines in [100, 3, 2] {
        let device = Device::cpu().falling_back_within(Budget::new(Memory::Host, lines * (k as u64 + 16)));
        let sink = NpySink::create(&path, &[6, 4], Element::I32, Order::C).unwrap();
        let (left, right) = (Operand::<i8>::from(&of_a), Operand::from(&of_b).t());
        let error = device.matmul_integer(Overflow::Error, left, right, sink.into()).unwrap_err();
        assert!(matches!(error, Error::Overflow { row: 2, column: 1, .. }), "{error}");
        assert!(!path.exists());
    }
}

/// What a GPU takes is padded, and counted so.
#[test]
fn integers_take_the_gpus_budget_as_they_are_there() {
    let Some(gpu) = crate::gpu("device::integers::integers_take_the_gpus_budget_as_they_are_there") else { return };
    let (a, b) = (matrix(1, 40, 1).mapv(|x| x as i8), matrix(40, 1, 2).mapv(|x| x as i8));
    let mut c = Array2::<i32>::zeros((1, 1));
    forced(&gpu).matmul_integer(Overflow::Error, (&a).into(), (&b).into(), (&mut c).into()).unwrap();
    assert_eq!(last_decision().unwrap().gpu.unwrap().device_bytes, 2 * 16 * 48 + 4 * 16 * 16);
}

/// Where cuBLAS has no product of factors as they lie, one is turned over on the GPU, in memory of its budget, and does not come to the host.
#[test]
fn integers_that_are_turned_over_take_the_gpus_budget() {
    let test = "device::integers::integers_that_are_turned_over_take_the_gpus_budget";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (matrix(7, 50, 1), matrix(50, 5, 2));
    let expected = a.dot(&b).mapv(|x| x as i32);
    let there = DeviceMat::upload(&gpu, (&a.mapv(|x| x as i8)).into()).unwrap();
    let b = b.mapv(|x| x as i8);
    // Both factors and sums, padded; and the first one turned.
    let (least, turned) = (2 * 16 * 64 + 4 * 16 * 16, 16 * 64);
    let multiply = |bytes| {
        let (budget, mut c) = (Budget::new(Memory::Device, bytes), Array2::from_elem((7, 5), 77i32));
        let none = Budget::new(Memory::Host, 0);
        let device = forced(&gpu).within(budgets(budget.clone())).falling_back_within(none);
        let done = device.matmul_integer(Overflow::Error, (&there).into(), (&b).into(), (&mut c).into());
        assert_eq!(budget.used(), 0);
        done.map(|()| (c, budget.peak()))
    };
    let (sums, peak) = multiply(least + turned).unwrap();
    assert_eq!(sums, expected);
    let traffic = last_outcome().unwrap().traffic;
    assert_eq!((traffic.to_gpu, traffic.to_host), (16 * 64, 4 * 16 * 16), "the other factor, and sums");
    // Whether a cuBLAS has this product is its own affair; that of the stub has not.
    let is_stub = gpu.stream().device().name() == crate::stub::NAME;
    assert!(peak == least + turned || peak == least && !is_stub, "{peak}");
    let refused = multiply(least + turned - 1);
    assert!(matches!(refused, Err(Error::Budget { what: "device memory", .. })) == (peak > least), "{refused:?}");
}

#[test]
fn integers_that_do_not_go_together_say_so() {
    let (device, a) = (Device::cpu(), matrix(4, 4, 1).mapv(|x| x as i8));
    let stored = MemorySource::new(a.view());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sums.npy");
    let sink = |element| NpySink::create(&path, &[4, 4], element, Order::C).unwrap();
    let multiply =
        |b: Operand<'_, i8>, c: Target<'_, i32>| device.matmul_integer(Overflow::Wrap, (&stored).into(), b, c);
    let error = multiply((&a).into(), sink(Element::I64).into()).unwrap_err();
    assert!(matches!(error, Error::ElementType { operation: "matmul_integer", .. }), "{error}");
    let wide = matrix(4, 4, 1).mapv(|x| x as i32);
    let error = multiply((&MemorySource::new(wide.view())).into(), sink(Element::I32).into()).unwrap_err();
    assert!(matches!(error, Error::ElementType { operation: "matmul_integer", .. }), "{error}");
    let mut small = Array2::<i32>::zeros((4, 3));
    let error = multiply((&a).into(), (&mut small).into()).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of c", expected: 4, got: 3, .. }), "{error}");
    let error = multiply(Operand::identity(Rows(4)), sink(Element::I32).into()).unwrap_err();
    assert!(error.class() == Class::User && error.to_string().contains("diagonal"), "{error}");
    assert!(!path.exists(), "nothing was committed");
    // Sums that overflow are told before anything is written.
    let large = Array2::from_elem((4, 140_000), -128i8);
    let of_large = MemorySource::new(large.view());
    let overflow = |kept| {
        let operand: Operand<'_, i8> = (&of_large).into();
        device.matmul_integer(kept, operand, operand.t(), sink(Element::I32).into())
    };
    assert!(matches!(overflow(Overflow::Error), Err(Error::Overflow { row: 0, column: 0, .. })));
    assert!(!path.exists());
    overflow(Overflow::Saturate).unwrap();
    let sums: Array2<i32> = ndarray_npy::read_npy(&path).unwrap();
    assert!(sums.iter().all(|sum| *sum == i32::MAX));
}
