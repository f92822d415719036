//! G13: integer products, exactly.

use super::numbers::Random;
use super::places;
use ndarray::{Array2, s};
use tilewright_hybrid::linear::{Overflow, Place, matmul_integer};
use tilewright_hybrid::{Error, MatRef};

fn bytes(seed: u64, rows: usize, columns: usize) -> Array2<i8> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((rows, columns), || random.bits() as i8)
}

fn words(seed: u64, rows: usize, columns: usize) -> Array2<i32> {
    let mut random = Random::new(seed);
    Array2::from_shape_simple_fn((rows, columns), || random.bits() as i32)
}

fn exact<T: Copy + Into<i128>>(a: &Array2<T>, b: &Array2<T>) -> Array2<i128> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols()).map(|k| a[[i, k]].into() * b[[k, j]].into()).sum()
    })
}

#[test]
fn g13_i8_into_i32() {
    places::each("linear::integers::g13_i8_into_i32", |place| {
        for (m, k, n) in [(1, 1, 1), (5, 0, 3), (0, 2, 1), (17, 33, 9), (64, 1000, 31), (3, 129, 130)] {
            let (a, b) = (bytes(1, m, k), bytes(2, k, n));
            let mut c = Array2::from_elem((m, n), 77);
            matmul_integer(place, Overflow::Error, (&a).into(), (&b).into(), (&mut c).into()).unwrap();
            assert_eq!(c.mapv(i128::from), exact(&a, &b), "{m} {k} {n}");
            // Views: transposed, reversed, every second element.
            let (a_stored, b_long) = (a.t().to_owned(), bytes(3, 2 * k, n));
            let b_view = b_long.slice(s![..;-2, ..]);
            let mut c = Array2::from_elem((m, 2 * n), 77);
            let mut half = c.slice_mut(s![.., ..;2]);
            matmul_integer(place, Overflow::Wrap, MatRef::from(&a_stored).t(), (&b_view).into(), (&mut half).into())
                .unwrap();
            assert_eq!(half.mapv(i128::from), exact(&a, &b_view.to_owned()), "{m} {k} {n}");
        }
    });
}

/// On the CPU f32 holds sums of 1024 products, and parts of the result are multiplied one after the other: at the edges of both.
#[test]
fn g13_i8_in_parts_on_the_cpu() {
    let multiply = |a: &Array2<i8>, b: &Array2<i8>| {
        let mut c = Array2::from_elem((a.nrows(), b.ncols()), 77);
        matmul_integer(&Place::Cpu, Overflow::Error, a.into(), b.into(), (&mut c).into()).map(|()| c)
    };
    for depth in [1023, 1024, 1025, 2049, 5000] {
        for ([x, y], size) in [[-128, -128], [-128, 127], [127, 127]].into_iter().flat_map(|xy| [(xy, 2), (xy, 40)]) {
            let c = multiply(&Array2::from_elem((size, depth), x), &Array2::from_elem((depth, size), y)).unwrap();
            assert!(c.iter().all(|sum| *sum == depth as i32 * i32::from(x) * i32::from(y)), "{depth} {x} {y}");
        }
    }
    for (m, k, n) in [(4097, 3, 2), (5, 3, 1025), (4100, 2, 1030), (31, 40, 33), (32, 40, 33)] {
        let (a, b) = (bytes(1, m, k), bytes(2, k, n));
        assert_eq!(multiply(&a, &b).unwrap().mapv(i128::from), exact(&a, &b), "{m} {k} {n}");
    }
    // The first sum that overflows, in the order of columns, is not in the first part. Without optimisation that takes a minute.
    if cfg!(debug_assertions) {
        return;
    }
    let (mut a, mut b) = (Array2::from_elem((4100, 131_072), 0), Array2::from_elem((131_072, 2), 0));
    a.row_mut(4098).fill(-128);
    a.row_mut(7).fill(-128);
    b.column_mut(1).fill(-128);
    let error = multiply(&a, &b).unwrap_err();
    assert!(matches!(error, Error::Overflow { row: 7, column: 1, .. }), "{error}");
    a.row_mut(7).fill(1);
    let error = multiply(&a, &b).unwrap_err();
    assert!(matches!(error, Error::Overflow { row: 4098, column: 1, .. }), "{error}");
}

/// Beyond 131,071 products of -128 * -128 an i32 overflows: one before, and at it.
#[test]
fn g13_overflow_of_i32() {
    let least = |k| Array2::from_elem((1, k), -128_i8);
    let run = |overflow, k| {
        let (a, mut c) = (least(k), Array2::from_elem((1, 1), 5));
        let done = matmul_integer(&Place::Cpu, overflow, (&a).into(), MatRef::from(&a).t(), (&mut c).into());
        done.map(|()| c[[0, 0]]).map_err(|error| (error, c[[0, 0]]))
    };
    for overflow in [Overflow::Wrap, Overflow::Saturate, Overflow::Error] {
        assert_eq!(run(overflow, 131_071).unwrap(), 131_071 * 16_384);
    }
    assert_eq!(run(Overflow::Wrap, 131_072).unwrap(), i32::MIN);
    assert_eq!(run(Overflow::Saturate, 131_072).unwrap(), i32::MAX);
    let (error, untouched) = run(Overflow::Error, 131_072).unwrap_err();
    assert!(matches!(error, Error::Overflow { element: "i32", row: 0, column: 0, .. }), "{error}");
    assert_eq!(untouched, 5);
}

#[test]
fn g13_i32_into_i64() {
    for (m, k, n) in [(1, 1, 1), (4, 0, 3), (9, 100, 11), (31, 7, 5)] {
        let (a, b) = (words(1, m, k), words(2, k, n));
        let truth = exact(&a, &b);
        let run = |overflow| {
            let mut c = Array2::from_elem((m, n), 1_i64);
            matmul_integer(&Place::Cpu, overflow, (&a).into(), (&b).into(), (&mut c).into()).map(|()| c)
        };
        assert_eq!(run(Overflow::Wrap).unwrap(), truth.mapv(|x| x as i64));
        let clamped = truth.mapv(|x| x.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
        assert_eq!(run(Overflow::Saturate).unwrap(), clamped);
        let beyond = |x: &i128| i64::try_from(*x).is_err();
        assert_eq!(run(Overflow::Error).is_err(), truth.iter().any(beyond));
    }
    // The first in the order of columns, with its place.
    let mut a = Array2::from_elem((3, 2), 1_i32);
    a.row_mut(2).fill(i32::MIN);
    let b = ndarray::arr2(&[[1, i32::MIN], [1, i32::MIN]]);
    let mut c = Array2::zeros((3, 2));
    let error = matmul_integer(&Place::Cpu, Overflow::Error, (&a).into(), (&b).into(), (&mut c).into()).unwrap_err();
    assert!(matches!(error, Error::Overflow { element: "i64", row: 2, column: 1, .. }), "{error}");
    assert!(c.iter().all(|x| *x == 0), "nothing is written");
}
