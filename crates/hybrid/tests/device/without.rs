//! What is missing disables only what needs it: cuBLAS, cuSOLVER, a GPU that may be seen.

use ndarray::Array2;
use tilewright_driver::{Device as Driver, Error as DriverError};
use tilewright_hybrid::bits::gpu::{DeviceBitMatrix, DeviceProduct, GpuPath};
use tilewright_hybrid::bits::{BitMatrix, Product};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, Policy, Settings, Why};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Overflow};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Class, Device, Error, Operand, Side};

use super::matrix;
use super::verbs::{near, regular};
use crate::ledger::{NVRTC, Stubs};
use crate::skip;

fn check(test: &str, missing: &str, scenario: &str, prepare: impl FnOnce(&mut std::process::Command)) {
    if !missing.is_empty() && Driver::new(0).is_ok() {
        return skip(test, "what is missing among stubs is found beside the GPU's driver");
    }
    Stubs::check_on(Stubs::without(missing), test, scenario, prepare);
}

#[test]
fn m12_without_cublas() {
    check("device::without::m12_without_cublas", "libcublas.so.12", "without cuBLAS", |_| {});
}

#[test]
fn m12_without_cusolver() {
    check("device::without::m12_without_cusolver", "libcusolver.so.11", "without cuSOLVER", |_| {});
}

#[test]
fn m12_without_nvrtc() {
    check("device::without::m12_without_nvrtc", NVRTC, "without NVRTC", |_| {});
}

#[test]
fn m12_no_gpu_is_visible() {
    let hide = |command: &mut std::process::Command| _ = command.env("CUDA_VISIBLE_DEVICES", "");
    check("device::without::m12_no_gpu_is_visible", "", "no visible GPU", hide);
}

/// A GPU that is asked for, and one that is chosen, with its breaker.
fn devices() -> (Gpu, [Device; 2], Breaker) {
    let gpu = Gpu::new(&Driver::new(0).unwrap().stream().unwrap());
    let [device, pinned] = [Memory::Device, Memory::Pinned].map(|memory| Budget::new(memory, 1 << 24));
    let breaker = Breaker::new(0, Settings::default());
    let mut rates = Rates::h200();
    rates.cpu.call = 3600.0;
    let auto = Device::with(&gpu).rated(rates).within(Budgets { device, pinned }).guarded(breaker.clone());
    (gpu, [auto.clone().choosing(Choice::Gpu), auto], breaker)
}

/// Whether an operation that needs a library is refused by the GPU, and is done by the CPU where there is a choice, which says so and takes host
/// memory as what failed does.
fn is_missing(
    library: &str,
    [asked, auto]: &[Device; 2],
    operation: impl Fn(&Device) -> Result<Array2<f64>, Error>,
    expected: &Array2<f64>,
) {
    let error = operation(asked).unwrap_err();
    assert!(
        matches!(&error, Error::Driver(DriverError::NoLibrary { library: named, .. }) if *named == library),
        "{error}"
    );
    let fallbacks = || auto.health().unwrap().fallbacks;
    let before = fallbacks();
    near(&operation(auto).unwrap(), expected);
    let outcome = last_outcome().unwrap();
    assert_eq!((last_decision().unwrap().side, outcome.side), (Side::Gpu, Side::Cpu));
    assert!(matches!(&outcome.why, Some(Why::Failed(error)) if error.to_string().contains(library)), "{outcome:?}");
    assert_eq!(fallbacks(), before + 1);
    let error =
        operation(&auto.clone().guarded(Breaker::new(0, Settings { policy: Policy::FailFast, ..Settings::default() })));
    assert!(matches!(error, Err(Error::Driver(DriverError::NoLibrary { .. }))), "{error:?}");
}

/// The CPU has no memory of the host for it.
fn is_short_of_the_host(auto: &Device, a: Operand<'_, f64>) {
    let auto = auto.clone().falling_back_within(Budget::new(Memory::Host, 100));
    let error = auto.inverse(a).unwrap_err();
    assert!(matches!(error, Error::FallbackWouldExceedBudget { cause: Some(_), .. }), "{error}");
}

/// What needs neither of them.
fn others(gpu: &Gpu) {
    let a = DeviceBitMatrix::zeros(gpu.stream(), 100, 70).unwrap();
    DeviceProduct::of_rows(&a, &a).unwrap().on(GpuPath::Popcount).unwrap().distances().unwrap();
}

pub(crate) fn child_without_cublas() {
    let (gpu, devices, breaker) = devices();
    if gpu.blas().is_ok() {
        return eprintln!("this machine has a cuBLAS of its own");
    }
    let (a, b) = (matrix(20, 30, 1), matrix(30, 10, 2));
    is_missing("cuBLAS", &devices, |device| device.product((&a).into(), (&b).into()), &a.dot(&b));
    others(&gpu);
    // Factors are cuSOLVER's, which multiplies by cuBLAS.
    let (s, x) = (regular(15, 3), matrix(15, 2, 4));
    is_missing("cuBLAS", &devices, |device| device.solve((&s).into(), (&s.dot(&x)).into()), &x);
    assert_eq!((breaker.health().condition, breaker.health().failures), (Condition::Closed, 0));
}

pub(crate) fn child_without_cusolver() {
    let (gpu, devices, breaker) = devices();
    if gpu.solver().is_ok() {
        return eprintln!("this machine has a cuSOLVER of its own");
    }
    let (a, x) = (regular(15, 3), matrix(15, 2, 4));
    let b = a.dot(&x);
    is_missing("cuSOLVER", &devices, |device| device.solve((&a).into(), (&b).into()), &x);
    is_short_of_the_host(&devices[1], (&a).into());
    others(&gpu);
    near(&devices[0].product((&a).into(), (&x).into()).unwrap(), &b);
    assert_eq!(last_outcome().unwrap().side, Side::Gpu);
    assert_eq!((breaker.health().condition, breaker.health().failures), (Condition::Closed, 0));
}

/// What needs a kernel goes to the CPU, the norm that conditions want comes to the host, and what needs none stays.
pub(crate) fn child_without_nvrtc() {
    let (gpu, [asked, auto], breaker) = devices();
    if tilewright_driver::toolkit::nvrtc().is_ok() {
        return eprintln!("this machine has an NVRTC of its own");
    }
    let [a, b] = [1, 2].map(|seed| BitMatrix::random(300, 300, 0.5, seed).unwrap());
    let there = DeviceBitMatrix::upload(gpu.stream(), &a).unwrap();
    let error = asked.bit_counts(&there, &b).unwrap_err();
    assert!(matches!(error, Error::Driver(DriverError::NoNvrtc { .. })), "{error}");
    assert_eq!(error.class(), Class::User);
    assert_eq!(auto.bit_counts(&there, &b).unwrap(), Product::of(&a, &b).unwrap().counts().unwrap());
    let outcome = last_outcome().unwrap();
    assert_eq!((last_decision().unwrap().side, outcome.side), (Side::Gpu, Side::Cpu));
    assert!(matches!(&outcome.why, Some(Why::Failed(error)) if error.to_string().contains("NVRTC")), "{outcome:?}");
    let (s, x) = (regular(15, 3), matrix(15, 2, 4));
    let [there_s, there_b] = [&s, &s.dot(&x)].map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
    near(&asked.solve((&there_s).into(), (&there_b).into()).unwrap(), &x);
    assert!(asked.reciprocal_condition((&there_s).into()).unwrap() > 0.0);
    assert_eq!(last_outcome().unwrap().side, Side::Gpu);
    // Of few rows the stub of cuBLAS has no product as factors lie: the host turns one over, in memory for it as it is there and turned.
    let (a, b) = (matrix(7, 30, 1).mapv(|x| x as i8), matrix(30, 5, 2).mapv(|x| x as i8));
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let multiply = |bytes| {
        let (host, mut c) = (Budget::new(Memory::Host, bytes), Array2::from_elem((7, 5), 77i32));
        let device = asked.clone().falling_back_within(host.clone());
        let done = device.matmul_integer(Overflow::Error, (&there).into(), (&b).into(), (&mut c).into());
        done.map(|()| (c, host.peak()))
    };
    let expected = matrix(7, 30, 1).dot(&matrix(30, 5, 2)).mapv(|x| x as i32);
    assert_eq!(multiply(2 * 16 * 32).unwrap(), (expected, 2 * 16 * 32));
    assert!(matches!(multiply(2 * 16 * 32 - 1), Err(Error::Budget { what: "host memory", .. })));
    assert_eq!((breaker.health().condition, breaker.health().failures), (Condition::Closed, 0));
}

pub(crate) fn child_no_visible_gpu() {
    let (device, a) = (Device::auto(), matrix(9, 9, 1));
    assert_eq!(device.product((&a).into(), (&a).into()).unwrap(), a.dot(&a));
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason, decision.gpu), (Side::Cpu, Reason::NoGpu, None));
    assert!(device.health().is_none());
    let error = Device::gpu(0).unwrap_err();
    assert!(matches!(error, Error::Driver(DriverError::NoDevice)), "{error}");
    let error = device.choosing(Choice::Gpu).product((&a).into(), (&a).into()).unwrap_err();
    assert!(matches!(error, Error::NoGpu { .. }), "{error}");
}
