//! The face: operations on whichever processor is expected to be faster, on the CPU and on a stub of a GPU.

mod batched;
mod delivered;
mod diagonals;
mod eigenvalues;
mod emulated;
mod evaluated;
mod integers;
mod kept;
mod large;
mod measured;
mod norm_kernels;
mod norms;
mod on_the_gpu;
mod overlap;
mod passing;
mod planned;
mod precision;
mod recorded;
mod repeated;
mod resident;
mod scaled;
mod stages;
mod stored;
mod trace;
mod turn_kernel;
mod verbs;
mod watched;
mod without;

pub(crate) use emulated::child_old_cublas;
pub(crate) use measured::{child_learned, child_measured, child_not_measured};
pub(crate) use passing::child_passing;
pub(crate) use planned::child_planned;
pub(crate) use recorded::child_recorded;
pub(crate) use resident::child_results_stay;
pub(crate) use stages::child_traced;
pub(crate) use stored::child_beyond_host_memory;
pub(crate) use without::{child_no_visible_gpu, child_without_cublas, child_without_cusolver, child_without_nvrtc};

use crate::skip;
use ndarray::{Array2, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{Gpu, Lu, Place, Precision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Class, Columns, Complex64, Device, Error, MatRef, Rows, Shape, Side};

fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f64 - 5.0)
}

fn product(device: &Device, [rows, columns, depth]: [usize; 3], beta: f64) -> Result<(), Error> {
    let (a, b, mut c) = (matrix(rows, depth, 1), matrix(columns, depth, 2), matrix(rows, columns, 3));
    let expected = a.dot(&b.t()) * 2.0 + &c * beta;
    device.matmul(Precision::Auto, 2.0, (&a).into(), (&b.t()).into(), beta, (&mut c).into())?;
    assert_eq!(c, expected, "whole numbers are exact in any order");
    Ok(())
}

#[test]
fn d1_without_a_gpu_everything_is_on_the_cpu_and_says_why() {
    let device = Device::cpu();
    product(&device, [30, 20, 40], 1.0).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason, decision.gpu), (Side::Cpu, Reason::Asked, None));
    product(&device.clone().choosing(Choice::Auto), [5, 6, 7], 0.0).unwrap();
    assert_eq!(last_decision().unwrap().reason, Reason::NoGpu);
    let error = product(&device.choosing(Choice::Gpu), [5, 6, 7], 0.0).unwrap_err();
    assert!(matches!(error, Error::NoGpu { .. }), "{error}");
}

#[test]
fn d7_rates_of_this_machine_are_measured_and_possible() {
    let rates = Device::cpu().rates();
    assert!(rates.gpu.is_none());
    // A core of any machine does more than 0.1 GF, and none 10 TF.
    assert!((1e8..1e13).contains(&rates.cpu.flops.f64) && rates.cpu.flops.f32 > 1e8, "{rates:?}");
    assert!((1e8..1e13).contains(&rates.cpu.memory), "{rates:?}");
    assert_eq!(Device::cpu().rates(), rates, "measured once");
    assert!(rates.measured_in.is_some_and(|seconds| seconds > 0.0 && seconds < 60.0), "{rates:?}");
    assert_eq!(Device::cpu().rated(Rates::h200()).rates(), Rates::h200());
}

#[test]
fn m16_a_plan_computes_nothing_and_leaves_no_record() {
    let device = Device::cpu().rated(Rates::of_cores(4)).choosing(Choice::Auto);
    let shape = |rows, columns| Shape::new(Rows(rows), Columns(columns));
    let plan = device.plan_matmul::<f64>(Precision::Auto, [shape(1 << 20, 1 << 20), shape(1 << 20, 1)], true).unwrap();
    assert_eq!((plan.side, plan.bytes), (Side::Cpu, (1 << 43) + (3 << 23)));
    assert_eq!(last_decision(), None);
    let misfit = device.plan_matmul::<f64>(Precision::Auto, [shape(2, 3), shape(4, 5)], false).unwrap_err();
    assert_eq!(misfit.class(), Class::User);
}

#[test]
fn complex_and_strided_operands_are_what_they_say() {
    let values = Array2::from_shape_fn((8, 6), |(i, j)| Complex64::new(i as f64 - 3.0, j as f64));
    let (a, b) = (values.slice(s![..;2, ..;-1]), values.slice(s![1..;2, ..]));
    let mut c = Array2::from_elem((4, 4), Complex64::new(f64::NAN, 0.0));
    let view = tilewright_hybrid::MatRef::from(&b);
    Device::cpu()
        .matmul(
            Precision::Auto,
            Complex64::new(0.0, 1.0),
            (&a).into(),
            view.h().into(),
            Complex64::default(),
            (&mut c).into(),
        )
        .unwrap();
    let expected = a.dot(&b.t().mapv(|z| z.conj())) * Complex64::new(0.0, 1.0);
    assert_eq!(c, expected);
}

/// Of one call of its own: little memory, so that tiles are many.
fn small(gpu: &Gpu, device_bytes: u64) -> Device {
    let budgets =
        Budgets { device: Budget::new(Memory::Device, device_bytes), pinned: Budget::new(Memory::Pinned, 64 << 10) };
    Device::with(gpu).rated(Rates::h200()).within(budgets).guarded(Breaker::new(0, Settings::default()))
}

/// On a GPU: products that fit, and products in tiles.
pub(crate) fn on_a_gpu(gpu: &Gpu) {
    for (device_bytes, is_streamed) in [(1 << 30, false), (48 << 10, true)] {
        let device = small(gpu, device_bytes).choosing(Choice::Gpu);
        for (sizes, beta) in [([70, 50, 90], 0.0), ([33, 65, 130], -1.0), ([1, 200, 7], 2.0)] {
            product(&device, sizes, beta).unwrap();
            let decision = last_decision().unwrap();
            assert_eq!(decision.side, Side::Gpu);
            if sizes != [1, 200, 7] {
                assert_eq!(decision.gpu.unwrap().tiles.is_some(), is_streamed, "{sizes:?} in {device_bytes}");
            }
        }
        assert_eq!(device.health().unwrap().recent_failures, 0);
    }
    for (device_bytes, is_streamed) in [(1 << 30, false), (48 << 10, true)] {
        solutions(&small(gpu, device_bytes).choosing(Choice::Gpu), is_streamed);
    }
    for (device_bytes, side) in [(1 << 30, Side::Gpu), (48 << 10, Side::Cpu)] {
        factors(&small(gpu, device_bytes).choosing(Choice::Gpu), side);
    }
    // By itself: small ones stay, whatever lies there.
    product(&small(gpu, 1 << 30), [20, 20, 20], 0.0).unwrap();
    assert_eq!(last_decision().unwrap().side, Side::Cpu);
}

/// Solutions and inverses on a GPU, of views too, whole or in panels.
fn solutions(device: &Device, is_streamed: bool) {
    let a = Array2::from_shape_fn((90, 90), |(i, j)| ((i * 7 + j * 3) % 11) as f64 + if i == j { 100.0 } else { 0.0 });
    let b = Array2::from_shape_fn((5, 90), |(i, j)| (i * 90 + j) as f64);
    let near = |x: &Array2<f64>, y: &Array2<f64>| (x - y).iter().all(|off| off.abs() < 1e-9);
    let is_as_planned = || {
        let decision = last_decision().unwrap();
        assert_eq!((decision.side, decision.gpu.unwrap().tiles.is_some()), (Side::Gpu, is_streamed), "{decision}");
    };
    let x = device.solve(MatRef::from(&a).t().into(), MatRef::from(&b).t().scaled(2.0).into()).unwrap();
    is_as_planned();
    assert!(near(&a.t().dot(&x), &(&b.t() * 2.0)));
    let inverse = device.inverse((&a).into()).unwrap();
    is_as_planned();
    assert!(near(&a.dot(&inverse), &Array2::eye(90)));
    let ones = Array2::<f64>::ones((90, 90));
    let singular = device.solve((&ones).into(), (&b.t()).into());
    assert!(matches!(singular, Err(Error::Singular { pivot: 1, size: 90 })), "{singular:?}");
    let mut unfinished = a;
    unfinished[[3, 4]] = f64::NAN;
    // The GPU was asked for: what it would lose in panels it refuses, and otherwise NaN comes out there.
    let solved = device.solve((&unfinished).into(), (&b.t()).into());
    if is_streamed {
        assert!(matches!(solved, Err(Error::NotFinite { row: 3, column: 4, .. })), "{solved:?}");
        assert!(last_outcome().is_none());
    } else {
        assert!(solved.unwrap().iter().any(|x| x.is_nan()));
        let outcome = last_outcome().unwrap();
        assert!(outcome.side == Side::Gpu && outcome.why.is_none(), "{outcome:?}");
    }
}

/// That the GPU did it: whole, if what it made is there, or in panels.
fn was_planned(operation: &str, side: Side) {
    let decision = last_decision().unwrap();
    let is_streamed = decision.gpu.unwrap().tiles.is_some();
    assert_eq!(
        (decision.operation, decision.side, is_streamed),
        (operation, Side::Gpu, side == Side::Cpu),
        "{decision}"
    );
    assert_eq!(last_outcome().unwrap().side, Side::Gpu, "{operation}");
}

fn near(one: &Array2<Complex64>, other: &Array2<Complex64>) {
    assert_eq!(one.dim(), other.dim());
    let off = (one - other).iter().fold(0.0, |most: f64, x| most.max(x.norm()));
    assert!(off < 1e-9, "{off}");
}

/// Factors that a GPU makes, whole or in panels, are on the GPU or here; and what follows from them.
fn factors(device: &Device, side: Side) {
    // Rows far from where pivots take them.
    let a = Array2::from_shape_fn((90, 90), |(i, j)| {
        let turned = (i + 37) % 90;
        let pivot = if turned == j { 50.0 } else { 0.0 };
        Complex64::new(((i * 7 + j * 3) % 11) as f64 + pivot, ((i * 5 + j * j) % 7) as f64)
    });
    let view = MatRef::from(&a);
    let (lu, here) = (device.lu(view.into()).unwrap(), Lu::factor(&Place::Cpu, view).unwrap());
    was_planned("lu", side);
    assert_eq!((lu.side(), lu.shape(), lu.singular_pivot()), (side, here.shape(), None));
    assert_eq!(lu.permutation(), here.permutation());
    near(&lu.l().unwrap(), &here.l().unwrap());
    near(&lu.u().unwrap(), &here.u().unwrap());
    let b = Array2::from_shape_fn((90, 3), |(i, j)| Complex64::new(i as f64, j as f64));
    near(&a.dot(&lu.solve((&b).into()).unwrap()), &b);
    near(&a.t().mapv(|x| x.conj()).dot(&lu.solve_adjoint((&b).into()).unwrap()), &b);
    near(&a.dot(&lu.inverse().unwrap()), &Array2::eye(90));
    let log = device.log_determinant(view.into()).unwrap();
    was_planned("determinant", side);
    let expected = here.log_determinant().unwrap();
    assert!((log.log_abs - expected.log_abs).abs() < 1e-9 && (log.sign - expected.sign).norm() < 1e-9, "{log:?}");
    let ratio = device.determinant(view.into()).unwrap() / here.determinant().unwrap();
    assert!((ratio - 1.0).norm() < 1e-9, "{ratio}");
    let (condition, expected) =
        (device.reciprocal_condition(view.into()).unwrap(), here.reciprocal_condition().unwrap());
    was_planned("reciprocal_condition", side);
    assert!((condition / expected - 1.0).abs() < 1e-9, "{condition} {expected}");
    cholesky(device, &a, side, &b);
    singular_unfinished_and_tall(device, side);
}

/// That of `a adjoint(a)`.
fn cholesky(device: &Device, a: &Array2<Complex64>, side: Side, b: &Array2<Complex64>) {
    let definite = a.dot(&a.t().mapv(|x| x.conj()));
    // What is above the diagonal is not read.
    let lower =
        Array2::from_shape_fn((90, 90), |(i, j)| if i < j { Complex64::new(f64::NAN, 1.0) } else { definite[[i, j]] });
    let cholesky = device.cholesky((&lower).into()).unwrap();
    was_planned("cholesky", side);
    assert_eq!((cholesky.side(), cholesky.size()), (side, 90));
    let l = cholesky.l().unwrap();
    near(&l.dot(&l.t().mapv(|x| x.conj())), &definite);
    near(&definite.dot(&cholesky.solve(b.into()).unwrap()), b);
    let indefinite = device.cholesky(MatRef::from(&definite).scaled(Complex64::new(-1.0, 0.0)).into()).err();
    assert!(matches!(indefinite, Some(Error::NotPositiveDefinite { order: 1, size: 90 })), "{indefinite:?}");
}

fn singular_unfinished_and_tall(device: &Device, side: Side) {
    let ones = Array2::<f64>::ones((90, 90));
    let singular = device.lu((&ones).into()).unwrap();
    assert_eq!(singular.singular_pivot(), Some(1));
    assert!(matches!(singular.inverse(), Err(Error::Singular { pivot: 1, size: 90 })));
    assert_eq!(device.determinant((&ones).into()).unwrap(), 0.0);
    assert_eq!(device.reciprocal_condition((&ones).into()).unwrap(), 0.0);
    let mut unfinished = ones;
    unfinished[[3, 4]] = f64::NAN;
    match device.lu((&unfinished).into()) {
        Ok(factors) => assert!(factors.side() == Side::Gpu && factors.u().unwrap().iter().any(|x| x.is_nan())),
        Err(error) => {
            assert!(side == Side::Cpu && matches!(error, Error::NotFinite { row: 3, column: 4, .. }), "{error}")
        }
    }
    // Only those of square matrices are streamed.
    let tall =
        device.lu((&Array2::<f64>::eye(120)).into()).and_then(|_| device.lu((&Array2::<f64>::ones((120, 90))).into()));
    assert_eq!(tall.err().map(|error| error.class()), (side == Side::Cpu).then_some(Class::Resource));
}

#[test]
fn on_the_gpu_here() {
    match crate::gpu("device::on_the_gpu_here") {
        Some(gpu) => on_a_gpu(&gpu),
        None => skip("device::on_the_gpu_here", "no GPU"),
    }
}
