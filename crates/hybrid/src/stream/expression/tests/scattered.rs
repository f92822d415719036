//! Values that go to computed places: results are whole, and the values of all bands meet in them.

use super::folded::in_bands_of;
use super::*;
use tilewright_expr::{Border, In, Initial, coordinate, meet};
use tilewright_ops::{Tensor, fuse};

const SHAPE: [usize; 2] = [61, 7];
const BANDS: [usize; 4] = [1, 8, 23, 61];
/// Places of results.
const LONG: usize = 11;
/// A window that is not even.
const WINDOW: [[f32; 1]; 5] = [[1.0], [2.0], [4.0], [0.0], [8.0]];

fn numbers([rows, columns]: [usize; 2]) -> Vec<f32> {
    Random(91).of(rows * columns, |random| (random.next() % 9) as f32 - 4.0)
}

/// Places of a result, and outside of it.
fn places([rows, columns]: [usize; 2]) -> Vec<i32> {
    Random(92).of(rows * columns, |random| (random.next() % (LONG as u64 + 4)) as i32 - 2)
}

/// Compares an expression of numbers and places, cut along `Y`, with that of the whole.
macro_rules! compare_scattered {
    ($held:literal: $($what:literal: $shapes:tt, $expression:expr;)*) => {{
        let (numbers, places) = (numbers(SHAPE), places(SHAPE));
        let (of_x, of_k) = (MemorySource::new(matrix(&numbers, SHAPE)), MemorySource::new(matrix(&places, SHAPE)));
        let (x, k) = (Array::<f32, (Y, X)>::new(&of_x, SHAPE).unwrap(), Array::<i32, (Y, X)>::new(&of_k, SHAPE).unwrap());
        let (all_x, all_k) = (Tensor::<f32, (Y, X)>::from_vec(SHAPE, numbers.clone()).unwrap(), Tensor::<i32, (Y, X)>::from_vec(SHAPE, places.clone()).unwrap());
        $({
            let expression = $expression;
            let expected = compare_scattered!(@whole expression.call(&all_x, &all_k).unwrap(), $shapes);
            compare_scattered!(@compare $what, expected, $shapes, |sinks| {
                let of = Evaluation::new(&expression, (&x, &k), &sinks).unwrap();
                assert_eq!((of.dimension(), of.is_scattered()), (Some("Y"), $held), "{}", $what);
                of
            });
        })*
    }};
    (@whole $call:expr, [$a:ty, $shape:expr]) => { ($call.to_vec().unwrap(),) };
    (@whole $call:expr, [$a:ty, $of_a:expr, $b:ty, $of_b:expr]) => {{
        let (a, b) = $call;
        (a.to_vec().unwrap(), b.to_vec().unwrap())
    }};
    (@compare $what:expr, $expected:ident, [$($t:ty, $shape:expr),*], |$sinks:ident| $of:expr) => {
        compare!($what, bands BANDS, $expected: [$($t, $shape),*], |$sinks| $of);
    };
}

/// Values of all bands meet in each place, by every rule.
#[test]
fn bands_meet_in_results_that_are_whole() {
    compare_scattered!(true:
        "sums": [i32, [LONG, 1]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            x.to::<i32>().scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(100)).store::<(K,)>()
        });
        "the largest of each column": [f32, [7, LONG]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            x.sqrt().scatter::<Y, K, _, _>(k, LONG, meet::Max, Initial::Filled(0.25)).store::<(X, K)>()
        });
        "bits, and the least": [i32, [1, LONG], f32, [LONG, 1]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let bits = k.scatter::<(Y, X), K, _, _>(k, LONG, meet::Xor, Initial::Filled(5));
            let least = x.scatter::<(Y, X), K, _, _>(k, LONG, meet::Min, Initial::Held(3.0));
            (bits.store::<(K,)>(), least.store::<(K,)>())
        });
        "a histogram": [i64, [LONG, 1]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            (k + x.to::<i32>()).histogram::<(Y, X), K>(LONG).store::<(K,)>()
        });
        "weights by column": [i64, [7, LONG]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            k.weighted_histogram::<Y, K, _, _>(LONG, x.to::<i32>()).store::<(X, K)>()
        });
    );
}

/// Coordinates, and lengths, are those of the whole.
#[test]
fn places_are_counted_from_the_begin_of_the_whole() {
    compare_scattered!(true:
        "rows made one": [i32, [16, 7]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            (k + x.to::<i32>()).scatter::<Y, K, _, _>(coordinate::<Y>() / 4, 16, meet::Sum, Initial::Filled(0)).store::<(K, X)>()
        });
        "rows under their own name": [f32, SHAPE], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let to = 60 - coordinate::<Y>();
            (x + k.to::<f32>()).scatter::<Y, Y, _, _>(to, 61, meet::Unique, Initial::Filled(0.0)).store::<(Y, X)>()
        });
        "points": [i32, [9, 9]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let to = (coordinate::<Y>() / 7, k);
            x.to::<i32>().scatter_point::<(Y, X), Y, X, _, _, _>(to, (9, 9), meet::Sum, Initial::Filled(-1)).store::<(Y, X)>()
        });
    );
}

/// Windows have values that other bands scatter: each is scattered once.
#[test]
fn values_of_margins_are_scattered_once() {
    compare_scattered!(true:
        "beside the ends": [i32, [LONG, 1]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let low = x.correlate::<Y, X>(WINDOW, Border::Replicate).to::<i32>();
            low.scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(0)).store::<(K,)>()
        });
        "around": [i32, [LONG, 7]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let low = (x + coordinate::<Y>().to::<f32>()).correlate::<Y, X>(WINDOW, Border::Wrap).to::<i32>();
            low.scatter::<Y, K, _, _>(k, LONG, meet::Sum, Initial::Filled(0)).store::<(K, X)>()
        });
        "places": [i64, [LONG, 1]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let low = x.correlate::<Y, X>(WINDOW, Border::Reflect101).to::<i32>() / 8 + k / 2;
            low.histogram::<(Y, X), K>(LONG).store::<(K,)>()
        });
    );
}

/// A result that has the dimension is cut along it, its values being scattered along another one; what is stored under a condition is one of those.
#[test]
fn results_that_keep_the_dimension_are_cut() {
    compare_scattered!(false:
        "each row": [i32, [61, LONG]], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            (x.to::<i32>() + coordinate::<Y>()).scatter::<X, K, _, _>(k, LONG, meet::Sum, Initial::Filled(7)).store::<(Y, K)>()
        });
        "each row, beside a row": [i32, [61, LONG], f32, SHAPE], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            let low = x.correlate::<Y, X>(WINDOW, Border::Reflect);
            (low.to::<i32>().scatter::<X, K, _, _>(k, LONG, meet::Sum, Initial::Filled(7)).store::<(Y, K)>(), low.store::<(Y, X)>())
        });
        "where it holds": [f32, SHAPE], fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
            (x * 2.0).store_where::<(Y, X), _>(k.gt(3), -1.0)
        });
    );
}

/// What is scattered may be scanned, or read anywhere, and needs all of its operand first.
#[test]
fn in_steps() {
    let shape = [421, 5];
    let (numbers, places) = (numbers(shape), places(shape));
    let (of_x, of_k) = (MemorySource::new(matrix(&numbers, shape)), MemorySource::new(matrix(&places, shape)));
    let (x, k) = (Array::<f32, (Y, X)>::new(&of_x, shape).unwrap(), Array::<i32, (Y, X)>::new(&of_k, shape).unwrap());
    let (all_x, all_k) = (
        Tensor::<f32, (Y, X)>::from_vec(shape, numbers.clone()).unwrap(),
        Tensor::<i32, (Y, X)>::from_vec(shape, places.clone()).unwrap(),
    );
    let scanned = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        x.cumsum::<Y>().to::<i32>().scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>()
    });
    let beside = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        let low = x.cumsum::<Y>().correlate::<Y, X>(WINDOW, Border::Replicate).to::<i32>();
        low.scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>()
    });
    let backwards = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        let values = x.reverse::<Y>().to::<i32>() + coordinate::<Y>();
        values.scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>()
    });
    let sliced = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        let values = x.slice::<Y>(17, 400).to::<i32>();
        values.scatter::<(Y, X), K, _, _>(k.slice::<Y>(3, 400), LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>()
    });
    let less = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        let values = (x - x.maximum::<(Y, X)>()).to::<i32>();
        values.scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>()
    });
    for (name, expression) in
        [("scanned", scanned), ("beside", beside), ("backwards", backwards), ("sliced", sliced), ("less", less)]
    {
        let whole = expression.call(&all_x, &all_k).unwrap().to_vec().unwrap();
        let check = |got: &[i32], what: &str| Bits::assert_same(got, &whole, &format!("{name}, {what}"));
        in_bands_of(4 << 10, [LONG, 1], -7, check, |sink, run| {
            let of = Evaluation::new(&expression, (&x, &k), &[sink]).unwrap();
            // What is reduced first has a plan of that.
            let of = if name == "less" { of } else { of.along::<Y>().unwrap() };
            let plan = of.plan(4 << 10).unwrap();
            assert!(plan.bytes_scattered > 0 || name == "less" && plan.bytes_folded > 0, "{name}: {plan:?}");
            run(&of);
        });
    }
}

/// Counts, and what else there is of each value: one after the other.
#[test]
fn beside_results_that_are_not() {
    let (numbers, places) = (numbers(SHAPE), places(SHAPE));
    let (of_x, of_k) = (MemorySource::new(matrix(&numbers, SHAPE)), MemorySource::new(matrix(&places, SHAPE)));
    let (x, k) = (Array::<f32, (Y, X)>::new(&of_x, SHAPE).unwrap(), Array::<i32, (Y, X)>::new(&of_k, SHAPE).unwrap());
    let both = fuse(|x: In<f32, (Y, X)>, k: In<i32, (Y, X)>| {
        (k.histogram::<(Y, X), K>(LONG).store::<(K,)>(), (x + k.to::<f32>()).store::<(Y, X)>())
    });
    let whole = (
        Tensor::<f32, (Y, X)>::from_vec(SHAPE, numbers.clone()).unwrap(),
        Tensor::<i32, (Y, X)>::from_vec(SHAPE, places.clone()).unwrap(),
    );
    let (counts, sums) = both.call(&whole.0, &whole.1).unwrap();
    let (counts, sums) = (counts.to_vec().unwrap(), sums.to_vec().unwrap());
    super::apart::both_in_bands(1 << 10, (&counts, [LONG, 1], -7), (&sums, SHAPE, f32::NAN), |sinks, run| {
        run(&Evaluation::new(&both, (&x, &k), &sinks).unwrap());
    });
}

/// Results of nothing have their first values.
#[test]
fn of_no_values() {
    let source = MemorySource::new(matrix(&[] as &[i32], [0, 7]));
    let k = Array::<i32, (Y, X)>::new(&source, [0, 7]).unwrap();
    let counts =
        fuse(|k: In<i32, (Y, X)>| k.scatter::<(Y, X), K, _, _>(k, LONG, meet::Sum, Initial::Filled(3)).store::<(K,)>());
    let mut result = Array2::from_elem([LONG, 1], -7);
    let sink = MemorySink::new(result.view_mut());
    let of = Evaluation::new(&counts, (&k,), &[&sink]).unwrap();
    run_on_host(&of, &of.plan(u64::MAX).unwrap(), (2, true), Control::default()).unwrap();
    drop(of);
    Box::new(sink).commit().unwrap();
    assert!(result.iter().all(|count| *count == 3), "{result}");
}
