use super::super::super::control::Control;
use super::super::super::late::Device;
use super::super::super::matmul::Factor;
use super::super::cholesky::StreamedCholesky;
use super::super::plan::PanelPlan;
use super::cases::{ORDERS, STAGING, norm, positive, product, random, residual, watch, whole};
use super::lu::scratch;
use crate::linear::{Cholesky, Place};
use crate::store::{MemorySink, MemorySource, Scratch, Sink};
use crate::{Class, Error};
use ndarray::Array2;

fn plan(size: usize, panel: usize, slice: usize, stages: usize) -> PanelPlan {
    let plan = PanelPlan::cholesky(size, 8, u64::MAX).unwrap();
    PanelPlan { panel: panel.clamp(1, size.max(1)), slice, stages, ..plan }
}

fn factor<'a>(
    device: &Device,
    plan: &PanelPlan,
    a: &Array2<f64>,
    scratch: &'a dyn Scratch,
) -> Result<StreamedCholesky<'a, f64>, Error> {
    let source = MemorySource::new(a.view());
    let factor = Factor::plain(&source);
    let done = StreamedCholesky::factor(device, plan, factor, scratch, STAGING, watch(plan, Control::default()))?;
    let counts = device.counts.lock().unwrap();
    assert_eq!(done.traffic().to_gpu, 8 * counts.brought as u64);
    assert_eq!(done.traffic().to_host, 8 * counts.taken_back as u64);
    assert_eq!(8 * counts.device + plan.found_bytes(), plan.device_bytes() as usize, "{plan:?}");
    Ok(done)
}

const CUTS: [(usize, usize, usize); 6] = [(7, 3, 3), (5, 5, 2), (64, 4, 3), (1, 1, 1), (20, 6, 3), (9, 2, 1)];

#[test]
fn f6_factors_and_solutions() {
    for (size, (panel, slice, stages)) in [0, 1, 2, 5, 17, 41].into_iter().flat_map(|size| CUTS.map(|cut| (size, cut)))
    {
        for (order, together) in ORDERS.into_iter().zip([1, 1, 4, 100]) {
            let a = positive(1, size);
            // What is above the diagonal is not looked at.
            let mut lower = a.clone();
            lower.indexed_iter_mut().filter(|((i, j), _)| i < j).for_each(|(_, x)| *x = f64::NAN);
            let plan = PanelPlan { together, ..plan(size, panel, slice, stages) };
            let scratch = scratch(size);
            let done = factor(&Device::new(order), &plan, &lower, &scratch).unwrap();
            let l = whole(&done.l());
            assert!(l.indexed_iter().all(|((i, j), x)| i >= j || *x == 0.0));
            assert!((0..size).all(|i| l[[i, i]] > 0.0));
            let off = residual(&a, &product(&l, &l.t().to_owned()), norm(&a));
            assert!(off <= 20.0, "{plan:?} {order:?}: {off}");

            let b = random(2, size, 5);
            let cut = PanelPlan { panel: 3, slice: slice + 1, ..plan.solution(5, u64::MAX).unwrap() };
            let mut x = Array2::from_elem((size, 5), f64::NAN);
            let sink = MemorySink::new(x.view_mut());
            let source = MemorySource::new(b.view());
            let watched = watch(&cut, Control::default());
            let (device, with) = (Device::new(order), (STAGING, watched));
            done.factors.solved::<f64, _>(&device, &cut, Factor::plain(&source), &sink, with).unwrap();
            Box::new(sink).commit().unwrap();
            let off = residual(&b, &product(&a, &x), norm(&a) * norm(&x) + norm(&b));
            assert!(off <= 20.0, "{cut:?} {order:?}: {off}");
        }
    }
}

#[test]
fn f6_what_is_not_positive_definite_is_the_error_that_it_is_in_memory() {
    for size in [1, 5, 30] {
        for at in [0, size / 2, size - 1] {
            for (panel, slice) in [(size, 3), (4, 3), (7, 7)] {
                let mut a = positive(3, size);
                a[[at, at]] = -1.0;
                let (plan, scratch) = (plan(size, panel, slice, 3), scratch(size));
                let expected = Cholesky::factor(&Place::Cpu, (&a).into()).unwrap_err();
                let error = factor(&Device::new(ORDERS[1]), &plan, &a, &scratch).unwrap_err();
                assert_eq!(error.to_string(), expected.to_string(), "{plan:?}");
                assert_eq!(error.class(), Class::Numeric);
                a[[at, at]] = f64::NAN;
                let error = factor(&Device::new(ORDERS[2]), &plan, &a, &scratch).unwrap_err();
                assert!(matches!(error, Error::NotPositiveDefinite { order, .. } if order == at + 1), "{error}");
            }
        }
    }
}

#[test]
fn f7_every_budget_from_a_third_to_three_times_the_matrix() {
    let size = 36_usize;
    let a = positive(5, size);
    for step in 0..12 {
        let budget = (size * size * 8) as f64 * 0.3 * 10_f64.powf(f64::from(step) / 11.0);
        let plan = PanelPlan::cholesky(size, 8, budget as u64).unwrap();
        assert!(plan.device_bytes() as f64 <= budget, "{plan:?}");
        let scratch = scratch(size);
        let l = whole(&factor(&Device::new(ORDERS[step as usize % 4]), &plan, &a, &scratch).unwrap().l());
        assert!(residual(&a, &product(&l, &l.t().to_owned()), norm(&a)) <= 20.0, "{plan:?}");
    }
}
