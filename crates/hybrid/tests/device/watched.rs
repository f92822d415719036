//! Operations of a device that are watched, stopped and checked: on the CPU, and on a GPU or stubs of one.

use super::matrix;
use super::on_the_gpu::{budgets, eager};
use super::verbs::{definite, near, regular};
use ndarray::{Array1, Array2, s};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_hybrid::bits::BitMatrix;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings, Why};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::store::{Element, MemorySink, MemorySource, NpySink, Order};
use tilewright_hybrid::stream::bits::Becomes;
use tilewright_hybrid::stream::{Array, Budgets, Cancel, Control, Evaluation, Meter, Verify};
use tilewright_hybrid::{Class, Device, Error, Operand, Side};
use tilewright_ops::fuse;

dims! { Y, X }

/// A device with room for so many bytes, within budgets that can be looked at.
pub(super) fn tight(gpu: &Gpu, bytes: u64) -> (Device, Budgets) {
    within(gpu, bytes, 24 << 10)
}

fn within(gpu: &Gpu, bytes: u64, pinned: u64) -> (Device, Budgets) {
    let budgets = Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, pinned) };
    let device = Device::with(gpu).rated(Rates::h200()).choosing(Choice::Gpu).within(budgets.clone());
    (device.guarded(Breaker::new(0, Settings::default())), budgets)
}

/// A verb on a device.
pub(super) type Verb<'a> = (&'static str, Box<dyn Fn(&Device) -> Result<(), Error> + 'a>);

/// What of the GPU's memory is streamed for verbs of this size, each with its matrix.
pub(super) const SIZE: usize = 60;

pub(super) fn verbs<'a>(
    a: &'a Array2<f64>,
    s: &'a Array2<f64>,
    b: &'a Array2<f64>,
    c: &'a Mutex<Array2<f64>>,
) -> Vec<Verb<'a>> {
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
        (
            "matvec_batched",
            Box::new(move |device: &Device| {
                // Of 10 rows each.
                let (x, mut y) = (Array1::<f64>::ones(6 * SIZE), Array1::<f64>::zeros(SIZE));
                device.matvec_batched(Precision::Auto, 1.0, ra, (&x).into(), 0.0, (&mut y).into())
            }),
        ),
        (
            "matmul_batched",
            Box::new(move |device: &Device| {
                let x = b.slice(s![.., ..1]);
                let mut y = vec![Array2::<f64>::zeros((SIZE, 1)); 4];
                device.matmul_batched(Precision::Auto, 1.0, [a, s, a, s], [&x; 4], 0.0, &mut y)
            }),
        ),
        ("evaluate", Box::new(move |device: &Device| evaluate(device, a).map(drop))),
        (
            "bit_product",
            Box::new(move |device: &Device| {
                let (left, right) = (BitMatrix::zeros(700, 64)?, BitMatrix::zeros(64, 700)?);
                device.bit_product(&left, &right, Becomes::Parities).map(drop)
            }),
        ),
    ]
}

/// Twice a matrix.
fn evaluate(device: &Device, a: &Array2<f64>) -> Result<Array2<f64>, Error> {
    let doubled = fuse(|x: In<f64, (Y, X)>| (x + x).store::<(Y, X)>());
    let (from, mut result) = (MemorySource::new(a.view()), Array2::from_elem(a.dim(), f64::NAN));
    let to = MemorySink::new(result.view_mut());
    let array = Array::<f64, (Y, X)>::new(&from, [a.nrows(), a.ncols()])?;
    device.evaluate(&Evaluation::new(&doubled, (&array,), &[&to])?, Control::default())?;
    drop(to);
    Ok(result)
}

/// Room for a part of the matrix, beside what cuSOLVER wants for a panel of one column.
pub(super) fn room(gpu: &Gpu) -> u64 {
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

/// What the CPU does in parts, of what is stored and of batches, each with what it is done with.
fn parts<'a>(a: &'a Array2<f64>, folder: &'a Path) -> Vec<Verb<'a>> {
    let stored = || MemorySource::new(a.view());
    vec![
        (
            "a stored product",
            Box::new(move |device: &Device| {
                let mut c = Array2::zeros((SIZE, SIZE));
                device.matmul(Precision::Auto, 1.0, (&stored()).into(), a.into(), 0.0, (&mut c).into())?;
                assert_eq!(c, a.dot(a));
                Ok(())
            }),
        ),
        (
            "a product to be stored",
            Box::new(move |device: &Device| {
                let sink = NpySink::create(folder.join("c.npy"), &[SIZE, SIZE], Element::F64, Order::C)?;
                device.matmul(Precision::Auto, 1.0, a.into(), a.into(), 0.0, sink.into())
            }),
        ),
        (
            "a stored batch of vectors",
            Box::new(move |device: &Device| {
                let (x, mut y) = (Array1::<f64>::ones(6 * SIZE), Array1::<f64>::zeros(SIZE));
                device.matvec_batched(Precision::Auto, 1.0, (&stored()).into(), (&x).into(), 0.0, (&mut y).into())
            }),
        ),
        (
            "a batch of which something is stored",
            Box::new(move |device: &Device| {
                let (first, mut c) = (stored(), vec![Array2::<f64>::zeros((SIZE, SIZE)); 4]);
                let factors = [Operand::from(&first), a.into(), a.into(), a.into()];
                device.matmul_batched(Precision::Auto, 1.0, factors, [a; 4], 0.0, &mut c)
            }),
        ),
        ("an expression", Box::new(move |device: &Device| evaluate(device, a).map(drop))),
    ]
}

#[test]
fn m9_m15_what_the_cpu_does_in_parts_tells_each_and_ends_within_one() {
    let (a, folder) = (matrix(SIZE, SIZE, 1), tempfile::tempdir().unwrap());
    for (name, verb) in parts(&a, folder.path()) {
        // Two fifths of the matrix, beside a result in memory that is kept until it is whole.
        let fifths = if matches!(name, "a stored product" | "a batch of which something is stored") { 7 } else { 2 };
        let host = Budget::new(Memory::Host, (SIZE * SIZE * 8 / 5 * fifths) as u64);
        let device = Device::cpu().falling_back_within(host.clone());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        verb(&device.clone().telling(move |done, steps| told.lock().unwrap().push((done, steps)))).unwrap();
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        let steps = seen.len() as u64;
        assert!(steps > 1, "{name}: {seen:?}");
        assert_eq!(seen, (1..=steps).map(|done| (done, steps)).collect::<Vec<_>>(), "{name}");
        let (cancel, last) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
        let (stop, counted) = (cancel.clone(), last.clone());
        let watched = device.cancelled_by(&cancel).telling(move |done, _| {
            counted.store(done, Ordering::Relaxed);
            stop.cancel();
        });
        let error = verb(&watched).unwrap_err();
        assert!(matches!(error, Error::Cancelled { done: 1, steps: all } if all == steps), "{name}: {error}");
        assert_eq!((last.load(Ordering::Relaxed), host.used()), (1, 0), "{name}");
    }
}

/// Halves are multiplied one after the other on a GPU.
#[test]
fn m9_m15_a_batch_of_products_one_after_the_other_tells_each_and_ends_within_one() {
    let test = "device::watched::m9_m15_a_batch_of_products_one_after_the_other_tells_each_and_ends_within_one";
    let Some(gpu) = crate::gpu(test) else { return };
    let (device, _) = within(&gpu, 1 << 30, 1 << 20);
    let a = vec![matrix(9, 9, 1).mapv(half::f16::from_f64); 5];
    let (cancel, seen) = (Cancel::new(), Arc::new(Mutex::new(Vec::new())));
    let (stop, told) = (cancel.clone(), seen.clone());
    let device = device.cancelled_by(&cancel).telling(move |done, steps| {
        told.lock().unwrap().push((done, steps));
        if done == 3 {
            stop.cancel();
        }
    });
    let mut c = vec![Array2::from_elem((9, 9), half::f16::ZERO); 5];
    let error = device.matmul_batched(Precision::Auto, 1.0, &a, &a, 0.0, &mut c).unwrap_err();
    assert!(matches!(error, Error::Cancelled { done: 3, steps: 5 }), "{error}");
    assert_eq!(*seen.lock().unwrap(), [(1, 5), (2, 5), (3, 5)]);
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
    assert!(last_outcome().unwrap().checked.is_some_and(|off| off <= 1.0));
    // Of factors there is no check, and they are not refused.
    drop(device.lu((&regular(SIZE, 1)).into()).unwrap());
    drop(device.cholesky((&definite(SIZE, 1)).into()).unwrap());
    assert_eq!(last_outcome().unwrap().checked, None);
    // Nor of a product that was not streamed.
    let roomy = within(&gpu, 1 << 30, 1 << 20).0.verifying(Verify::default());
    roomy.product((&a).into(), (&b).into()).unwrap();
    assert_eq!(last_outcome().unwrap().checked, None);
}

/// Solutions and inverses are checked by their residuals, on both processors, whole and streamed, and right ones pass; of others nobody says that they are right.
#[test]
fn solutions_are_verified() {
    let Some(gpu) = crate::gpu("device::watched::solutions_are_verified") else { return };
    let (a, b) = (regular(SIZE, 1), matrix(SIZE, 7, 3));
    let margin = |margin| Verify { margin, ..Verify::default() };
    for (device, is_streamed) in
        [(tight(&gpu, room(&gpu)).0, true), (within(&gpu, 1 << 30, 1 << 20).0, false), (Device::cpu(), false)]
    {
        // None is exact.
        let [right, wrong] = [margin(16.0), margin(0.0)].map(|verify| device.clone().verifying(verify));
        near(&a.dot(&right.solve((&a).into(), (&b).into()).unwrap()), &b);
        let tiles = last_outcome().unwrap().tiles;
        assert_eq!(tiles.is_some(), is_streamed);
        assert!(last_outcome().unwrap().checked.is_some_and(|off| 0.0 < off && off <= 1.0));
        near(&a.dot(&right.inverse((&a).into()).unwrap()), &Array2::eye(SIZE));
        let mut x = Array2::from_elem((SIZE, 7), f64::NAN);
        right.solve_into((&a).into(), (&b).into(), (&mut x).into()).unwrap();
        near(&a.dot(&x), &b);
        let before = x.clone();
        for error in [
            wrong.solve((&a).into(), (&b).into()).unwrap_err(),
            wrong.inverse((&a).into()).unwrap_err(),
            wrong.solve_into((&a).into(), (&(&b * 3.0)).into(), (&mut x).into()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::WrongSolution { residual, size: SIZE, .. } if residual < 1.0), "{error}");
        }
        assert_eq!(x, before);
    }
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
