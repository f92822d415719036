//! Marks, failures, cancellation, progress.

use super::*;
use crate::store::ReadTyped;
use crate::stream::control::Cancel;
use crate::stream::failing::Failing;
use crate::stream::heard::{Heard, Log, Said};
use tilewright_expr::{Border, In, Out};
use tilewright_ops::{Fused, Tensor, fuse};

const SHAPE: [usize; 2] = [40, 12];
const BAND: usize = 4;

type Plain = Fused<(In<f32, (Y, X)>, In<f32, (X,)>), Out<f32, (Y, X)>>;

/// An expression of a matrix and a row.
struct Case {
    expression: Plain,
    values: Vec<f32>,
    row: Vec<f32>,
}

impl Case {
    fn new() -> Case {
        let mut random = Random(9);
        let expression = fuse(|x: In<f32, (Y, X)>, row: In<f32, (X,)>| (x * row).exp().store::<(Y, X)>());
        Case { expression, values: random.of(480, Random::unit), row: random.of(12, Random::unit) }
    }

    fn expected(&self) -> Vec<f32> {
        let x = Tensor::<f32, (Y, X)>::from_vec(SHAPE, self.values.clone()).unwrap();
        let row = Tensor::<f32, (X,)>::from_vec([12], self.row.clone()).unwrap();
        self.expression.call(&x, &row).unwrap().to_vec().unwrap()
    }

    /// Runs it, on a device or on the CPU, with sources and a sink.
    fn run(
        &self,
        device: Option<&Device>,
        [x, row]: [&dyn Source; 2],
        sink: &dyn Sink,
        staging: Staging,
        control: Control<'_>,
    ) -> Result<(), Error> {
        let (x, row) = (Array::<f32, (Y, X)>::new(x, SHAPE)?, Array::<f32, (X,)>::new(row, [12])?);
        let evaluation = Evaluation::new(&self.expression, (&x, &row), &[sink])?;
        let plan = in_bands(evaluation.plan(u64::MAX)?, BAND);
        match device {
            Some(device) => on_late(device, &evaluation, &plan, staging, control),
            None => run_on_host(&evaluation, &plan, (2, true), control).map(drop),
        }
    }

    fn run_plainly(
        &self,
        device: Option<&Device>,
        staging: Staging,
        control: Control<'_>,
    ) -> Result<Array2<f32>, Error> {
        let mut result = Array2::from_elem(SHAPE, f32::NAN);
        let (x, row) = (MemorySource::new(matrix(&self.values, SHAPE)), MemorySource::new(matrix(&self.row, [1, 12])));
        let sink = MemorySink::new(result.view_mut());
        self.run(device, [&x, &row], &sink, staging, control)?;
        Box::new(sink).commit()?;
        Ok(result)
    }
}

#[test]
fn m1_any_staging_gives_the_same() {
    let case = Case::new();
    for (slots, slots_back, elements, threads) in
        [(1, 1, 4, 1), (1, 1, 4, 3), (1, 2, 1000, 2), (4, 3, 28, 5), (8, 8, 200, 3)]
    {
        for order in ORDERS {
            let staging = Staging { slots, slots_back, elements, threads, ..STAGING };
            let result = case.run_plainly(Some(&Device::new(order)), staging, Control::default()).unwrap();
            Bits::assert_same(result.as_slice().unwrap(), &case.expected(), &format!("{staging:?}"));
        }
    }
}

/// The test of the tests: a device that heeds no marks gives something else.
#[test]
fn marks_are_needed() {
    let case = Case::new();
    let mut wrong = 0;
    for order in ORDERS {
        let mut device = Device::new(order);
        device.heeds_marks = false;
        let result = case.run_plainly(Some(&device), STAGING, Control::default()).unwrap();
        wrong += usize::from(result.as_slice().unwrap() != case.expected());
    }
    assert!(wrong >= 2, "{wrong} of 3");
}

#[test]
fn b7_a_failure_anywhere_ends_it_with_its_error_and_no_result() {
    let case = Case::new();
    for left in [0, 1, 5, 9] {
        for side in 0..3 {
            for device in [None, Some(Device::new(Order::Random(left as u64)))] {
                let mut result = Array2::from_elem(SHAPE, f32::NAN);
                // The row is read once.
                let limit = |own, left| if own == side { left } else { usize::MAX };
                let x = Failing::to_read(limit(0, left), MemorySource::new(matrix(&case.values, SHAPE)));
                let row = Failing::to_read(limit(1, 0), MemorySource::new(matrix(&case.row, [1, 12])));
                let sink = Failing::to_write(limit(2, left), MemorySink::new(result.view_mut()));
                let error = case.run(device.as_ref(), [&x, &row], &sink, STAGING, Control::default()).unwrap_err();
                assert_eq!(error.class(), Class::Io, "{error}");
                assert!(Box::new(sink).commit().is_err(), "what is not whole is no result");
            }
        }
    }
}

#[test]
fn m9_it_ends_within_a_band_of_being_cancelled() {
    let case = Case::new();
    for at in [0, 1, 3, 9] {
        for device in [None, Some(Device::new(Order::Late))] {
            let (cancel, last) = (Cancel::new(), Mutex::new(0));
            let progress = |done: u64, steps: u64| {
                *last.lock().unwrap() = done;
                assert_eq!(steps, 10);
                if done >= at {
                    cancel.cancel();
                }
            };
            if at == 0 {
                cancel.cancel();
            }
            let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
            let error = case.run_plainly(device.as_ref(), STAGING, control).unwrap_err();
            assert!(matches!(error, Error::Cancelled { done, steps: 10 } if done == at), "{error}");
            assert_eq!(*last.lock().unwrap(), at);
        }
    }
}

#[test]
fn m15_progress_grows_to_the_end() {
    let case = Case::new();
    for device in [None, Some(Device::new(Order::Late))] {
        let seen = Mutex::new(Vec::new());
        let progress = |done: u64, steps: u64| seen.lock().unwrap().push((done, steps));
        case.run_plainly(device.as_ref(), STAGING, Control { progress: Some(&progress), ..Control::default() })
            .unwrap();
        assert_eq!(seen.into_inner().unwrap(), (1..=10).map(|done| (done, 10)).collect::<Vec<_>>());
    }
}

/// A coordinate that reaches outside is an error behind all.
#[test]
fn a_coordinate_outside_is_found() {
    let (values, which) = (vec![1.0f32; 5], vec![0i32, 4, 5, 1, 2, 3]);
    let picked = fuse(|x: In<f32, (K,)>, which: In<i32, (Y,)>| x.at::<K, _>(which).store::<(Y,)>());
    let (sx, sw) = (MemorySource::new(matrix(&values, [1, 5])), MemorySource::new(matrix(&which, [6, 1])));
    let (x, w) = (Array::<f32, (K,)>::new(&sx, [5]).unwrap(), Array::<i32, (Y,)>::new(&sw, [6]).unwrap());
    for device in [None, Some(Device::new(Order::Late))] {
        let mut result = Array2::from_elem((6, 1), f32::NAN);
        let sink = MemorySink::new(result.view_mut());
        let evaluation = Evaluation::new(&picked, (&x, &w), &[&sink]).unwrap();
        let plan = in_bands(evaluation.plan(u64::MAX).unwrap(), 2);
        let error = match &device {
            Some(device) => on_late(device, &evaluation, &plan, STAGING, Control::default()),
            None => run_on_host(&evaluation, &plan, (1, true), Control::default()).map(drop),
        };
        assert!(matches!(error, Err(Error::Expression(_))), "{error:?}");
    }
    let mut five = [0.0f32; 5];
    sx.read(&sx.extents().whole(), &mut five).unwrap();
    assert_eq!(five, [1.0; 5], "sources are as they were");
}

/// Windows that overlap, by a margin of a row each way: what the next one reads too is not released before.
#[test]
fn stores_hear_what_is_read_next_and_what_is_not_read_again() {
    let case = Case::new();
    let expression = fuse(|x: In<f32, (Y, X)>, row: In<f32, (X,)>| {
        (x.box_filter::<Y, X>(3, 3, Border::Reflect101) * row).store::<(Y, X)>()
    });
    for device in [None, Some(Device::new(Order::Late))] {
        let log = Log::default();
        let x = Heard { inner: MemorySource::new(matrix(&case.values, SHAPE)), number: 0, log: &log, fails: None };
        let row = Heard { inner: MemorySource::new(matrix(&case.row, [1, 12])), number: 1, log: &log, fails: None };
        let mut result = Array2::from_elem(SHAPE, f32::NAN);
        let sink = MemorySink::new(result.view_mut());
        let (x, row) = (Array::<f32, (Y, X)>::new(&x, SHAPE).unwrap(), Array::<f32, (X,)>::new(&row, [12]).unwrap());
        let evaluation = Evaluation::new(&expression, (&x, &row), &[&sink]).unwrap();
        let plan = in_bands(evaluation.plan(u64::MAX).unwrap(), BAND);
        assert!(plan.margin.places() > 0);
        let staging = Staging { threads: 1, ..STAGING };
        match &device {
            Some(device) => on_late(device, &evaluation, &plan, staging, Control::default()).unwrap(),
            None => run_on_host(&evaluation, &plan, (1, true), Control::default()).map(drop).unwrap(),
        }
        log.check_releases();
        let ahead = match device {
            Some(_) => log.count(Said::Read) - STAGING.slots,
            None => plan.count() - 1,
        };
        assert_eq!(log.count(Said::Prefetch), ahead, "all but what is read at once");
    }
}
