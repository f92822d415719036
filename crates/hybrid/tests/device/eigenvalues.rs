//! The largest eigenvalues by the face, of matrices wherever they lie.

use std::sync::{Arc, Mutex};

use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, Place, eigenvalues_hermitian};
use tilewright_hybrid::store::MemorySource;
use tilewright_hybrid::stream::{Cancel, EigenSearch};
use tilewright_hybrid::{Class, Device, Error, Operand, Side};

use super::matrix;
use super::on_the_gpu::forced;

/// Symmetric, with values that stand apart.
fn symmetric(size: usize) -> Array2<f64> {
    let any = matrix(size, size, 3);
    let mut symmetric = &any + &any.t();
    symmetric.diag_mut().iter_mut().enumerate().for_each(|(i, value)| *value += (3 * i) as f64);
    symmetric
}

/// Against all eigenvalues in memory, and by what the matrix makes of vectors.
fn check(device: &Device, a: &Array2<f64>, operand: Operand<'_, f64>, side: Side) {
    let (size, count) = (a.nrows(), 3);
    let all = eigenvalues_hermitian(&Place::Cpu, a.into()).unwrap();
    let scale = all.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let found = device.largest_eigenvalues(operand, count, EigenSearch::default()).unwrap();
    for (value, expected) in found.values.iter().zip(&all[size - count..]) {
        assert!((value - expected).abs() <= 1e-12 * scale, "{value} {expected}");
    }
    let off = a.dot(&found.vectors) - &found.vectors * &ndarray::aview1(&found.values);
    assert!(off.iter().all(|off| off.abs() <= 1e-10 * scale));
    let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
    assert_eq!((decision.operation, outcome.side), ("largest_eigenvalues", side));
}

/// What is stored is read in parts that the budget holds beside the vectors.
#[test]
fn largest_eigenvalues_of_what_is_stored_on_the_cpu() {
    let a = symmetric(150);
    let source = MemorySource::new(a.view());
    check(&Device::cpu(), &a, (&a).into(), Side::Cpu);
    // 18 times 11 vectors, four squares of 44 of them, and less than a quarter of the matrix.
    let vectors = (18 * 11 * 150 + 4 * 44 * 44) * 8;
    let host = Budget::new(Memory::Host, vectors + 40_000);
    check(&Device::cpu().falling_back_within(host.clone()), &a, (&source).into(), Side::Cpu);
    assert!(host.used() == 0 && host.peak() > vectors && host.peak() <= host.limit());
    let short = Device::cpu().falling_back_within(Budget::new(Memory::Host, vectors - 1));
    let error = short.largest_eigenvalues::<f64>((&source).into(), 3, EigenSearch::default()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested == vectors), "{error}");
}

#[test]
fn largest_eigenvalues_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::eigenvalues::largest_eigenvalues_on_the_gpu") else { return };
    let (a, device) = (symmetric(90), forced(&gpu));
    check(&device, &a, (&a).into(), Side::Gpu);
    check(&device, &a, (&DeviceMat::upload(&gpu, (&a).into()).unwrap()).into(), Side::Gpu);
    check(&device, &a, (&MemorySource::new(a.view())).into(), Side::Gpu);
}

/// Progress is that of products, and a search ends between two of them.
#[test]
fn largest_eigenvalues_are_watched() {
    let a = symmetric(80);
    let (told, search) = (Arc::new(Mutex::new(Vec::new())), EigenSearch { products: 77, tolerance: None });
    let steps = told.clone();
    let device = Device::cpu().telling(move |done, all| steps.lock().unwrap().push((done, all)));
    device.largest_eigenvalues::<f64>((&a).into(), 2, search).unwrap();
    let told = told.lock().unwrap();
    assert!(!told.is_empty() && told.iter().enumerate().all(|(i, step)| *step == (i as u64 + 1, 77)), "{told:?}");
    let cancel = Cancel::new();
    cancel.cancel();
    let error = Device::cpu().cancelled_by(&cancel).largest_eigenvalues::<f64>((&a).into(), 2, search).unwrap_err();
    assert_eq!(error.class(), Class::Cancelled);
    let error = Device::cpu().largest_eigenvalues::<f64>((&matrix(4, 5, 1)).into(), 1, search).unwrap_err();
    assert!(matches!(error, Error::NotSquare { rows: 4, columns: 5, .. }), "{error}");
    let error = Device::cpu().largest_eigenvalues::<f64>((&a).into(), 81, search).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 80, got: 81, .. }), "{error}");
    let once = EigenSearch { products: 1, tolerance: None };
    let error = Device::cpu().largest_eigenvalues::<f64>((&a).into(), 2, once).unwrap_err();
    assert!(matches!(error, Error::NotConverged { iterations: 1, .. }), "{error}");
}
