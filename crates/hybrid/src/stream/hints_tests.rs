//! What products tell the stores that they read.

use super::control::Control;
use super::engine::Form;
use super::heard::{Heard, Log, Said};
use super::late::{Device, Order};
use super::matmul::{Factor, Product, run};
use super::matmul_plan::MatmulPlan;
use super::staging::Staging;
use crate::dispatch::ProductExtents;
use crate::store::{MemorySink, MemorySource, Sink, Source};
use crate::{Class, Error};
use ndarray::Array2;

const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 20, threads: 1, is_locked: true, releases: true };

fn plan(size: usize) -> MatmulPlan {
    let extents = ProductExtents { rows: size, columns: size, depth: size };
    MatmulPlan { extents, element_bytes: 8, tile: [8, 7], panel: 5, stages: 2 }
}

fn product(staging: Staging, [a, b, c]: [&dyn Source; 3], form: Form) -> Result<Array2<f64>, Error> {
    let size = a.extents().rows;
    let product = Product { a: Factor { source: a, form }, b: Factor::plain(b), c: Some(c), alpha: 1.0, beta: 1.0 };
    let mut result = Array2::from_elem((size, size), f64::NAN);
    let sink = MemorySink::new(result.view_mut());
    run(&Device::new(Order::Late), &plan(size), &product, &sink, staging, Control::default())?;
    Box::new(sink).commit()?;
    Ok(result)
}

fn numbers(size: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((size, size), |(i, j)| ((i * 5 + j * 3 + seed) % 7) as f64 - 3.0)
}

#[test]
fn parts_are_fetched_before_they_are_read_and_released_behind_the_last_time() {
    let [a, b, c] = [1, 2, 3].map(|seed| numbers(20, seed));
    for (form, releases) in [(Form::Plain, true), (Form::Transposed, true), (Form::Plain, false)] {
        let log = Log::default();
        let heard = |number, of| Heard { inner: MemorySource::new(of), number, log: &log, fails: None };
        let (sa, sb, sc) = (heard(0, a.view()), heard(1, b.view()), heard(2, c.view()));
        let result = product(Staging { releases, ..STAGING }, [&sa, &sb, &sc], form).unwrap();
        let left = if form == Form::Plain { a.clone() } else { a.t().to_owned() };
        assert_eq!(result, left.dot(&b) + &c);
        log.check(3, releases);
        assert_eq!(log.count(Said::Release) > 0, releases);
    }
}

#[test]
fn several_readers_release_nothing_that_is_still_read() {
    let [a, b, c] = [1, 2, 3].map(|seed| numbers(20, seed));
    for _ in 0..20 {
        let log = Log::default();
        let heard = |number, of| Heard { inner: MemorySource::new(of), number, log: &log, fails: None };
        let (sa, sb, sc) = (heard(0, a.view()), heard(1, b.view()), heard(2, c.view()));
        product(Staging { threads: 3, ..STAGING }, [&sa, &sb, &sc], Form::Plain).unwrap();
        log.check_loosely();
    }
}

/// What is both factors is needed by one when the other one has done with it.
#[test]
fn what_enters_twice_is_not_released() {
    let (a, c, log) = (numbers(20, 1), numbers(20, 2), Log::default());
    let heard = |number, of| Heard { inner: MemorySource::new(of), number, log: &log, fails: None };
    let (sa, sc) = (heard(0, a.view()), heard(1, c.view()));
    assert_eq!(product(STAGING, [&sa, &sa, &sc], Form::Plain).unwrap(), a.dot(&a) + &c);
    let of_c = c.len().div_ceil(20);
    assert!((of_c..2 * c.len()).contains(&log.count(Said::Release)), "what is added alone");
    assert!(log.count(Said::Prefetch) > 0);
}

#[test]
fn a_hint_that_fails_is_an_error() {
    let [a, b, c] = [1, 2, 3].map(|seed| numbers(20, seed));
    for fails in [Said::Prefetch, Said::Release] {
        let log = Log::default();
        let heard = |number, of, fails| Heard { inner: MemorySource::new(of), number, log: &log, fails };
        let (sa, sb, sc) = (heard(0, a.view(), None), heard(1, b.view(), Some(fails)), heard(2, c.view(), None));
        let error = product(STAGING, [&sa, &sb, &sc], Form::Plain).unwrap_err();
        assert_eq!(error.class(), Class::Io, "{error}");
    }
}
