//! Products on a GPU, where there is one.

use ndarray::Array2;
use tilewright_driver::{Device, Error as Driver, Stream};
use tilewright_headers::host_model::skip;
use tilewright_hybrid::{
    Class, Error, Side,
    bits::{
        BitMatrix, Product,
        closure::{closure, reduction},
        gpu::{Combine, DeviceBitMatrix, DeviceProduct, GpuPath, WgmmaShape},
    },
    budget::{Budget, Memory},
    dispatch::{Choice, Rates, last_decision, last_outcome},
    linear::Gpu,
    stream::Budgets,
};

use super::kernels::{COMBINED, combined};
use super::truth::{array, hostile};

const SHAPES: [WgmmaShape; 4] = [WgmmaShape::LARGE, WgmmaShape::PAIRED, WgmmaShape::WIDE, WgmmaShape::TALL];

pub(super) fn stream(test: &str) -> Option<Stream> {
    match Device::new(0) {
        Ok(device) => crate::runs_kernels(&device, test).then(|| device.stream().unwrap()),
        Err(Driver::NoDriver { .. } | Driver::NoDevice | Driver::DriverTooOld { .. }) => {
            skip(test, "no GPU");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// The paths that the GPU has.
fn paths(stream: &Stream) -> Vec<GpuPath> {
    let none = DeviceBitMatrix::zeros(stream, 1, 1).unwrap();
    let has = |path: &GpuPath| DeviceProduct::of_rows(&none, &none).unwrap().on(*path).is_ok();
    [GpuPath::Popcount, GpuPath::Mma].into_iter().chain(SHAPES.map(GpuPath::Wgmma)).filter(has).collect()
}

/// The most that kernels count in 31 bits, and what is beyond it.
#[test]
fn x4_the_longest_rows_are_counted_and_longer_ones_refused() {
    let Some(stream) = stream("bits::gpu::x4_the_longest_rows_are_counted_and_longer_ones_refused") else { return };
    let most = i32::MAX as usize - 1024;
    let ones = DeviceBitMatrix::upload(&stream, &BitMatrix::ones(1, most).unwrap()).unwrap();
    for path in paths(&stream) {
        let product = DeviceProduct::of_rows(&ones, &ones).unwrap().on(path).unwrap();
        assert_eq!(product.counts().unwrap().to_vec().unwrap(), [most as i32], "{path:?}");
        assert_eq!(product.distances().unwrap().to_vec().unwrap(), [0], "{path:?}");
    }
    let error = DeviceBitMatrix::zeros(&stream, 1, most + 1).unwrap_err();
    assert!(matches!(error, Error::TooLarge { element_bits: 1, .. }), "{error}");
}

#[test]
fn x3_all_paths_are_those_of_the_cpu() {
    let Some(stream) = stream("bits::gpu::x3_all_paths_are_those_of_the_cpu") else { return };
    let sizes = [[1, 1, 1], [65, 130, 127], [257, 1025, 193], [1000, 4097, 999], [2100, 5000, 1500], [64, 70_000, 3]];
    for [m, k, n] in sizes {
        let a = hostile(array(m, k, 5, 1).view());
        let b = hostile(array(k, n, 4, 2).view());
        let (left, right) =
            (DeviceBitMatrix::upload(&stream, &a).unwrap(), DeviceBitMatrix::upload(&stream, &b).unwrap());
        let truth = Product::of(&a, &b).unwrap();
        let counts = truth.counts().unwrap();
        let threshold = k as u32 / 3;
        for path in paths(&stream) {
            let place = format!("{path:?}, {m} x {k} x {n}");
            let product = DeviceProduct::of(&left, &right).unwrap().on(path).unwrap();
            let array = |values: Vec<i32>| Array2::from_shape_vec((m, n), values).unwrap();
            assert_eq!(array(product.counts().unwrap().to_vec().unwrap()), counts, "{place}");
            assert_eq!(array(product.distances().unwrap().to_vec().unwrap()), truth.distances().unwrap(), "{place}");
            let saturated = product.counts_u16().unwrap().to_vec().unwrap();
            assert_eq!(Array2::from_shape_vec((m, n), saturated).unwrap(), truth.counts_u16().unwrap(), "{place}");
            let many = product.more_than(threshold).unwrap().download().unwrap();
            assert_eq!(many, truth.more_than(threshold.into()).unwrap(), "{place}");
            assert_eq!(product.paths().unwrap().download().unwrap(), truth.paths().unwrap(), "{place}");
            assert_eq!(product.parities().unwrap().download().unwrap(), truth.parities().unwrap(), "{place}");
            assert_eq!(product.row_counts().unwrap().to_vec().unwrap(), truth.row_counts().unwrap(), "{place}");
        }
    }
}

#[test]
fn transposition_exchanges_rows_and_columns() {
    let Some(stream) = stream("bits::gpu::transposition_exchanges_rows_and_columns") else { return };
    for (rows, columns) in [(1, 1), (33, 65), (256, 1024), (1300, 2100), (1, 5000), (5000, 31), (0, 5), (5, 0)] {
        let bits = hostile(array(rows, columns, 4, 8).view());
        let there = DeviceBitMatrix::upload(&stream, &bits).unwrap();
        assert_eq!(there.download().unwrap(), bits);
        assert_eq!(there.transposed().unwrap().download().unwrap(), bits.transposed().unwrap(), "{rows} x {columns}");
    }
}

#[test]
fn elements_are_combined_and_counted_where_they_lie() {
    let Some(stream) = stream("bits::gpu::elements_are_combined_and_counted_where_they_lie") else { return };
    for (rows, columns) in [(1, 1), (33, 65), (256, 1024), (1300, 2100), (1, 5000), (5000, 31), (0, 5), (5, 0)] {
        let [a, b] = [(4, 8), (3, 9)].map(|(ones, seed)| hostile(array(rows, columns, ones, seed).view()));
        let [left, right] = [&a, &b].map(|matrix| DeviceBitMatrix::upload(&stream, matrix).unwrap());
        for combine in COMBINED {
            let (got, expected) = (left.combined(combine, &right).unwrap(), combined(combine, &a, &b));
            let place = format!("{combine:?}, {rows} x {columns}");
            assert_eq!(got.count_ones().unwrap(), expected.count_ones(), "{place}");
            assert_eq!(got.row_counts().unwrap(), expected.row_counts(), "{place}");
            assert_eq!(got.download().unwrap().words(), expected.words(), "{place}");
        }
    }
    let [one, other] = [(3, 4), (4, 3)].map(|(rows, columns)| DeviceBitMatrix::zeros(&stream, rows, columns).unwrap());
    assert_eq!(one.combined(Combine::Or, &other).unwrap_err().class(), Class::User);
}

/// In the memory of the GPU, and in tiles where it has no room for three of them.
#[test]
fn x6_closures_and_reductions_on_the_gpu_are_those_of_the_cpu() {
    let test = "bits::gpu::x6_closures_and_reductions_on_the_gpu_are_those_of_the_cpu";
    let Some(stream) = stream(test) else { return };
    for room in [1 << 30, 300 << 10] {
        let budgets =
            Budgets { device: Budget::new(Memory::Device, room), pinned: Budget::new(Memory::Pinned, 1 << 20) };
        let device = tilewright_hybrid::Device::with(&Gpu::new(&stream)).rated(Rates::h200()).within(budgets.clone());
        let device = device.choosing(Choice::Gpu);
        for size in [0, 1, 2, 63, 65, 129, 1000] {
            let of = |step: &dyn Fn(usize, usize) -> bool| BitMatrix::from_fn(size, size, step).unwrap();
            let sparse = BitMatrix::random(size, size, (1.5 / size.max(1) as f64).min(0.5), 3).unwrap();
            let relations = [
                of(&|_, _| false),
                of(&|from, to| from + 1 == to),
                of(&|from, to| (from + 1) % size == to),
                of(&|from, to| from < to && sparse.get(from, to) == Some(true)),
                sparse.clone(),
            ];
            for (number, relation) in relations.iter().enumerate() {
                let place = format!("{number} of {size} in {room}");
                assert_eq!(device.bit_closure(relation).unwrap(), closure(relation).unwrap(), "{place}");
                let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
                assert_eq!((decision.operation, decision.side, outcome.side), ("bit_closure", Side::Gpu, Side::Gpu));
                assert_eq!(decision.gpu.unwrap().tiles.is_some(), size == 1000 && room < 1 << 30, "{place}");
                match (device.bit_reduction(relation), reduction(relation)) {
                    (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{place}"),
                    (got, expected) => {
                        assert!(matches!(got, Err(Error::Cyclic { .. })) && expected.is_err(), "{place}: {got:?}")
                    }
                }
            }
        }
        assert!(budgets.device.used() == 0 && budgets.device.peak() <= room, "{budgets:?}");
    }
}

#[test]
fn operands_of_two_streams_are_waited_for() {
    let Some(stream) = stream("bits::gpu::operands_of_two_streams_are_waited_for") else { return };
    let other = stream.device().stream().unwrap();
    let a = BitMatrix::random(3000, 3000, 0.5, 1).unwrap();
    let b = BitMatrix::random(3000, 3000, 0.5, 2).unwrap();
    let truth = Product::of(&a, &b).unwrap().parities().unwrap();
    for _ in 0..5 {
        let left = DeviceBitMatrix::upload(&stream, &a).unwrap();
        let right = DeviceBitMatrix::upload(&other, &b).unwrap();
        let product = DeviceProduct::of(&left, &right).unwrap().parities().unwrap();
        drop(right);
        assert_eq!(product.download().unwrap(), truth);
    }
}

#[test]
fn products_without_elements_are_zero() {
    let Some(stream) = stream("bits::gpu::products_without_elements_are_zero") else { return };
    for (m, k, n) in [(0, 5, 3), (3, 0, 4), (3, 5, 0)] {
        let left = DeviceBitMatrix::zeros(&stream, m, k).unwrap();
        let right = DeviceBitMatrix::zeros(&stream, k, n).unwrap();
        let product = DeviceProduct::of(&left, &right).unwrap();
        assert_eq!(product.counts().unwrap().to_vec().unwrap(), vec![0; m * n]);
        assert!(!product.paths().unwrap().download().unwrap().any());
        assert_eq!(product.row_counts().unwrap().to_vec().unwrap(), vec![0; m]);
    }
    let (left, right) =
        (DeviceBitMatrix::zeros(&stream, 3, 4).unwrap(), DeviceBitMatrix::zeros(&stream, 5, 6).unwrap());
    assert_eq!(DeviceProduct::of(&left, &right).unwrap_err().class(), Class::User);
    let illegal = GpuPath::Wgmma(WgmmaShape { columns: 100, ..WgmmaShape::LARGE });
    assert_eq!(DeviceProduct::of_rows(&left, &left).unwrap().on(illegal).unwrap_err().class(), Class::User);
}

/// Peta-operations a second (AND and addition count as two) of a product of so many bits: the best of a few rounds of calls.
fn rate(stream: &Stream, size: usize, call: impl Fn()) -> f64 {
    let calls = (1 << 15) / size + 1;
    let round = || {
        let begin = stream.record().unwrap();
        (0..calls).for_each(|_| call());
        let end = stream.record().unwrap();
        stream.synchronize().unwrap();
        f64::from(end.elapsed_ms_since(&begin).unwrap()) / calls as f64
    };
    round();
    let best = (0..5).map(|_| round()).fold(f64::INFINITY, f64::min);
    2.0 * (size as f64).powi(3) / best * 1e-12
}

#[test]
fn x7_tensor_cores_are_twenty_times_as_fast() {
    let Some(stream) = stream("bits::gpu::x7_tensor_cores_are_twenty_times_as_fast") else { return };
    if !matches!(GpuPath::best(stream.device().arch()), GpuPath::Wgmma(_)) {
        return skip("bits::gpu::x7", "no wgmma");
    }
    for size in [4096, 8192, 16384, 32768] {
        let matrix =
            |seed| DeviceBitMatrix::upload(&stream, &BitMatrix::random(size, size, 0.5, seed).unwrap()).unwrap();
        let (left, right) = (matrix(1), matrix(2));
        let product = |path| DeviceProduct::of_rows(&left, &right).unwrap().on(path).unwrap();
        let counts = |path| rate(&stream, size, || drop(product(path).counts().unwrap()));
        let bits = |path| rate(&stream, size, || drop(product(path).paths().unwrap()));
        let mut best = 0.0f64;
        for shape in SHAPES {
            let path = GpuPath::Wgmma(shape);
            let rates = [counts(path), bits(path)];
            eprintln!("{size} {shape:?}: counts {:.2}, bits {:.2} POPS", rates[0], rates[1]);
            best = rates.into_iter().fold(best, f64::max);
        }
        eprintln!("{size} mma: counts {:.2}, bits {:.2} POPS", counts(GpuPath::Mma), bits(GpuPath::Mma));
        let transposition = rate(&stream, size, || drop(right.transposed().unwrap()));
        eprintln!("{size} transposition: {:.1} us", 2.0 * (size as f64).powi(3) / transposition * 1e-9);
        if size == 16384 {
            let popcount = bits(GpuPath::Popcount);
            eprintln!("{size} popcount: bits {popcount:.3} POPS");
            assert!(best >= 20.0 * popcount, "{best} is less than 20 x {popcount}");
        }
    }
}
