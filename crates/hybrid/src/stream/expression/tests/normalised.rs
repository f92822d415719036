//! What is made the same for all of a large operand: it is read once for each reduction that needs another one, and once more.

use super::folded::in_bands_of;
use super::*;
use crate::budget::{Budget, Memory};
use crate::dispatch::Rates;
use crate::stream::control::Cancel;
use crate::stream::expression::evaluate_on_host;
use std::sync::atomic::{AtomicU64, Ordering};
use tilewright_expr::In;
use tilewright_ops::{Tensor, fuse};

const LENGTH: usize = 1511;

fn numbers() -> Vec<f32> {
    Random(41).of(LENGTH, Random::unit)
}

fn near(expected: Vec<f64>, error: f64) -> impl Fn(&[f32], &str) {
    move |got, what| {
        for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!((f64::from(*got) - expected).abs() <= error, "{what}: {i}: {got} {expected}");
        }
    }
}

/// A mean, then the variance around it, then the values: three passes.
#[test]
fn values_around_their_mean() {
    let values = numbers();
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let mean = wide.iter().sum::<f64>() / LENGTH as f64;
    let deviation = (wide.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / LENGTH as f64).sqrt();
    let expected: Vec<f64> = wide.iter().map(|x| (x - mean) / deviation).collect();
    let line = MemorySource::new(matrix(&values, [LENGTH, 1]));
    let x = Array::<f32, (Y,)>::new(&line, [LENGTH]).unwrap();
    let standard = fuse(|x: In<f32, (Y,)>| {
        let off = x - x.mean::<Y>();
        (off / (off * off).mean::<Y>().sqrt()).store::<(Y,)>()
    });
    for budget in [2 << 10, 3 << 10] {
        in_bands_of(budget, [LENGTH, 1], f32::NAN, near(expected.clone(), 2e-6), |sink, run| {
            let of = Evaluation::new(&standard, (&x,), &[sink]).unwrap();
            assert_eq!(of.dimension(), Some("Y"));
            run(&of);
        });
    }
    // All of several dimensions.
    let shape = [LENGTH / 13, 13];
    let count = shape[0] * shape[1];
    let picture = MemorySource::new(matrix(&values[..count], shape));
    let x = Array::<f32, (Y, X)>::new(&picture, shape).unwrap();
    let soft = fuse(|x: In<f32, (Y, X)>| {
        let e = (x - x.maximum::<(Y, X)>()).exp();
        (e / e.sum::<(Y, X)>()).store::<(Y, X)>()
    });
    let highest = wide[..count].iter().copied().fold(f64::MIN, f64::max);
    let exponentials: Vec<f64> = wide[..count].iter().map(|x| (x - highest).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    let expected = exponentials.iter().map(|e| e / sum).collect();
    in_bands_of(4 << 10, shape, f32::NAN, near(expected, 1e-6 / sum), |sink, run| {
        run(&Evaluation::new(&soft, (&x,), &[sink]).unwrap());
    });
}

/// What is no number in one band is none in any.
#[test]
fn infinities_and_what_is_no_number() {
    for value in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        let mut values = numbers();
        values[901] = value;
        let line = MemorySource::new(matrix(&values, [LENGTH, 1]));
        let x = Array::<f32, (Y,)>::new(&line, [LENGTH]).unwrap();
        let soft = fuse(|x: In<f32, (Y,)>| {
            let e = (x - x.maximum::<Y>()).exp();
            (e / e.sum::<Y>()).store::<(Y,)>()
        });
        let tensor = Tensor::<f32, (Y,)>::from_vec([LENGTH], values.clone()).unwrap();
        let whole = soft.call(&tensor).unwrap().to_vec().unwrap();
        let check = |got: &[f32], what: &str| {
            for (i, (got, expected)) in got.iter().zip(&whole).enumerate() {
                let same = got.is_nan() && expected.is_nan() || (got - expected).abs() < 1e-8;
                assert!(same, "{value} {what}: {i}: {got} {expected}");
            }
        };
        in_bands_of(2 << 10, [LENGTH, 1], 7.0f32, check, |sink, run| {
            run(&Evaluation::new(&soft, (&x,), &[sink]).unwrap());
        });
    }
}

/// Every pass is counted: in the bytes of the plan and its time, in the decision's, in progress; and each can be cancelled.
#[test]
fn all_passes_are_counted_told_and_cancelled() {
    let vast = cut::Vast(Extents::new(1 << 20, 1 << 10));
    let x = Array::<f32, (Y, X)>::new(&vast, [1 << 20, 1 << 10]).unwrap();
    let share = fuse(|x: In<f32, (Y, X)>| (x / x.sum::<(Y, X)>()).store::<(Y, X)>());
    let of = Evaluation::new(&share, (&x,), &[&vast]).unwrap();
    let (plan, bytes) = (of.plan(1 << 30).unwrap(), 4u128 << 30);
    let more = plan.bytes_to_gpu() - 2 * bytes;
    assert!(more < 1 << 12 && plan.bytes_to_host() - bytes < 1 << 12, "{plan:?}");
    let gpu = Rates::h200().gpu.unwrap();
    let time = plan.time(&gpu);
    assert!(time.wall > 0.95 * 2.0 * bytes as f64 / gpu.link.to_gpu, "{time:?}");
    assert_eq!(of.job().read[0].unwrap().bytes as u128 >> 20, (2 * bytes) >> 20);

    let values = numbers();
    let line = MemorySource::new(matrix(&values, [LENGTH, 1]));
    let x = Array::<f32, (Y,)>::new(&line, [LENGTH]).unwrap();
    let standard = fuse(|x: In<f32, (Y,)>| {
        let off = x.cumsum::<Y>() - x.mean::<Y>();
        (off / (off * off).mean::<Y>().sqrt()).store::<(Y,)>()
    });
    let (budget, told) = (5 << 10, std::sync::Mutex::new(Vec::new()));
    let run = |control: Control<'_>| {
        let mut result = Array2::from_elem([LENGTH, 1], f32::NAN);
        let sink = MemorySink::new(result.view_mut());
        let of = Evaluation::new(&standard, (&x,), &[&sink]).unwrap();
        let plan = of.plan(budget).unwrap();
        (evaluate_on_host(&Budget::new(Memory::Host, budget), &of, control), plan.count() as u64, plan.others.bands)
    };
    let progress = |done: u64, of: u64| told.lock().unwrap().push((done, of));
    let (ran, bands, others) = run(Control { progress: Some(&progress), ..Control::default() });
    ran.unwrap();
    let told = told.into_inner().unwrap();
    let steps = told[0].1;
    assert_eq!(u128::from(steps - bands), others);
    assert!(steps > 4 * bands, "of five passes: {steps} of {bands}");
    assert_eq!(told, (1..=steps).map(|done| (done, steps)).collect::<Vec<_>>());
    // In the first pass, in the middle of all, and in the last one.
    for at in [1, steps / 2, steps - 1] {
        let (cancel, last) = (Cancel::new(), AtomicU64::new(0));
        let progress = |done: u64, _: u64| {
            last.store(done, Ordering::Relaxed);
            if done == at {
                cancel.cancel();
            }
        };
        let (ran, ..) = run(Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() });
        assert!(matches!(ran, Err(Error::Cancelled { .. })), "{ran:?}");
        assert_eq!(last.into_inner(), at);
    }
}
