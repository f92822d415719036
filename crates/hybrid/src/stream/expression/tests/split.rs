//! What cannot be cut together: one part of the expression after the other, with what lies between stored.

use super::folded::in_bands_of;
use super::*;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const LENGTH: usize = 2003;
/// Less than operand and result take, and more than what lies between.
const BUDGET: u64 = 13 << 10;

fn numbers() -> Vec<i32> {
    Random(95).of(LENGTH, |random| random.next() as i32 % 1000 - 500)
}

/// Compares expressions of one line of numbers with the whole.
macro_rules! same {
    ($($name:literal: $rows:expr, $expression:expr;)*) => {{
        let values = numbers();
        let tensor = Tensor::<i32, (Y,)>::from_vec([LENGTH], values.clone()).unwrap();
        let source = MemorySource::new(matrix(&values, [LENGTH, 1]));
        let x = Array::<i32, (Y,)>::new(&source, [LENGTH]).unwrap();
        $({
            let expression = $expression;
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let check = |got: &[i32], what: &str| Bits::assert_same(got, &whole, &format!("{}, {what}", $name));
            in_bands_of(BUDGET, [$rows, 1], -77_777, check, |sink, run| {
                let of = Evaluation::new(&expression, (&x,), &[sink]).unwrap();
                let plan = of.plan(BUDGET).unwrap();
                // What is read anywhere may fit whole.
                assert!(plan.others.to_host > 0 || plan.bytes_once > 0, "{}: {plan:?}", $name);
                run(&of);
            });
        })*
    }};
}

#[test]
fn scans_and_what_is_read_elsewhere() {
    same!(
        "scanned backwards": LENGTH, fuse(|x: In<i32, (Y,)>| x.reverse::<Y>().cummax::<Y>().store::<(Y,)>());
        "a scan backwards": LENGTH, fuse(|x: In<i32, (Y,)>| (x.cummax::<Y>().reverse::<Y>() - x).store::<(Y,)>());
        "scanned from behind": LENGTH, fuse(|x: In<i32, (Y,)>| {
            (x.reverse::<Y>().cummin::<Y>().reverse::<Y>() * 3 + coordinate::<Y>()).store::<(Y,)>()
        });
        "a part of a scan": 1500, fuse(|x: In<i32, (Y,)>| (x * x).cummin::<Y>().slice::<Y>(211, 1500).store::<(Y,)>());
        "a scan of a part": 1500, fuse(|x: In<i32, (Y,)>| (x.slice::<Y>(211, 1500) * 2).cummax::<Y>().store::<(Y,)>());
        "a scan of a pad": LENGTH + 9, fuse(|x: In<i32, (Y,)>| {
            x.pad::<Y>(5, 4, Border::Reflect).cummin::<Y>().store::<(Y,)>()
        });
    );
}

/// Scans along both dimensions, below and above stencils that repeat.
#[test]
fn scans_and_borders_that_repeat() {
    let shape = [301, 5];
    // Whole numbers, of which no sum here is rounded.
    let values = Random(96).of(shape[0] * shape[1], |random| (random.next() % 7) as f32 - 3.0);
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let window = [[1.0f32], [2.0], [-1.0]];
    let repeated = fuse(|x: In<f32, (Y, X)>| {
        x.cumsum::<Y>().cumsum::<X>().correlate::<Y, X>(window, Border::Wrap).store::<(Y, X)>()
    });
    let mixed = fuse(|x: In<f32, (Y, X)>| {
        let low = x.cumsum::<Y>().cumsum::<X>().correlate::<Y, X>(window, Border::Wrap);
        low.correlate::<Y, X>(window, Border::Reflect).store::<(Y, X)>()
    });
    let scanned = fuse(|x: In<f32, (Y, X)>| {
        let low = x.correlate::<Y, X>(window, Border::Wrap).correlate::<Y, X>(window, Border::Reflect);
        low.cumsum::<Y>().cumsum::<X>().store::<(Y, X)>()
    });
    for (name, expression) in [("repeated", &repeated), ("mixed", &mixed), ("scanned", &scanned)] {
        let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
        let check = |got: &[f32], what: &str| assert_eq!(got, whole, "{name}, {what}");
        in_bands_of(10 << 10, shape, f32::NAN, check, |sink, run| {
            let of = Evaluation::new(expression, (&x,), &[sink]).unwrap();
            let plan = of.plan(10 << 10).unwrap();
            assert!(plan.others.to_host > 0, "{name}: {plan:?}");
            run(&of);
        });
    }
}
