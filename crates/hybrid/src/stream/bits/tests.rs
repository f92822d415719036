//! The pipeline of bits on a device that does everything as late as it may.

use super::run::run;
use super::{Becomes, BitPlan, BitProduct, Bits};
use crate::bits::{BitMatrix, read_npy};
use crate::store::{self, Element, Extents, MemorySink, MemorySource, NpySink, Sink, Source, Tile};
use crate::stream::engine::Queue;
use crate::stream::failing::Failing;
use crate::stream::heard::{Heard, Log};
use crate::stream::late::{Device, Order};
use crate::stream::staging::Staging;
use crate::stream::{Cancel, Control};
use crate::{Class, Error};
use ndarray::{Array2, ArrayView2};
use std::sync::Mutex;

const ORDERS: [Order; 4] = [Order::Late, Order::Random(1), Order::Random(2), Order::Random(3)];
const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 50, threads: 2, is_locked: true, releases: true };
const BECOMES: [Becomes; 5] =
    [Becomes::Counts, Becomes::MoreThan(0), Becomes::MoreThan(40), Becomes::Parities, Becomes::Distances];

/// Bits from a linear generator.
fn random(rows: usize, columns: usize, ones_in_eight: u64, seed: u64) -> Array2<bool> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    Array2::from_shape_simple_fn((rows, columns), || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 61 < ones_in_eight
    })
}

/// As bytes, with ones behind the last column.
fn hostile_bytes(bits: ArrayView2<'_, bool>) -> Array2<u8> {
    Array2::from_shape_fn((bits.nrows(), bits.ncols().div_ceil(8)), |(row, byte)| {
        let is_one = |bit: &usize| bits.get((row, 8 * byte + bit)).is_none_or(|bit| *bit);
        (0..8).filter(is_one).map(|bit| 1u8 << bit).sum()
    })
}

/// A product, cut so that there are many tiles.
struct Case {
    a: Array2<bool>,
    b: Array2<bool>,
    transposes: bool,
    becomes: Becomes,
    tile: [usize; 2],
}

impl Case {
    fn new([rows, columns, depth]: [usize; 3], transposes: bool, becomes: Becomes, seed: u64) -> Case {
        let (a, b) = (random(rows, depth, 5, seed), random(depth, columns, 4, seed + 100));
        Case { a, b, transposes, becomes, tile: [7, 128] }
    }

    fn counts(&self) -> Array2<i32> {
        let number = |bits: &Array2<bool>| bits.mapv(i32::from);
        number(&self.a).dot(&number(&self.b))
    }

    /// Distances by their definition.
    fn numbers(&self) -> Array2<i32> {
        if self.becomes == Becomes::Counts {
            return self.counts();
        }
        let differ = |(i, j)| (0..self.a.ncols()).filter(|k| self.a[[i, *k]] != self.b[[*k, j]]).count() as i32;
        Array2::from_shape_fn((self.a.nrows(), self.b.ncols()), differ)
    }

    fn expected(&self) -> Array2<bool> {
        match self.becomes {
            Becomes::MoreThan(most) => self.counts().mapv(|count| count > most as i32),
            _ => self.counts().mapv(|count| count % 2 == 1),
        }
    }

    fn right(&self) -> Array2<bool> {
        if self.transposes { self.b.clone() } else { self.b.t().to_owned() }
    }

    fn run(
        &self,
        device: &Device,
        [a, b]: [Bits<'_>; 2],
        sink: &dyn Sink,
        (staging, control): (Staging, Control<'_>),
    ) -> Result<(), Error> {
        let product = if self.transposes { BitProduct::of(a, b)? } else { BitProduct::of_rows(a, b)? };
        let whole = BitPlan::new(&product, self.becomes, u64::MAX)?;
        let part = |all: usize, part: usize| part.min(all);
        let tile = [part(whole.extents.rows, self.tile[0]), part(whole.extents.columns, self.tile[1])];
        let plan = BitPlan { tile, ..whole };
        let traffic = run(device, (&plan, staging), (&product, self.becomes), sink, control)?;
        let counts = device.counts.lock().unwrap();
        assert_eq!((traffic.to_gpu, traffic.to_host), (4 * counts.brought as u64, 4 * counts.taken_back as u64));
        assert_eq!(4 * counts.device as u128, plan.device_bytes());
        Ok(())
    }

    /// From words to words, or, of counts, to numbers, all of which are compared.
    fn check(&self, device: &Device, staging: Staging) {
        let right = self.right();
        let (a, b) = (BitMatrix::from_array(self.a.view()).unwrap(), BitMatrix::from_array(right.view()).unwrap());
        let (left, right) = (a.source(), b.source());
        let bits = [Bits::new(&left, a.columns()).unwrap(), Bits::new(&right, b.columns()).unwrap()];
        let place = format!("{:?} {:?} {:?} {:?}", self.a.dim(), self.b.dim(), self.becomes, self.transposes);
        let shape = (self.a.nrows(), self.b.ncols());
        let with = (staging, Control::default());
        if self.becomes.is_number() {
            let mut result = Array2::from_elem(shape, -1);
            let sink = MemorySink::new(result.view_mut());
            self.run(device, bits, &sink, with).unwrap();
            Box::new(sink).commit().unwrap();
            assert_eq!(result, self.numbers(), "{place}");
            return;
        }
        let mut result = BitMatrix::ones(shape.0, shape.1).unwrap();
        let sink = result.sink();
        self.run(device, bits, &sink, with).unwrap();
        Box::new(sink).commit().unwrap();
        assert_eq!(result, BitMatrix::from_array(self.expected().view()).unwrap(), "{place}");
    }
}

#[test]
fn x5_every_order_form_and_finish_gives_the_product() {
    let mut seed = 0;
    for sizes in [[20, 300, 70], [7, 129, 128], [23, 128, 200], [1, 1, 1], [15, 500, 33], [30, 127, 257]] {
        for becomes in BECOMES {
            for (order, transposes) in ORDERS.into_iter().zip([true, false, false, true]) {
                seed += 1;
                Case::new(sizes, transposes, becomes, seed).check(&Device::new(order), STAGING);
            }
        }
    }
}

#[test]
fn x1_x5_bytes_with_ones_behind_the_last_column_are_read_and_written() {
    for (sizes, transposes) in [([20, 300, 70], true), ([9, 131, 1000], false), ([5, 64, 3], true)] {
        let case = Case::new(sizes, transposes, Becomes::MoreThan(3), 9);
        let (a, b) = (hostile_bytes(case.a.view()), hostile_bytes(case.right().view()));
        let (left, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
        let bits = [Bits::new(&left, sizes[2]).unwrap(), Bits::new(&right, case.right().ncols()).unwrap()];
        let mut result = Array2::from_elem((sizes[0], sizes[1].div_ceil(8)), 0xA5);
        let sink = MemorySink::new(result.view_mut());
        case.run(&Device::new(Order::Random(5)), bits, &sink, (STAGING, Control::default())).unwrap();
        Box::new(sink).commit().unwrap();
        let expected = BitMatrix::from_array(case.expected().view()).unwrap().to_bytes();
        assert_eq!(result.into_raw_vec_and_offset().0, expected, "{sizes:?}");
        // A file keeps how many of a row's bits are columns, also where its rows are padded.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.npy");
        for bytes in [sizes[1].div_ceil(8), 16 * sizes[1].div_ceil(128)] {
            let sink = NpySink::create(&path, &[sizes[0], bytes], Element::U8, store::Order::C).unwrap();
            case.run(&Device::new(Order::Random(5)), bits, &sink, (STAGING, Control::default())).unwrap();
            Box::new(sink).commit().unwrap();
            assert_eq!(read_npy(&path).unwrap(), BitMatrix::from_array(case.expected().view()).unwrap(), "{sizes:?}");
        }
    }
}

#[test]
fn m1_any_staging_gives_the_same() {
    for (slots, slots_back, elements) in [(1, 1, 1), (1, 1, 10_000), (2, 3, 17), (5, 1, 100)] {
        let staging = Staging { slots, slots_back, elements, threads: 1, ..STAGING };
        for becomes in [Becomes::Counts, Becomes::Parities, Becomes::Distances] {
            Case::new([40, 300, 130], true, becomes, 3).check(&Device::new(Order::Random(7)), staging);
        }
    }
}

/// With many slots back nobody waits for products: operands come as early as marks let them.
#[test]
fn m1_operands_that_are_far_ahead_give_the_same() {
    let staging = Staging { slots_back: 200, threads: 1, ..STAGING };
    for transposes in [true, false] {
        let case = Case::new([40, 300, 70], transposes, Becomes::Counts, 5);
        case.check(&Device::new(Order::Ahead(Queue::In)), staging);
    }
}

/// The test of the tests: a device that heeds no marks gives something else.
#[test]
fn marks_are_needed() {
    let mut wrong = 0;
    for (order, transposes) in ORDERS.into_iter().zip([true, false, true, false]) {
        let case = Case::new([40, 500, 70], transposes, Becomes::Counts, 1);
        let mut device = Device::new(order);
        device.heeds_marks = false;
        let check = std::panic::AssertUnwindSafe(|| case.check(&device, STAGING));
        wrong += usize::from(std::panic::catch_unwind(check).is_err());
    }
    assert!(wrong >= 3, "{wrong} of 4");
}

#[test]
fn b7_a_failure_anywhere_ends_it_with_its_error_and_no_result() {
    let case = Case::new([40, 300, 130], true, Becomes::Parities, 3);
    let (a, b) = (BitMatrix::from_array(case.a.view()).unwrap(), BitMatrix::from_array(case.b.view()).unwrap());
    for left in [0, 1, 3] {
        for side in 0..3 {
            let of = |own| if own == side { left } else { usize::MAX };
            let mut result = BitMatrix::zeros(40, 300).unwrap();
            let (a, b) = (Failing::to_read(of(0), a.source()), Failing::to_read(of(1), b.source()));
            let sink = Failing::to_write(of(2), result.sink());
            let bits = [Bits::new(&a, 130).unwrap(), Bits::new(&b, 300).unwrap()];
            let device = Device::new(Order::Random(left as u64));
            let error = case.run(&device, bits, &sink, (STAGING, Control::default())).unwrap_err();
            assert_eq!(error.class(), Class::Io, "{error}");
            assert!(Box::new(sink).commit().is_err(), "what is not whole is no result");
        }
    }
}

#[test]
fn m9_m15_progress_grows_to_the_end_and_it_ends_within_a_step_of_being_cancelled() {
    let case = Case::new([40, 300, 130], false, Becomes::Parities, 3);
    let right = case.right();
    let (a, b) = (BitMatrix::from_array(case.a.view()).unwrap(), BitMatrix::from_array(right.view()).unwrap());
    let (left, right) = (a.source(), b.source());
    // 6 bands of rows, 3 of columns.
    for at in [0, 1, 5, 17, u64::MAX] {
        let (cancel, seen) = (Cancel::new(), Mutex::new(Vec::new()));
        let progress = |done: u64, steps: u64| {
            seen.lock().unwrap().push((done, steps));
            if done >= at {
                cancel.cancel();
            }
        };
        if at == 0 {
            cancel.cancel();
        }
        let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
        let mut result = BitMatrix::zeros(40, 300).unwrap();
        let bits = [Bits::new(&left, 130).unwrap(), Bits::new(&right, 130).unwrap()];
        let ended = case.run(&Device::new(Order::Late), bits, &result.sink(), (STAGING, control));
        assert_eq!(seen.into_inner().unwrap(), (1..=at.min(18)).map(|done| (done, 18)).collect::<Vec<_>>());
        match ended {
            Ok(()) => assert_eq!(at, u64::MAX),
            Err(error) => {
                assert!(matches!(error, Error::Cancelled { done, steps: 18 } if done == at), "{error}");
            }
        }
    }
}

#[test]
fn x5_plans_fit_their_budgets_and_no_budget_is_no_plan() {
    let stored = |rows, columns: usize| NoBits(Extents::new(rows, columns.div_ceil(128) * 2));
    let size = 131_072;
    let (left, right) = (stored(size, size), stored(size, size));
    let bits = |source| Bits::new(source, size).unwrap();
    let product = BitProduct::of(bits(&left), bits(&right)).unwrap();
    for becomes in [Becomes::MoreThan(0), Becomes::Counts] {
        for gib in [1u64, 4, 8, 120] {
            let plan = BitPlan::new(&product, becomes, gib << 30).unwrap();
            assert!(plan.device_bytes() <= u128::from(gib << 30), "{plan:?}");
            let [down, across] = plan.counts();
            assert!(plan.tile[1].is_multiple_of(128) && across <= 32 / gib.min(16) as usize + 2, "{plan:?}");
            assert_eq!(plan.bytes_to_gpu(), (across as u128 + 1) << 31, "{plan:?}");
            assert!(down * plan.tile[0] >= size && across * plan.tile[1] >= size);
        }
    }
    // As in the notes: two bands of columns, and the kernel takes nearly all of the time.
    let plan = BitPlan::new(&product, Becomes::MoreThan(0), 120 << 30).unwrap();
    assert_eq!(plan.tile, [4096, 65_536]);
    let link = crate::dispatch::Rates::h200().gpu.unwrap().link;
    let time = plan.time(&link, 9.6e15);
    assert!((0.46..0.48).contains(&time.compute) && time.wall < 1.1 * time.compute, "{time:?}");
    let error = BitPlan::new(&product, Becomes::MoreThan(0), 1 << 20).unwrap_err();
    assert!(matches!(error, Error::Budget { available: 1_048_576, .. }), "{error}");
}

/// A source that nobody reads.
struct NoBits(Extents);

impl Source for NoBits {
    fn extents(&self) -> Extents {
        self.0
    }

    fn element(&self) -> Element {
        Element::U64
    }

    fn read_tile(&self, _: &Tile, _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let of = |rows, columns| NoBits(Extents::new(rows, columns));
    let source = of(10, 4);
    assert_eq!(Bits::new(&source, 256).unwrap().extents(), [10, 256]);
    assert_eq!(Bits::new(&source, 193).unwrap().extents(), [10, 193]);
    // 257 columns take more words, 120 take fewer, padding included.
    for columns in [257, 120] {
        let error = Bits::new(&source, columns).err().unwrap();
        assert!(matches!(error, Error::Shape { got: 4, .. }), "{error}");
    }
    let floats = Array2::<f32>::zeros((3, 3));
    let floats = MemorySource::new(floats.view());
    assert!(matches!(Bits::new(&floats, 96).err().unwrap(), Error::ElementType { expected: "f32", .. }));
    let (a, b) = (Bits::new(&source, 256).unwrap(), Bits::new(&source, 200).unwrap());
    assert!(matches!(BitProduct::of(a, a).err().unwrap(), Error::Shape { expected: 256, got: 10, .. }));
    assert!(matches!(BitProduct::of_rows(a, b).err().unwrap(), Error::Shape { expected: 256, got: 200, .. }));
    let product = BitProduct::of_rows(a, a).unwrap();
    let mut bits = Array2::<u64>::zeros((10, 2));
    let sink = MemorySink::new(bits.view_mut());
    let refused = |becomes| super::operands::Stored::of(&product, becomes, &sink).unwrap_err();
    assert!(matches!(refused(Becomes::Counts), Error::Shape { expected: 10, got: 2, .. }));
    assert!(super::operands::Stored::of(&product, Becomes::Parities, &sink).is_ok());
}

#[test]
fn stores_hear_what_is_read_next_and_what_is_not_read_again() {
    for transposes in [true, false] {
        let (case, log) = (Case::new([20, 300, 70], transposes, Becomes::Parities, 9), Log::default());
        let (a, b) = (hostile_bytes(case.a.view()), hostile_bytes(case.right().view()));
        let heard = |number, bytes| Heard { inner: MemorySource::new(bytes), number, log: &log, fails: None };
        let (left, right) = (heard(0, a.view()), heard(1, b.view()));
        let bits = [Bits::new(&left, 70).unwrap(), Bits::new(&right, case.right().ncols()).unwrap()];
        let mut result = Array2::from_elem((20, 38), 0xA5_u8);
        let sink = MemorySink::new(result.view_mut());
        let staging = Staging { threads: 1, ..STAGING };
        case.run(&Device::new(Order::Late), bits, &sink, (staging, Control::default())).unwrap();
        log.check(3, true);
        log.check_releases();
    }
}
