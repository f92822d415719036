//! Results that are not cut along one dimension: some of them, and then others.

use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{In, coordinate};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [307, 29];

fn numbers() -> Vec<i64> {
    Random(61).of(SHAPE[0] * SHAPE[1], |random| random.next() as i64 % 1000 - 500)
}

/// What a result is expected to be, its extents, and what is there before.
pub(super) type Expected<'e, T> = (&'e [T], [usize; 2], T);

/// Computes two results in bands of the budget's.
pub(super) fn both_in_bands<A: Bits + Copy, B: Bits + Copy>(
    budget: u64,
    (one, of_one, poison_one): Expected<'_, A>,
    (two, of_two, poison_two): Expected<'_, B>,
    evaluation: impl Fn([&dyn Sink; 2], &mut dyn FnMut(&Evaluation<'_>)),
) {
    let (mut first, mut second) = (Array2::from_elem(of_one, poison_one), Array2::from_elem(of_two, poison_two));
    let (a, b) = (MemorySink::new(first.view_mut()), MemorySink::new(second.view_mut()));
    evaluation([&a, &b], &mut |of| {
        let memory = Budget::new(Memory::Host, budget);
        assert!(of.plan(budget).unwrap().count() > 3, "{:?}", of.plan(budget));
        evaluate_on_host(&memory, of, Control::default()).unwrap();
        assert!(memory.used() == 0 && memory.peak() <= budget);
    });
    Box::new(a).commit().unwrap();
    Box::new(b).commit().unwrap();
    Bits::assert_same(first.as_slice().unwrap(), one, "the first");
    Bits::assert_same(second.as_slice().unwrap(), two, "the second");
}

/// A sum, and what is left of each value: the operand is read for both sums at once, and once more.
#[test]
fn a_sum_and_what_it_is_taken_from() {
    let values = numbers();
    let source = MemorySource::new(matrix(&values, SHAPE));
    let x = Array::<i64, (Y, X)>::new(&source, SHAPE).unwrap();
    let tensor = Tensor::<i64, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap();
    let sum_first = fuse(|x: In<i64, (Y, X)>| {
        let sum = x.sum::<(Y, X)>();
        (sum.store::<()>(), (x * 307 - sum).store::<(Y, X)>())
    });
    let sum_last = fuse(|x: In<i64, (Y, X)>| {
        let sum = x.sum::<(Y, X)>();
        ((x * coordinate::<Y>().to::<i64>() - sum).store::<(Y, X)>(), (sum + x.maximum::<(Y, X)>()).store::<()>())
    });
    let (sum, off) = sum_first.call(&tensor).unwrap();
    let (sum, off) = (sum.to_vec().unwrap(), off.to_vec().unwrap());
    both_in_bands(16 << 10, (&sum, [1, 1], -7), (&off, SHAPE, -7), |sinks, run| {
        let of = Evaluation::new(&sum_first, (&x,), &sinks).unwrap();
        let (plan, bytes) = (of.plan(16 << 10).unwrap(), 8 * values.len() as u128);
        let more = plan.bytes_to_gpu() - 2 * bytes;
        assert!(more < bytes / 8, "twice, and the sums of bands: {plan:?}");
        run(&of);
    });
    let (off, both) = sum_last.call(&tensor).unwrap();
    let (off, both) = (off.to_vec().unwrap(), both.to_vec().unwrap());
    both_in_bands(16 << 10, (&off, SHAPE, -7), (&both, [1, 1], -7), |sinks, run| {
        run(&Evaluation::new(&sum_last, (&x,), &sinks).unwrap());
    });
}

/// Results over other dimensions, of other operands: each has its own.
#[test]
fn results_that_have_nothing_in_common() {
    let values = numbers();
    let others: Vec<f32> = Random(62).of(4001, Random::unit);
    let (source, line) = (MemorySource::new(matrix(&values, SHAPE)), MemorySource::new(matrix(&others, [4001, 1])));
    let x = Array::<i64, (Y, X)>::new(&source, SHAPE).unwrap();
    let k = Array::<f32, (K,)>::new(&line, [4001]).unwrap();
    let tensors = (
        Tensor::<i64, (Y, X)>::from_vec(SHAPE, values.clone()).unwrap(),
        Tensor::<f32, (K,)>::from_vec([4001], others.clone()).unwrap(),
    );
    let apart = fuse(|x: In<i64, (Y, X)>, k: In<f32, (K,)>| {
        (k.cummax::<K>().store::<(K,)>(), (x.cumsum::<Y>().cumsum::<X>() + 1).store::<(Y, X)>())
    });
    let (one, two) = apart.call(&tensors.0, &tensors.1).unwrap();
    let (one, two) = (one.to_vec().unwrap(), two.to_vec().unwrap());
    both_in_bands(24 << 10, (&one, [4001, 1], f32::NAN), (&two, SHAPE, -7), |sinks, run| {
        let of = Evaluation::new(&apart, (&x, &k), &sinks).unwrap();
        assert_eq!(of.dimension(), Some("Y"), "of what is most");
        run(&of);
    });
    // A result that lacks the dimension, of an operand of its own.
    let sums = fuse(|x: In<i64, (Y, X)>, k: In<f32, (K,)>| {
        (x.sum::<Y>().store::<(X,)>(), (k + x.maximum::<(Y, X)>().to::<f32>()).store::<(K,)>())
    });
    let (one, two) = sums.call(&tensors.0, &tensors.1).unwrap();
    let (one, two) = (one.to_vec().unwrap(), two.to_vec().unwrap());
    both_in_bands(12 << 10, (&one, [1, SHAPE[1]], -7), (&two, [4001, 1], f32::NAN), |sinks, run| {
        run(&Evaluation::new(&sums, (&x, &k), &sinks).unwrap());
    });
}
