//! The face on a GPU, and, without one, on stubs of the driver and of its libraries.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
use std::time::Duration;

use ndarray::{Array2, array, s};
use tilewright_hybrid::budget::{Budget, Level, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, EventKind, Policy, Settings, Why};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Norm, Overflow, Precision};
use tilewright_hybrid::store::MemorySource;
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Class, Columns, Device, Error, MatRef, Operand, Rows, Shape, Side, Target};

use super::verbs::{definite, each, general_eigenvalues, near, regular, turning};
use super::{matrix, small};

pub(super) const ROOM: u64 = 1 << 30;

pub(super) fn forced(gpu: &Gpu) -> Device {
    small(gpu, ROOM).choosing(Choice::Gpu)
}

/// On the GPU because it is asked for, and with the policy of the breaker nevertheless: rates by which the GPU is always faster.
pub(super) fn eager(gpu: &Gpu, budgets: Budgets, breaker: &Breaker) -> Device {
    let mut rates = Rates::h200();
    rates.cpu.call = 3600.0;
    Device::with(gpu).rated(rates).within(budgets).guarded(breaker.clone())
}

pub(super) fn budgets(device: Budget) -> Budgets {
    Budgets { device, pinned: Budget::new(Memory::Pinned, 1 << 20) }
}

fn names(breaker: &Breaker) -> Vec<&'static str> {
    let name = |kind: &EventKind| match kind {
        EventKind::Failed { .. } => "Failed",
        EventKind::Smaller { .. } => "Smaller",
        EventKind::FellBack { .. } => "FellBack",
        EventKind::Opened { .. } => "Opened",
        EventKind::Probing => "Probing",
        EventKind::Closed => "Closed",
        _ => "other",
    };
    breaker.events().iter().map(|event| name(&event.kind)).collect()
}

#[test]
fn d1_every_verb() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::d1_every_verb") else { return };
    let device = forced(&gpu);
    each(&device, Side::Gpu);
    let health = device.health().unwrap();
    assert_eq!((health.failures, health.fallbacks), (0, 0));
}

/// Of CUDA 12.6 and later: earlier cuSOLVERs do not have them, and where there is a choice the CPU does.
#[test]
fn d8_general_eigenvalues_where_cusolver_has_them() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::d8_general_eigenvalues_where_cusolver_has_them") else { return };
    let breaker = Breaker::new(0, Settings::default());
    let (auto, turning) = (eager(&gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker), turning());
    general_eigenvalues(&auto, (&turning).into());
    general_eigenvalues(&auto, (&DeviceMat::upload(&gpu, (&turning).into()).unwrap()).into());
    assert_eq!(breaker.health().failures, 0);
    let asked = forced(&gpu).eigenvalues((&matrix(5, 5, 1)).into());
    assert!(matches!(asked, Ok(_) | Err(Error::Unsupported { place: "GPU", .. })), "{asked:?}");
}

#[test]
fn b1_b9_the_same_errors_on_both_processors_and_the_breaker_does_not_move() {
    const NAME: &str = "device::on_the_gpu::b1_b9_the_same_errors_on_both_processors_and_the_breaker_does_not_move";
    let Some(gpu) = crate::gpu(NAME) else { return };
    let (device, cpu) = (forced(&gpu), Device::cpu());
    let mut twice = regular(32, 3);
    let row = twice.row(7).to_owned();
    twice.row_mut(30).assign(&row);
    let oblong = twice.slice(s![..31, ..]);
    let oblong = Operand::from(&oblong);
    let (b, wide, nan) = (matrix(32, 2, 1), matrix(3, 5, 2), array![[1.0, f64::NAN], [0.0, 1.0]]);
    let mut indefinite = definite(9, 4);
    indefinite[[5, 5]] = -1.0;
    let [twice, b, wide, nan, indefinite] = [&twice, &b, &wide, &nan, &indefinite].map(Operand::from);
    let errors = |device: &Device| -> Vec<String> {
        [
            device.inverse(twice).err(),
            device.solve(twice, b).err(),
            device.lu(twice).and_then(|factors| factors.solve(b)).err(),
            device.cholesky(indefinite).err(),
            device.inverse(wide).err(),
            device.solve(oblong, b).err(),
            device.svd(nan).err(),
            device.eigen_hermitian(nan.t()).err(),
            device.product(wide, wide).err(),
        ]
        .into_iter()
        .map(|error| error.expect("an error").to_string())
        .collect()
    };
    assert_eq!(errors(&device), errors(&cpu));
    let health = device.health().unwrap();
    assert_eq!((health.failures, health.fallbacks, health.condition), (0, 0, Condition::Closed));
    near(&device.inverse((&regular(9, 1)).into()).unwrap(), &cpu.inverse((&regular(9, 1)).into()).unwrap());
}

/// Panels would lose NaN: where there is a choice the CPU does it, with a reason, an event and host memory, and who asked for the GPU is told. The
/// breaker does not move.
#[test]
fn b1_nan_in_panels_goes_to_the_cpu_or_is_refused() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::b1_nan_in_panels_goes_to_the_cpu_or_is_refused") else { return };
    let (breaker, mut a) = (Breaker::new(0, Settings::default()), regular(90, 1));
    a[[3, 4]] = f64::NAN;
    let (a, b) = (Operand::from(&a), matrix(90, 2, 2));
    let auto = eager(&gpu, budgets(Budget::new(Memory::Device, 48 << 10)), &breaker);
    let told = |operation: &dyn Fn(&Device) -> Result<bool, Error>| {
        let before = breaker.health().fallbacks;
        assert!(operation(&auto).unwrap(), "NaN comes out");
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert!(decision.side == Side::Gpu && decision.gpu.as_ref().unwrap().tiles.is_some(), "{decision}");
        assert!(
            matches!((outcome.side, &outcome.why), (Side::Cpu, Some(Why::Failed(error)))
                if matches!(**error, Error::NotFinite { row: 3, column: 4, .. })),
            "{outcome:?}"
        );
        assert_eq!(breaker.health().fallbacks, before + 1);
        let host = Budget::new(Memory::Host, 8 * 90 * 90);
        let error = operation(&auto.clone().falling_back_within(host)).unwrap_err();
        assert!(matches!(error, Error::FallbackWouldExceedBudget { cause: Some(_), .. }), "{error}");
        let error = operation(&auto.clone().choosing(Choice::Gpu)).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 3, column: 4, .. }), "{error}");
        assert!(last_outcome().is_none());
    };
    let any = |x: &Array2<f64>| x.iter().any(|x| x.is_nan());
    told(&|device| device.solve(a, (&b).into()).map(|x| any(&x)));
    told(&|device| device.inverse(a).map(|x| any(&x)));
    told(&|device| device.determinant(a).map(f64::is_nan));
    told(&|device| device.reciprocal_condition(a).map(f64::is_nan));
    told(&|device| device.lu(a)?.u().map(|u| any(&u)));
    assert_eq!((breaker.health().failures, breaker.health().condition), (0, Condition::Closed));
    assert!(names(&breaker).iter().all(|name| *name == "FellBack"));
    // What no processor does is tried on no other.
    let error = auto.svd(a).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 3, column: 4, .. }), "{error}");
    assert_eq!(breaker.health().fallbacks, 5);
    // Where there is room the GPU does it.
    let roomy = eager(&gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
    assert!(any(&roomy.solve(a, (&b).into()).unwrap()) && last_outcome().unwrap().side == Side::Gpu);
    assert_eq!(roomy.lu(a).unwrap().side(), Side::Gpu);
    assert!(any(&roomy.choosing(Choice::Gpu).inverse(a).unwrap()));
}

/// A budget whose first answers are generous: what was decided no longer fits.
pub(super) fn shrinking(generous: u32, then: u64) -> Budget {
    let asked = AtomicU32::new(0);
    Budget::measured(Memory::Device, move || {
        let bytes = if asked.fetch_add(1, Ordering::Relaxed) < generous { ROOM } else { then };
        Level { capacity: ROOM, available: bytes }
    })
}

#[test]
fn b2_a_product_is_tried_in_tiles_and_a_factorisation_goes_on_on_the_cpu() {
    const NAME: &str = "device::on_the_gpu::b2_a_product_is_tried_in_tiles_and_a_factorisation_goes_on_on_the_cpu";
    let Some(gpu) = crate::gpu(NAME) else { return };
    let breaker = Breaker::new(0, Settings::default());
    let (a, b) = (matrix(70, 90, 1), matrix(90, 50, 2));
    let tiled = eager(&gpu, budgets(shrinking(1, 96 << 10)), &breaker);
    assert_eq!(tiled.product((&a).into(), (&b).into()).unwrap(), a.dot(&b));
    assert_eq!(
        (names(&breaker), breaker.health().successes),
        (vec!["Smaller"], 1),
        "in tiles of half of what is there"
    );

    let short = eager(&gpu, budgets(shrinking(1, 1 << 10)), &breaker);
    let s = regular(40, 3);
    let factors = short.qr((&s).into()).unwrap();
    near(&factors.q().unwrap().dot(&factors.r().unwrap()), &s);
    assert_eq!(names(&breaker), ["Smaller", "Failed", "FellBack"], "nothing of it could be smaller");
    assert_eq!(breaker.health().recent_failures, 1);
    // LU factors could be made of panels.
    let least = gpu.solver().unwrap().getrf_bytes::<f64>(40, 1).unwrap() as u64;
    let panels = eager(&gpu, budgets(shrinking(1, least + (12 << 10))), &breaker);
    let factors = panels.lu((&s).into()).unwrap();
    near(&s.dot(&factors.solve((&matrix(40, 2, 4)).into()).unwrap()), &matrix(40, 2, 4));
    assert_eq!((factors.side(), breaker.health().fallbacks), (Side::Cpu, 1), "made there, and kept here");
    // The next one is on the GPU.
    let roomy = eager(&gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
    assert_eq!(roomy.lu((&s).into()).unwrap().side(), Side::Gpu);
    assert_eq!(breaker.health().fallbacks, 1);
}

#[test]
fn b4_after_three_failures_the_gpu_rests_and_then_is_tried() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::b4_after_three_failures_the_gpu_rests_and_then_is_tried") else {
        return;
    };
    let clock = Arc::new(AtomicU64::new(0));
    let now = clock.clone();
    let breaker = Breaker::with_clock(0, Settings::default(), move || Duration::from_secs(now.load(Ordering::Relaxed)));
    let s = regular(20, 1);
    for _ in 0..3 {
        assert_eq!(eager(&gpu, budgets(shrinking(1, 0)), &breaker).lu((&s).into()).unwrap().side(), Side::Cpu);
    }
    let device = eager(&gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
    assert!(matches!(breaker.health().condition, Condition::Open { .. }));
    assert_eq!(device.lu((&s).into()).unwrap().side(), Side::Cpu, "it rests");
    assert_eq!(last_decision().unwrap().side, Side::Gpu, "as it was decided");
    let outcome = last_outcome().unwrap();
    assert!(outcome.side == Side::Cpu && matches!(outcome.why, Some(Why::Resting { .. })), "{outcome:?}");
    let asked = forced(&gpu).guarded(breaker.clone()).lu((&s).into()).err();
    assert!(matches!(asked, Some(Error::DeviceResting { .. })), "who asked for it is told");
    assert!(last_outcome().is_none());
    clock.store(31, Ordering::Relaxed);
    assert_eq!(device.lu((&s).into()).unwrap().side(), Side::Gpu, "the probe");
    assert_eq!(breaker.health().condition, Condition::Closed);
}

#[test]
fn b5_b6_policies_and_the_hosts_budget() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::b5_b6_policies_and_the_hosts_budget") else { return };
    let breaker = Breaker::new(0, Settings::default());
    let s = regular(30, 1);
    let short = || eager(&gpu, budgets(shrinking(1, 0)), &breaker);
    breaker.set_policy(Policy::FailFast);
    assert_eq!(short().inverse((&s).into()).unwrap_err().class(), Class::Resource);
    breaker.set_policy(Policy::CpuOnly);
    assert_eq!(short().lu((&s).into()).unwrap().side(), Side::Cpu);
    assert_eq!(breaker.health().failures, 1, "the first one alone went there");
    breaker.set_policy(Policy::FallbackAndReport);
    // The matrix is copied, and each vector and value is another.
    let bytes = (2 * 30 * 30 + 30) * 8;
    let host = |bytes| Budget::new(Memory::Host, bytes);
    let error = short().falling_back_within(host(bytes - 1)).eigen_hermitian((&s).into()).unwrap_err();
    let Error::FallbackWouldExceedBudget { operation: "eigen_hermitian", requested, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(requested, bytes);
    let enough = host(bytes);
    short().falling_back_within(enough.clone()).eigen_hermitian((&s).into()).unwrap();
    assert_eq!((enough.used(), enough.peak()), (0, bytes));
    // What can goes in panels then.
    let enough = host(2 * 30 * 30 * 8 - 1);
    short().falling_back_within(enough.clone()).inverse((&s).into()).unwrap();
    assert!(last_decision().unwrap().on_host.is_some() && enough.used() == 0 && enough.peak() > 0);
}

/// Who asks for a GPU that is not to be used is told; whoever leaves the choice is on the CPU, and nothing is measured.
#[test]
fn b5_a_gpu_that_is_not_to_be_used_is_not() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::b5_a_gpu_that_is_not_to_be_used_is_not") else { return };
    let breaker = Breaker::new(0, Settings::default());
    breaker.set_policy(Policy::CpuOnly);
    let (auto, a) = (Device::with(&gpu).rated(Rates::h200()).guarded(breaker.clone()), matrix(9, 9, 1));
    let emulated = Precision::F64Emulated { mantissa_bits: 55 };
    let multiply = |device: &Device, precision| {
        let mut c = Array2::from_elem((9, 9), f64::NAN);
        device.matmul(precision, 1.0, (&a).into(), (&a).into(), 0.0, (&mut c).into()).map(|()| c)
    };
    assert_eq!(multiply(&auto, Precision::Auto).unwrap(), a.dot(&a));
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason, decision.gpu), (Side::Cpu, Reason::NoGpu, None));
    // What the GPU alone can do nobody does.
    let error = multiply(&auto, emulated).unwrap_err();
    assert!(matches!(error, Error::Unsupported { place: "CPU", .. }), "{error}");
    let asked = auto.choosing(Choice::Gpu);
    for precision in [Precision::Auto, emulated] {
        let error = multiply(&asked, precision).unwrap_err();
        assert!(matches!(&error, Error::NoGpu { why } if why.contains("CpuOnly")), "{error}");
    }
    let shape = Shape::new(Rows(9), Columns(9));
    let error = asked.plan_matmul::<f64>(Precision::Auto, [shape, shape], false).unwrap_err();
    assert!(matches!(&error, Error::NoGpu { why } if why.contains("CpuOnly")), "{error}");
    breaker.set_policy(Policy::FallbackAndReport);
    assert_eq!(multiply(&asked, Precision::Auto).unwrap(), a.dot(&a));
    assert_eq!(last_outcome().unwrap().side, Side::Gpu);
}

/// Host memory that is short is no failure of the GPU.
#[test]
fn b6_what_the_host_has_no_room_for_is_not_held_against_the_gpu() {
    let test = "device::on_the_gpu::b6_what_the_host_has_no_room_for_is_not_held_against_the_gpu";
    let Some(gpu) = crate::gpu(test) else { return };
    let breaker = Breaker::new(0, Settings::default());
    let a = regular(20, 1);
    let stored = MemorySource::new(a.view());
    let device = eager(&gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
    let short = device.clone().falling_back_within(Budget::new(Memory::Host, 8 * 20 * 20 - 1));
    for _ in 0..3 {
        let errors = [short.svd::<f64>((&stored).into()).err(), short.qr::<f64>((&stored).into()).err()];
        for error in errors {
            let Some(Error::FallbackWouldExceedBudget { cause: Some(cause), .. }) = error else { panic!("{error:?}") };
            assert!(matches!(*cause, Error::Budget { requested: 3200, available: 3199, .. }), "{cause}");
        }
    }
    let health = breaker.health();
    assert_eq!((health.failures, health.condition), (0, Condition::Closed));
    assert!(names(&breaker).is_empty(), "{:?}", names(&breaker));
    device.svd::<f64>((&stored).into()).unwrap();
    assert_eq!(last_outcome().unwrap().side, Side::Gpu);
}

#[test]
fn b10_factors_take_the_budget_while_they_are_kept() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::b10_factors_take_the_budget_while_they_are_kept") else { return };
    let room = Budget::new(Memory::Device, ROOM);
    let device = Device::with(&gpu).rated(Rates::h200()).within(budgets(room.clone())).choosing(Choice::Gpu);
    let device = device.guarded(Breaker::new(0, Settings::default()));
    let s = regular(25, 1);
    let factors = device.lu((&s).into()).unwrap();
    // What cuSOLVER wants is taken too, and is given back.
    assert!(room.peak() > room.used());
    let kept: u64 = [8 * 25 * 25u64, 8 * 25].iter().map(|bytes| bytes.next_multiple_of(16)).sum();
    assert_eq!(room.used(), kept);
    let others = room.try_acquire(room.available() - 3800).unwrap();
    let error = device.qr((&s).into()).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
    // In panels those of LU are made beside them, and kept elsewhere.
    assert_eq!(device.lu((&s).into()).unwrap().side(), Side::Cpu);
    drop(others);
    assert_eq!(room.used(), kept);
    drop(factors);
    assert_eq!(room.used(), 0);
    drop(device.lu((&s).into()).unwrap());
}

#[test]
fn d4_a_vector_is_multiplied_where_the_matrix_is() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::d4_a_vector_is_multiplied_where_the_matrix_is") else { return };
    let device = small(&gpu, ROOM);
    let (a, x) = (matrix(600, 500, 1), matrix(500, 1, 2));
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let result = |device: &Device, a: Operand<'_, f64>| {
        let mut y = Array2::from_elem((600, 1), f64::NAN);
        device.matvec(Precision::Auto, 1.0, a, (&x).into(), 0.0, (&mut y).into()).unwrap();
        (y, last_decision().unwrap())
    };
    let (y, decision) = result(&device, (&a).into());
    assert_eq!((y, decision.side), (a.dot(&x), Side::Cpu), "{decision}");
    let (y, decision) = result(&device, (&there).into());
    assert_eq!((y, decision.side, decision.reason), (a.dot(&x), Side::Gpu, Reason::Cost), "{decision}");
    assert_eq!(decision.gpu.unwrap().device_bytes, 8 * 1100, "the vectors alone are brought");
    // The CPU alone fetches it.
    let (y, decision) = result(&Device::cpu(), (&there).into());
    assert_eq!((y, decision.side), (a.dot(&x), Side::Cpu));
}

/// Both factors and the result, each here or there, on either processor.
/// Each thread gets its own results, and all get on.
#[test]
fn m13_eight_threads_share_a_gpu() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::m13_eight_threads_share_a_gpu") else { return };
    let device = &forced(&gpu);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..10 {
                    let of = |seed: usize| {
                        let size = 20 + thread;
                        Array2::from_shape_fn((size, size), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f64 - 5.0)
                    };
                    let (a, b) = (of(thread), of(round));
                    assert_eq!(device.product((&a).into(), (&b).into()).unwrap(), a.dot(&b), "{thread} {round}");
                }
            });
        }
    });
}

#[test]
fn operands_lie_anywhere() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::operands_lie_anywhere") else { return };
    let (a, b, c) = (matrix(9, 6, 1), matrix(6, 5, 2), matrix(9, 5, 3));
    let (there_a, there_b) =
        (DeviceMat::upload(&gpu, (&a.t()).into()).unwrap(), DeviceMat::upload(&gpu, (&b).into()).unwrap());
    for (choice, places, beta) in [Choice::Cpu, Choice::Gpu, Choice::Auto]
        .into_iter()
        .flat_map(|choice| (0..8).flat_map(move |places| [(choice, places, 0.0), (choice, places, -2.0)]))
    {
        let device = small(&gpu, ROOM).choosing(choice);
        let left: Operand<'_, f64> = if places & 1 == 0 { (&a).into() } else { Operand::from(&there_a).t() };
        let right = if places & 2 == 0 { Operand::from(&b) } else { (&there_b).into() };
        let expected = a.dot(&b) * 3.0 + &c * beta;
        let start = if beta == 0.0 { Array2::from_elem((9, 5), f64::NAN) } else { c.clone() };
        let multiply = |target: Target<'_, f64>| {
            device.matmul(Precision::Auto, 3.0, left, right, beta, target).unwrap();
            let decision = last_decision().unwrap();
            assert!(choice == Choice::Auto || (decision.side == Side::Gpu) == (choice == Choice::Gpu), "{decision}");
        };
        let got = if places & 4 == 0 {
            let mut here = start;
            multiply((&mut here).into());
            here
        } else {
            let mut there = DeviceMat::upload(&gpu, (&start).into()).unwrap();
            multiply((&mut there).into());
            there.download().unwrap()
        };
        assert_eq!(got, expected, "{choice:?} {places:03b} {beta}");
    }
    // A diagonal with what lies there: the CPU fetches it.
    let scaled = small(&gpu, ROOM).product(Operand::diagonal(&[2.0; 6]), (&there_b).into()).unwrap();
    assert_eq!(scaled, &b * 2.0);
}

#[test]
fn a_device_that_learns_tries_both_processors_and_stays_with_the_faster_one() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::a_device_that_learns_tries_both_processors") else { return };
    // The CPU is expected to be slightly faster, and slightly slower.
    for factor in [0.9, 1.1] {
        let mut rates = Rates::h200();
        let plain = small(&gpu, ROOM).rated(rates);
        let shapes = [Shape::new(Rows(9), Columns(6)), Shape::new(Rows(6), Columns(5))];
        let plan = plain.plan_matmul::<f64>(Precision::Auto, shapes, true).unwrap();
        rates.cpu.call += factor * plan.gpu.unwrap().cost.wall - plan.cpu.wall;
        let [expected, other] = if factor < 1.0 { [Side::Cpu, Side::Gpu] } else { [Side::Gpu, Side::Cpu] };
        let device = small(&gpu, ROOM).rated(rates).learning();
        let (a, b) = (matrix(9, 6, 1), matrix(6, 5, 2));
        let mut made = Vec::new();
        // Until it is known, and a few times more.
        while made.iter().filter(|(_, reason)| *reason == Reason::Measured).count() < 5 && made.len() < 500 {
            let mut c = matrix(9, 5, 3);
            let product = a.dot(&b) * 2.0 - &c;
            let planned = device.plan_matmul::<f64>(Precision::Auto, shapes, true).unwrap();
            device.matmul(Precision::Auto, 2.0, (&a).into(), (&b).into(), -1.0, (&mut c).into()).unwrap();
            assert_eq!(c, product);
            let decision = last_decision().unwrap();
            assert_eq!(last_outcome().unwrap().side, decision.side);
            assert_eq!(planned.side, if decision.reason == Reason::Tried { expected } else { decision.side });
            made.push((decision.side, decision.reason));
        }
        // The one that is expected to be faster and the other in turns, three to two hundred times each; and then one of them.
        let known = made.iter().position(|(_, reason)| *reason == Reason::Measured).unwrap();
        let (tried, rest) = made.split_at(known);
        assert!(tried.iter().all(|(_, reason)| *reason == Reason::Tried) && tried[0].0 == expected, "{made:?}");
        for side in [expected, other] {
            let times = tried.iter().filter(|(tried, _)| *tried == side).count();
            assert!((3..=200).contains(&times), "{made:?}");
        }
        assert!(rest.len() == 5 && rest.iter().all(|made| *made == rest[0]), "{made:?}");
        // Who asks for a processor gets it.
        device.choosing(Choice::Cpu).product(Operand::from(&a), (&b).into()).unwrap();
        assert_eq!(last_decision().unwrap().reason, Reason::Asked);
    }
}

#[test]
fn d8_what_the_gpu_cannot_is_refused_and_it_stays_in_use() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::d8_what_the_gpu_cannot_is_refused_and_it_stays_in_use") else {
        return;
    };
    let (device, auto) = (forced(&gpu), small(&gpu, ROOM));
    let (a, halves) = (matrix(6, 6, 1), matrix(6, 6, 2).mapv(half::f16::from_f64));
    let ints = a.mapv(|x| x as i32);
    let mut sums = Array2::<i64>::zeros((6, 6));
    let mut c = halves.clone();
    let refused = [
        device.norm(Norm::One, (&a).into()).err(),
        device.matmul_integer(Overflow::Error, (&ints).into(), (&ints).into(), (&mut sums).into()).err(),
        device.matmul(Precision::F64, 1.0, (&halves).into(), (&halves).into(), 0.0, (&mut c).into()).err(),
        device.product(Operand::diagonal(&[1.0; 6]), (&a).into()).err(),
    ];
    for error in refused {
        let error = error.expect("refused");
        assert!(matches!(error, Error::Unsupported { place: "GPU", .. }), "{error}");
    }
    assert_eq!((device.health().unwrap().failures, device.health().unwrap().condition), (0, Condition::Closed));
    assert_eq!(device.product((&a).into(), (&a).into()).unwrap(), a.dot(&a));
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
    // By itself the face does all of them.
    auto.matmul_integer(Overflow::Error, (&ints).into(), (&ints).into(), (&mut sums).into()).unwrap();
    assert_eq!(sums, a.dot(&a).mapv(|x| x as i64));
    assert_eq!(last_decision().unwrap().reason, Reason::Unsupported("cuBLAS multiplies no integers of 32 bits"));
}

#[test]
fn halves_integers_and_batches() {
    let Some(gpu) = crate::gpu("device::on_the_gpu::halves_integers_and_batches") else { return };
    let device = forced(&gpu);
    let (a, b) = (matrix(6, 5, 1), matrix(5, 4, 2));
    let expected = a.dot(&b);
    let halves = |a: &Array2<f64>| a.mapv(half::f16::from_f64);
    assert_eq!(device.product((&halves(&a)).into(), (&halves(&b)).into()).unwrap(), halves(&expected));
    assert_eq!(last_decision().unwrap().side, Side::Gpu);
    let bytes = |a: &Array2<f64>| a.mapv(|x| x as i8);
    let mut sums = Array2::from_elem((6, 4), i32::MIN);
    device.matmul_integer(Overflow::Saturate, (&bytes(&a)).into(), (&bytes(&b)).into(), (&mut sums).into()).unwrap();
    assert_eq!((sums, last_decision().unwrap().side), (expected.mapv(|x| x as i32), Side::Gpu));
    let mut results = [Array2::from_elem((6, 4), f64::NAN), Array2::from_elem((6, 4), f64::NAN)];
    let (left, right) = ([MatRef::from(&a); 2], [MatRef::from(&b), MatRef::from(&b).scaled(2.0)]);
    device.matmul_batched(Precision::Auto, 1.0, &left, &right, 0.0, &mut results).unwrap();
    assert_eq!(results, [expected.clone(), expected * 2.0]);
    let widened = device.plan_matmul::<f32>(Precision::F64, [left[0].shape(), right[0].shape()], false).unwrap();
    assert_eq!(widened.gpu.unwrap().device_bytes, 2 * 4 * (30 + 20 + 24), "as f64");
}
