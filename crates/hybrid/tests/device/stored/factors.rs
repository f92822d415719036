//! Factors of what is stored, into what is stored.

use super::shelf::{Lies, Number, OnCpu, Shelf, Whole, read, values, whole_and_streamed};
use crate::device::on_the_gpu::{budgets, eager, shrinking};
use crate::device::small;
use bytemuck::Pod;
use ndarray::{Array2, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{At, Choice, Rates, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Lu, Place};
use tilewright_hybrid::store::{Element, Extents, PinnedSink};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Complex32, Complex64, Device, Error, Operand, Pivots, Rows, Side, Target};

const SIZE: usize = 24;

/// One whose pivots are far from the diagonal.
fn pivoted<T: Number>() -> Array2<T> {
    let mut matrix = values::<T>([SIZE, SIZE], 1);
    (0..SIZE).for_each(|i| matrix[[(i + 7) % SIZE, i]] = matrix[[(i + 7) % SIZE, i]] + T::of(200.0, 0.0));
    matrix
}

/// Hermitian and positive definite; above the diagonal stands something else.
fn definite<T: Number>() -> (Array2<T>, Array2<T>) {
    let a = values::<T>([SIZE, SIZE], 5);
    let mut whole = a.dot(&a.t().mapv(|x| x.conjugate()));
    whole.diag_mut().mapv_inplace(|x| x + T::of(500.0, 0.0));
    let mut lower = whole.clone();
    (0..SIZE).for_each(|i| lower.slice_mut(s![i, i + 1..]).fill(T::of(f64::NAN, 1.0)));
    (whole, lower)
}

/// The largest difference, in parts of the largest element, and of `SIZE` units in the last place.
fn off<T: Number>(one: &Array2<T>, other: &Array2<T>) -> f64 {
    let largest = |of: &Array2<T>| of.iter().fold(0.0, |most: f64, x| most.max(x.modulus()));
    let differences = one.iter().zip(other).map(|(x, y)| (*x - *y).modulus());
    // NaN is no small difference.
    differences.fold(0.0, |most: f64, it| if it <= most { most } else { it })
        / (largest(other) * SIZE as f64 * T::EPSILON)
}

/// Calls with a matrix as an operand and with a target, and gives what stands there then.
fn into<T: Number + Pod, R>(
    shelf: &Shelf<'_>,
    [from, to]: [Lies; 2],
    matrix: &Array2<T>,
    factor: impl FnOnce(Operand<'_, T>, Target<'_, T>) -> R,
) -> (Array2<T>, R) {
    let stored = shelf.put(from, "matrix", matrix);
    let mut here = Array2::from_elem(matrix.dim(), T::of(f64::NAN, 0.0));
    let extents = Extents::new(matrix.nrows(), matrix.ncols());
    match to {
        Lies::Host => {
            let found = stored.operand(|a| factor(a, (&mut here).into()));
            (here, found)
        }
        Lies::Locked => {
            let mut buffer = shelf.locked(&here);
            let found = stored.operand(|a| factor(a, PinnedSink::new(&mut buffer, extents).unwrap().into()));
            (Array2::from_shape_vec(matrix.dim(), buffer.to_vec()).unwrap(), found)
        }
        _ => {
            let sink = Whole(shelf.sink(to, "factors", T::ELEMENT, [extents.rows, extents.columns]));
            let found = stored.operand(|a| factor(a, sink.into()));
            (read(&*shelf.source(to, "factors")), found)
        }
    }
}

/// Of LU and Cholesky factors that came from somewhere and went somewhere else what they multiply to.
fn factors<T: Number + Pod>(shelf: &Shelf<'_>, device: &Device, places: &[Lies], check: impl Fn(&str)) {
    let (matrix, (whole, lower)) = (pivoted::<T>(), definite::<T>());
    let expected = Lu::factor(&Place::Cpu, (&matrix).into()).unwrap();
    for (from, to) in places.iter().flat_map(|from| places.iter().map(move |to| (*from, *to))) {
        let what = format!("{} {from:?} {to:?}", T::NAME);
        let (packed, pivots) = into(shelf, [from, to], &matrix, |a, target| device.lu_into(a, target).unwrap());
        check("lu");
        assert_eq!((pivots.permutation(), pivots.singular_pivot()), (expected.permutation(), None), "{what}");
        let part = |i: usize, j: usize, is_l: bool| match i.cmp(&j) {
            std::cmp::Ordering::Greater if is_l => packed[[i, j]],
            std::cmp::Ordering::Equal if is_l => T::of(1.0, 0.0),
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal if !is_l => packed[[i, j]],
            _ => T::of(0.0, 0.0),
        };
        let [l, u] = [true, false].map(|is_l| Array2::from_shape_fn(matrix.dim(), |(i, j)| part(i, j, is_l)));
        let permuted = Array2::from_shape_fn(matrix.dim(), |(i, j)| matrix[[pivots.permutation()[i], j]]);
        assert!(off(&l.dot(&u), &permuted) <= 20.0, "{what}: {}", off(&l.dot(&u), &permuted));

        let (l, ()) = into(shelf, [from, to], &lower, |a, target| device.cholesky_into(a, target).unwrap());
        check("cholesky");
        assert!(l.indexed_iter().all(|((i, j), x)| i >= j || x.modulus() == 0.0), "{what}");
        let product = l.dot(&l.t().mapv(|x| x.conjugate()));
        assert!(off(&product, &whole) <= 20.0, "{what}: {}", off(&product, &whole));
    }
}

#[test]
fn f1_f6_factors_go_from_files_into_files() {
    let OnCpu { shelf, host, device, places } = OnCpu::new();
    factors::<f64>(&shelf, &device, &places, OnCpu::was_asked);
    factors::<f32>(&shelf, &device, &places[1..], OnCpu::was_asked);
    factors::<Complex32>(&shelf, &device, &places[1..], OnCpu::was_asked);
    factors::<Complex64>(&shelf, &device, &places, OnCpu::was_asked);
    assert!(host.used() == 0 && host.peak() == 2 * 16 * 24 * 24, "{}", host.peak());
    let decision = last_decision().unwrap();
    assert!(decision.cpu.back > 0.0 && decision.disk == Some(Rates::DISK), "a result on a disk counts: {decision}");
}

#[test]
fn f1_f6_factors_of_what_is_stored_are_streamed_through_a_gpu() {
    let test = "device::stored::factors::f1_f6_factors_of_what_is_stored_are_streamed_through_a_gpu";
    let Some(gpu) = crate::gpu(test) else { return };
    whole_and_streamed(&gpu, |shelf, device, places, was_asked| factors::<Complex64>(shelf, device, places, was_asked));
}

/// What is no number, or singular, or not definite, is what it is in memory, and leaves nothing. NaN comes out where it is computed, or is refused.
fn odd(shelf: &Shelf<'_>, device: &Device, nan: Option<Side>) {
    let lies = [Lies::Npy, Lies::Npy];
    let (packed, pivots) =
        into(shelf, lies, &Array2::<f64>::ones((SIZE, SIZE)), |a, target| device.lu_into(a, target).unwrap());
    assert_eq!((pivots.singular_pivot(), packed[[1, 1]]), (Some(1), 0.0));
    let mut unfinished = pivoted::<f64>();
    unfinished[[3, 4]] = f64::NAN;
    if let Some(nan) = nan {
        let (packed, _) = into(shelf, lies, &unfinished, |a, target| device.lu_into(a, target).unwrap());
        assert!(packed.iter().any(|x| x.is_nan()));
        assert_eq!(last_outcome().unwrap().side, nan);
    } else {
        let stored = shelf.put(Lies::Npy, "unfinished", &unfinished);
        let sink = Whole(shelf.sink(Lies::Npy, "none", Element::F64, [SIZE, SIZE]));
        let asked = stored.operand(|a| device.lu_into(a, sink.into()));
        assert!(matches!(asked, Err(Error::NotFinite { row: 3, column: 4, .. })), "{asked:?}");
        assert!(!shelf.path("none").exists());
    }
    let (mut whole, _) = definite::<f64>();
    whole[[5, 5]] = -1.0;
    let stored = shelf.put(Lies::Npy, "indefinite", &whole);
    let sink = Whole(shelf.sink(Lies::Npy, "none", Element::F64, [SIZE, SIZE]));
    let asked = stored.operand(|a| device.cholesky_into(a, sink.into()));
    assert!(matches!(asked, Err(Error::NotPositiveDefinite { order: 6, size: SIZE })), "{asked:?}");
    assert!(!shelf.path("none").exists());
}

#[test]
fn f2_f6_what_has_no_factors_is_the_same_error_and_leaves_nothing() {
    let shelf = Shelf::new(None);
    odd(&shelf, &Device::cpu(), Some(Side::Cpu));
    let test = "device::stored::factors::f2_f6_what_has_no_factors_is_the_same_error_and_leaves_nothing";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf { gpu: Some(&gpu), ..shelf };
    // A stream would lose NaN: where there is a choice the CPU begins anew.
    for (bytes, asked, auto) in [(1 << 30, Some(Side::Gpu), Side::Gpu), (4500, None, Side::Cpu)] {
        odd(&shelf, &small(&gpu, bytes).choosing(Choice::Gpu), asked);
        let breaker = Breaker::new(0, Settings::default());
        odd(&shelf, &eager(&gpu, budgets(Budget::new(Memory::Device, bytes)), &breaker), Some(auto));
        assert_eq!(breaker.health().failures, 0);
    }
}

#[test]
fn f4_factors_of_what_does_not_fit_are_refused() {
    let shelf = Shelf::new(None);
    let (device, tall) = (Device::cpu(), values::<f64>([9, 5], 1));
    // LU factors are as tall as the matrix.
    let (packed, pivots): (_, Pivots) =
        into(&shelf, [Lies::Npy, Lies::Npy], &tall, |a, target| device.lu_into(a, target).unwrap());
    let expected = Lu::factor(&Place::Cpu, (&tall).into()).unwrap();
    assert_eq!(pivots.permutation(), expected.permutation());
    let u = expected.u().unwrap();
    assert!(u.indexed_iter().all(|((i, j), x)| i > j || packed[[i, j]] == *x));
    let mut square = Array2::<f64>::zeros((9, 9));
    let error = device.cholesky_into((&tall).into(), (&mut square).into()).unwrap_err();
    assert!(matches!(error, Error::NotSquare { rows: 9, columns: 5, .. }), "{error}");
    let error = device.lu_into((&tall).into(), (&mut square).into()).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of the factors", expected: 5, got: 9, .. }), "{error}");
    let error = device.lu_into(Operand::identity(Rows(9)), (&mut square).into()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { operation: "lu", .. }), "{error}");
    let (of_f32, sink) = (values::<f32>([4, 4], 1), Whole(shelf.sink(Lies::Npy, "c", Element::F64, [4, 4])));
    let error = device.lu_into((&of_f32).into(), sink.into()).unwrap_err();
    assert!(matches!(error, Error::ElementType { operation: "lu", expected: "f64", got: "f32" }), "{error}");
    // The matrix and its factors.
    let stored = shelf.put(Lies::Npy, "a", &values::<f64>([6, 6], 1));
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, 2 * 8 * 36 - 1));
    let mut six = Array2::<f64>::from_elem((6, 6), 7.0);
    let error = stored.operand(|a| short.lu_into(a, (&mut six).into())).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 576, .. }) && six.iter().all(|x| *x == 7.0), "{error}");
    let Some(gpu) = crate::gpu("device::stored::factors::f4_factors_of_what_does_not_fit_are_refused") else { return };
    let there = DeviceMat::upload(&gpu, (&square).into()).unwrap();
    let asked = Device::with(&gpu).rated(Rates::h200()).lu_into((&there).into(), (&mut six).into());
    assert!(matches!(asked, Err(Error::Shape { what: "rows of the factors", expected: 9, got: 6, .. })), "{asked:?}");
}

/// What fails on the GPU goes on in narrower panels, then on the CPU, from the file.
#[test]
fn b2_factors_of_what_is_stored_go_on() {
    let test = "device::stored::factors::b2_factors_of_what_is_stored_go_on";
    let Some(gpu) = crate::gpu(test) else { return };
    let shelf = Shelf::new(Some(&gpu));
    for (then, side) in [(18 << 10, Side::Gpu), (0, Side::Cpu)] {
        let breaker = Breaker::new(0, Settings::default());
        let budgets = Budgets { device: shrinking(1, then), pinned: Budget::new(Memory::Pinned, 16 << 10) };
        let device = eager(&gpu, budgets, &breaker);
        let (matrix, lies) = (pivoted::<f64>(), [Lies::Npy, Lies::Npy]);
        let (packed, pivots) = into(&shelf, lies, &matrix, |a, target| device.lu_into(a, target).unwrap());
        let expected = Lu::factor(&Place::Cpu, (&matrix).into()).unwrap();
        let u = |of: &Array2<f64>| Array2::from_shape_fn(of.dim(), |(i, j)| if i <= j { of[[i, j]] } else { 0.0 });
        assert!(off(&u(&packed), &expected.u().unwrap()) <= 20.0);
        assert_eq!(pivots.permutation(), expected.permutation());
        let decision = last_decision().unwrap();
        assert_eq!(decision.side, Side::Gpu, "{decision}");
        assert_eq!(last_outcome().unwrap().side, side);
    }
    assert_eq!(shelf.source(Lies::Npy, "factors").at(), At::Disk);
}
