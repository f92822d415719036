//! Solutions and inverses of what is stored.

use super::shelf::{Lies, Number, OnCpu, STORES, Shelf, Whole, read, values, whole_and_streamed};
use bytemuck::Pod;
use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Rates, last_decision};
use tilewright_hybrid::{Complex32, Complex64, Device, Error, Operand, Rows, Target};

/// A system in files, and an inverse; of what is singular nothing is left.
fn systems<T: Number + Pod>(shelf: &Shelf<'_>, device: &Device, places: &[Lies], check: impl Fn(&str)) {
    let [size, columns] = [24, 5];
    let mut matrix = values::<T>([size, size], 1);
    matrix.diag_mut().mapv_inplace(|x| x + T::of(200.0, 0.0));
    let right = values::<T>([size, columns], 2);
    let near = |x: &Array2<T>, y: &Array2<T>| {
        let off = x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((*x - *y).modulus()));
        // A condition of a few units, and sums of 24.
        assert!(off < 1e3 * T::EPSILON, "{} {off}", T::NAME);
    };
    for (a, b) in places.iter().flat_map(|a| places.iter().map(move |b| (a, b))) {
        let (of_a, of_b) = (shelf.put(*a, "a", &matrix), shelf.put(*b, "b", &right));
        let solve =
            |target: Target<'_, T>| of_a.operand(|a| of_b.operand(|b| device.solve_into(a.t(), b, target))).unwrap();
        let mut here = Array2::from_elem((size, columns), T::of(f64::NAN, 0.0));
        solve((&mut here).into());
        check("solve");
        near(&matrix.t().dot(&here), &right);
        solve(Whole(shelf.sink(STORES[0], "x", T::ELEMENT, [size, columns])).into());
        near(&matrix.t().dot(&read::<T>(&*shelf.source(STORES[0], "x"))), &right);
    }
    for lies in STORES {
        let of_a = shelf.put(lies, "a", &matrix);
        let sink = Whole(shelf.sink(lies, "inverse", T::ELEMENT, [size, size]));
        of_a.operand(|a| device.solve_into(a, Operand::identity(Rows(size)), sink.into())).unwrap();
        check("inverse");
        near(&matrix.dot(&read::<T>(&*shelf.source(lies, "inverse"))), &Array2::eye(size));
    }
    let ones = shelf.put(Lies::Npy, "ones", &Array2::from_elem((size, size), T::of(1.0, 0.0)));
    let sink = Whole(shelf.sink(Lies::Npy, "none", T::ELEMENT, [size, size]));
    let singular = ones.operand(|a| device.solve_into(a, Operand::identity(Rows(size)), sink.into()));
    assert!(matches!(singular, Err(Error::Singular { pivot: 1, .. })), "{singular:?}");
    assert!(!shelf.path("none").exists());
}

#[test]
fn systems_are_solved_from_files_into_files() {
    let OnCpu { shelf, host, device, places } = OnCpu::new();
    systems::<f64>(&shelf, &device, &places, OnCpu::was_asked);
    systems::<f32>(&shelf, &device, &places[1..], OnCpu::was_asked);
    systems::<Complex32>(&shelf, &device, &places[1..], OnCpu::was_asked);
    systems::<Complex64>(&shelf, &device, &places, OnCpu::was_asked);
    assert!(host.used() == 0 && host.peak() >= 8 * 24 * 24);
    let a = shelf.put(Lies::Npy, "a", &values::<f64>([6, 6], 1));
    let mut x = Array2::<f64>::zeros((6, 6));
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, 8 * 36 - 1));
    let error = a.operand(|a| short.solve_into(a, Operand::identity(Rows(6)), (&mut x).into())).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 288, available: 287, .. }), "{error}");
    assert_eq!(last_decision().unwrap().disk, Some(Rates::DISK));
    let error = a.operand(|a| device.solve_into(a, Operand::diagonal(&[2.0; 6]), (&mut x).into())).unwrap_err();
    assert!(matches!(error, Error::Unsupported { operation: "solve", .. }), "{error}");
    let error = a.operand(|a| device.solve_into(a, Operand::identity(Rows(5)), (&mut x).into())).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of b", expected: 6, got: 5, .. }), "{error}");
}

#[test]
fn systems_are_streamed_from_files_into_files() {
    let Some(gpu) = crate::gpu("device::stored::systems::systems_are_streamed_from_files_into_files") else { return };
    whole_and_streamed(&gpu, |shelf, device, places, was_asked| systems::<Complex64>(shelf, device, places, was_asked));
}
