//! Matrices of bits in files, by the face: products, what is made of elements, relations.

use ndarray::Array2;
use tempfile::TempDir;
use tilewright_hybrid::bits::closure::{closure, reduction};
use tilewright_hybrid::bits::gpu::{Combine, DeviceBitMatrix};
use tilewright_hybrid::bits::{BitMatrix, Product, read_npy, write_npy};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{At, Choice, Rates, last_decision, last_outcome};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{Element, MemorySource, NpySink, NpySource, Order};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::stream::bits::{Becomes, Bits};
use tilewright_hybrid::{BitOperand, Class, Device, Error, Side};

use super::gpu::stream;
use super::kernels::{COMBINED, combined};
use super::placed::{check, check_elements};
use super::truth::{Truth, array, hostile};

/// Matrices as files of their own.
struct Shelf(TempDir);

impl Shelf {
    fn new() -> Shelf {
        Shelf(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, matrix: &BitMatrix) -> NpySource {
        let path = self.0.path().join(name);
        write_npy(&path, matrix).unwrap();
        NpySource::open(path).unwrap()
    }

    /// A file for a result, of bits or of numbers.
    fn sink(&self, rows: usize, columns: usize, element: Element) -> NpySink {
        NpySink::create(self.path(), &[rows, columns], element, Order::C).unwrap()
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("result.npy")
    }
}

fn within(bytes: u64) -> (Device, Budget) {
    let host = Budget::new(Memory::Host, bytes);
    (Device::cpu().falling_back_within(host.clone()), host)
}

#[test]
fn x1_files_of_bits_are_operands_of_everything() {
    let shelf = Shelf::new();
    for [m, k, n] in [[1, 1, 1], [65, 130, 127], [300, 1025, 193], [3, 7, 500]] {
        let (a, b) = (array(m, k, 5, 1), array(k, n, 4, 2));
        let truth = Truth::of(&a, &b);
        let here = [&a, &b].map(|elements| hostile(elements.view()));
        let files = [shelf.put("a.npy", &here[0]), shelf.put("b.npy", &here[1])];
        let stored = files.each_ref().map(|file| Bits::of_npy(file).unwrap());
        assert_eq!(stored[0].extents(), [m, k]);
        let (device, host) = within(4 << 20);
        for operands in [
            [stored[0].into(), stored[1].into()],
            [BitOperand::from(&here[0]), stored[1].into()],
            [stored[0].into(), BitOperand::from(&here[1])],
        ] {
            check(&device, &truth, operands, None);
        }
        let other = hostile(array(m, k, 3, 7).view());
        check_elements(&device, &here[0], &other, [stored[0].into(), (&other).into()], None);
        assert!(host.used() == 0 && host.peak() <= host.limit());
        let decision = last_decision().unwrap();
        assert_eq!((decision.operation, decision.side), ("bit_row_counts", Side::Cpu));
        assert_eq!(decision.read[0].unwrap().at, At::Disk);
    }
}

/// From files to files, of which the budget holds a part.
#[test]
fn bits_go_from_files_to_files_beyond_memory() {
    let shelf = Shelf::new();
    let (m, k, n) = (900, 700, 500);
    let [a, b, c] = [(m, k, 1), (k, n, 2), (m, k, 3)].map(|(m, n, seed)| BitMatrix::random(m, n, 0.4, seed).unwrap());
    let files = [shelf.put("a.npy", &a), shelf.put("b.npy", &b), shelf.put("c.npy", &c)];
    let [left, right, other] = files.each_ref().map(|file| Bits::of_npy(file).unwrap());
    let truth = Product::of(&a, &b).unwrap();
    // All bits are 190 KB, all counts 1.8 MB.
    let (device, host) = within(64 << 10);
    let bits = || shelf.sink(m, n.div_ceil(8), Element::U8);
    device.bit_product_into(left, right, Becomes::Parities, bits()).unwrap();
    assert_eq!(read_npy(shelf.path()).unwrap(), truth.parities().unwrap());
    let (outcome, decision) = (last_outcome().unwrap(), last_decision().unwrap());
    assert_eq!((outcome.side, decision.operation, decision.written.at), (Side::Cpu, "bit_product", At::Disk));
    for (is_count, expected) in [(true, truth.counts()), (false, truth.distances())] {
        let sink = shelf.sink(m, n, Element::I32);
        match is_count {
            true => device.bit_counts_into(left, right, sink).unwrap(),
            false => device.bit_distances_into(left, right, sink).unwrap(),
        }
        let numbers: Array2<i32> = ndarray_npy::read_npy(shelf.path()).unwrap();
        assert_eq!(numbers, expected.unwrap());
    }
    // A narrow budget: bands of a few rows.
    let (narrow, little) = within(2 << 10);
    for combine in COMBINED {
        narrow.bit_combined_into(combine, left, other, shelf.sink(m, k.div_ceil(8), Element::U8)).unwrap();
        assert_eq!(read_npy(shelf.path()).unwrap(), combined(combine, &a, &c), "{combine:?}");
    }
    assert_eq!(narrow.bit_row_counts(left).unwrap(), a.row_counts());
    assert_eq!(narrow.bit_count_ones(left).unwrap(), a.count_ones());
    // What is in memory goes to files as well.
    device.bit_product_into(&a, &b, Becomes::MoreThan(100), bits()).unwrap();
    assert_eq!(read_npy(shelf.path()).unwrap(), truth.more_than(100).unwrap());
    for budget in [&host, &little] {
        assert!(budget.used() == 0 && budget.peak() <= budget.limit(), "{budget:?}");
    }
    let (none, _) = within(100);
    let error = none.bit_product_into(left, right, Becomes::Parities, bits()).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
    assert_eq!(read_npy(shelf.path()).unwrap(), truth.more_than(100).unwrap(), "what was there");
}

#[test]
fn x6_relations_in_files_have_closures() {
    let shelf = Shelf::new();
    let relation = BitMatrix::from_fn(90, 90, |from, to| from < to && (from * 7 + to * 3) % 11 == 0).unwrap();
    let file = shelf.put("relation.npy", &relation);
    let stored = Bits::of_npy(&file).unwrap();
    let (device, host) = within(90 * 16);
    assert_eq!(device.bit_closure(stored).unwrap(), closure(&relation).unwrap());
    assert_eq!(device.bit_reduction(stored).unwrap(), reduction(&relation).unwrap());
    assert_eq!((host.peak(), host.used()), (90 * 16, 0));
}

/// Both the numbers and the next step are said, and nothing is committed.
#[test]
fn bits_that_do_not_go_together_say_so() {
    let shelf = Shelf::new();
    let (a, device) = (BitMatrix::random(20, 40, 0.5, 1).unwrap(), Device::cpu());
    let file = shelf.put("a.npy", &a);
    let stored = Bits::of_npy(&file).unwrap();
    let product = |to| device.bit_product_into(stored, &a.transposed().unwrap(), Becomes::Parities, to);
    let error = device.bit_product(stored, stored, Becomes::Parities).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 40, got: 20, .. }), "{error}");
    let error = product(shelf.sink(21, 3, Element::U8)).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of the result", expected: 20, got: 21, .. }), "{error}");
    let error = product(shelf.sink(20, 2, Element::U8)).unwrap_err();
    assert!(
        matches!(error, Error::Shape { what: "stored columns of packed bits", expected: 3, got: 2, .. }),
        "{error}"
    );
    let error = product(shelf.sink(20, 3, Element::F32)).unwrap_err();
    assert!(matches!(error, Error::ElementType { .. }) && error.class() == Class::User, "{error}");
    let error = device.bit_counts_into(stored, &a.transposed().unwrap(), shelf.sink(20, 20, Element::I64)).unwrap_err();
    assert!(matches!(error, Error::ElementType { .. }), "{error}");
    let error = device.bit_product(stored, &a.transposed().unwrap(), Becomes::Distances).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("bit_distances"), "{error}");
    let other = BitMatrix::random(20, 41, 0.5, 1).unwrap();
    assert!(matches!(device.bit_combined(Combine::And, stored, &other), Err(Error::Shape { .. })));
    assert!(!shelf.path().exists());
    let floats = Array2::<f32>::zeros((3, 4));
    assert!(matches!(Bits::new(&MemorySource::new(floats.view()), 4), Err(Error::ElementType { .. })));
}

/// Streamed, or, beside what lies there, brought whole; in little memory.
#[test]
fn x1_files_of_bits_are_multiplied_on_the_gpu() {
    let Some(stream) = stream("bits::stored::x1_files_of_bits_are_multiplied_on_the_gpu") else { return };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned: Budget::new(Memory::Pinned, 1 << 20) };
    let device = Device::with(&Gpu::new(&stream)).rated(Rates::h200()).within(budgets.clone()).choosing(Choice::Gpu);
    let roomy = device.clone().within(Budgets { device: Budget::new(Memory::Device, 8 << 20), ..budgets.clone() });
    let shelf = Shelf::new();
    for [m, k, n] in [[65, 130, 127], [300, 1025, 193], [700, 900, 1300]] {
        let (a, b) = (array(m, k, 5, 1), array(k, n, 4, 2));
        let truth = Truth::of(&a, &b);
        let here = [&a, &b].map(|elements| hostile(elements.view()));
        let files = [shelf.put("a.npy", &here[0]), shelf.put("b.npy", &here[1])];
        let [left, right] = files.each_ref().map(|file| Bits::of_npy(file).unwrap());
        let there = DeviceBitMatrix::upload(&stream, &here[1]).unwrap();
        check(&device, &truth, [left.into(), right.into()], None);
        check(&roomy, &truth, [left.into(), (&there).into()], Some(&stream));
        check(&device, &truth, [(&here[0]).into(), right.into()], None);
        assert_eq!(last_outcome().unwrap().side, Side::Gpu);
        let product = Product::of(&here[0], &here[1]).unwrap();
        device.bit_product_into(left, right, Becomes::MoreThan(9), shelf.sink(m, n.div_ceil(8), Element::U8)).unwrap();
        assert_eq!(read_npy(shelf.path()).unwrap(), product.more_than(9).unwrap());
        roomy.bit_distances_into(left, &there, shelf.sink(m, n, Element::I32)).unwrap();
        let numbers: Array2<i32> = ndarray_npy::read_npy(shelf.path()).unwrap();
        assert_eq!(numbers, product.distances().unwrap());
    }
    let error = device.bit_row_counts(Bits::of_npy(&shelf.put("a.npy", &BitMatrix::ones(9, 9).unwrap())).unwrap());
    assert!(matches!(error, Err(Error::Unsupported { .. })), "{error:?}");
    assert!(budgets.device.used() == 0 && budgets.device.peak() <= budgets.device.limit());
}
