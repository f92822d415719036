//! G15: f64 that is emulated, as decisions and their records tell it.

use super::matrix;
use super::on_the_gpu::{budgets, eager, shrinking};
use crate::ledger::Stubs;
use crate::skip;
use ndarray::Array2;
use tilewright_driver::{Device as Driver, Error as DriverError};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{
    At, Choice, Decision, Emulation, Job, ProductExtents, Rates, Reason, Trace, Unit, last_decision, last_outcome,
};
use tilewright_hybrid::faults::{Breaker, Condition, Settings};
use tilewright_hybrid::linear::{self, Gpu, Place, Precision};
use tilewright_hybrid::{Class, Columns, Device, Error, Operand, Rows, Shape, Side};

const ASKED: Precision = Precision::F64Emulated { mantissa_bits: 31 };

fn shapes([rows, depth, columns]: [usize; 3]) -> [Shape; 2] {
    [Shape::new(Rows(rows), Columns(depth)), Shape::new(Rows(depth), Columns(columns))]
}

fn multiplied(device: &Device, precision: Precision) -> Result<Array2<f64>, Error> {
    let (a, b, mut c) = (matrix(30, 40, 1), matrix(40, 20, 2), Array2::from_elem((30, 20), f64::NAN));
    device.matmul(precision, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).map(|()| c)
}

/// On a GPU alone, however much faster the CPU would be, and with the bound; where nobody asks nothing is emulated.
#[test]
fn g15_a_decision_reports_the_bound() {
    let extents = ProductExtents { rows: 64, columns: 64, depth: 64 };
    let plain = Job::matmul(("f64", 8, Unit::F64), extents, [At::Pageable; 3], false).unwrap();
    let emulation = Emulation { mantissa_bits: 31, error_bound: ASKED.error_bound::<f64>(64).unwrap() };
    let job = Job { emulation: Some(emulation), ..plain.clone() };
    let of = |job: &Job, choice, rates: &Rates| Decision::of(job, choice, rates, 1 << 30);
    let decision = of(&job, Choice::Auto, &Rates::h200()).unwrap();
    assert_eq!((decision.side, decision.reason, decision.emulation), (Side::Gpu, Reason::GpuAlone, Some(emulation)));
    assert!(decision.cpu.wall < decision.gpu.unwrap().cost.wall);
    let text = decision.to_string();
    assert!(text.contains("the GPU alone can") && text.contains("emulated by 31 bits, off by 1.1e-6"), "{text}");
    assert_eq!(of(&job, Choice::Gpu, &Rates::h200()).unwrap().reason, Reason::Asked);
    assert_eq!(of(&plain, Choice::Auto, &Rates::h200()).unwrap().emulation, None);
    for (choice, rates) in [(Choice::Cpu, Rates::h200()), (Choice::Auto, Rates::of_cores(4))] {
        let error = of(&job, choice, &rates).unwrap_err();
        assert!(matches!(error, Error::Unsupported { place: "CPU", element: "f64", .. }), "{error}");
        assert_eq!(error.class(), Class::User);
    }
    assert!(matches!(of(&job, Choice::Gpu, &Rates::of_cores(4)), Err(Error::NoGpu { .. })));
    let diagonal = Job { not_on_gpu: Some("the CPU scales rows and columns"), ..job };
    let error = of(&diagonal, Choice::Auto, &Rates::h200()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { place: "GPU", .. }), "{error}");
}

#[test]
fn g15_without_a_gpu_nothing_is_emulated() {
    let auto = Device::cpu().choosing(Choice::Auto);
    for device in [&Device::cpu(), &auto] {
        let planned = device.plan_matmul::<f64>(ASKED, shapes([30, 40, 20]), false).map(drop);
        for asked in [planned, multiplied(device, ASKED).map(drop)] {
            assert!(matches!(asked, Err(Error::Unsupported { place: "CPU", .. })), "{asked:?}");
        }
    }
    let error = auto.plan_matmul::<f32>(ASKED, shapes([3, 4, 5]), false).unwrap_err();
    assert!(matches!(error, Error::Unsupported { element: "f32", place: "CPU and GPU", .. }), "{error}");
}

#[test]
fn g15_plans_and_records_are_what_happens() {
    let Some(gpu) = crate::gpu("device::emulated::g15_plans_and_records_are_what_happens") else { return };
    let breaker = Breaker::new(0, Settings::default());
    let device = eager(&gpu, budgets(Budget::new(Memory::Device, 1 << 24)), &breaker);
    let trace = Trace::begin();
    let planned = device.plan_matmul::<f64>(ASKED, shapes([30, 40, 20]), false).unwrap();
    let c = match multiplied(&device, ASKED) {
        Err(Error::Driver(DriverError::OldLibrary { .. })) => {
            return skip("device::emulated::g15_plans_and_records_are_what_happens", "no cuBLAS 13.1");
        }
        c => c.unwrap(),
    };
    // Whole numbers of a few bits are exact.
    assert_eq!(c, matrix(30, 40, 1).dot(&matrix(40, 20, 2)));
    let decision = last_decision().unwrap();
    assert_eq!((&decision, last_outcome().unwrap().side), (&planned, Side::Gpu));
    let bound = ASKED.error_bound::<f64>(40);
    assert_eq!((decision.reason, decision.emulation.map(|it| it.error_bound)), (Reason::GpuAlone, bound));
    assert!(trace.json().contains(&format!("\"error_bound\":{:?}", bound.unwrap())), "{}", trace.json());
    // Three times what operands and result take.
    assert_eq!(decision.gpu.unwrap().device_bytes, 3 * 8 * (30 * 40 + 40 * 20 + 30 * 20));
    // In tiles, by a plan that leaves as much, and without the CPU where there is no room at all.
    let small = eager(&gpu, budgets(Budget::new(Memory::Device, 24 << 10)), &breaker);
    assert_eq!(multiplied(&small, ASKED).unwrap(), c);
    let streamed = last_decision().unwrap();
    assert!(streamed.gpu.unwrap().tiles.is_some() && streamed.to_string().contains("emulated"), "{streamed}");
    let none = eager(&gpu, budgets(Budget::new(Memory::Device, 100)), &breaker);
    assert!(matches!(multiplied(&none, ASKED), Err(Error::Budget { .. })));
    // What the GPU fails at does not go on, on the CPU, which would refuse it.
    let shrinking = eager(&gpu, budgets(shrinking(1, 0)), &Breaker::new(0, Settings::default()));
    let error = multiplied(&shrinking, ASKED).unwrap_err();
    assert_eq!((error.class(), last_decision().unwrap().side), (Class::Resource, Side::Gpu), "{error}");
    let error = multiplied(&device.clone().choosing(Choice::Cpu), ASKED).unwrap_err();
    assert!(matches!(error, Error::Unsupported { place: "CPU", .. }), "{error}");
    // A diagonal scales, on the CPU.
    let (values, a, mut to) = ([2.0; 30], matrix(30, 40, 1), matrix(30, 40, 2));
    let asked = device.matmul(ASKED, 1.0, Operand::diagonal(&values), (&a).into(), 0.0, (&mut to).into());
    assert!(matches!(asked, Err(Error::Unsupported { place: "GPU", .. })), "{asked:?}");
    assert_eq!((breaker.health().failures, to), (0, matrix(30, 40, 2)));
}

#[test]
fn g15_an_older_cublas_is_named_with_the_one_that_is_needed() {
    const NAME: &str = "device::emulated::g15_an_older_cublas_is_named_with_the_one_that_is_needed";
    Stubs::check_on(Stubs::old(), NAME, "old cuBLAS", |_| ());
}

pub(crate) fn child_old_cublas() {
    let gpu = Gpu::new(&Driver::new(0).unwrap().stream().unwrap());
    let breaker = Breaker::new(0, Settings::default());
    for bytes in [1 << 24, 24 << 10] {
        let auto = eager(&gpu, budgets(Budget::new(Memory::Device, bytes)), &breaker);
        for device in [&auto, &auto.clone().choosing(Choice::Gpu)] {
            let error = multiplied(device, ASKED).unwrap_err();
            let Error::Driver(DriverError::OldLibrary { library: "cuBLAS", found, since, .. }) = &error else {
                panic!("{error}")
            };
            assert!(found.as_deref() == Some("12.4.0") && since.contains("13.1"), "{error}");
            assert!(error.to_string().contains("cuBLAS 12.4.0 lacks `cublasSetFixedPoint"), "{error}");
            assert_eq!(error.class(), Class::User);
            assert_eq!(multiplied(device, Precision::Auto).unwrap(), matrix(30, 40, 1).dot(&matrix(40, 20, 2)));
        }
    }
    // cuSOLVER is as old.
    let error = linear::eigenvalues(&Place::Gpu(gpu), (&matrix(5, 5, 1)).into()).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { place: "GPU", why, .. } if why.contains("12.6")), "{error}");
    assert_eq!((breaker.health().condition, breaker.health().failures), (Condition::Closed, 0));
}
