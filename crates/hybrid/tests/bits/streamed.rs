//! Products of stored bits on a GPU, where there is one, in tiles.

use ndarray::Array2;
use tilewright_hybrid::Class;
use tilewright_hybrid::bits::{BitMatrix, Product, read_npy, write_npy};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{Element, MemorySink, NpySink, NpySource, Order, Sink};
use tilewright_hybrid::stream::bits::{Becomes, BitPlan, BitProduct, Bits, multiply, product};
use tilewright_hybrid::stream::{Budgets, Cancel, Control};

use super::gpu::stream;
use super::truth::{array, hostile};

fn gpu(test: &str) -> Option<Gpu> {
    stream(test).map(|stream| Gpu::new(&stream))
}

fn budgets(device: u64, pinned: u64) -> Budgets {
    Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, pinned) }
}

/// All that a product can become, from memory.
fn check(gpu: &Gpu, budgets: &Budgets, [m, k, n]: [usize; 3]) {
    let (a, b) = (hostile(array(m, k, 5, 1).view()), hostile(array(k, n, 4, 2).view()));
    let turned = b.transposed().unwrap();
    let truth = Product::of(&a, &b).unwrap();
    let (left, right, right_rows) = (a.source(), b.source(), turned.source());
    let bits = |source, columns| Bits::new(source, columns).unwrap();
    let forms = [
        BitProduct::of(bits(&left, k), bits(&right, n)).unwrap(),
        BitProduct::of_rows(bits(&left, k), bits(&right_rows, k)).unwrap(),
    ];
    let most = (k / 3) as u32;
    let expected = [
        (Becomes::MoreThan(0), truth.paths().unwrap()),
        (Becomes::MoreThan(most), truth.more_than(most.into()).unwrap()),
        (Becomes::Parities, truth.parities().unwrap()),
    ];
    for (number, of) in forms.iter().enumerate() {
        let place = format!("{m} x {k} x {n}, form {number}, {budgets:?}");
        for (becomes, expected) in &expected {
            let got = product(gpu, budgets, of, *becomes, Control::default()).unwrap();
            assert_eq!(got, *expected, "{place}, {becomes:?}");
        }
        let mut distances = Array2::from_elem((m, n), -1);
        let sink = MemorySink::new(distances.view_mut());
        multiply(gpu, budgets, of, Becomes::Distances, &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        assert_eq!(distances, truth.distances().unwrap(), "{place}");
        let mut counts = Array2::from_elem((m, n), -1);
        let sink = MemorySink::new(counts.view_mut());
        let traffic = multiply(gpu, budgets, of, Becomes::Counts, &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        assert_eq!(counts, truth.counts().unwrap(), "{place}");
        let plan = BitPlan::new(of, Becomes::Counts, budgets.device.available()).unwrap();
        assert_eq!(u128::from(traffic.to_gpu), plan.bytes_to_gpu(), "{place}");
        assert_eq!(u128::from(traffic.to_host), plan.bytes_to_host(), "{place}");
    }
    for budget in [&budgets.device, &budgets.pinned] {
        assert!(budget.used() == 0 && budget.peak() <= budget.limit(), "{budget:?}");
    }
}

#[test]
fn x5_products_in_tiles_are_those_of_the_cpu_on_the_gpu() {
    let Some(gpu) = gpu("bits::streamed::x5_products_in_tiles_are_those_of_the_cpu_on_the_gpu") else { return };
    for (device, pinned) in [(1 << 20, 64 << 10), (3 << 20, 200 << 10), (1 << 30, 64 << 20)] {
        for sizes in [[1000, 999, 1500], [129, 4097, 700], [2100, 130, 1], [1, 1, 1], [300, 128, 2048]] {
            check(&gpu, &budgets(device, pinned), sizes);
        }
    }
}

#[test]
fn x5_files_of_packed_bits_in_and_out_on_the_gpu() {
    let Some(gpu) = gpu("bits::streamed::x5_files_of_packed_bits_in_and_out_on_the_gpu") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    let (m, k, n) = (700, 1001, 1300);
    let (a, b) = (hostile(array(m, k, 5, 3).view()), hostile(array(k, n, 4, 4).view()));
    write_npy(path("a.npy"), &a).unwrap();
    write_npy(path("b.npy"), &b).unwrap();
    let (left, right) = (NpySource::open(path("a.npy")).unwrap(), NpySource::open(path("b.npy")).unwrap());
    let of = BitProduct::of(Bits::new(&left, k).unwrap(), Bits::new(&right, n).unwrap()).unwrap();
    let sink = NpySink::create(path("c.npy"), &[m, n.div_ceil(8)], Element::U8, Order::C).unwrap();
    multiply(&gpu, &budgets(1 << 20, 64 << 10), &of, Becomes::Parities, &sink, Control::default()).unwrap();
    Box::new(sink).commit().unwrap();
    assert_eq!(read_npy(path("c.npy")).unwrap(), Product::of(&a, &b).unwrap().parities().unwrap());
}

#[test]
fn x5_too_little_memory_and_cancelled_leave_nothing_behind_on_the_gpu() {
    let Some(gpu) = gpu("bits::streamed::x5_too_little_memory_and_cancelled_leave_nothing_behind_on_the_gpu") else {
        return;
    };
    let a = BitMatrix::random(2000, 2000, 0.5, 1).unwrap();
    let source = a.source();
    let bits = Bits::new(&source, 2000).unwrap();
    let of = BitProduct::of_rows(bits, bits).unwrap();
    let small = budgets(1 << 10, 1 << 20);
    let error = product(&gpu, &small, &of, Becomes::Parities, Control::default()).unwrap_err();
    assert_eq!(error.class(), Class::Resource, "{error}");
    assert_eq!((small.device.used(), small.pinned.used()), (0, 0));
    // Without page-locked memory it goes through ordinary memory.
    let unpinned = budgets(1 << 20, 400);
    let parities = product(&gpu, &unpinned, &of, Becomes::Parities, Control::default()).unwrap();
    assert_eq!(parities.to_bytes(), Product::of_rows(&a, &a).unwrap().parities().unwrap().to_bytes());
    assert_eq!((unpinned.device.used(), unpinned.pinned.used()), (0, 0));
    let (cancel, budgets) = (Cancel::new(), budgets(1 << 20, 64 << 10));
    let progress = |done: u64, _: u64| {
        if done == 3 {
            cancel.cancel()
        }
    };
    let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
    let error = product(&gpu, &budgets, &of, Becomes::Parities, control).unwrap_err();
    assert_eq!(error.class(), Class::Cancelled, "{error}");
    assert_eq!((budgets.device.used(), budgets.pinned.used()), (0, 0));
    let whole = product(&gpu, &budgets, &of, Becomes::Parities, Control::default()).unwrap();
    assert_eq!(whole, Product::of_rows(&a, &a).unwrap().parities().unwrap());
}

#[test]
fn products_without_elements_are_zero_on_the_gpu() {
    let Some(gpu) = gpu("bits::streamed::products_without_elements_are_zero_on_the_gpu") else { return };
    for (m, k, n) in [(0, 5, 3), (3, 0, 4), (3, 5, 0)] {
        let (a, b) = (BitMatrix::ones(m, k).unwrap(), BitMatrix::ones(k, n).unwrap());
        let (left, right) = (a.source(), b.source());
        let of = BitProduct::of(Bits::new(&left, k).unwrap(), Bits::new(&right, n).unwrap()).unwrap();
        let budgets = budgets(1 << 20, 64 << 10);
        let got = product(&gpu, &budgets, &of, Becomes::MoreThan(0), Control::default()).unwrap();
        assert_eq!(got, BitMatrix::zeros(m, n).unwrap());
    }
}
