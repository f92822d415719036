//! The pipeline on a device that does everything as late as it may.

use super::control::{Cancel, Control};
use super::engine::Form;
use super::failing::Failing;
use super::late::{Device, Order};
use super::matmul::{Factor, Product, run};
use super::matmul_plan::MatmulPlan;
use super::staging::Staging;
use crate::dispatch::ProductExtents;
use crate::store::{MemorySink, MemorySource, Sink, Source};
use crate::{Class, Error};
use ndarray::Array2;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

const ORDERS: [Order; 4] = [Order::Late, Order::Random(1), Order::Random(2), Order::Random(3)];
const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 60, threads: 2, is_locked: true, releases: true };

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Small whole numbers: sums are exact in any order.
        ((self.0 >> 40) % 17) as f64 - 8.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.next())
    }
}

fn formed(form: Form, stored: &Array2<f64>) -> Array2<f64> {
    if form == Form::Plain { stored.clone() } else { stored.t().to_owned() }
}

fn plan([rows, columns, depth]: [usize; 3], tile: [usize; 2], panel: usize, stages: usize) -> MatmulPlan {
    let extents = ProductExtents { rows, columns, depth };
    MatmulPlan {
        extents,
        element_bytes: 8,
        tile: [tile[0].min(rows.max(1)), tile[1].min(columns.max(1))],
        panel: panel.min(depth.max(1)),
        stages,
    }
}

/// Operands of a product, and where it goes.
struct Case {
    plan: MatmulPlan,
    forms: [Form; 2],
    alpha: f64,
    beta: f64,
    a: Array2<f64>,
    b: Array2<f64>,
    c: Array2<f64>,
}

impl Case {
    fn new(plan: MatmulPlan, forms: [Form; 2], [alpha, beta]: [f64; 2], seed: u64) -> Case {
        let (ProductExtents { rows, columns, depth }, mut random) = (plan.extents, Random(seed));
        let mut of = |form, rows, columns| match form {
            Form::Plain => random.matrix(rows, columns),
            _ => random.matrix(columns, rows),
        };
        let (a, b) = (of(forms[0], rows, depth), of(forms[1], depth, columns));
        let c = random.matrix(rows, columns);
        Case { plan, forms, alpha, beta, a, b, c }
    }

    fn expected(&self) -> Array2<f64> {
        let product = formed(self.forms[0], &self.a).dot(&formed(self.forms[1], &self.b)) * self.alpha;
        if self.beta == 0.0 { product } else { product + &self.c * self.beta }
    }

    fn run(&self, device: &Device, staging: Staging, control: Control<'_>) -> Result<Array2<f64>, Error> {
        let mut result = Array2::from_elem(self.c.dim(), f64::NAN);
        let (a, b, c) =
            (MemorySource::new(self.a.view()), MemorySource::new(self.b.view()), MemorySource::new(self.c.view()));
        let sink = MemorySink::new(result.view_mut());
        self.run_with(device, [&a, &b, &c], &sink, staging, control)?;
        Box::new(sink).commit()?;
        Ok(result)
    }

    fn run_with(
        &self,
        device: &Device,
        [a, b, c]: [&dyn Source; 3],
        sink: &dyn Sink,
        staging: Staging,
        control: Control<'_>,
    ) -> Result<(), Error> {
        let [form_a, form_b] = self.forms;
        let (a, b) = (Factor { source: a, form: form_a }, Factor { source: b, form: form_b });
        let product = Product { a, b, c: Some(c), alpha: self.alpha, beta: self.beta };
        let traffic = run(device, &self.plan, &product, sink, staging, control)?;
        device.assert_copied(traffic, self.plan.device_bytes());
        if self.alpha != 0.0 {
            assert_eq!(u128::from(traffic.to_gpu), self.plan.bytes_to_gpu(self.beta != 0.0));
        }
        assert_eq!(u128::from(traffic.to_host), self.plan.bytes_to_host());
        Ok(())
    }
}

const FORMS: [Form; 3] = [Form::Plain, Form::Transposed, Form::Adjoint];

/// And copies what its plan says, by the device's own count.
#[test]
fn g2_g3_g4_g8_every_order_layout_and_factor_gives_the_product() {
    let shapes = [[30, 20, 25], [7, 41, 3], [1, 1, 50], [16, 16, 16], [33, 1, 9], [5, 64, 1]];
    let mut seed = 0;
    for (sizes, stages) in shapes.into_iter().zip([3, 2, 1, 3, 2, 3]) {
        for forms in FORMS.into_iter().flat_map(|a| FORMS.map(|b| [a, b])) {
            for (order, factors) in ORDERS.into_iter().zip([[1.0, 0.0], [2.0, -1.0], [0.0, 3.0], [-1.0, 1.0]]) {
                seed += 1;
                let case = Case::new(plan(sizes, [12, 9], 7, stages), forms, factors, seed);
                let result = case.run(&Device::new(order), STAGING, Control::default()).unwrap();
                assert_eq!(result, case.expected(), "{sizes:?} {forms:?} {factors:?} {order:?}");
            }
        }
    }
}

/// Of panels that are deep pieces come, in the memory of the panels; a product begins behind the first of them.
#[test]
fn g9_deep_panels_come_in_pieces() {
    let whole = plan([9, 7, 4100], [5, 4], 2048, 2);
    let pieces = whole.in_pieces();
    assert_eq!((pieces.panel, pieces.stages, pieces.device_bytes()), (1024, 4, whole.device_bytes()));
    for (panel, stages, expected) in
        [(1024, 3, (1024, 3)), (2500, 3, (1024, 7)), (1025, 3, (1024, 3)), (8192, 3, (1024, 24)), (5000, 1, (5000, 1))]
    {
        let pieces = plan([9, 7, 9000], [5, 4], panel, stages).in_pieces();
        assert_eq!((pieces.panel, pieces.stages), expected);
    }
    for (order, forms) in ORDERS.into_iter().zip([[0, 1], [1, 0], [0, 0], [1, 1]]) {
        let case = Case::new(whole, forms.map(|form| FORMS[form]), [2.0, -1.0], 3);
        let staging = Staging { elements: 3000, ..STAGING };
        let steps = Mutex::new(0);
        let progress = |_: u64, all: u64| *steps.lock().unwrap() = all;
        let control = Control { progress: Some(&progress), ..Control::default() };
        assert_eq!(case.run(&Device::new(order), staging, control).unwrap(), case.expected(), "{forms:?} {order:?}");
        assert_eq!(*steps.lock().unwrap(), 4 * 5, "tiles, and pieces of each");
    }
}

#[test]
fn g2_nothing_gives_nothing_or_what_is_added() {
    for (sizes, factors) in
        [([0, 5, 4], [1.0, 0.0]), ([5, 0, 4], [1.0, 1.0]), ([5, 6, 0], [1.0, 0.0]), ([5, 6, 0], [1.0, 2.0])]
    {
        let case = Case::new(plan(sizes, [3, 4], 2, 3), [Form::Plain; 2], factors, 9);
        let result = case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap();
        assert_eq!(result, case.expected(), "{sizes:?}");
    }
}

#[test]
fn g4_what_is_not_added_is_not_read_and_special_numbers_go_through() {
    let mut case = Case::new(plan([9, 10, 11], [4, 4], 3, 3), [Form::Plain; 2], [1.0, 0.0], 5);
    case.c.fill(f64::NAN);
    assert_eq!(case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap(), case.expected());
    case.a[[2, 3]] = 0.0;
    case.b[[3, 4]] = f64::INFINITY;
    let result = case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap();
    assert!(result[[2, 4]].is_nan() && !result[[1, 4]].is_finite());
}

#[test]
fn m1_any_staging_gives_the_same() {
    let case = Case::new(plan([40, 30, 20], [16, 11], 6, 3), [Form::Plain, Form::Transposed], [1.0, 1.0], 3);
    for (slots, slots_back, elements) in [(1, 1, 1), (1, 1, 1000), (2, 3, 17), (5, 1, 100)] {
        let staging = Staging { slots, slots_back, elements, threads: 1, ..STAGING };
        let result = case.run(&Device::new(Order::Random(7)), staging, Control::default()).unwrap();
        assert_eq!(result, case.expected(), "{staging:?}");
    }
}

/// The test of the tests: a device that heeds no marks gives something else.
#[test]
fn marks_are_needed() {
    let mut wrong = 0;
    for order in ORDERS {
        let case = Case::new(plan([30, 20, 25], [12, 9], 7, 2), [Form::Plain; 2], [1.0, 1.0], 1);
        let mut device = Device::new(order);
        device.heeds_marks = false;
        wrong += usize::from(case.run(&device, STAGING, Control::default()).unwrap() != case.expected());
    }
    assert!(wrong >= 3, "{wrong} of 4");
}

#[test]
fn b7_m11_a_failure_anywhere_ends_it_with_its_error_and_no_result() {
    let case = Case::new(plan([40, 30, 20], [16, 11], 6, 3), [Form::Plain; 2], [1.0, 0.0], 3);
    for left in [0, 1, 5, 20] {
        for side in 0..3 {
            let mut result = Array2::from_elem(case.c.dim(), f64::NAN);
            let never = usize::MAX;
            let of = |own, view| Failing::to_read(if own == side { left } else { never }, MemorySource::new(view));
            let (a, b, c) = (of(0, case.a.view()), of(1, case.b.view()), of(9, case.c.view()));
            let sink =
                Failing::to_write(if side == 2 { left.min(3) } else { never }, MemorySink::new(result.view_mut()));
            let device = Device::new(Order::Random(left as u64));
            let error = case.run_with(&device, [&a, &b, &c], &sink, STAGING, Control::default()).unwrap_err();
            assert_eq!(error.class(), Class::Io, "{error}");
            assert!(Box::new(sink).commit().is_err(), "what is not whole is no result");
        }
    }
}

/// In parallel work as well; and nobody waits for what will not come.
#[test]
fn m10_a_panic_of_whoever_watches_goes_through() {
    (0..8u64).into_par_iter().for_each(|at| {
        let case = Case::new(plan([40, 30, 20], [16, 11], 6, 3), [Form::Plain; 2], [1.0, 0.0], 3);
        let progress = |done: u64, _: u64| assert_ne!(done, 1 + 5 * at, "on purpose");
        let control = Control { progress: Some(&progress), ..Control::default() };
        let runs = || case.run(&Device::new(Order::Random(at)), STAGING, control);
        assert!(catch_unwind(AssertUnwindSafe(runs)).is_err(), "{at}");
        assert_eq!(case.run(&Device::new(Order::Late), STAGING, Control::default()).unwrap(), case.expected());
    });
}

#[test]
fn m9_it_ends_within_a_step_of_being_cancelled() {
    let case = Case::new(plan([40, 30, 20], [16, 11], 6, 3), [Form::Plain; 2], [1.0, 0.0], 3);
    for at in [0, 1, 5, 17, 35] {
        let (cancel, last) = (Cancel::new(), Mutex::new(0));
        let progress = |done: u64, steps: u64| {
            *last.lock().unwrap() = done;
            assert_eq!(steps, 36);
            if done >= at {
                cancel.cancel();
            }
        };
        if at == 0 {
            cancel.cancel();
        }
        let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
        let error = case.run(&Device::new(Order::Late), STAGING, control).unwrap_err();
        assert!(matches!(error, Error::Cancelled { done, steps: 36 } if done == at), "{error}");
        assert_eq!(*last.lock().unwrap(), at);
    }
}

#[test]
fn m15_progress_grows_to_the_end() {
    let case = Case::new(plan([40, 30, 20], [16, 11], 6, 3), [Form::Plain; 2], [1.0, 0.0], 3);
    let seen = Mutex::new(Vec::new());
    let progress = |done: u64, steps: u64| seen.lock().unwrap().push((done, steps));
    case.run(&Device::new(Order::Late), STAGING, Control { progress: Some(&progress), ..Control::default() }).unwrap();
    assert_eq!(seen.into_inner().unwrap(), (1..=36).map(|done| (done, 36)).collect::<Vec<_>>());
}
