//! Scans along the dimension that is cut beside stencils: what stands before a window, not before its band alone.

use super::folded::in_bands_of;
use super::*;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [151, 5];
/// A window that is not even: two rows above, and three below.
const WINDOW: [[f32; 1]; 7] = [[0.0], [3.0], [1.0], [2.0], [0.0], [0.0], [-1.0]];

/// Whole numbers, of which no sum here is rounded.
fn numbers() -> Vec<f32> {
    Random(71).of(SHAPE[0] * SHAPE[1], |random| (random.next() % 7) as f32 - 3.0)
}

/// The same as of the whole, or no number either.
fn same(whole: &[f32]) -> impl Fn(&[f32], &str) {
    move |got, what| {
        for (i, (got, expected)) in got.iter().zip(whole).enumerate() {
            assert!(got == expected || got.is_nan() && expected.is_nan(), "{what}: {i}: {got} {expected}");
        }
    }
}

#[test]
fn stencils_above_and_below_scans() {
    let mut values = numbers();
    let borders = [[Border::Replicate, Border::Reflect101], [Border::Reflect, Border::Constant(2.0f32)]];
    for (round, borders) in borders.into_iter().enumerate() {
        let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
        let source = MemorySource::new(matrix(&values, SHAPE));
        let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
        for border in borders {
            let above = fuse(|x: In<f32, (Y, X)>| x.cumsum::<Y>().correlate::<Y, X>(WINDOW, border).store::<(Y, X)>());
            let below = fuse(|x: In<f32, (Y, X)>| x.correlate::<Y, X>(WINDOW, border).cumsum::<Y>().store::<(Y, X)>());
            let between = fuse(|x: In<f32, (Y, X)>| {
                let low = x.correlate::<Y, X>([[1.0f32], [0.0], [1.0]], border).cumsum::<Y>();
                let high = low.correlate::<Y, X>(WINDOW, border).cummax::<Y>();
                (high.correlate::<Y, X>([[1.0f32], [2.0], [0.0]], border) + low - x).store::<(Y, X)>()
            });
            let counted = fuse(|x: In<f32, (Y, X)>| {
                let ramp = coordinate::<Y>().to::<f32>();
                ((x + ramp).cummin::<Y>().correlate::<Y, X>(WINDOW, border) - ramp).store::<(Y, X)>()
            });
            for (name, expression) in
                [("above", &above), ("below", &below), ("between", &between), ("counted", &counted)]
            {
                let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
                let check = |got: &[f32], what: &str| same(&whole)(got, &format!("{name} {border:?} {round} {what}"));
                in_bands_of(5 << 10, SHAPE, 7.5f32, check, |sink, run| {
                    let of = Evaluation::new(expression, (&x,), &[sink]).unwrap().along::<Y>().unwrap();
                    assert!(of.plan(5 << 10).unwrap().margin.places() > 0);
                    run(&of);
                });
            }
        }
        // What is no number stays so from there on, and as far above as a window reaches.
        (values[100 * SHAPE[1] + 3], values[60 * SHAPE[1]]) = (f32::NAN, f32::INFINITY);
    }
}

/// A border that repeats is one below a scan; above it none stands where the next value would.
#[test]
fn borders_that_repeat_and_reductions_over_all() {
    let values = numbers();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let below = fuse(|x: In<f32, (Y, X)>| x.correlate::<Y, X>(WINDOW, Border::Wrap).cumsum::<Y>().store::<(Y, X)>());
    let whole = below.call(&tensor).unwrap().to_vec().unwrap();
    in_bands_of(5 << 10, SHAPE, 7.5f32, same(&whole), |sink, run| {
        run(&Evaluation::new(&below, (&x,), &[sink]).unwrap().along::<Y>().unwrap());
    });
    // What a border repeats is no scan of a window: the scan is stored.
    let above = fuse(|x: In<f32, (Y, X)>| x.cumsum::<Y>().correlate::<Y, X>(WINDOW, Border::Wrap).store::<(Y, X)>());
    let whole = above.call(&tensor).unwrap().to_vec().unwrap();
    in_bands_of(5 << 10, SHAPE, 7.5f32, same(&whole), |sink, run| {
        run(&Evaluation::new(&above, (&x,), &[sink]).unwrap().along::<Y>().unwrap());
    });
    let highest = fuse(|x: In<f32, (Y, X)>| {
        x.cumsum::<Y>().correlate::<Y, X>(WINDOW, Border::Reflect).maximum::<(Y, X)>().store::<()>()
    });
    let whole = highest.call(&tensor).unwrap().to_vec().unwrap();
    in_bands_of(2 << 10, [1, 1], 7.5f32, same(&whole), |sink, run| {
        run(&Evaluation::new(&highest, (&x,), &[sink]).unwrap());
    });
}
