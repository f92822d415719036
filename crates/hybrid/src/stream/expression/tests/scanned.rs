//! Scans along the dimension that is cut: what stands before a band, and then the band.

use super::folded::in_bands_of;
use super::*;
use crate::budget::{Budget, Memory};
use crate::stream::expression::evaluate_on_host;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

const LENGTH: usize = 5003;

/// Values upto each one, made one.
fn upto<T: Copy>(values: &[T], both: impl Fn(T, T) -> T) -> Vec<T> {
    let mut upto = values.to_vec();
    (1..upto.len()).for_each(|i| upto[i] = both(upto[i - 1], upto[i]));
    upto
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
fn sums_products_and_extremes_upto_each_value() {
    let values = Random(31).of(LENGTH, Random::unit);
    let shape = [LENGTH, 1];
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y,)>::new(&source, [LENGTH]).unwrap();
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let sums = upto(&wide, |a, b| a + b);
    let most = sums.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    let of_sum = fuse(|x: In<f32, (Y,)>| x.cumsum::<Y>().store::<(Y,)>());
    in_bands_of(4 << 10, shape, f32::NAN, is_near(&sums, 2e-6 * most), |sink, run| {
        let of = Evaluation::new(&of_sum, (&x,), &[sink]).unwrap();
        assert_eq!(of.dimension(), Some("Y"));
        run(&of);
    });
    let largest = upto(&wide, f64::max);
    let of_largest = fuse(|x: In<f32, (Y,)>| x.cummax::<Y>().store::<(Y,)>());
    in_bands_of(4 << 10, shape, f32::NAN, is_near(&largest, 0.0), |sink, run| {
        run(&Evaluation::new(&of_largest, (&x,), &[sink]).unwrap());
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
    let (once, add) = (upto(&values, |a, b| a + b), |a: i64, b: i64| a + b);
    let twice = upto(&once, add);
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
