//! Products of matrices with vectors on a device that does everything as late as it may.

use super::control::{Cancel, Control};
use super::engine::{Form, Queue};
use super::failing::Failing;
use super::heard::{Heard, Log, Said};
use super::late::{Device, Order};
use super::matmul::{Factor, Product};
use super::matvec::run;
use super::matvec_plan::MatvecPlan;
use super::staging::Staging;
use super::verify::Verify;
use crate::dispatch::MatvecExtents;
use crate::store::{MemorySink, MemorySource, Sink, Source};
use crate::{Class, Error};
use ndarray::{Array2, s};
use std::sync::Mutex;

const ORDERS: [Order; 4] = [Order::Late, Order::Random(1), Order::Random(2), Order::Random(3)];
const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 20, threads: 2, is_locked: true, releases: true };
const FORMS: [Form; 3] = [Form::Plain, Form::Transposed, Form::Adjoint];

/// Small whole numbers: sums are exact in any order.
fn numbers(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 5 + j * 3 + i * j + seed) % 13) as f64 - 6.0)
}

/// A batch, and what it is added to.
struct Case {
    plan: MatvecPlan,
    forms: [Form; 2],
    alpha: f64,
    beta: f64,
    a: Array2<f64>,
    x: Array2<f64>,
    y: Array2<f64>,
}

impl Case {
    fn new([count, rows, columns]: [usize; 3], [matrices, height, stages]: [usize; 3]) -> Case {
        let extents = MatvecExtents { count, rows, columns };
        let plan = MatvecPlan { extents, element_bytes: 8, matrices, rows: height, stages };
        let (a, x) = (numbers(count * rows, columns, 1), numbers(count * columns, 1, 2));
        Case { plan, forms: [Form::Plain; 2], alpha: 1.0, beta: 0.0, a, x, y: numbers(count * rows, 1, 3) }
    }

    fn scaled(self, [alpha, beta]: [f64; 2]) -> Case {
        Case { alpha, beta, ..self }
    }

    /// The same with factors that lie otherwise.
    fn formed(self, forms: [Form; 2]) -> Case {
        let lying =
            |form, of: Array2<f64>| if form == Form::Plain { of } else { of.t().as_standard_layout().to_owned() };
        Case { forms, a: lying(forms[0], self.a), x: lying(forms[1], self.x), ..self }
    }

    fn expected(&self) -> Array2<f64> {
        let MatvecExtents { count, rows, columns } = self.plan.extents;
        let entering = |form, of: &Array2<f64>| if form == Form::Plain { of.clone() } else { of.t().to_owned() };
        let (a, x) = (entering(self.forms[0], &self.a), entering(self.forms[1], &self.x));
        let mut y = if self.beta == 0.0 { Array2::zeros((count * rows, 1)) } else { &self.y * self.beta };
        for i in 0..count {
            let one = a.slice(s![i * rows..(i + 1) * rows, ..]).dot(&x.slice(s![i * columns..(i + 1) * columns, ..]));
            let mut part = y.slice_mut(s![i * rows..(i + 1) * rows, ..]);
            part += &(one * self.alpha);
        }
        y
    }

    fn run(&self, device: &Device, staging: Staging, control: Control<'_>) -> Result<Array2<f64>, Error> {
        let (a, x, y) =
            (MemorySource::new(self.a.view()), MemorySource::new(self.x.view()), MemorySource::new(self.y.view()));
        let mut result = Array2::from_elem(self.y.dim(), f64::NAN);
        let sink = MemorySink::new(result.view_mut());
        self.run_with(device, [&a, &x, &y], &sink, staging, control)?;
        Box::new(sink).commit()?;
        Ok(result)
    }

    /// And copies what the plan says, in the memory that it says.
    fn run_with(
        &self,
        device: &Device,
        [a, x, y]: [&dyn Source; 3],
        sink: &dyn Sink,
        staging: Staging,
        control: Control<'_>,
    ) -> Result<(), Error> {
        let [a, b] = [(a, self.forms[0]), (x, self.forms[1])].map(|(source, form)| Factor { source, form });
        let product = Product { a, b, c: Some(y), alpha: self.alpha, beta: self.beta };
        assert_eq!(product.batch(sink)?, self.plan.extents);
        let traffic = run(device, &self.plan, &product, sink, staging, control)?;
        device.assert_copied(traffic, self.plan.device_bytes());
        if self.alpha != 0.0 {
            assert_eq!(u128::from(traffic.to_gpu), self.plan.bytes_to_gpu(self.beta != 0.0));
        }
        assert_eq!(u128::from(traffic.to_host), self.plan.bytes_to_host());
        Ok(())
    }
}

/// Of one matrix and of several, in panels of some of its rows, of one matrix, and of several; those that do not divide.
const BATCHES: [([usize; 3], [usize; 3]); 9] = [
    ([1, 37, 11], [1, 37, 3]),
    ([1, 37, 11], [1, 5, 3]),
    ([1, 1, 50], [1, 1, 2]),
    ([1, 41, 1], [1, 7, 1]),
    ([7, 5, 9], [7, 5, 3]),
    ([7, 5, 9], [3, 5, 2]),
    ([7, 5, 9], [2, 5, 1]),
    ([5, 13, 7], [1, 13, 3]),
    ([5, 13, 7], [1, 4, 3]),
];

#[test]
fn d4_g2_g4_g8_every_batch_order_layout_and_factor_gives_the_products() {
    for (sizes, panels) in BATCHES {
        for forms in FORMS.into_iter().flat_map(|a| FORMS.map(|x| [a, x])) {
            for (order, factors) in ORDERS.into_iter().zip([[1.0, 0.0], [2.0, -1.0], [0.0, 3.0], [-1.0, 1.0]]) {
                let case = Case::new(sizes, panels).scaled(factors).formed(forms);
                let result = case.run(&Device::new(order), STAGING, Control::default()).unwrap();
                assert_eq!(result, case.expected(), "{sizes:?} {panels:?} {forms:?} {factors:?} {order:?}");
            }
        }
    }
}

/// Copies that are made at once, while products wait, and the other way round: nothing is overwritten that is still read.
#[test]
fn what_a_product_reads_stays_until_it_is_done() {
    for (sizes, panels) in BATCHES {
        // What is added waits for results that went back, and so for products.
        for (queue, beta) in [Queue::In, Queue::Compute, Queue::Out].into_iter().flat_map(|it| [(it, 0.0), (it, -1.0)])
        {
            let case = Case::new(sizes, panels).scaled([2.0, beta]);
            let result = case.run(&Device::new(Order::Ahead(queue)), STAGING, Control::default()).unwrap();
            assert_eq!(result, case.expected(), "{sizes:?} {panels:?} {queue:?}");
        }
    }
}

#[test]
fn g2_nothing_gives_nothing_or_what_is_added() {
    for sizes in [[1, 0, 4], [1, 5, 0], [3, 0, 4]] {
        let case = Case::new(sizes, [1, sizes[1], 3]).scaled([1.0, 2.0]);
        let result = case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap();
        assert_eq!(result, case.expected(), "{sizes:?}");
    }
}

#[test]
fn g4_what_is_not_added_is_not_read_and_special_numbers_go_through() {
    for (sizes, panels) in [([1, 9, 11], [1, 4, 3]), ([3, 3, 11], [2, 3, 3])] {
        let mut case = Case::new(sizes, panels);
        case.y.fill(f64::NAN);
        assert_eq!(case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap(), case.expected());
        case.a[[2, 3]] = 0.0;
        case.x[[3, 0]] = f64::INFINITY;
        let result = case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap();
        assert!(result[[2, 0]].is_nan() && !result[[1, 0]].is_finite());
    }
}

#[test]
fn m1_any_staging_gives_the_same() {
    let case = Case::new([5, 13, 7], [2, 13, 3]).scaled([1.0, 1.0]);
    for (slots, slots_back, elements) in [(1, 1, 1), (1, 1, 1000), (2, 3, 17), (5, 1, 100)] {
        let staging = Staging { slots, slots_back, elements, threads: 1, ..STAGING };
        let result = case.run(&Device::new(Order::Random(7)), staging, Control::default()).unwrap();
        assert_eq!(result, case.expected(), "{staging:?}");
    }
}

/// The test of the tests: a device that heeds no marks gives something else.
#[test]
fn marks_are_needed() {
    for (sizes, panels) in [([1, 37, 11], [1, 5, 2]), ([7, 5, 9], [2, 5, 2]), ([5, 13, 7], [1, 4, 2])] {
        let mut wrong = 0;
        for order in ORDERS {
            let case = Case::new(sizes, panels).scaled([1.0, 1.0]);
            let mut device = Device::new(order);
            device.heeds_marks = false;
            wrong += usize::from(case.run(&device, STAGING, Control::default()).unwrap() != case.expected());
        }
        assert!(wrong >= 3, "{wrong} of 4");
    }
}

#[test]
fn b7_a_failure_anywhere_ends_it_with_its_error_and_no_result() {
    let case = Case::new([5, 13, 7], [2, 13, 3]).scaled([1.0, 1.0]);
    for (side, left) in [(0, 0), (0, 5), (1, 0), (1, 2), (2, 0), (2, 2), (3, 0), (3, 2)] {
        let of = |own, view| Failing::to_read(if own == side { left } else { usize::MAX }, MemorySource::new(view));
        let (a, x, y) = (of(0, case.a.view()), of(1, case.x.view()), of(2, case.y.view()));
        let mut result = Array2::from_elem(case.y.dim(), f64::NAN);
        let sink = Failing::to_write(if side == 3 { left } else { usize::MAX }, MemorySink::new(result.view_mut()));
        let device = Device::new(Order::Random(left as u64));
        let error = case.run_with(&device, [&a, &x, &y], &sink, STAGING, Control::default()).unwrap_err();
        assert_eq!(error.class(), Class::Io, "{side} {left}: {error}");
        assert!(Box::new(sink).commit().is_err(), "what is not whole is no result");
    }
}

#[test]
fn m9_m15_it_ends_within_a_panel_of_being_cancelled_and_tells_each() {
    let case = Case::new([5, 13, 7], [1, 4, 3]);
    for at in [0, 1, 5, 17, 19] {
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
        let error = case.run(&Device::new(Order::Late), STAGING, control).unwrap_err();
        assert!(matches!(error, Error::Cancelled { done, steps: 20 } if done == at), "{error}");
        assert_eq!(seen.into_inner().unwrap(), (1..=at).map(|done| (done, 20)).collect::<Vec<_>>());
    }
}

/// Every part is read once: each is fetched ahead, and released.
#[test]
fn stores_hear_what_is_read_next_and_what_is_done_with() {
    let case = Case::new([5, 13, 7], [2, 13, 3]).scaled([1.0, 1.0]);
    let log = Log::default();
    let heard = |number, of| Heard { inner: MemorySource::new(of), number, log: &log, fails: None };
    let (a, x, y) = (heard(0, case.a.view()), heard(1, case.x.view()), heard(2, case.y.view()));
    let mut result = Array2::from_elem(case.y.dim(), f64::NAN);
    let sink = MemorySink::new(result.view_mut());
    let staging = Staging { threads: 1, ..STAGING };
    case.run_with(&Device::new(Order::Late), [&a, &x, &y], &sink, staging, Control::default()).unwrap();
    log.check(3, true);
    assert!(log.count(Said::Release) > 0);
}

#[test]
fn one_product_is_verified_and_a_spoiled_element_noticed() {
    let case = Case::new([1, 37, 11], [1, 5, 3]).scaled([1.0, 1.0]);
    let control = Control { verify: Some(Verify::default()), ..Control::default() };
    assert_eq!(case.run(&Device::new(Order::Late), STAGING, control).unwrap(), case.expected());
    let mut device = Device::new(Order::Late);
    device.spoils = Some((3, 2));
    let error = case.run(&device, STAGING, control).unwrap_err();
    assert!(matches!(error, Error::WrongProduct { product: None, row: 17, wrong: 1, rows: 37, .. }), "{error}");
}

#[test]
fn products_of_a_batch_are_verified_and_a_spoiled_one_is_named() {
    let control = || Control { verify: Some(Verify::default()), ..Control::default() };
    for (sizes, panels) in BATCHES.into_iter().filter(|([count, ..], _)| *count > 1) {
        for (forms, factors) in FORMS.map(|a| [a, Form::Plain]).into_iter().zip([[1.0, 0.0], [2.0, -1.0], [0.0, 3.0]]) {
            let case = Case::new(sizes, panels).scaled(factors).formed(forms);
            assert_eq!(case.run(&Device::new(Order::Late), STAGING, control()).unwrap(), case.expected());
        }
        let case = Case::new(sizes, panels).scaled([1.0, 1.0]);
        for (number, panel) in case.plan.each().enumerate() {
            let mut device = Device::new(Order::Late);
            let element = panel.below.len() / 2;
            device.spoils = Some((number, element));
            let (of, at) = (element / panel.rows.len(), element % panel.rows.len());
            let expected = (Some(panel.matrices.start + of), panel.rows.start + at);
            let error = case.run(&device, STAGING, control()).unwrap_err();
            let Error::WrongProduct { product, row, wrong: 1, .. } = error else { panic!("{error}") };
            assert_eq!((product, row), expected, "{sizes:?} {panels:?}");
        }
    }
}
