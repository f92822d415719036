//! Factors and solutions on the CPU, in a budget of host memory.

use super::super::{PanelPlan, cholesky, inverse, lu, solve};
use crate::budget::{Budget, Memory};
use crate::linear::{Norm, Place, Scalar};
use crate::store::{
    Extents, FileScratch, MemorySink, MemorySource, NpySink, NpySource, Order, ReadTyped, Sink, Source, Stored,
    WriteTyped,
};
use crate::stream::{Cancel, Control, Factor};
use crate::{Complex64, Error, linear};
use ndarray::Array2;

fn random<T: Scalar>(rows: usize, columns: usize, seed: u64) -> Array2<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    Array2::from_shape_simple_fn((rows, columns), || T::nearest(Complex64::new(next(), next())))
}

fn near<T: Scalar>(got: &Array2<T>, expected: &Array2<T>, tolerance: f64) {
    for (got, expected) in got.iter().zip(expected) {
        assert!((got.wide() - expected.wide()).norm() <= tolerance, "{got:?} {expected:?}");
    }
}

/// Against solutions in memory, with a scratch in a file, within the budget.
fn solved<T: Scalar + Stored>(size: usize, columns: usize, bytes: u64) {
    let (mut a, b) = (random::<T>(size, size, 3), random::<T>(size, columns, 4));
    a.diag_mut().iter_mut().for_each(|value| *value = T::nearest(value.wide() + 2.0));
    let expected = linear::solve(&Place::Cpu, (&a).into(), (&b).into()).unwrap();
    let scale = linear::norm(&Place::Cpu, Norm::Max, (&expected).into()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let scratch = FileScratch::new(folder.path(), Extents::new(size, size), T::ELEMENT).unwrap();
    let host = Budget::new(Memory::Host, bytes);
    let (of_a, of_b) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let mut x = Array2::from_elem((size, columns), T::ZERO);
    let sink = MemorySink::new(x.view_mut());
    let factors = [Factor::plain(&of_a), Factor::plain(&of_b)];
    solve::<T>(&host, factors, &scratch, &sink, Control::default()).unwrap();
    Box::new(sink).commit().unwrap();
    near(&x, &expected, 1e4 * T::EPSILON * scale);
    assert!(host.used() == 0 && host.peak() <= bytes && host.peak() > 0);
}

#[test]
fn solutions_beyond_host_memory() {
    // Of matrices of 180 KB, 720 KB and 360 KB.
    for columns in [1, 7, 40] {
        solved::<f64>(150, columns, 80 << 10);
        solved::<f64>(300, columns, 200 << 10);
    }
    solved::<Complex64>(150, 9, 150 << 10);
    solved::<f32>(120, 3, 40 << 10);
    solved::<f64>(1, 1, 80 << 10);
}

/// Factors that are there are solved by again, in budgets from narrow panels to those of the whole matrix, and all that it takes is counted.
#[test]
fn factors_solve_again_without_a_gpu() {
    let (size, control) = (120, Control::default());
    let (any, b) = (random::<f64>(size, size, 8), random::<f64>(size, 5, 9));
    let definite = any.dot(&any.t()) + Array2::from_diag_elem(size, 1.0);
    let folder = tempfile::tempdir().unwrap();
    let scratch = FileScratch::new(folder.path(), Extents::new(size, size), f64::ELEMENT).unwrap();
    let of_b = MemorySource::new(b.view());
    let mut panels = Vec::new();
    for bytes in (5..10).map(|power| 2 << (power + 9)).chain([90 << 10, 300 << 10, 2 << 20]) {
        let (host, again) = (Budget::new(Memory::Host, bytes), Budget::new(Memory::Host, bytes / 2));
        let into = |x: &mut Array2<f64>, solve: &dyn Fn(&dyn Sink)| {
            x.fill(f64::NAN);
            let sink = MemorySink::new(x.view_mut());
            solve(&sink);
            Box::new(sink).commit().unwrap();
            for budget in [&host, &again] {
                assert!(budget.used() == 0 && budget.peak() <= budget.limit(), "{budget:?} {}", budget.peak());
            }
        };
        let (mut x, mut inverse) = (Array2::zeros((size, 5)), Array2::zeros((size, size)));

        let source = MemorySource::new(any.view());
        let factors = lu::<f64>(&host, Factor::plain(&source), &scratch, control).unwrap();
        panels.push(factors.plan().panels());
        // With copies of a panel, and of the square on the diagonal, in which the CPU factors.
        let counted = |plan: PanelPlan, rows: usize| {
            let needs = plan.device_bytes() + (2 * rows * plan.panel * size_of::<f64>()) as u128;
            assert!(u128::from(host.peak()) >= needs, "{plan:?} {host:?} {}", host.peak());
            host.reset_peak();
        };
        counted(factors.plan(), size);
        into(&mut x, &|sink| factors.solve(&again, Factor::plain(&of_b), sink, control).map(drop).unwrap());
        near(&any.dot(&x), &b, 1e-10);
        into(&mut inverse, &|sink| factors.inverse(&again, sink, control).map(drop).unwrap());
        near(&any.dot(&inverse), &Array2::eye(size), 1e-9);

        let source = MemorySource::new(definite.view());
        let factor = cholesky::<f64>(&host, Factor::plain(&source), &scratch, control).unwrap();
        counted(factor.plan(), factor.plan().panel);
        into(&mut x, &|sink| factor.solve(&again, Factor::plain(&of_b), sink, control).map(drop).unwrap());
        near(&definite.dot(&x), &b, 1e-9);
        let little = factor.solve(
            &Budget::new(Memory::Host, 999),
            Factor::plain(&of_b),
            &MemorySink::new(x.view_mut()),
            control,
        );
        assert!(matches!(little, Err(Error::Budget { what: "host memory", .. })), "{little:?}");
    }
    assert!(panels.iter().max() > Some(&4) && panels.iter().min() == Some(&1), "{panels:?}");
}

/// From a file to a file, and what it is not.
#[test]
fn an_inverse_from_file_to_file_and_what_has_none() {
    let (size, folder) = (100, tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name);
    let host = Budget::new(Memory::Host, 60 << 10);
    let invert = |a: &Array2<f64>| {
        let sink = NpySink::create(path("a.npy"), &[size, size], f64::ELEMENT, Order::C)?;
        sink.write(&sink.extents().whole(), a.as_slice().unwrap())?;
        Box::new(sink).commit()?;
        let of_a = NpySource::open(path("a.npy"))?;
        let scratch = FileScratch::new(folder.path(), Extents::new(size, size), f64::ELEMENT)?;
        let sink = NpySink::create(path("x.npy"), &[size, size], f64::ELEMENT, Order::C)?;
        inverse::<f64>(&host, Factor::plain(&of_a), &scratch, &sink, Control::default())?;
        Box::new(sink).commit()
    };
    let mut a = random::<f64>(size, size, 5);
    invert(&a).unwrap();
    let made = NpySource::open(path("x.npy")).unwrap();
    let mut x = vec![0.0; size * size];
    made.read(&made.extents().whole(), &mut x).unwrap();
    let x = Array2::from_shape_vec((size, size), x).unwrap();
    near(&a.dot(&x), &Array2::eye(size), 1e-10);
    a.row_mut(60).fill(0.0);
    let error = invert(&a).unwrap_err();
    assert!(matches!(error, Error::Singular { .. }), "{error}");
    a[[3, 3]] = f64::NAN;
    assert!(matches!(invert(&a), Err(Error::NotFinite { .. })));
}

#[test]
fn factors_beyond_host_memory() {
    let size = 130;
    let (any, host) = (random::<Complex64>(size, size, 6), Budget::new(Memory::Host, 120 << 10));
    let a = any.dot(&any.t().mapv(|x| x.conj())) + Array2::from_diag_elem(size, Complex64::new(1.0, 0.0));
    let folder = tempfile::tempdir().unwrap();
    let scratch = || FileScratch::new(folder.path(), Extents::new(size, size), Complex64::ELEMENT).unwrap();
    let source = MemorySource::new(a.view());
    let all = |part: &dyn Source| {
        let mut values = vec![Complex64::ZERO; size * size];
        part.read(&part.extents().whole(), &mut values).unwrap();
        Array2::from_shape_vec((size, size), values).unwrap()
    };
    let memory = scratch();
    let factor = cholesky::<Complex64>(&host, Factor::plain(&source), &memory, Control::default()).unwrap();
    let l = all(&factor.l());
    near(&l.dot(&l.t().mapv(|x| x.conj())), &a, 1e-10);
    let source = MemorySource::new(any.view());
    let memory = scratch();
    let factors = lu::<Complex64>(&host, Factor::plain(&source), &memory, Control::default()).unwrap();
    assert!(factors.plan().panels() > 1);
    let product = all(&factors.l()).dot(&all(&factors.u()));
    let permuted = Array2::from_shape_fn((size, size), |(i, j)| any[[factors.permutation()[i], j]]);
    near(&product, &permuted, 1e-11);
    // Not positive at its first element that is.
    let mut indefinite = a;
    indefinite[[70, 70]] = Complex64::new(-1.0, 0.0);
    let source = MemorySource::new(indefinite.view());
    let error = cholesky::<Complex64>(&host, Factor::plain(&source), &scratch(), Control::default()).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { order: 71, size: 130 }), "{error}");
    let cancel = Cancel::new();
    cancel.cancel();
    let control = Control { cancel: Some(&cancel), ..Control::default() };
    let error = lu::<Complex64>(&host, Factor::plain(&source), &scratch(), control).unwrap_err();
    assert!(matches!(error, Error::Cancelled { .. }), "{error}");
    let little = Budget::new(Memory::Host, 4 << 10);
    let error = lu::<Complex64>(&little, Factor::plain(&source), &scratch(), Control::default()).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
    assert_eq!(host.used(), 0);
}
