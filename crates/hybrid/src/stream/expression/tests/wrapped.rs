//! One border repeats what is read along the dimension that is cut, and another one does not.

use super::folded::in_bands_of;
use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [307, 5];
const BUDGET: u64 = 3 << 10;
const OTHERS: [Border<f32>; 4] = [Border::Constant(3.0), Border::Replicate, Border::Reflect, Border::Reflect101];
/// A window that is not even: one row above, and three below.
const WINDOW: [[f32; 1]; 7] = [[0.0], [0.0], [3.0], [1.0], [0.0], [0.0], [-1.0]];

fn picture() -> Vec<f32> {
    let mut values = Random(91).of(SHAPE[0] * SHAPE[1], Random::unit);
    (values[7], values[SHAPE[0] * SHAPE[1] - 1]) = (f32::INFINITY, f32::NAN);
    values
}

/// Computes expressions of one picture in bands along `Y`, each operand brought in bands, against the whole.
macro_rules! compare_bits {
    ($values:ident, $($name:literal: $rows:expr, |$x:ident| $body:expr;)*) => {{
        let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, $values.clone()).unwrap();
        let source = MemorySource::new(matrix(&$values, SHAPE));
        let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
        $(
            let expression = fuse(|$x: In<f32, (Y, X)>| $body.store::<(Y, X)>());
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, &format!("{}, {what}", $name));
            in_bands_of(BUDGET, [$rows, SHAPE[1]], 7.5f32, check, |sink, run| {
                let of = Evaluation::new(&expression, (&x,), &[sink]).unwrap().along::<Y>().unwrap();
                let plan = of.plan(BUDGET).unwrap();
                assert!(plan.elsewhere && plan.bytes_once == 0, "{}: {plan:?}", $name);
                run(&of);
            });
        )*
    }};
}

#[test]
fn above_below_and_beside_another_border() {
    let (values, rows) = (picture(), SHAPE[0]);
    for border in OTHERS {
        compare_bits!(values,
            "below": rows, |x| x.correlate::<Y, X>(WINDOW, Border::Wrap).box_filter::<Y, X>(3, 3, border);
            "above": rows, |x| x.correlate::<Y, X>(WINDOW, border).box_filter::<Y, X>(5, 3, Border::Wrap);
            "beside": rows, |x| x.box_filter::<Y, X>(3, 1, Border::Wrap) - x.correlate::<Y, X>(WINDOW, border);
            "counted": rows, |x| {
                let ramp = coordinate::<Y>().to::<f32>();
                (x * ramp).correlate::<Y, X>(WINDOW, Border::Wrap).box_filter::<Y, X>(3, 1, border) + ramp
            };
        );
    }
}

/// Sliced, padded and backwards; what repeats with a length that is not the results' one.
#[test]
fn what_is_repeated_elsewhere() {
    let (values, rows) = (picture(), SHAPE[0]);
    compare_bits!(values,
        "sliced": 200, |x| x.correlate::<Y, X>(WINDOW, Border::Wrap).slice::<Y>(107, 200);
        "padded": rows + 13, |x| x.pad::<Y>(9, 4, Border::Wrap);
        "far": rows + 700, |x| x.pad::<Y>(300, 400, Border::Wrap);
        "backwards": rows, |x| x.correlate::<Y, X>(WINDOW, Border::Wrap).reverse::<Y>() - x;
        "of what runs backwards": rows, |x| x.reverse::<Y>().box_filter::<Y, X>(3, 3, Border::Wrap).pad::<Y>(2, 0, Border::Reflect).slice::<Y>(1, 307);
    );
}

/// Two operands: one that a border repeats, and one that none does.
#[test]
fn of_two_operands() {
    let values = [picture(), Random(92).of(SHAPE[0] * SHAPE[1], Random::unit)];
    let tensor = values.each_ref().map(|values| Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap());
    let sources = values.each_ref().map(|values| MemorySource::new(matrix(values, SHAPE)));
    let [x, y] = sources.each_ref().map(|source| Array::<f32, (Y, X)>::new(source, SHAPE).unwrap());
    let both = fuse(|x: In<f32, (Y, X)>, y: In<f32, (Y, X)>| {
        (x.box_filter::<Y, X>(5, 1, Border::Wrap) * y.correlate::<Y, X>(WINDOW, Border::Reflect)).store::<(Y, X)>()
    });
    let whole = both.call(&tensor[0], &tensor[1]).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(2 * BUDGET, SHAPE, 7.5f32, check, |sink, run| {
        run(&Evaluation::new(&both, (&x, &y), &[sink]).unwrap().along::<Y>().unwrap());
    });
}

/// Bands of stencils with different borders are reduced.
#[test]
fn reductions() {
    let values: Vec<i64> = Random(93).of(4001, |random| random.next() as i64 % 1000 - 500);
    let source = MemorySource::new(matrix(&values, [4001, 1]));
    let x = Array::<i64, (Y,)>::new(&source, [4001]).unwrap();
    let tensor = Tensor::<i64, (Y,)>::from_vec([4001], values.clone()).unwrap();
    let energy = fuse(|x: In<i64, (Y,)>| {
        let before = x.at_border::<Y, _>(coordinate::<Y>() - 2, Border::Wrap);
        (before * x.at_border::<Y, _>(coordinate::<Y>() + 1, Border::Replicate)).sum::<Y>().store::<()>()
    });
    let whole = energy.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(8 << 10, [1, 1], -7i64, check, |sink, run| run(&Evaluation::new(&energy, (&x,), &[sink]).unwrap()));
}

/// Any borders above any others, slices and pads between them.
#[test]
fn chains() {
    let values = picture();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let (mut random, mut in_images) = (Random(94), 0);
    for round in 0..40 {
        let mut below = |n: usize| random.next() as usize % n;
        let steps: Vec<(usize, Border<f32>)> = (0..2 + below(2))
            .map(|_| (below(4), if below(2) == 0 { Border::Wrap } else { OTHERS[below(4)] }))
            .collect();
        let expression = fuse(|x: In<f32, (Y, X)>| {
            let applied = steps.iter().fold(x + coordinate::<Y>().to::<f32>(), |x, (step, border)| match step {
                0 => x.correlate::<Y, X>(WINDOW, *border),
                1 => x.at_border::<Y, _>(coordinate::<Y>() - 2, *border),
                2 => x.reverse::<Y>(),
                // As long as it was.
                _ => x.pad::<Y>(2, 3, *border).slice::<Y>(4, SHAPE[0]),
            });
            (applied - x).store::<(Y, X)>()
        });
        let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
        let mut result = Array2::from_elem(SHAPE, 7.5f32);
        let sink = MemorySink::new(result.view_mut());
        let of = Evaluation::new(&expression, (&x,), &[&sink]).unwrap().along::<Y>().unwrap();
        let plan = of.plan(BUDGET).unwrap();
        assert!(plan.count() > 2 && plan.bytes_once == 0, "{round} {steps:?}: {plan:?}");
        in_images += usize::from(plan.elsewhere);
        evaluate_on_host(&Budget::new(Memory::Host, BUDGET), &of, Control::default()).unwrap();
        drop(of);
        Box::new(sink).commit().unwrap();
        Bits::assert_same(result.as_slice().unwrap(), &whole, &format!("{round} {steps:?}"));
    }
    assert!(in_images > 20, "{in_images}");
}
