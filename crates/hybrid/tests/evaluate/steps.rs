//! What is not cut as it is, and is computed in steps.

use super::{X, Y};
use ndarray::Array2;
use std::fmt::Debug;
use tilewright_expr::{Border, In, coordinate};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, Sink, Stored};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_ops::{Device, Tensor, fuse};

pub(super) const SHAPE: [usize; 2] = [601, 8];

/// Has results computed in bands, against those of the whole: whole numbers, whatever the order of sums.
pub(super) fn check<T: Stored + PartialEq + Debug>(
    device: &Device,
    budgets: &Budgets,
    evaluation: impl Fn(&[&dyn Sink], &mut dyn FnMut(&Evaluation<'_>)),
    expected: &[(&[T], [usize; 2])],
) {
    // No value of any expected result.
    let mut poison = [T::default()];
    let mut fill = |bytes: &mut [u8]| {
        bytes.fill(0xc7);
        Ok(())
    };
    T::fill(&mut poison, &mut fill).unwrap();
    let mut results: Vec<_> = expected.iter().map(|(_, shape)| Array2::from_elem(*shape, poison[0])).collect();
    let sinks: Vec<_> = results.iter_mut().map(|result| MemorySink::new(result.view_mut())).collect();
    let each: Vec<&dyn Sink> = sinks.iter().map(|sink| sink as &dyn Sink).collect();
    evaluation(&each, &mut |of| {
        let plan = of.plan(budgets.device.limit().min(budgets.pinned.limit())).unwrap();
        assert!(plan.count() as u64 + plan.others.bands as u64 > 2, "{plan:?}");
        evaluate(device, budgets, of, Control::default()).unwrap();
    });
    sinks.into_iter().for_each(|sink| Box::new(sink).commit().unwrap());
    for (number, (result, (expected, _))) in results.iter().zip(expected).enumerate() {
        assert_eq!(result.as_slice().unwrap(), *expected, "result {number}");
    }
}

/// Operands that are read around the point and elsewhere too, results without a common dimension, scans beside stencils.
pub(super) fn in_steps(device: &Device, budgets: &Budgets) {
    let values: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(|i| (i * 7919 % 13) as f32 - 6.0).collect();
    let source = MemorySource::from_slice(&values, Extents::new(SHAPE[0], SHAPE[1])).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();

    let backwards = fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() * coordinate::<Y>().to::<f32>() - x).store::<(Y, X)>());
    let whole = backwards.call(&tensor).unwrap().to_vec().unwrap();
    let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
        run(&Evaluation::new(&backwards, (&x,), sinks).unwrap().along::<Y>().unwrap())
    };
    check(device, budgets, of, &[(&whole, SHAPE)]);

    // What cannot be cut together is computed in two parts.
    let from_behind = fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>().cummax::<Y>() * 2.0).store::<(Y, X)>());
    let whole = from_behind.call(&tensor).unwrap().to_vec().unwrap();
    let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
        run(&Evaluation::new(&from_behind, (&x,), sinks).unwrap().along::<Y>().unwrap())
    };
    check(device, budgets, of, &[(&whole, SHAPE)]);

    let apart = fuse(|x: In<f32, (Y, X)>| {
        let sum = x.sum::<(Y, X)>();
        (sum.store::<()>(), (x * 2.0 - sum).store::<(Y, X)>())
    });
    let (sum, off) = apart.call(&tensor).unwrap();
    let (sum, off) = (sum.to_vec().unwrap(), off.to_vec().unwrap());
    let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
        run(&Evaluation::new(&apart, (&x,), sinks).unwrap())
    };
    check(device, budgets, of, &[(&sum, [1, 1]), (&off, SHAPE)]);

    let beside = fuse(|x: In<f32, (Y, X)>| {
        let low = x.correlate::<Y, X>([[1.0f32], [2.0], [-1.0]], Border::Replicate).cumsum::<Y>();
        (low.correlate::<Y, X>([[1.0f32], [0.0], [3.0]], Border::Reflect) - x).store::<(Y, X)>()
    });
    let whole = beside.call(&tensor).unwrap().to_vec().unwrap();
    let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
        run(&Evaluation::new(&beside, (&x,), sinks).unwrap().along::<Y>().unwrap())
    };
    check(device, budgets, of, &[(&whole, SHAPE)]);
}
