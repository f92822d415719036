//! Results whose parts stand one after the other along the dimension that is cut: each goes into its section of the sink.

use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{Border, In, concatenate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [307, 6];
const BUDGET: u64 = 6 << 10;

fn numbers() -> Vec<i64> {
    Random(91).of(SHAPE[0] * SHAPE[1], |random| random.next() as i64 % 1000 - 500)
}

/// Computes a result in bands of the budget's, whose plan says what all parts copy.
fn check(shape: [usize; 2], whole: &[i64], evaluation: impl Fn(&dyn Sink, &mut dyn FnMut(&Evaluation<'_>))) {
    let mut result = Array2::from_elem(shape, -7i64);
    let sink = MemorySink::new(result.view_mut());
    evaluation(&sink, &mut |of| {
        let plan = of.plan(BUDGET).unwrap();
        assert!(plan.count() as u128 + plan.others.bands > 6, "{plan:?}");
        let memory = Budget::new(Memory::Host, BUDGET);
        evaluate_on_host(&memory, of, Control::default()).unwrap();
        assert!(memory.used() == 0 && (1..=BUDGET).contains(&memory.peak()));
    });
    Box::new(sink).commit().unwrap();
    Bits::assert_same(result.as_slice().unwrap(), whole, "parts");
}

#[test]
fn parts_one_after_the_other() {
    let values = numbers();
    let tensor = Tensor::<i64, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<i64, (Y, X)>::new(&source, SHAPE).unwrap();
    // Of all kinds: as it is, sliced and backwards, scanned, one row that is a sum, and beyond a border.
    let parts = fuse(|x: In<i64, (Y, X)>| {
        let back = x.slice::<Y>(3, 200).reverse::<Y>();
        let beyond = x.pad::<Y>(2, 5, Border::Reflect);
        concatenate::<Y, _>((x * 2, back, x.cumsum::<Y>(), x.sum::<Y>(), beyond)).store::<(Y, X)>()
    });
    let whole = parts.call(&tensor).unwrap().to_vec().unwrap();
    let rows = whole.len() / SHAPE[1];
    assert_eq!(rows, 307 + 200 + 307 + 1 + 314);
    check([rows, SHAPE[1]], &whole, |sink, run| {
        run(&Evaluation::new(&parts, (&x,), &[sink]).unwrap().along::<Y>().unwrap());
    });
    // Along an inner dimension, where each part is a range of columns.
    let beside = fuse(|x: In<i64, (Y, X)>| concatenate::<X, _>((x, x.reverse::<X>() - 1)).store::<(Y, X)>());
    let wide = [6, 307];
    let tensor = Tensor::<i64, (Y, X)>::from_vec(wide, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, wide));
    let x = Array::<i64, (Y, X)>::new(&source, wide).unwrap();
    let whole = beside.call(&tensor).unwrap().to_vec().unwrap();
    check([6, 614], &whole, |sink, run| {
        run(&Evaluation::new(&beside, (&x,), &[sink]).unwrap().along::<X>().unwrap());
    });
}

/// Lines have no other dimension; beside another result that is whole.
#[test]
fn parts_of_lines_and_another_result() {
    let values = numbers();
    let length = values.len();
    let tensor = Tensor::<i64, (Y,)>::from_vec([length], values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, [length, 1]));
    let x = Array::<i64, (Y,)>::new(&source, [length]).unwrap();
    let both = fuse(|x: In<i64, (Y,)>| {
        (concatenate::<Y, _>([x, x.reverse::<Y>(), x - 1]).store::<(Y,)>(), x.maximum::<Y>().store::<()>())
    });
    let (one, two) = both.call(&tensor).unwrap();
    let (one, two) = (one.to_vec().unwrap(), two.to_vec().unwrap());
    let mut largest = Array2::from_elem([1, 1], -7i64);
    let other = MemorySink::new(largest.view_mut());
    check([one.len(), 1], &one, |sink, run| run(&Evaluation::new(&both, (&x,), &[sink, &other]).unwrap()));
    Box::new(other).commit().unwrap();
    Bits::assert_same(largest.as_slice().unwrap(), &two, "the largest");
}
