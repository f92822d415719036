//! What bands read elsewhere than around the point, and results whose parts stand one after the other.

use super::steps::{SHAPE, check};
use super::{K, X, Y};
use tilewright_expr::{Border, In, concatenate, coordinate};
use tilewright_hybrid::store::{Extents, MemorySource, Sink};
use tilewright_hybrid::stream::{Array, Budgets, Evaluation};
use tilewright_ops::{Device, Tensor, fuse};

/// Slices, pads, what runs backwards, another name; reductions of these; parts; and more scans than a launch has results. None of it fits whole.
pub(super) fn elsewhere(device: &Device, budgets: &Budgets) {
    let values: Vec<f32> = (0..SHAPE[0] * SHAPE[1]).map(|i| (i * 7919 % 13) as f32 - 6.0).collect();
    let source = MemorySource::from_slice(&values, Extents::new(SHAPE[0], SHAPE[1])).unwrap();
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    macro_rules! same {
        ($expression:expr, $shape:expr, along $dim:ty) => {{
            let expression = $expression;
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let of = |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| {
                run(&Evaluation::new(&expression, (&x,), sinks).unwrap().along::<$dim>().unwrap())
            };
            check(device, budgets, of, &[(&whole, $shape)]);
        }};
    }
    let [rows, columns] = SHAPE;
    let parts = fuse(|x: In<f32, (Y, X)>| (x.slice::<Y>(301, 300) - x.slice::<Y>(2, 300) * 2.0).store::<(Y, X)>());
    same!(parts, [300, columns], along Y);
    for border in [Border::Constant(2.0f32), Border::Replicate, Border::Reflect, Border::Reflect101] {
        let around = fuse(|x: In<f32, (Y, X)>| {
            let low = x.correlate::<Y, X>([[1.0f32], [0.0], [2.0], [-1.0], [0.0]], border).slice::<Y>(7, 590);
            low.pad::<Y>(3, 8, border).reverse::<Y>().store::<(Y, X)>()
        });
        same!(around, [rows, columns], along Y);
    }
    let around = fuse(|x: In<f32, (Y, X)>| {
        let low = x.correlate::<Y, X>([[1.0f32], [0.0], [2.0], [-1.0], [0.0]], Border::Wrap);
        (low.box_filter::<Y, X>(3, 1, Border::Reflect) - x.box_filter::<Y, X>(5, 3, Border::Replicate))
            .store::<(Y, X)>()
    });
    same!(around, SHAPE, along Y);
    let back = fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() * coordinate::<Y>().to::<f32>() - x).store::<(Y, X)>());
    same!(back, SHAPE, along Y);
    let renamed = fuse(|x: In<f32, (Y, X)>| (x.rename::<Y, K>() + 1.0).store::<(K, X)>());
    same!(renamed, SHAPE, along K);
    let joined = fuse(|x: In<f32, (Y, X)>| {
        concatenate::<Y, _>((x.slice::<Y>(3, 200), x.cumsum::<Y>(), x.sum::<Y>(), x.reverse::<Y>())).store::<(Y, X)>()
    });
    same!(joined, [200 + rows + 1 + rows, columns], along Y);
    let scanned = fuse(|x: In<f32, (Y, X)>| {
        let sums = x.cumsum::<Y>() + x.abs().cumsum::<Y>() + (x * x).cumsum::<Y>();
        (sums + x.cummax::<Y>() - x.cummin::<Y>()).store::<(Y, X)>()
    });
    same!(scanned, SHAPE, along Y);
    let lag = fuse(|x: In<f32, (Y, X)>| (x.slice::<Y>(0, 500) * x.slice::<Y>(101, 500)).sum::<(Y, X)>().store::<()>());
    let whole = lag.call(&tensor).unwrap().to_vec().unwrap();
    let of =
        |sinks: &[&dyn Sink], run: &mut dyn FnMut(&Evaluation<'_>)| run(&Evaluation::new(&lag, (&x,), sinks).unwrap());
    check(device, budgets, of, &[(&whole, [1, 1])]);
}
