//! Matrices of bits in host memory and on the GPU, mixed, by the face.

use ndarray::Array2;
use tilewright_driver::Stream;
use tilewright_hybrid::bits::closure::{closure, reduction};
use tilewright_hybrid::bits::gpu::DeviceBitMatrix;
use tilewright_hybrid::bits::{BitMatrix, Product};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::stream::bits::Becomes;
use tilewright_hybrid::{BitOperand, Class, Device, Error, Side};

use super::gpu::stream;
use super::kernels::{COMBINED, combined};
use super::truth::{Truth, array, hostile};

/// Odd ones, and whole words.
const SIZES: [[usize; 3]; 6] =
    [[1, 1, 1], [65, 130, 127], [129, 64, 31], [300, 1025, 193], [3, 7, 500], [128, 256, 64]];

/// Whether an element is set, by its count.
type Definition = Box<dyn Fn(u64) -> bool>;

/// What products become, and the definition of each.
fn becomes(depth: usize) -> [(Becomes, Definition); 3] {
    let third = depth as u32 / 3;
    [
        (Becomes::MoreThan(0), Box::new(|count| count > 0)),
        (Becomes::MoreThan(third), Box::new(move |count| count > third.into())),
        (Becomes::Parities, Box::new(|count| count % 2 == 1)),
    ]
}

/// All that a device makes of two matrices that lie somewhere, against definitions, results going to where `to` says.
pub(crate) fn check(device: &Device, truth: &Truth, [left, right]: [BitOperand<'_>; 2], to: Option<&Stream>) {
    let ((m, n), k) = (truth.counts.dim(), truth.depth);
    let place = format!("{m} x {k} x {n}, {left:?}, {right:?}");
    for (becomes, is_set) in becomes(k) {
        let expected = BitMatrix::from_fn(m, n, |i, j| is_set(truth.counts[[i, j]])).unwrap();
        // Where there were ones before.
        let mut made = BitMatrix::ones(m, n).unwrap();
        match to {
            None => device.bit_product_into(left, right, becomes, &mut made).unwrap(),
            Some(stream) => {
                let mut there = DeviceBitMatrix::upload(stream, &made).unwrap();
                device.bit_product_into(left, right, becomes, &mut there).unwrap();
                made = there.download().unwrap();
            }
        }
        assert_eq!(made.words(), expected.words(), "{becomes:?}, {place}");
        assert_eq!(device.bit_product(left, right, becomes).unwrap(), expected, "{becomes:?}, {place}");
    }
    let [counts, distances] = [&truth.counts, &truth.distances].map(|all| all.mapv(|it| it as i32));
    assert_eq!(device.bit_counts(left, right).unwrap(), counts, "{place}");
    assert_eq!(device.bit_distances(left, right).unwrap(), distances, "{place}");
}

/// The same of what is made element by element of two of one size.
pub(crate) fn check_elements(
    device: &Device,
    one: &BitMatrix,
    other: &BitMatrix,
    [left, right]: [BitOperand<'_>; 2],
    to: Option<&Stream>,
) {
    let place = format!("{left:?}, {right:?}");
    for combine in COMBINED {
        let expected = combined(combine, one, other);
        assert_eq!(
            device.bit_combined(combine, left, right).unwrap().words(),
            expected.words(),
            "{combine:?}, {place}"
        );
        if let Some(stream) = to {
            let mut there =
                DeviceBitMatrix::upload(stream, &BitMatrix::ones(one.rows(), one.columns()).unwrap()).unwrap();
            device.bit_combined_into(combine, left, right, &mut there).unwrap();
            assert_eq!(there.download().unwrap().words(), expected.words(), "{combine:?}, {place}");
        }
    }
    let of_rows: Vec<u64> = (0..one.rows()).map(|row| one.ones_of_row(row).count() as u64).collect();
    assert_eq!(device.bit_row_counts(left).unwrap(), of_rows, "{place}");
    assert_eq!(device.bit_count_ones(left).unwrap(), of_rows.iter().sum::<u64>(), "{place}");
}

/// Both operands in host memory and on the GPU, results in either, on a processor that is asked for.
pub(crate) fn everywhere(device: &Device, stream: &Stream) {
    for [m, k, n] in SIZES {
        let (a, b) = (array(m, k, 5, 1), array(k, n, 4, 2));
        let truth = Truth::of(&a, &b);
        let here = [&a, &b].map(|elements| hostile(elements.view()));
        let there = here.each_ref().map(|matrix| DeviceBitMatrix::upload(stream, matrix).unwrap());
        let places = [[false, false], [true, false], [false, true], [true, true]];
        for (is_there, to) in places.into_iter().flat_map(|place| [(place, None), (place, Some(stream))]) {
            let operand = |number: usize| match is_there[number] {
                true => BitOperand::from(&there[number]),
                false => (&here[number]).into(),
            };
            check(device, &truth, [operand(0), operand(1)], to);
        }
        let other = hostile(array(m, k, 3, 7).view());
        let other_there = DeviceBitMatrix::upload(stream, &other).unwrap();
        for (left, right) in [
            ((&there[0]).into(), (&other).into()),
            ((&here[0]).into(), (&other_there).into()),
            ((&there[0]).into(), (&other_there).into()),
        ] {
            check_elements(device, &here[0], &other, [left, right], Some(stream));
        }
    }
}

#[test]
fn x2_what_lies_on_the_gpu_is_multiplied_there() {
    let Some(stream) = stream("bits::placed::x2_what_lies_on_the_gpu_is_multiplied_there") else { return };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 30), pinned: Budget::new(Memory::Pinned, 1 << 20) };
    let device = Device::with(&Gpu::new(&stream)).rated(Rates::h200()).within(budgets.clone());
    everywhere(&device.clone().choosing(Choice::Gpu), &stream);
    assert_eq!(last_outcome().unwrap().side, Side::Gpu);
    assert_eq!(budgets.device.used(), 0);
    // Nothing of what is there moves, and results that are wanted there do not either.
    let [a, b] = [5, 6].map(|seed| BitMatrix::random(1000, 1000, 0.5, seed).unwrap());
    let [left, right] = [&a, &b].map(|matrix| DeviceBitMatrix::upload(&stream, matrix).unwrap());
    let mut made = DeviceBitMatrix::zeros(&stream, 1000, 1000).unwrap();
    let asked = device.clone().choosing(Choice::Gpu);
    asked.bit_product_into(&left, &right, Becomes::Parities, &mut made).unwrap();
    let traffic = last_outcome().unwrap().traffic;
    assert_eq!((traffic.to_gpu, traffic.to_host), (0, 0));
    let truth = Product::of(&a, &b).unwrap().parities().unwrap();
    assert_eq!(made.download().unwrap(), truth);
    // By themselves large ones stay there, and small ones come to the CPU.
    let large = [7, 8]
        .map(|seed| DeviceBitMatrix::upload(&stream, &BitMatrix::random(4096, 4096, 0.5, seed).unwrap()).unwrap());
    let mut to = DeviceBitMatrix::zeros(&stream, 4096, 4096).unwrap();
    device.bit_product_into(&large[0], &large[1], Becomes::MoreThan(900), &mut to).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason), (Side::Gpu, Reason::Cost), "{decision}");
    let small = DeviceBitMatrix::upload(&stream, &BitMatrix::ones(3, 3).unwrap()).unwrap();
    assert_eq!(device.bit_counts(&small, &small).unwrap(), Array2::from_elem((3, 3), 3));
    assert_eq!(last_decision().unwrap().side, Side::Cpu);
    // Where the GPU has no room the CPU does it, unless it was asked for.
    let tight = Budgets { device: Budget::new(Memory::Device, 1 << 10), pinned: budgets.pinned.clone() };
    assert_eq!(device.clone().within(tight.clone()).bit_product(&left, &right, Becomes::Parities).unwrap(), truth);
    assert_eq!(last_decision().unwrap().reason, Reason::TooLarge);
    let error = asked.within(tight).bit_product(&left, &right, Becomes::Parities).unwrap_err();
    assert_eq!(error.class(), Class::Resource, "{error}");
}

/// What does not go together is refused by name, and nothing is changed.
#[test]
fn x1_what_does_not_fit_is_refused() {
    let device = Device::cpu();
    let (a, b) = (BitMatrix::ones(3, 5).unwrap(), BitMatrix::ones(5, 4).unwrap());
    let what = "rows of the right matrix";
    let error = device.bit_distances(&a, &a).unwrap_err();
    assert!(matches!(error, Error::Shape { operation: "bit_distances", expected: 5, got: 3, .. }), "{error}");
    let error = device.bit_counts(&a, &a).unwrap_err();
    assert!(matches!(error, Error::Shape { operation: "bit_counts", expected: 5, got: 3, .. }), "{error}");
    // Before anything is made for a result that nobody has room for.
    let long = BitMatrix::zeros(1 << 40, 0).unwrap();
    let error = device.bit_product(&long, &b, Becomes::Parities).unwrap_err();
    assert!(matches!(&error, Error::Shape { what: it, expected: 0, got: 5, .. } if *it == what), "{error}");
    let error = device.bit_product(&long, &BitMatrix::ones(0, 64).unwrap(), Becomes::Counts).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let tall = BitMatrix::zeros(0, 1 << 40).unwrap();
    let error = device.bit_combined(COMBINED[0], &long, &tall).unwrap_err();
    assert!(matches!(error, Error::Shape { operation: "bit_combined", .. }), "{error}");
    let mut to = BitMatrix::ones(3, 6).unwrap();
    let error = device.bit_product_into(&a, &b, Becomes::Parities, &mut to).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of the result", expected: 4, got: 6, .. }), "{error}");
    let error = device.bit_combined_into(COMBINED[0], &a, &b, &mut to).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of the second matrix", expected: 3, got: 5, .. }), "{error}");
    let error = device.bit_product(&a, &b, Becomes::Counts).unwrap_err();
    assert!(matches!(error, Error::Unsupported { operation: "bit_product", .. }), "{error}");
    assert_eq!(to, BitMatrix::ones(3, 6).unwrap());
}

#[test]
fn x2_what_is_in_host_memory_is_multiplied_on_the_cpu() {
    let device = Device::cpu();
    for [m, k, n] in SIZES {
        let (a, b) = (array(m, k, 5, 1), array(k, n, 4, 2));
        let truth = Truth::of(&a, &b);
        let [left, right, other] = [a.view(), b.view(), array(m, k, 3, 7).view()].map(hostile);
        check(&device, &truth, [(&left).into(), (&right).into()], None);
        check_elements(&device, &left, &other, [(&left).into(), (&other).into()], None);
    }
    let (a, b) = (BitMatrix::ones(3, 5).unwrap(), BitMatrix::ones(5, 4).unwrap());
    for (becomes, operation) in [(Becomes::Counts, "bit_counts"), (Becomes::Parities, "bit_product")] {
        assert_eq!(device.plan_bit_product(&a, &b, becomes).unwrap().operation, operation);
    }
    device.bit_counts(&a, &b).unwrap();
    assert_eq!(last_decision().unwrap().operation, "bit_counts");
    device.bit_distances(&a, &b).unwrap();
    assert_eq!(last_decision().unwrap().operation, "bit_distances");
}

/// What has no elements needs no kernel, and is what it is by definition.
#[test]
fn what_is_empty_is_made_on_the_gpu() {
    let Some(gpu) = crate::gpu("bits::placed::what_is_empty_is_made_on_the_gpu") else { return };
    let device = Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    for [m, k, n] in [[0, 5, 3], [3, 0, 4], [3, 5, 0], [0, 0, 0], [3, 0, 0]] {
        let (a, b) = (array(m, k, 5, 1), array(k, n, 4, 2));
        let truth = Truth::of(&a, &b);
        let here = [&a, &b].map(|elements| hostile(elements.view()));
        let there = here.each_ref().map(|matrix| DeviceBitMatrix::upload(gpu.stream(), matrix).unwrap());
        for to in [None, Some(gpu.stream())] {
            check(&device, &truth, [(&there[0]).into(), (&there[1]).into()], to);
            check(&device, &truth, [(&there[0]).into(), (&here[1]).into()], to);
            if m == 0 || k == 0 {
                let [left, right] = [(&there[0]).into(), (&here[0]).into()];
                check_elements(&device, &here[0], &here[0], [left, right], to);
            }
        }
    }
    let none = DeviceBitMatrix::zeros(gpu.stream(), 0, 0).unwrap();
    assert_eq!(device.bit_closure(&none).unwrap(), BitMatrix::zeros(0, 0).unwrap());
    assert_eq!(device.bit_reduction(&none).unwrap(), BitMatrix::zeros(0, 0).unwrap());
}

/// On the CPU copies of what lies on the GPU take the host's budget, and no kernel is needed.
#[test]
fn what_lies_on_the_gpu_comes_to_the_cpu_where_that_is_asked_for() {
    let Some(gpu) = crate::gpu("bits::placed::what_lies_on_the_gpu_comes_to_the_cpu_where_that_is_asked_for") else {
        return;
    };
    let host = Budget::new(Memory::Host, 1 << 20);
    let device = Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Cpu).falling_back_within(host.clone());
    everywhere(&device, gpu.stream());
    assert!(host.used() == 0 && host.peak() > 0, "{host:?}");
    let [a, b] = [5, 6].map(|seed| BitMatrix::random(100, 100, 0.5, seed).unwrap());
    let there = DeviceBitMatrix::upload(gpu.stream(), &a).unwrap();
    // Relations too.
    let order = BitMatrix::from_fn(100, 100, |from, to| from < to && (to - from) % 7 == 1).unwrap();
    let there_order = DeviceBitMatrix::upload(gpu.stream(), &order).unwrap();
    assert_eq!(device.bit_closure(&there_order).unwrap(), closure(&order).unwrap());
    // Which the record has.
    let traffic = last_outcome().unwrap().traffic;
    assert_eq!((traffic.to_gpu, traffic.to_host), (0, 1600));
    assert!(last_decision().unwrap().cpu.bring > 0.0);
    // What the CPU makes for a matrix on the GPU takes its memory, and no other.
    let (room, before) = (DeviceBitMatrix::upload(gpu.stream(), &order).unwrap(), tilewright_driver::bytes_allocated());
    let mut to = room;
    device.bit_product_into(&a, &b, Becomes::Parities, &mut to).unwrap();
    assert_eq!(to.download().unwrap(), Product::of(&a, &b).unwrap().parities().unwrap());
    assert_eq!(tilewright_driver::bytes_allocated(), before);
    assert_eq!(device.bit_reduction(&there_order).unwrap(), reduction(&order).unwrap());
    let aside = DeviceBitMatrix::zeros(gpu.stream(), 3, 4).unwrap();
    let error = device.bit_closure(&aside).unwrap_err();
    assert!(matches!(error, Error::NotSquare { operation: "bit_closure", .. }), "{error}");
    let short = device.falling_back_within(Budget::new(Memory::Host, 1599));
    let error = short.bit_closure(&there_order).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 1600, available: 1599, .. }), "{error}");
    let error = short.bit_counts(&there, &b).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 1600, available: 1599, .. }), "{error}");
}
