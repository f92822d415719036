//! Operations of a device that are watched, stopped and checked: on the CPU, and on a GPU or stubs of one.

use super::matrix;
use super::on_the_gpu::{budgets, eager};
use super::verbs::{definite, near, regular};
use ndarray::Array2;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings, Why};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::stream::{Budgets, Cancel, Meter, Verify};
use tilewright_hybrid::{Class, Device, Error, Operand, Side};

/// A device with room for so many bytes, within budgets that can be looked at.
fn tight(gpu: &Gpu, bytes: u64) -> (Device, Budgets) {
    within(gpu, bytes, 24 << 10)
}

fn within(gpu: &Gpu, bytes: u64, pinned: u64) -> (Device, Budgets) {
    let budgets = Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, pinned) };
    let device = Device::with(gpu).rated(Rates::h200()).choosing(Choice::Gpu).within(budgets.clone());
    (device.guarded(Breaker::new(0, Settings::default())), budgets)
}

/// A verb on a device.
type Verb<'a> = (&'static str, Box<dyn Fn(&Device) -> Result<(), Error> + 'a>);

/// What of the GPU's memory is streamed for verbs of this size, each with its matrix.
const SIZE: usize = 60;

fn verbs<'a>(a: &'a Array2<f64>, s: &'a Array2<f64>, b: &'a Array2<f64>, c: &'a Mutex<Array2<f64>>) -> Vec<Verb<'a>> {
    let [ra, rs, rb] = [a, s, b].map(Operand::from);
    vec![
        (
            "matmul",
            Box::new(move |device: &Device| {
                let mut c = c.lock().unwrap();
                device.matmul(Precision::Auto, 1.0, ra, rb, 2.0, (&mut *c).into())
            }),
        ),
        ("solve", Box::new(move |device: &Device| device.solve(ra, rb).map(drop))),
        ("lu", Box::new(move |device: &Device| device.lu(ra).map(drop))),
        ("cholesky", Box::new(move |device: &Device| device.cholesky(rs).map(drop))),
        ("inverse", Box::new(move |device: &Device| device.inverse(ra).map(drop))),
    ]
}

/// Room for a part of the matrix, beside what cuSOLVER wants for a panel of one column.
fn room(gpu: &Gpu) -> u64 {
    (SIZE * SIZE * 8 / 2) as u64 + gpu.solver().unwrap().getrf_bytes::<f64>(SIZE, 1).unwrap() as u64
}

/// Of steps that are told none is skipped, and the last one is the whole.
#[test]
fn m15_every_streamed_verb_tells_its_steps() {
    let Some(gpu) = crate::gpu("device::watched::m15_every_streamed_verb_tells_its_steps") else { return };
    let (a, s, b) = (regular(SIZE, 1), definite(SIZE, 2), matrix(SIZE, SIZE, 3));
    let c = Mutex::new(matrix(SIZE, SIZE, 4));
    for (name, verb) in verbs(&a, &s, &b, &c) {
        let (device, budgets) = tight(&gpu, room(&gpu));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        verb(&device.telling(move |done, steps| told.lock().unwrap().push((done, steps)))).unwrap();
        let seen = seen.lock().unwrap();
        let steps = seen.len() as u64;
        assert!(steps > 3, "{name} was not streamed: {seen:?} {}", last_decision().unwrap());
        assert_eq!(*seen, (1..=steps).map(|done| (done, steps)).collect::<Vec<_>>(), "{name}");
        assert!([&budgets.device, &budgets.pinned].iter().all(|budget| budget.used() == 0 && budget.peak() > 0));
    }
}

/// Stopped at the first step, in the middle and before the last one: no further step is made.
#[test]
fn m9_every_streamed_verb_ends_within_one_step_of_being_cancelled() {
    let test = "device::watched::m9_every_streamed_verb_ends_within_one_step_of_being_cancelled";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, s, b) = (regular(SIZE, 1), definite(SIZE, 2), matrix(SIZE, SIZE, 3));
    let c = Mutex::new(matrix(SIZE, SIZE, 4));
    for (name, verb) in verbs(&a, &s, &b, &c) {
        for part in [0.0, 0.5, 0.99] {
            let (device, budgets) = tight(&gpu, room(&gpu));
            let (cancel, last) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
            let (stop, counted) = (cancel.clone(), last.clone());
            let watched = device.clone().cancelled_by(&cancel).telling(move |done, steps| {
                counted.store(done, Ordering::Relaxed);
                if done as f64 > part * (steps - 1) as f64 {
                    stop.cancel();
                }
            });
            let before = c.lock().unwrap().clone();
            let error = verb(&watched).unwrap_err();
            let Error::Cancelled { done, steps } = error else { panic!("{name}: {error}") };
            assert_eq!(done, last.load(Ordering::Relaxed), "{name}: no step after it");
            assert_eq!(done, ((part * (steps - 1) as f64).floor() as u64 + 1), "{name} of {steps}");
            assert_eq!(*c.lock().unwrap(), before, "{name}");
            for budget in [&budgets.device, &budgets.pinned] {
                assert_eq!(budget.used(), 0, "{name}");
            }
            assert_eq!(device.health().unwrap().failures, 0, "nobody's fault");
            // The next one is right.
            near(
                &device.solve((&a).into(), (&b).into()).unwrap(),
                &Device::cpu().solve((&a).into(), (&b).into()).unwrap(),
            );
        }
    }
}

#[test]
fn m9_what_is_cancelled_before_it_begins_is_not_begun() {
    let (cancel, a) = (Cancel::new(), regular(9, 1));
    let seen = Arc::new(AtomicU64::new(0));
    let told = seen.clone();
    let device = Device::cpu().cancelled_by(&cancel).telling(move |done, steps| {
        told.fetch_add(1, Ordering::Relaxed);
        assert_eq!((done, steps), (1, 1), "what is not streamed is one step");
    });
    let inverse = device.inverse((&a).into()).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    cancel.cancel();
    let mut c = inverse.clone();
    let product = device.matmul(Precision::Auto, 1.0, (&a).into(), (&a).into(), 0.0, (&mut c).into());
    for error in
        [product.unwrap_err(), device.lu((&a).into()).unwrap_err(), device.solve((&a).into(), (&a).into()).unwrap_err()]
    {
        assert!(matches!(error, Error::Cancelled { done: 0, .. }), "{error}");
        assert_eq!(error.class(), Class::Cancelled);
    }
    assert_eq!((c, seen.load(Ordering::Relaxed)), (inverse, 1));
}

/// A clock that a step takes a second of.
#[test]
fn m15_a_meter_of_a_streamed_product() {
    let Some(gpu) = crate::gpu("device::watched::m15_a_meter_of_a_streamed_product") else { return };
    let (clock, lines) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (now, kept) = (clock.clone(), lines.clone());
    let meter = Meter::with_clock(
        move || Duration::from_secs(now.load(Ordering::Relaxed)),
        move |pace| kept.lock().unwrap().push(*pace),
    );
    let (device, _) = tight(&gpu, room(&gpu));
    let device = device.telling(move |done, steps| {
        clock.fetch_add(1, Ordering::Relaxed);
        meter.tell(done, steps);
    });
    let (a, b) = (matrix(SIZE, SIZE, 1), matrix(SIZE, SIZE, 2));
    assert_eq!(device.product((&a).into(), (&b).into()).unwrap(), a.dot(&b));
    let paces = lines.lock().unwrap();
    let steps = paces.len() as u64;
    assert!(steps > 3 && paces.windows(2).all(|two| two[0].share < two[1].share));
    for pace in paces.iter() {
        assert_eq!(pace.remaining, Some(Duration::from_secs(steps - pace.done)), "{pace}");
    }
}

/// Products that are streamed are checked, and right ones pass, of every type.
#[test]
fn streamed_products_are_verified() {
    let Some(gpu) = crate::gpu("device::watched::streamed_products_are_verified") else { return };
    let (device, _) = tight(&gpu, room(&gpu));
    let device = device.verifying(Verify::default());
    let (a, b, c) = (matrix(SIZE, 70, 1), matrix(70, SIZE, 2), matrix(SIZE, SIZE, 3));
    let mut result = c.clone();
    device.matmul(Precision::Auto, 0.5, (&a).into(), (&b).into(), -1.0, (&mut result).into()).unwrap();
    assert!(last_decision().unwrap().gpu.unwrap().tiles.is_some(), "streamed");
    assert_eq!(result, a.dot(&b) * 0.5 - &c);
    // What is no product is not checked, and not refused: it has residuals.
    near(
        &device.solve((&regular(SIZE, 1)).into(), (&c).into()).unwrap(),
        &Device::cpu().solve((&regular(SIZE, 1)).into(), (&c).into()).unwrap(),
    );
}

/// What is rounded on its way is not checked: where there is a choice the CPU multiplies it, with a reason, and who asked for the GPU is told.
#[test]
fn products_that_are_rounded_are_not_verified() {
    let Some(gpu) = crate::gpu("device::watched::products_that_are_rounded_are_not_verified") else { return };
    let (a, b) = (matrix(40, 3000, 1), matrix(3000, 30, 2));
    let product = a.dot(&b);
    let (half_a, half_b) = (a.mapv(half::f16::from_f64), b.mapv(half::f16::from_f64));
    let (narrow_a, narrow_b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
    let of_halves = |device: &Device| {
        let got = device.product((&half_a).into(), (&half_b).into())?;
        assert_eq!(got, product.mapv(half::f16::from_f64));
        Ok(())
    };
    let of_f32 = |device: &Device| {
        let mut c = Array2::from_elem(product.dim(), f32::NAN);
        device.matmul(Precision::F64, 1.0, (&narrow_a).into(), (&narrow_b).into(), 0.0, (&mut c).into())?;
        assert_eq!(c, product.mapv(|x| x as f32));
        Ok(())
    };
    let breaker = Breaker::new(0, Settings::default());
    let room = || budgets(Budget::new(Memory::Device, 48 << 10));
    let auto = eager(&gpu, room(), &breaker);
    for multiply in [&of_halves as &dyn Fn(&Device) -> Result<(), Error>, &of_f32] {
        multiply(&auto).unwrap();
        assert_eq!(last_outcome().unwrap().side, Side::Gpu);
        let checked = auto.clone().verifying(Verify::default());
        multiply(&checked).unwrap();
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert!(decision.gpu.as_ref().unwrap().tiles.is_some(), "{decision}");
        let is_told = |error: &Error| matches!(error, Error::Unsupported { place: "GPU", .. });
        assert!(
            matches!((outcome.side, &outcome.why), (Side::Cpu, Some(Why::Failed(error))) if is_told(error)),
            "{outcome:?}"
        );
        let error = multiply(&checked.choosing(Choice::Gpu)).unwrap_err();
        assert!(is_told(&error), "{error}");
    }
    assert_eq!(breaker.health().failures, 0);
}

/// Slots of ordinary memory do as well, for products and for factors.
#[test]
fn m1_without_page_locked_memory_everything_is_streamed_still() {
    let test = "device::watched::m1_without_page_locked_memory_everything_is_streamed_still";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (regular(SIZE, 1), matrix(SIZE, SIZE, 3));
    for pinned in [0, 12] {
        let (device, budgets) = within(&gpu, room(&gpu), pinned);
        let device = device.verifying(Verify::default());
        assert_eq!(device.product((&a).into(), (&b).into()).unwrap(), a.dot(&b));
        assert!(last_decision().unwrap().gpu.unwrap().tiles.is_some(), "streamed");
        near(&device.solve((&a).into(), (&b).into()).unwrap(), &Device::cpu().solve((&a).into(), (&b).into()).unwrap());
        let used = [&budgets.device, &budgets.pinned].map(|budget| budget.used());
        assert_eq!((used, device.health().unwrap().failures), ([0, 0], 0));
    }
}
