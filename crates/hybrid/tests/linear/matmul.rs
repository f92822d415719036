//! Products of floats.

use super::layouts::{FORMS, Form, LAYOUTS, Layout, Stored};
use super::numbers::random;
use super::places;
use super::reference::{exact, wide};
use half::{bf16, f16};
use ndarray::{Array1, Array2, s};
use tilewright_hybrid::linear::{Multiply, Place, Precision, Scalar, matmul, matmul_batched, matvec, outer, product};
use tilewright_hybrid::{ColumnStride, Columns, Complex32, Complex64, Error, MatMut, MatRef, RowStride, Rows, Shape};

/// Whether `c` is `alpha a b + beta c0` within `(k + 4) epsilon |a| |b|`, element by element.
pub(super) fn assert_product<T: Scalar>(
    what: &dyn std::fmt::Debug,
    (alpha, a, b): (T, &Array2<T>, &Array2<T>),
    (beta, before): (T, &Array2<T>),
    c: &Array2<T>,
) {
    let depth = a.ncols();
    assert_eq!(c.dim(), (a.nrows(), b.ncols()));
    let (a, b) = (wide(a), wide(b));
    let (product, sizes) = (exact::product(&a, &b), exact::product_of_sizes(&a, &b));
    for ((i, j), got) in c.indexed_iter() {
        let mut expected = alpha.wide() * product[[i, j]];
        let mut size = sizes[[i, j]] * alpha.modulus();
        if beta != T::ZERO {
            expected += beta.wide() * before[[i, j]].wide();
            size += (beta.wide() * before[[i, j]].wide()).norm();
        }
        let bound = (depth + 4) as f64 * T::EPSILON * size;
        let error = (got.wide() - expected).norm();
        assert!(error <= bound, "{what:?} at ({i}, {j}): {got:?} for {expected}, {error:e} > {bound:e}");
    }
}

fn pairs_of_layouts<T: Scalar + Multiply<Factor = T>>(place: &Place) {
    let (m, k, n) = (13, 10, 7);
    let (a, b, c) = (random::<T>(1, m, k), random::<T>(2, k, n), random::<T>(3, m, n));
    let (alpha, beta) = (T::nearest(Complex64::new(0.5, -1.25)), T::nearest(Complex64::new(-0.75, 0.5)));
    for (at, (form_a, form_b)) in FORMS.iter().flat_map(|a| FORMS.map(|b| (*a, b))).enumerate() {
        for (layout_a, layout_b) in LAYOUTS.iter().flat_map(|a| LAYOUTS.map(|b| (*a, b))) {
            let stored_a = Stored::new(layout_a, &form_a.undone(&a));
            let stored_b = Stored::new(layout_b, &form_b.undone(&b));
            let layout_c = LAYOUTS[at % LAYOUTS.len()];
            let mut stored_c = Stored::new(layout_c, &c);
            let (view_a, view_b) = (stored_a.view(), stored_b.view());
            let (matrix_a, matrix_b) = (form_a.of((&view_a).into()), form_b.of((&view_b).into()));
            let mut view_c = stored_c.view_mut();
            matmul(place, Precision::Auto, alpha, matrix_a, matrix_b, beta, (&mut view_c).into()).unwrap();
            let got = stored_c.view().to_owned();
            let what = (T::NAME, form_a, layout_a, form_b, layout_b, layout_c);
            assert_product(&what, (alpha, &a, &b), (beta, &c), &got);
            assert!(stored_c.is_intact_around(), "{what:?}");
        }
    }
}

/// G3: all pairs of N, T, C (and of conjugates that are not transposed), of six layouts.
#[test]
fn g3_all_pairs_of_layouts() {
    places::each("linear::matmul::g3_all_pairs_of_layouts", |place| {
        pairs_of_layouts::<f32>(place);
        pairs_of_layouts::<f64>(place);
        pairs_of_layouts::<Complex32>(place);
        pairs_of_layouts::<Complex64>(place);
    });
}

fn rectangles<T: Scalar + Multiply<Factor = T>>(place: &Place) {
    let sizes = [
        (1, 300, 1),
        (1, 1, 1),
        (90, 1, 70),
        (1, 65, 64),
        (64, 65, 1),
        (37, 61, 43),
        (67, 41, 31),
        (2, 515, 3),
        (0, 5, 4),
        (4, 5, 0),
        (3, 0, 4),
        (0, 0, 0),
        (100, 7, 101),
    ];
    for (m, k, n) in sizes {
        for forms in [(Form::Plain, Form::Plain), (Form::Adjoint, Form::Transposed), (Form::Conjugate, Form::Adjoint)] {
            let (a, b, c) = (random::<T>(4, m, k), random::<T>(5, k, n), random::<T>(6, m, n));
            let (stored_a, stored_b) = (forms.0.undone(&a), forms.1.undone(&b));
            let (matrix_a, matrix_b) = (forms.0.of((&stored_a).into()), forms.1.of((&stored_b).into()));
            let mut got = c.clone();
            let beta = T::from_f64(2.0);
            matmul(place, Precision::Auto, T::ONE, matrix_a, matrix_b, beta, (&mut got).into()).unwrap();
            assert_product(&(T::NAME, m, k, n, forms), (T::ONE, &a, &b), (beta, &c), &got);
            let new = product(place, matrix_a, matrix_b).unwrap();
            assert_product(&(T::NAME, m, k, n, forms), (T::ONE, &a, &b), (T::ZERO, &c), &new);
        }
    }
}

/// G2: vectors, primes, zero sizes.
#[test]
fn g2_rectangles() {
    places::each("linear::matmul::g2_rectangles", |place| {
        rectangles::<f32>(place);
        rectangles::<f64>(place);
        rectangles::<Complex32>(place);
        rectangles::<Complex64>(place);
    });
}

fn alpha_and_beta<T: Multiply>(place: &Place, number: fn(f64) -> T, value: fn(T) -> f64, factor: fn(f64) -> T::Factor) {
    for size in [1, 3, 40, 150] {
        let nan = Array2::from_elem((size, size), number(f64::NAN));
        let ones = Array2::from_elem((size, size), number(1.0));
        let run = |alpha, a: &Array2<T>, beta, c: &Array2<T>| {
            let mut c = c.clone();
            matmul(place, Precision::Auto, factor(alpha), a.into(), (&ones).into(), factor(beta), (&mut c).into())
                .unwrap();
            c.mapv(value)
        };
        let all = |c: Array2<f64>, expected: f64| {
            let expected = value(number(expected));
            assert!(c.iter().all(|x| *x == expected), "{} {size}: {expected}, {c:?}", T::NAME);
        };
        all(run(1.0, &ones, 0.0, &nan), size as f64);
        all(run(0.0, &nan, 0.0, &nan), 0.0);
        all(run(0.0, &nan, 3.0, &ones), 3.0);
        all(run(1.0, &ones, 1.0, &ones), size as f64 + 1.0);
        all(run(-2.0, &ones, 0.5, &ones), -2.0 * size as f64 + 0.5);
        assert!(run(1.0, &ones, 1.0, &nan).iter().all(|x| x.is_nan()), "{}", T::NAME);
        assert!(run(1.0, &nan, 0.0, &ones).iter().all(|x| x.is_nan()), "{}", T::NAME);
    }
    // Without depth the product is 0 and the rest is as always.
    let (a, b) = (Array2::from_elem((3, 0), number(1.0)), Array2::from_elem((0, 2), number(1.0)));
    let mut c = Array2::from_elem((3, 2), number(4.0));
    matmul(place, Precision::Auto, factor(1.0), (&a).into(), (&b).into(), factor(0.5), (&mut c).into()).unwrap();
    assert!(c.iter().all(|x| value(*x) == 2.0));
    c.fill(number(f64::NAN));
    matmul(place, Precision::Auto, factor(1.0), (&a).into(), (&b).into(), factor(0.0), (&mut c).into()).unwrap();
    assert!(c.iter().all(|x| value(*x) == 0.0));
}

/// G4: `beta` 0 reads no C, `alpha` 0 neither A nor B.
#[test]
fn g4_alpha_and_beta() {
    places::each("linear::matmul::g4_alpha_and_beta", |place| {
        alpha_and_beta::<f32>(place, |x| x as f32, f64::from, |x| x as f32);
        alpha_and_beta::<f64>(place, |x| x, |x| x, |x| x);
        alpha_and_beta::<Complex32>(place, Scalar::from_f64, |x| f64::from(x.re), Scalar::from_f64);
        alpha_and_beta::<Complex64>(place, Scalar::from_f64, |x| x.re, Scalar::from_f64);
        alpha_and_beta::<f16>(place, f16::from_f64, f16::to_f64, |x| x as f32);
        alpha_and_beta::<bf16>(place, bf16::from_f64, bf16::to_f64, |x| x as f32);
    });
}

/// G5: a result that lies where an operand does.
#[test]
fn g5_aliases_are_refused() {
    places::each("linear::matmul::g5_aliases_are_refused", |place| {
        let mut memory = vec![1.0_f64; 64];
        let start = memory.as_mut_ptr();
        // SAFETY: all of these lie in `memory`, of which nothing else is used meanwhile.
        let view = |offset: usize, rows, columns| unsafe {
            let shape = Shape::new(Rows(rows), Columns(columns));
            MatRef::from_raw(start.add(offset), shape, RowStride(8), ColumnStride(1))
        };
        // SAFETY: as above.
        let result = |offset: usize| unsafe {
            let shape = Shape::new(Rows(4), Columns(4));
            MatMut::from_raw(start.add(offset), shape, RowStride(8), ColumnStride(1)).unwrap()
        };
        let run = |a, b, c| matmul(place, Precision::Auto, 1.0, a, b, 0.0, c);
        let (left, right) = (view(0, 4, 4), view(4, 4, 4));
        assert!(matches!(run(left, right, result(0)), Err(Error::Aliased { operand: "a", .. })));
        assert!(matches!(run(left, right, result(4)), Err(Error::Aliased { operand: "b", .. })));
        assert!(matches!(run(left, right, result(9)), Err(Error::Aliased { .. })));
        assert!(matches!(run(left.t(), left, result(27)), Err(Error::Aliased { .. })));
        // Side by side in the same rows, and below.
        run(left, left, result(4)).unwrap();
        assert_eq!(memory[4..8], [4.0; 4]);
        run(left, left, result(32)).unwrap();
    });
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    places::each("linear::matmul::shapes_that_do_not_fit_are_refused", |place| {
        let (a, b) = (random::<f64>(1, 3, 4), random::<f64>(1, 5, 2));
        let mut c = Array2::zeros((3, 2));
        let error = matmul(place, Precision::Auto, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).unwrap_err();
        assert_eq!(error.to_string(), "matmul: rows of b is 5, expected 4");
        let b = b.slice(s![..4, ..]);
        let mut c = Array2::zeros((3, 3));
        let error = matmul(place, Precision::Auto, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).unwrap_err();
        assert_eq!(error.to_string(), "matmul: columns of c is 3, expected 2");
    });
}

/// G11: the same operands, the same bits.
#[test]
fn g11_determinism() {
    places::each("linear::matmul::g11_determinism", |place| {
        let (a, b) = (random::<f32>(1, 301, 407), random::<f32>(2, 407, 203));
        let first = product(place, (&a).into(), (&b).into()).unwrap();
        for _ in 0..3 {
            assert_eq!(first, product(place, (&a).into(), (&b).into()).unwrap());
        }
    });
}

fn special_numbers<T: Multiply>(place: &Place, number: fn(f64) -> T, value: fn(T) -> f64) {
    for (m, k, n) in [(1, 1, 1), (2, 3, 2), (1, 40, 5), (5, 40, 1), (4, 1, 4), (40, 33, 41), (70, 72, 75)] {
        let zeros = Array2::from_elem((k, n), number(0.0));
        let run = |special: f64, b: &Array2<T>, transposed: bool| {
            let mut a = Array2::from_elem((m, k), number(0.0));
            a[[m / 2, k / 2]] = number(special);
            let (a_stored, b_stored) = if transposed {
                (a.t().as_standard_layout().to_owned(), b.t().as_standard_layout().to_owned())
            } else {
                (a, b.clone())
            };
            let (a, b) = (MatRef::from(&a_stored), MatRef::from(&b_stored));
            if transposed { product(place, a.t(), b.t()).unwrap() } else { product(place, a, b).unwrap() }
        };
        for transposed in [false, true] {
            let what = (T::NAME, m, k, n, transposed);
            for special in [f64::NAN, f64::INFINITY] {
                // 0 * NaN and 0 * infinity are NaN; other rows are not touched.
                let c = run(special, &zeros, transposed);
                for ((i, _), x) in c.indexed_iter() {
                    assert_eq!(value(*x).is_nan(), i == m / 2, "{what:?} {special} {x:?}");
                    assert!(i == m / 2 || value(*x) == 0.0, "{what:?}");
                }
            }
            // Infinity * 1 is infinity; with minus infinity beside it NaN.
            let mut ones = zeros.clone();
            ones.fill(number(1.0));
            let c = run(f64::INFINITY, &ones, transposed);
            assert!(c.row(m / 2).iter().all(|x| value(*x) == f64::INFINITY || T::NAME.starts_with('c')), "{what:?}");
            // NaN in b, zeros in a.
            let mut b = zeros.clone();
            b[[k / 2, n / 2]] = number(f64::NAN);
            let c = run(0.0, &b, transposed);
            for ((_, j), x) in c.indexed_iter() {
                assert_eq!(value(*x).is_nan(), j == n / 2, "{what:?}");
            }
        }
    }
    let (a, b) = (Array2::from_elem((2, 2), number(f64::INFINITY)), ndarray::arr2(&[[1.0], [-1.0]]).mapv(number));
    let c = product(place, (&a).into(), (&b).into()).unwrap();
    assert!(c.iter().all(|x| value(*x).is_nan()), "{}: infinity - infinity", T::NAME);
}

/// G12: NaN and infinity go through every path as IEEE 754 says.
#[test]
fn g12_nan_and_infinity() {
    places::each("linear::matmul::g12_nan_and_infinity", |place| {
        special_numbers::<f32>(place, |x| x as f32, f64::from);
        special_numbers::<f64>(place, |x| x, |x| x);
        special_numbers::<Complex32>(place, Scalar::from_f64, |x| f64::from(x.re));
        special_numbers::<Complex64>(place, Scalar::from_f64, |x| x.re);
        special_numbers::<f16>(place, f16::from_f64, f16::to_f64);
        special_numbers::<bf16>(place, bf16::from_f64, bf16::to_f64);
    });
}

/// F3 for products: scales, also those that are not taken into alpha, are as in a copy.
#[test]
fn scaled_views_are_as_copies() {
    places::each("linear::matmul::scaled_views_are_as_copies", |place| {
        let mut a = random::<f64>(1, 6, 5);
        let b = random::<f64>(2, 5, 4);
        for (x, y) in [(2.0, -3.0), (1e200, 1e-200), (1e-300, 1e300), (1e-40, 1e-100), (1e100, 1e100)] {
            let got = product(place, MatRef::from(&a).scaled(x), MatRef::from(&b).scaled(y)).unwrap();
            let expected = exact::product(&wide(&a.mapv(|v| v * x)), &wide(&b.mapv(|v| v * y)));
            for (got, expected) in got.iter().zip(&expected) {
                assert!((got - expected.re).abs() <= 1e-13 * (x * y).abs(), "{x} {y}: {got} {expected}");
            }
        }
        a[[1, 1]] = f64::INFINITY;
        let got = product(place, MatRef::from(&a).scaled(0.0), (&b).into()).unwrap();
        assert!(got.row(1).iter().all(|x| x.is_nan()) && got.row(0).iter().all(|x| *x == 0.0));
    });
}

fn halves<T: Multiply<Factor = f32>>(place: &Place, number: fn(f64) -> T, value: fn(T) -> f64, unit: f64) {
    for (m, k, n) in [(1, 1, 1), (33, 700, 17), (8, 2049, 5)] {
        let matrix = |seed, rows, columns| random::<f64>(seed, rows, columns).mapv(number);
        let (a, b, c) = (matrix(1, m, k), matrix(2, n, k), matrix(3, m, n));
        let mut got = c.clone();
        matmul(place, Precision::Auto, 0.5, (&a).into(), MatRef::from(&b).t(), -2.0, (&mut got).into()).unwrap();
        for ((i, j), got) in got.indexed_iter() {
            let terms = || (0..k).map(|p| value(a[[i, p]]) * value(b[[j, p]]));
            let expected = 0.5 * terms().sum::<f64>() - 2.0 * value(c[[i, j]]);
            let size = terms().map(f64::abs).sum::<f64>() + 2.0 * value(c[[i, j]]).abs();
            let bound = unit * expected.abs() + k as f64 * 6e-8 * size;
            assert!((value(*got) - expected).abs() <= bound, "{} {m} {k} {n}: {got:?} for {expected}", T::NAME);
        }
    }
}

/// f16 and bf16: sums in f32, one rounding.
#[test]
fn halves_are_added_in_f32() {
    places::each("linear::matmul::halves_are_added_in_f32", |place| {
        halves::<f16>(place, f16::from_f64, f16::to_f64, 4.9e-4);
        halves::<bf16>(place, bf16::from_f64, bf16::to_f64, 3.91e-3);
        // 4096 ones have no sum in steps of one half-precision number.
        let ones = Array2::from_elem((1, 4096), bf16::ONE);
        let sum = product(place, (&ones).into(), MatRef::from(&ones).t()).unwrap();
        assert_eq!(sum[[0, 0]].to_f32(), 4096.0);
    });
}

fn vectors<T: Scalar + Multiply<Factor = T>>(place: &Place) {
    let (a, x, y) = (random::<T>(1, 37, 21), random::<T>(2, 21, 1), random::<T>(3, 37, 1));
    let (alpha, beta) = (T::nearest(Complex64::new(1.5, -0.5)), T::nearest(Complex64::new(-0.5, 0.25)));
    for form in FORMS {
        let stored = Stored::new(Layout::RowWindow, &form.undone(&a));
        let view = stored.view();
        let mut got = y.clone();
        matvec(place, Precision::Auto, alpha, form.of((&view).into()), (&x).into(), beta, (&mut got).into()).unwrap();
        assert_product(&(T::NAME, form), (alpha, &a, &x), (beta, &y), &got);
    }
    // A vector of ndarray's with a stride, reversed.
    let long: Array1<T> = random::<T>(4, 42, 1).column(0).to_owned();
    let strided = long.slice(s![..;-2]);
    let mut got = y.clone();
    matvec(place, Precision::Auto, T::ONE, (&a).into(), (&strided).into(), T::ZERO, (&mut got).into()).unwrap();
    let column = Array2::from_shape_fn((21, 1), |(i, _)| strided[i]);
    assert_product(&T::NAME, (T::ONE, &a, &column), (T::ZERO, &y), &got);
    let c = random::<T>(5, 37, 21);
    let mut got = c.clone();
    outer(place, alpha, (&y).into(), MatRef::from(&strided).conj(), (&mut got).into()).unwrap();
    let row = Array2::from_shape_fn((1, 21), |(_, j)| strided[j].conjugate());
    assert_product(&T::NAME, (alpha, &y, &row), (T::ONE, &c), &got);
}

#[test]
fn products_of_vectors() {
    places::each("linear::matmul::products_of_vectors", |place| {
        vectors::<f32>(place);
        vectors::<f64>(place);
        vectors::<Complex32>(place);
        vectors::<Complex64>(place);
    });
}

fn batches<T: Scalar + Multiply<Factor = T>>(place: &Place, (m, k, n): (usize, usize, usize), count: usize) {
    let a: Vec<_> = (0..count as u64).map(|i| random::<T>(i + 1, m, k)).collect();
    let shared = random::<T>(77, n, k);
    let before: Vec<_> = (0..count as u64).map(|i| random::<T>(i + 50, m, n)).collect();
    let mut c = before.clone();
    let views_a: Vec<_> = a.iter().map(MatRef::from).collect();
    let views_b = vec![MatRef::from(&shared).h(); count];
    let mut views_c: Vec<_> = c.iter_mut().map(MatMut::from).collect();
    let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-0.5));
    matmul_batched(place, Precision::Auto, alpha, &views_a, &views_b, beta, &mut views_c).unwrap();
    let b = super::reference::adjoint(&shared);
    for ((a, before), c) in a.iter().zip(&before).zip(&c) {
        assert_product(&(T::NAME, m, k, n), (alpha, a, &b), (beta, before), c);
    }
}

#[test]
fn batches_are_their_products() {
    places::each("linear::matmul::batches_are_their_products", |place| {
        for sizes in [(5, 6, 7), (1, 9, 1), (0, 3, 2), (3, 0, 2), (100, 101, 102)] {
            batches::<f32>(place, sizes, 5);
            batches::<f64>(place, sizes, 4);
            batches::<Complex32>(place, sizes, 3);
            batches::<Complex64>(place, sizes, 0);
            batches::<Complex64>(place, sizes, 2);
        }
    });
}
