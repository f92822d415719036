//! Marks, failures, cancellation, progress.

use super::super::super::control::{Cancel, Control};
use super::super::super::engine::Form;
use super::super::super::failing::Failing;
use super::super::super::heard::{Heard, Log, Said};
use super::super::super::late::{Device, Order};
use super::super::super::matmul::Factor;
use super::super::lu::StreamedLu;
use super::super::pipeline::Watch;
use super::super::plan::PanelPlan;
use super::cases::{ORDERS, STAGING, random, watch, whole};
use super::lu::{plan, scratch};
use crate::store::{MemorySink, MemorySource, Scratch, Sink, Source};
use crate::{Class, Error};
use ndarray::Array2;
use std::sync::Mutex;

/// Factors and a solution, together.
fn solve(
    device: &Device,
    a: &dyn Source,
    scratch: &dyn Scratch,
    sink: &dyn Sink,
    control: Control<'_>,
) -> Result<(), Error> {
    let b = random(2, 30, 6);
    let b = MemorySource::new(b.view());
    let plan = plan(30, 8, 3, 2);
    let cut = PanelPlan { panel: 2, slice: 4, stages: 2, ..plan.solution(6, u64::MAX).unwrap() };
    let watch = Watch { control, before: 0, steps: plan.steps() + cut.steps() };
    let lu = StreamedLu::<f64>::factor(device, &plan, Factor::plain(a), scratch, STAGING, watch)?;
    let watch = Watch { before: plan.steps(), ..watch };
    lu.solved(device, &cut, Factor::plain(&b), sink, STAGING, watch).map(drop)
}

/// The test of the tests: a device that heeds no marks gives something else.
#[test]
fn marks_are_needed() {
    let a = random(1, 30, 30);
    let source = MemorySource::new(a.view());
    let [mut wrong_factors, mut wrong_solutions] = [0, 0];
    for order in ORDERS {
        let plan = plan(30, 8, 3, 2);
        let factors = |heeds_marks| {
            let (mut device, scratch) = (Device::new(order), scratch(30));
            device.heeds_marks = heeds_marks;
            let watched = watch(&plan, Control::default());
            let lu = StreamedLu::<f64>::factor(&device, &plan, Factor::plain(&source), &scratch, STAGING, watched);
            lu.map(|lu| (whole(&lu.l()), whole(&lu.u()))).ok()
        };
        wrong_factors += usize::from(factors(true) != factors(false));
        let solution = |heeds_marks| {
            let (scratch, b, mut x) = (scratch(30), random(2, 30, 6), Array2::from_elem((30, 6), f64::NAN));
            let watched = watch(&plan, Control::default());
            let device = Device::new(order);
            let lu = StreamedLu::<f64>::factor(&device, &plan, Factor::plain(&source), &scratch, STAGING, watched);
            let cut = PanelPlan { panel: 2, slice: 4, stages: 2, ..plan.solution(6, u64::MAX).unwrap() };
            let (mut device, b) = (Device::new(order), MemorySource::new(b.view()));
            device.heeds_marks = heeds_marks;
            let (sink, watched) = (MemorySink::new(x.view_mut()), watch(&cut, Control::default()));
            lu.unwrap().solved(&device, &cut, Factor::plain(&b), &sink, STAGING, watched).unwrap();
            drop(sink);
            x
        };
        wrong_solutions += usize::from(solution(true) != solution(false));
    }
    assert!(wrong_factors >= 3 && wrong_solutions >= 3, "{wrong_factors} and {wrong_solutions} of 4");
}

#[test]
fn b7_m11_a_failure_anywhere_ends_it_with_its_error_and_no_result() {
    const NEVER: usize = usize::MAX;
    let a = random(1, 30, 30);
    for left in [0, 1, 5, 13] {
        for side in 0..4 {
            let of = |own: usize| if own == side { left } else { NEVER };
            let mut x = Array2::from_elem((30, 6), f64::NAN);
            let source = Failing::after(of(0), NEVER, MemorySource::new(a.view()));
            let scratch = Failing::after(of(1), of(2), scratch(30));
            let sink =
                Failing::after(NEVER, of(3).min(if side == 3 { 2 } else { NEVER }), MemorySink::new(x.view_mut()));
            let device = Device::new(Order::Random(left as u64));
            let error = solve(&device, &source, &scratch, &sink, Control::default()).unwrap_err();
            assert_eq!(error.class(), Class::Io, "{side} {left}: {error}");
            assert!(Box::new(sink).commit().is_err(), "what is not whole is no result");
        }
    }
}

/// Nobody waits for what a thread that is gone would have written.
#[test]
fn m10_a_panic_anywhere_goes_through() {
    const NEVER: usize = usize::MAX;
    let a = random(1, 30, 30);
    for left in [0, 1, 7] {
        for side in 0..3 {
            let of = |own: usize| if own == side { left } else { NEVER };
            let mut x = Array2::from_elem((30, 6), f64::NAN);
            let source = Failing::to_read(of(0), MemorySource::new(a.view())).that_panics();
            let scratch = Failing::after(of(1), of(2), scratch(30)).that_panics();
            let sink = MemorySink::new(x.view_mut());
            let device = Device::new(Order::Random(left as u64));
            let solves = || solve(&device, &source, &scratch, &sink, Control::default());
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(solves)).is_err(), "{side} {left}");
        }
    }
}

#[test]
fn what_is_not_finite_is_refused_with_its_place() {
    for (form, value) in [(Form::Plain, f64::NAN), (Form::Transposed, f64::INFINITY), (Form::Adjoint, f64::NAN)] {
        let mut a = random(1, 30, 30);
        a[[17, 22]] = value;
        let (source, scratch) = (MemorySource::new(a.view()), scratch(30));
        let (plan, device) = (plan(30, 8, 3, 2), Device::new(Order::Random(3)));
        let a = Factor { source: &source, form };
        let watched = watch(&plan, Control::default());
        let error = StreamedLu::<f64>::factor(&device, &plan, a, &scratch, STAGING, watched).unwrap_err();
        let place = if form == Form::Plain { (17, 22) } else { (22, 17) };
        assert!(matches!(error, Error::NotFinite { row, column, .. } if (row, column) == place), "{error}");
    }
}

#[test]
fn m9_it_ends_within_a_step_of_being_cancelled() {
    let a = random(1, 30, 30);
    let source = MemorySource::new(a.view());
    for at in [0, 1, 17, 60, 90] {
        let (cancel, last) = (Cancel::new(), Mutex::new(0));
        let progress = |done: u64, _: u64| {
            *last.lock().unwrap() = done;
            if done >= at {
                cancel.cancel();
            }
        };
        if at == 0 {
            cancel.cancel();
        }
        let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
        let (scratch, mut x) = (scratch(30), Array2::<f64>::zeros((30, 6)));
        let sink = MemorySink::new(x.view_mut());
        let error = solve(&Device::new(Order::Late), &source, &scratch, &sink, control).unwrap_err();
        assert!(matches!(error, Error::Cancelled { done, steps } if done == at && steps > at), "{error}");
        assert_eq!(*last.lock().unwrap(), at);
    }
}

#[test]
fn m15_progress_grows_to_the_end() {
    let a = random(1, 30, 30);
    let (source, scratch, mut x) = (MemorySource::new(a.view()), scratch(30), Array2::<f64>::zeros((30, 6)));
    let seen = Mutex::new(Vec::new());
    let progress = |done: u64, steps: u64| seen.lock().unwrap().push((done, steps));
    let control = Control { progress: Some(&progress), ..Control::default() };
    let sink = MemorySink::new(x.view_mut());
    solve(&Device::new(Order::Late), &source, &scratch, &sink, control).unwrap();
    let seen = seen.into_inner().unwrap();
    let steps = seen[0].1;
    assert_eq!(seen, (1..=steps).map(|done| (done, steps)).collect::<Vec<_>>());
}

/// A matrix is read once: each part is released behind that, and all but those that had a slot at once are fetched before.
#[test]
fn stores_hear_what_is_read_next_and_what_is_not_read_again() {
    let (a, log) = (random(1, 30, 30), Log::default());
    let source = Heard { inner: MemorySource::new(a.view()), number: 0, log: &log, fails: None };
    let (plan, scratch, device) = (plan(30, 8, 3, 2), scratch(30), Device::new(Order::Random(3)));
    let watched = watch(&plan, Control::default());
    StreamedLu::<f64>::factor(&device, &plan, Factor::plain(&source), &scratch, STAGING, watched).unwrap();
    log.check_loosely();
    assert!(log.count(Said::Prefetch) >= log.count(Said::Read) - STAGING.slots);
}
