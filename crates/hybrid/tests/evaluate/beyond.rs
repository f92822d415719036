//! Bands that need what lies beyond them.

use super::{X, Y, numbers};
use ndarray::Array2;
use tilewright_expr::{Border, In, coordinate};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, PinnedSource, Sink, Source};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_ops::{Device, Tensor, fuse};

/// What a band needs from elsewhere: the other end of a dimension, with the bits of the whole; what stands beside it, reduced; what stands before it.
pub(super) fn beyond_bands(device: &Device, budgets: &Budgets) {
    let [rows, columns] = [301, 40];
    let (values, extents) = (numbers(rows * columns, 7), Extents::new(rows, columns));
    let tensor = Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.clone()).unwrap();
    let ring = fuse(|x: In<f32, (Y, X)>| {
        let low = (x * coordinate::<Y>().to::<f32>()).box_filter::<Y, X>(5, 3, Border::Wrap);
        (low - x).store::<(Y, X)>()
    });
    let expected = ring.call(&tensor).unwrap().to_vec().unwrap();
    let locked = device.as_gpu().map(|gpu| {
        let mut there = gpu.device().pinned::<f32>(values.len()).unwrap();
        there.copy_from_slice(&values);
        there
    });
    let locked = locked.as_ref().map(|there| PinnedSource::new(there, extents).unwrap());
    let ordinary = MemorySource::from_slice(&values, extents).unwrap();
    let sources = [Some(&ordinary as &dyn Source), locked.as_ref().map(|source| source as &dyn Source)];
    for source in sources.into_iter().flatten() {
        let x = Array::<f32, (Y, X)>::new(source, [rows, columns]).unwrap();
        let mut result = Array2::from_elem((rows, columns), f32::NAN);
        let sink = MemorySink::new(result.view_mut());
        let evaluation = Evaluation::new(&ring, (&x,), &[&sink]).unwrap();
        let plan = evaluation.plan(budgets.pinned.limit().min(budgets.device.limit())).unwrap();
        assert!(plan.wraps && plan.count() > 3, "{plan:?}");
        evaluate(device, budgets, &evaluation, Control::default()).unwrap();
        drop(evaluation);
        Box::new(sink).commit().unwrap();
        let same = result.iter().zip(&expected).position(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(same, None, "the first element that differs");
    }
    let x = Array::<f32, (Y, X)>::new(&ordinary, [rows, columns]).unwrap();
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let at = |row: i64, column: usize| wide[row.clamp(0, rows as i64 - 1) as usize * columns + column];
    let energy: f64 = (0..wide.len())
        .map(|i| (-1..=1).map(|k| at((i / columns) as i64 + k, i % columns)).sum::<f64>() / 3.0)
        .map(|low| low * low)
        .sum();
    let of_energy = fuse(|x: In<f32, (Y, X)>| {
        let low = x.box_filter::<Y, X>(3, 1, Border::Replicate);
        (low * low).sum::<(Y, X)>().store::<()>()
    });
    let mut integral = wide.clone();
    (columns..wide.len()).for_each(|i| integral[i] += integral[i - columns]);
    integral.chunks_mut(columns).for_each(|row| (1..row.len()).for_each(|i| row[i] += row[i - 1]));
    let of_integral = fuse(|x: In<f32, (Y, X)>| x.cumsum::<Y>().cumsum::<X>().store::<(Y, X)>());
    let most = integral.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    macro_rules! is_near {
        ($expression:expr, $shape:expr, $expected:expr, $most:expr) => {{
            let mut result = Array2::from_elem($shape, f32::NAN);
            let sink = MemorySink::new(result.view_mut());
            let evaluation = Evaluation::new(&$expression, (&x,), &[&sink]).unwrap();
            assert!(evaluation.plan(budgets.device.limit().max(1 << 15)).unwrap().count() > 3);
            evaluate(device, budgets, &evaluation, Control::default()).unwrap();
            drop(evaluation);
            Box::new(sink).commit().unwrap();
            for (i, (got, expected)) in result.iter().zip($expected).enumerate() {
                assert!((f64::from(*got) - expected).abs() <= 1e-5 * $most, "{i}: {got} {expected}");
            }
        }};
    }
    is_near!(of_energy, (1, 1), &[energy], energy);
    is_near!(of_integral, (rows, columns), &integral, most);
}
