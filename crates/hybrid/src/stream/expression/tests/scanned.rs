//! Scans along the dimension that is cut: what stands before a band, and then the band.

use super::folded::in_bands_of;
use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const LENGTH: usize = 5003;

/// Values up to each one, made one.
fn prefix<T: Copy>(values: &[T], both: impl Fn(T, T) -> T) -> Vec<T> {
    let mut prefix = values.to_vec();
    (1..prefix.len()).for_each(|i| prefix[i] = both(prefix[i - 1], prefix[i]));
    prefix
}

fn is_near<'e>(expected: &'e [f64], error: f64) -> impl Fn(&[f32], &str) + 'e {
    move |got, what| {
        for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
            assert!((f64::from(*got) - expected).abs() <= error, "{what}: {i}: {got} {expected}");
        }
    }
}

/// One dimension, which there is no other beside.
#[test]
fn sums_and_extremes_up_to_each_value() {
    let values = Random(31).of(LENGTH, Random::unit);
    let shape = [LENGTH, 1];
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y,)>::new(&source, [LENGTH]).unwrap();
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let sums = prefix(&wide, |a, b| a + b);
    let most = sums.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    let of_sum = fuse(|x: In<f32, (Y,)>| x.cumsum::<Y>().store::<(Y,)>());
    in_bands_of(4 << 10, shape, f32::NAN, is_near(&sums, 2e-6 * most), |sink, run| {
        let of = Evaluation::new(&of_sum, (&x,), &[sink]).unwrap();
        assert_eq!(of.dimension(), Some("Y"));
        run(&of);
    });
    let largest = prefix(&wide, f64::max);
    let of_largest = fuse(|x: In<f32, (Y,)>| x.cummax::<Y>().store::<(Y,)>());
    in_bands_of(4 << 10, shape, f32::NAN, is_near(&largest, 0.0), |sink, run| {
        run(&Evaluation::new(&of_largest, (&x,), &[sink]).unwrap());
    });
    let least = prefix(&wide, f64::min);
    let of_least = fuse(|x: In<f32, (Y,)>| x.cummin::<Y>().store::<(Y,)>());
    in_bands_of(4 << 10, shape, f32::NAN, is_near(&least, 0.0), |sink, run| {
        run(&Evaluation::new(&of_least, (&x,), &[sink]).unwrap());
    });
    // Beside the values themselves, their coordinates and how many there are.
    let mean: Vec<f64> = sums.iter().zip(&wide).enumerate().map(|(i, (sum, x))| x - sum / (i + 1) as f64).collect();
    let of_mean = fuse(|x: In<f32, (Y,)>| (x - x.cumsum::<Y>() / (coordinate::<Y>() + 1).to::<f32>()).store::<(Y,)>());
    in_bands_of(8 << 10, shape, f32::NAN, is_near(&mean, 1e-5), |sink, run| {
        run(&Evaluation::new(&of_mean, (&x,), &[sink]).unwrap());
    });
}

/// Scans of scans need what stands before a band of the inner one for the outer one's totals; integers are exact.
#[test]
fn scans_one_inside_the_other_and_below_reductions() {
    let values: Vec<i64> = Random(32).of(LENGTH, |random| random.next() as i64 % 1000 - 500);
    let shape = [LENGTH, 1];
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<i64, (Y,)>::new(&source, [LENGTH]).unwrap();
    let (once, add) = (prefix(&values, |a, b| a + b), |a: i64, b: i64| a + b);
    let twice = prefix(&once, add);
    let of_twice = fuse(|x: In<i64, (Y,)>| (x.cumsum::<Y>().cumsum::<Y>() - x).store::<(Y,)>());
    let expected: Vec<i64> = twice.iter().zip(&values).map(|(a, b)| a - b).collect();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &expected, what);
    in_bands_of(16 << 10, shape, -7i64, check, |sink, run| run(&Evaluation::new(&of_twice, (&x,), &[sink]).unwrap()));
    let highest = *once.iter().max().unwrap();
    let of_highest = fuse(|x: In<i64, (Y,)>| x.cumsum::<Y>().maximum::<Y>().store::<()>());
    let check = |got: &[i64], what: &str| assert_eq!(got, [highest], "{what}");
    in_bands_of(8 << 10, [1, 1], -7i64, check, |sink, run| run(&Evaluation::new(&of_highest, (&x,), &[sink]).unwrap()));
}

/// Along both dimensions: no other one is free. What fits is one band, with the bits of the whole.
#[test]
fn an_integral_of_a_picture() {
    let shape = [157, 33];
    let values = Random(33).of(shape[0] * shape[1], Random::unit);
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let integral = fuse(|x: In<f32, (Y, X)>| {
        (x.cumsum::<Y>().cumsum::<X>() - x.box_filter::<Y, X>(1, 3, Border::Reflect)).store::<(Y, X)>()
    });
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let whole = integral.call(&tensor).unwrap().to_vec().unwrap();
    let expected: Vec<f64> = whole.iter().map(|x| f64::from(*x)).collect();
    let most = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    in_bands_of(24 << 10, shape, f32::NAN, is_near(&expected, 1e-5 * most), |sink, run| {
        let of = Evaluation::new(&integral, (&x,), &[sink]).unwrap();
        assert_eq!(of.plan(24 << 10).unwrap().bytes_before, 8 * 33);
        run(&of);
    });
    let mut result = Array2::from_elem(shape, f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let of = Evaluation::new(&integral, (&x,), &[&sink]).unwrap();
    assert_eq!(of.plan(1 << 20).unwrap().count(), 1);
    evaluate_on_host(&Budget::new(Memory::Host, 1 << 20), &of, Control::default()).unwrap();
    drop(of);
    Box::new(sink).commit().unwrap();
    Bits::assert_same(result.as_slice().unwrap(), &whole, "one band");
}

/// What is no number stays so from its band on, and halves are summed as the whole is.
#[test]
fn what_is_no_number_and_halves() {
    let shape = [LENGTH, 1];
    let mut values = Random(34).of(LENGTH, Random::unit);
    values[2000] = f32::NAN;
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y,)>::new(&source, [LENGTH]).unwrap();
    let sums = fuse(|x: In<f32, (Y,)>| x.cumsum::<Y>().store::<(Y,)>());
    let least = fuse(|x: In<f32, (Y,)>| x.cummin::<Y>().store::<(Y,)>());
    let largest = fuse(|x: In<f32, (Y,)>| x.cummax::<Y>().store::<(Y,)>());
    for expression in [&sums, &least, &largest] {
        let check = |got: &[f32], what: &str| {
            assert_eq!(got.iter().position(|x| x.is_nan()), Some(2000), "{what}");
            assert!(got[2000..].iter().all(|x| x.is_nan()), "{what}");
        };
        in_bands_of(4 << 10, shape, 0.0f32, check, |sink, run| {
            run(&Evaluation::new(expression, (&x,), &[sink]).unwrap());
        });
    }
    let halves: Vec<f16> = Random(35).of(LENGTH, |random| f16::from_f32(random.unit()));
    let source = MemorySource::new(matrix(&halves, shape));
    let x = Array::<f16, (Y,)>::new(&source, [LENGTH]).unwrap();
    let of_halves = fuse(|x: In<f16, (Y,)>| (x.cumsum::<Y>() + x.cummax::<Y>().to::<f32>()).store::<(Y,)>());
    let wide: Vec<f64> = halves.iter().map(|x| f64::from(x.to_f32())).collect();
    let (sums, largest) = (prefix(&wide, |a, b| a + b), prefix(&wide, f64::max));
    let expected: Vec<f64> = sums.iter().zip(&largest).map(|(a, b)| a + b).collect();
    let most = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    in_bands_of(8 << 10, shape, f32::NAN, is_near(&expected, 2e-6 * most), |sink, run| {
        run(&Evaluation::new(&of_halves, (&x,), &[sink]).unwrap());
    });
}

/// Integers wrap, as those of the whole do; products of floats are refused.
#[test]
fn products_integers_that_wrap_and_what_is_refused() {
    let shape = [LENGTH, 1];
    let values: Vec<i64> = Random(36).of(LENGTH, |random| (random.next() << 32 | random.next()) as i64 | 1);
    let source = MemorySource::new(matrix(&values, shape));
    let n = Array::<i64, (Y,)>::new(&source, [LENGTH]).unwrap();
    let (sums, products) = (prefix(&values, i64::wrapping_add), prefix(&values, i64::wrapping_mul));
    let of_sum = fuse(|n: In<i64, (Y,)>| n.cumsum::<Y>().store::<(Y,)>());
    let of_product = fuse(|n: In<i64, (Y,)>| n.cumprod::<Y>().store::<(Y,)>());
    for (expression, expected) in [(&of_sum, &sums), (&of_product, &products)] {
        let check = |got: &[i64], what: &str| Bits::assert_same(got, expected, what);
        in_bands_of(8 << 10, shape, -7i64, check, |sink, run| {
            run(&Evaluation::new(expression, (&n,), &[sink]).unwrap());
        });
    }
    let factors = vec![1.5f32; LENGTH];
    let source = MemorySource::new(matrix(&factors, shape));
    let x = Array::<f32, (Y,)>::new(&source, [LENGTH]).unwrap();
    let product = fuse(|x: In<f32, (Y,)>| x.cumprod::<Y>().store::<(Y,)>());
    let mut result = Array2::from_elem(shape, f32::NAN);
    let sink = MemorySink::new(result.view_mut());
    let of = Evaluation::new(&product, (&x,), &[&sink]).unwrap();
    let error = of.plan(8 << 10).unwrap_err();
    let words = "products of floats";
    assert!(matches!(error, Error::Uncut { dimension: "Y", .. }) && error.to_string().contains(words), "{error}");
    assert_eq!(of.plan(1 << 20).unwrap().count(), 1, "what fits is one band");
}

/// More scans than a launch has results are found in several passes; one of them scans what two others do.
#[test]
fn many_scans() {
    let shape = [LENGTH, 1];
    let values: Vec<i64> = Random(38).of(LENGTH, |random| random.next() as i64 % 1000 - 500);
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<i64, (Y,)>::new(&source, [LENGTH]).unwrap();
    let tensor = Tensor::<i64, (Y,)>::from_vec([LENGTH], values.clone()).unwrap();
    let many = fuse(|x: In<i64, (Y,)>| {
        let sums = x.cumsum::<Y>() + x.abs().cumsum::<Y>() * 3 + (x * x).cumsum::<Y>();
        let ends = x.cummax::<Y>() - x.cummin::<Y>() * 2 + (x * 3).cumprod::<Y>();
        (sums.cumsum::<Y>() ^ ends).store::<(Y,)>()
    });
    let whole = many.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &whole, what);
    in_bands_of(24 << 10, shape, -7i64, check, |sink, run| {
        let of = Evaluation::new(&many, (&x,), &[sink]).unwrap();
        let (plan, bytes) = (of.plan(24 << 10).unwrap(), 8 * LENGTH as u128);
        // Seven scans in two passes, and the three that the last one scans before its own totals.
        assert!(plan.others.to_gpu >= 3 * bytes && plan.others.to_gpu < 4 * bytes, "{plan:?}");
        run(&of);
    });
}

/// Several results of the same passes; and another dimension than the one that would have been cut, along which something counts.
#[test]
fn two_results_and_a_dimension_of_ones_choice() {
    let shape = [157, 33];
    let values: Vec<i64> = Random(37).of(shape[0] * shape[1], |random| random.next() as i64 % 1000 - 500);
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<i64, (Y, X)>::new(&source, shape).unwrap();
    let tensor = Tensor::<i64, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let both = fuse(|x: In<i64, (Y, X)>| {
        let integral = x.cumsum::<Y>().cumsum::<X>();
        (integral.store::<(Y, X)>(), integral.maximum::<X>().store::<(Y,)>())
    });
    let (one, two) = both.call(&tensor).unwrap();
    let (one, two) = (one.to_vec().unwrap(), two.to_vec().unwrap());
    let (mut first, mut second) = (Array2::from_elem(shape, -7i64), Array2::from_elem([1, shape[0]], -7i64));
    let (a, b) = (MemorySink::new(first.view_mut()), MemorySink::new(second.view_mut()));
    let of = Evaluation::new(&both, (&x,), &[&a, &b]).unwrap();
    assert!(of.dimension() == Some("Y") && of.plan(48 << 10).unwrap().count() > 3);
    evaluate_on_host(&Budget::new(Memory::Host, 48 << 10), &of, Control::default()).unwrap();
    drop(of);
    Box::new(a).commit().unwrap();
    Box::new(b).commit().unwrap();
    Bits::assert_same(first.as_slice().unwrap(), &one, "the first");
    Bits::assert_same(second.as_slice().unwrap(), &two, "the second");
    let counted = fuse(|x: In<i64, (Y, X)>| (x.cumsum::<Y>() + coordinate::<X>().to::<i64>()).store::<(Y, X)>());
    let expected = counted.call(&tensor).unwrap().to_vec().unwrap();
    let check = |got: &[i64], what: &str| Bits::assert_same(got, &expected, what);
    in_bands_of(48 << 10, shape, -7i64, check, |sink, run| {
        let of = Evaluation::new(&counted, (&x,), &[sink]).unwrap();
        assert_eq!(of.dimension(), Some("X"));
        let of = of.along::<Y>().unwrap();
        assert_eq!(of.dimension(), Some("Y"));
        run(&of);
    });
}

/// What all bands come to is less of longer bands; and what fits at once is one band where no bands do.
#[test]
fn bands_are_as_long_as_what_they_come_to_wants() {
    let integral = fuse(|x: In<f32, (Y, X)>| x.cumsum::<Y>().cumsum::<X>().store::<(Y, X)>());
    for (rows, columns, budget, count) in [
        (30, 1_250_000, 310_000_000, 5..=10),
        (12, 3_000_000, 290_000_000, 1..=1),
        (100, 1_250_000, 700_000_000, 4..=20),
        (100, 1_250_000, 4 << 30, 34..=34),
    ] {
        let vast = cut::Vast(Extents::new(rows, columns));
        let x = Array::<f32, (Y, X)>::new(&vast, [rows, columns]).unwrap();
        let of = Evaluation::new(&integral, (&x,), &[&vast]).unwrap();
        let plan = of.plan(budget).unwrap();
        assert!(count.contains(&plan.count()), "{plan:?}");
        let error = of.plan(200_000_000).unwrap_err();
        assert!(
            matches!(error, Error::Budget { available: 200_000_000, requested, .. } if requested > 200_000_000),
            "{error}"
        );
    }
}
