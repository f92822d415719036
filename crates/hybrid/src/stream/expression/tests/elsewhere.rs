//! Operands that bands read elsewhere than around the point: sliced, padded, backwards, under another name, where they do not fit whole.

use super::folded::in_bands_of;
use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [421, 5];
const BUDGET: u64 = 2 << 10;

fn picture() -> Vec<f32> {
    let mut values = Random(81).of(SHAPE[0] * SHAPE[1], Random::unit);
    values[77] = f32::INFINITY;
    values[500] = f32::NAN;
    values
}

/// Computes expressions of one picture in bands along `Y`, against the whole.
macro_rules! compare_bits {
    ($values:ident, $budget:expr, $($name:literal: $rows:expr, $expression:expr;)*) => {{
        let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, $values.clone()).unwrap();
        let source = MemorySource::new(matrix(&$values, SHAPE));
        let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
        $(
            let expression = $expression;
            let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
            let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, &format!("{}, {what}", $name));
            in_bands_of($budget, [$rows, SHAPE[1]], 7.5f32, check, |sink, run| {
                let of = Evaluation::new(&expression, (&x,), &[sink]).unwrap().along::<Y>().unwrap();
                let plan = of.plan($budget).unwrap();
                assert!(plan.elsewhere && plan.bytes_once == 0, "{}: {plan:?}", $name);
                run(&of);
            });
        )*
    }};
}

#[test]
fn slices() {
    let values = picture();
    let rows = SHAPE[0];
    compare_bits!(values, BUDGET,
        "a part": 211, fuse(|x: In<f32, (Y, X)>| (x.slice::<Y>(101, 211) * 2.0).store::<(Y, X)>());
        "the last": 100, fuse(|x: In<f32, (Y, X)>| x.slice::<Y>(321, 100).store::<(Y, X)>());
        "differences": rows - 1, fuse(|x: In<f32, (Y, X)>| (x.slice::<Y>(1, 420) - x.slice::<Y>(0, 420)).store::<(Y, X)>());
        "far apart": 200, fuse(|x: In<f32, (Y, X)>| (x.slice::<Y>(221, 200) - x.slice::<Y>(3, 200)).store::<(Y, X)>());
        "counted": 300, fuse(|x: In<f32, (Y, X)>| {
            let ramp = (x * coordinate::<Y>().to::<f32>()).slice::<Y>(17, 300);
            (ramp - coordinate::<Y>().to::<f32>()).store::<(Y, X)>()
        });
        "of a slice": 100, fuse(|x: In<f32, (Y, X)>| x.slice::<Y>(100, 300).sqrt().slice::<Y>(150, 100).store::<(Y, X)>());
    );
}

#[test]
fn pads() {
    let values = picture();
    let rows = SHAPE[0];
    for border in [Border::Constant(3.0f32), Border::Replicate, Border::Reflect, Border::Reflect101] {
        compare_bits!(values, BUDGET,
            "two and three": rows + 5, fuse(|x: In<f32, (Y, X)>| x.pad::<Y>(2, 3, border).store::<(Y, X)>());
            "below a stencil": rows, fuse(|x: In<f32, (Y, X)>| {
                x.pad::<Y>(1, 1, border).box_filter::<Y, X>(3, 3, border).slice::<Y>(1, 421).store::<(Y, X)>()
            });
        );
    }
    compare_bits!(values, BUDGET,
        "far": rows + 90, fuse(|x: In<f32, (Y, X)>| (x.pad::<Y>(40, 50, Border::Replicate) + 1.0).store::<(Y, X)>());
        "zeros": rows + 900, fuse(|x: In<f32, (Y, X)>| x.pad::<Y>(400, 500, Border::Constant(0.0)).store::<(Y, X)>());
    );
}

#[test]
fn backwards() {
    let values = picture();
    let rows = SHAPE[0];
    compare_bits!(values, BUDGET,
        "alone": rows, fuse(|x: In<f32, (Y, X)>| x.reverse::<Y>().store::<(Y, X)>());
        "beside itself": rows, fuse(|x: In<f32, (Y, X)>| (x.reverse::<Y>() * coordinate::<Y>().to::<f32>() - x).store::<(Y, X)>());
        "around": rows, fuse(|x: In<f32, (Y, X)>| x.rot90::<Y, X>(2).store::<(Y, X)>());
        "sliced": 100, fuse(|x: In<f32, (Y, X)>| x.reverse::<Y>().slice::<Y>(30, 100).store::<(Y, X)>());
    );
    for border in [Border::Constant(3.0f32), Border::Replicate, Border::Reflect, Border::Reflect101] {
        compare_bits!(values, BUDGET,
            "of a stencil": rows, fuse(|x: In<f32, (Y, X)>| {
                x.box_filter::<Y, X>(5, 3, border).reverse::<Y>().store::<(Y, X)>()
            });
            "below a stencil": rows, fuse(|x: In<f32, (Y, X)>| {
                let back = x.reverse::<Y>().correlate::<Y, X>([[1.0f32], [0.0], [3.0], [0.0], [0.0]], border);
                (back + x.reverse::<X>().sum::<X>()).store::<(Y, X)>()
            });
            "sliced stencils": 380, fuse(|x: In<f32, (Y, X)>| {
                let low = x.slice::<Y>(1, 400).box_filter::<Y, X>(7, 3, border).slice::<Y>(11, 380);
                (low - x.box_filter::<Y, X>(3, 1, border).slice::<Y>(0, 380)).store::<(Y, X)>()
            });
        );
    }
}

/// One dimension, which there is no other beside.
#[test]
fn a_line_backwards() {
    let length = 4001;
    let values: Vec<i32> = Random(82).of(length, |random| random.next() as i32);
    let source = MemorySource::new(matrix(&values, [length, 1]));
    let x = Array::<i32, (Y,)>::new(&source, [length]).unwrap();
    let tensor = Tensor::<i32, (Y,)>::from_vec([length], values.clone()).unwrap();
    let back =
        fuse(|x: In<i32, (Y,)>| (x.reverse::<Y>() ^ x.at::<Y, _>((coordinate::<Y>() - 3).max(0))).store::<(Y,)>());
    let whole = back.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(4 << 10, [length, 1], -7i32, check, |sink, run| {
        run(&Evaluation::new(&back, (&x,), &[sink]).unwrap());
    });
}

/// Cut along a dimension that an operand calls otherwise.
#[test]
fn under_another_name() {
    let values = picture();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let renamed = fuse(|x: In<f32, (Y, X)>| (x.rename::<Y, K>() + 1.0).store::<(K, X)>());
    let whole = renamed.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(BUDGET, SHAPE, 7.5f32, check, |sink, run| {
        run(&Evaluation::new(&renamed, (&x,), &[sink]).unwrap().along::<K>().unwrap());
    });
    // What is cut is an inner dimension of the result, which has bands without a margin.
    for border in [Border::Reflect, Border::Replicate] {
        let across = fuse(|x: In<f32, (Y, X)>| x.box_filter::<Y, X>(5, 3, border).store::<(X, Y)>());
        let whole = across.call(&tensor).unwrap().to_vec().unwrap();
        let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
        in_bands_of(BUDGET, [SHAPE[1], SHAPE[0]], 7.5f32, check, |sink, run| {
            run(&Evaluation::new(&across, (&x,), &[sink]).unwrap().along::<Y>().unwrap());
        });
    }
    // A quarter turn: bands of rows are columns.
    let turned = fuse(|x: In<f32, (Y, X)>| (x.rot90::<X, Y>(1) - 2.0).store::<(Y, X)>());
    let wide = [5, 421];
    let tensor = Tensor::<f32, (Y, X)>::from_vec(wide, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, wide));
    let x = Array::<f32, (Y, X)>::new(&source, wide).unwrap();
    let whole = turned.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(BUDGET, SHAPE, 7.5f32, check, |sink, run| {
        run(&Evaluation::new(&turned, (&x,), &[sink]).unwrap());
    });
}

/// Reductions of what is read elsewhere, of several lengths.
#[test]
fn reductions_of_parts() {
    let length = 4001;
    let values: Vec<i64> = Random(83).of(length, |random| random.next() as i64 % 1000 - 500);
    let source = MemorySource::new(matrix(&values, [length, 1]));
    let x = Array::<i64, (Y,)>::new(&source, [length]).unwrap();
    let tensor = Tensor::<i64, (Y,)>::from_vec([length], values.clone()).unwrap();
    let lag = fuse(|x: In<i64, (Y,)>| {
        let products = x.slice::<Y>(0, 3000) * x.slice::<Y>(1001, 3000);
        (products.sum::<Y>() + x.slice::<Y>(3000, 500).maximum::<Y>() - (x * x.reverse::<Y>()).sum::<Y>()).store::<()>()
    });
    let around = fuse(|x: In<i64, (Y,)>| {
        let mean = x.slice::<Y>(100, 3000).sum::<Y>();
        (x.slice::<Y>(3, 3900) * 3000 - mean - x.reverse::<Y>().slice::<Y>(0, 3900)).store::<(Y,)>()
    });
    let whole = lag.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(8 << 10, [1, 1], -7i64, check, |sink, run| run(&Evaluation::new(&lag, (&x,), &[sink]).unwrap()));
    let whole = around.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(8 << 10, [3900, 1], -7i64, check, |sink, run| run(&Evaluation::new(&around, (&x,), &[sink]).unwrap()));
}

/// Rows that are reduced by many threads, and read elsewhere, have the bits of the whole.
#[test]
fn rows_are_reduced_as_those_of_the_whole() {
    let shape = [61, 700];
    let values = Random(84).of(shape[0] * shape[1], Random::unit);
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let soft = fuse(|x: In<f32, (Y, X)>| {
        let off = x.reverse::<Y>().slice::<Y>(2, 53) - x.slice::<Y>(7, 53).maximum::<X>();
        (off * off / (off * off).sum::<X>() + off.mean::<X>()).store::<(Y, X)>()
    });
    let whole = soft.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[f32], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(96 << 10, [53, 700], 7.5f32, check, |sink, run| {
        run(&Evaluation::new(&soft, (&x,), &[sink]).unwrap().along::<Y>().unwrap());
    });
}

/// What a step of a chain does with rows.
#[derive(Clone, Copy, Debug)]
enum Step {
    Slice(usize, usize),
    Pad(usize, usize),
    Backwards,
    Stencil,
    Before,
}

/// Some steps, one after the other, each with a border, and how many rows are left.
fn chain(random: &mut Random, rows: usize) -> (Vec<(Step, Border<f32>)>, usize) {
    let mut below = |n: usize| random.next() as usize % n;
    let (mut rows, mut steps) = (rows, Vec::new());
    for _ in 0..1 + below(4) {
        let step = match below(5) {
            0 => {
                let first = below(60);
                Step::Slice(first, rows - first - below(60))
            }
            1 => Step::Pad(below(9), below(9)),
            2 => Step::Backwards,
            3 => Step::Stencil,
            _ => Step::Before,
        };
        rows = match step {
            Step::Slice(_, length) => length,
            Step::Pad(before, after) => rows + before + after,
            _ => rows,
        };
        let borders = [Border::Constant(3.0), Border::Replicate, Border::Reflect, Border::Reflect101];
        steps.push((step, borders[below(4)]));
    }
    (steps, rows)
}

/// Whatever stands above whatever: the bits of the whole, in bands that are read where they are wanted.
#[test]
fn chains_of_all_of_them() {
    let values = picture();
    let tensor = Tensor::<f32, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<f32, (Y, X)>::new(&source, SHAPE).unwrap();
    let mut random = Random(85);
    let mut elsewhere = 0;
    for round in 0..60 {
        let (steps, rows) = chain(&mut random, SHAPE[0]);
        let expression = fuse(|x: In<f32, (Y, X)>| {
            let applied = steps.iter().fold(x + coordinate::<Y>().to::<f32>(), |x, (step, border)| match step {
                Step::Slice(first, length) => x.slice::<Y>(*first, *length),
                Step::Pad(before, after) => x.pad::<Y>(*before, *after, *border),
                Step::Backwards => x.reverse::<Y>(),
                Step::Stencil => x.correlate::<Y, X>([[1.0f32], [0.0], [3.0], [0.0], [-2.0], [1.0], [0.0]], *border),
                Step::Before => x.at_border::<Y, _>(coordinate::<Y>() - 2, *border),
            });
            applied.store::<(Y, X)>()
        });
        let whole = expression.call(&tensor).unwrap().to_vec().unwrap();
        let mut result = Array2::from_elem([rows, SHAPE[1]], 7.5f32);
        let sink = MemorySink::new(result.view_mut());
        let of = Evaluation::new(&expression, (&x,), &[&sink]).unwrap().along::<Y>().unwrap();
        let budget = 6 << 10;
        let plan = of.plan(budget).unwrap();
        assert!(plan.count() > 2 && plan.bytes_once == 0, "{round} {steps:?}: {plan:?}");
        elsewhere += usize::from(plan.elsewhere);
        evaluate_on_host(&Budget::new(Memory::Host, budget), &of, Control::default()).unwrap();
        drop(of);
        Box::new(sink).commit().unwrap();
        Bits::assert_same(result.as_slice().unwrap(), &whole, &format!("{round} {steps:?}"));
    }
    assert!(elsewhere > 40, "{elsewhere}");
}
