//! What lies on the GPU and passes through the host nevertheless: within its budget, and once.

use crate::ledger::{Entry, Ledger, Stubs};
use crate::{child, skip};
use half::f16;
use ndarray::Array2;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tilewright_driver::Device as Driver;
use tilewright_hybrid::bits::{BitMatrix, closure::closure};
use tilewright_hybrid::budget::{Budget, Level, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Overflow, Precision, Refinement};
use tilewright_hybrid::store::MemorySource;
use tilewright_hybrid::{Complex64, Device, Error, Operand, Side, Target};

use super::on_the_gpu::{ROOM, budgets, eager, forced};
use super::verbs::{definite, near, regular};
use super::{matrix, small};

#[test]
fn what_passes_through_the_host_is_counted() {
    let Some(stubs) = Stubs::new() else {
        return skip("device::passing::what_passes_through_the_host_is_counted", "no C compiler");
    };
    let mut command = child::command("passing");
    stubs.serve(&mut command);
    child::check(&command.output().unwrap());
}

/// A product of a few numbers takes less time than asking for room. What is factored is copied, for which an answer of before does.
#[test]
fn m2_what_lies_in_memory_hardly_asks_for_room_on_the_cpu() {
    let asked = Arc::new(AtomicU64::new(0));
    let host = Budget::measured(Memory::Host, {
        let asked = asked.clone();
        move || {
            asked.fetch_add(1, Ordering::SeqCst);
            Level { capacity: 1 << 30, available: 1 << 30 }
        }
    });
    let device = Device::cpu().falling_back_within(host);
    let (a, s, b, mut c) = (regular(9, 1), definite(9, 2), matrix(9, 4, 3), matrix(9, 4, 4));
    device.matmul(Precision::Auto, 1.0, (&a).into(), (&b).into(), 2.0, (&mut c).into()).unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let began = Instant::now();
    device.solve((&a).into(), (&b).into()).unwrap();
    device.lu((&a).into()).unwrap();
    device.cholesky((&s).into()).unwrap();
    device.qr((&b).into()).unwrap();
    device.svd((&b).into()).unwrap();
    device.eigen_hermitian((&s).into()).unwrap();
    let polls = 1 + began.elapsed().as_millis() / 20;
    let asked = asked.load(Ordering::SeqCst);
    assert!((1..=2 * polls).contains(&u128::from(asked)), "{asked} of {polls}");
}

/// Copies in which the CPU factors are granted: what has no room goes in panels, or is refused.
#[test]
fn m2_what_the_cpu_factors_is_granted() {
    let (a, b) = (regular(30, 1), matrix(30, 4, 2));
    let one = bytes(&a);
    let within = |bytes| {
        let host = host(bytes);
        (Device::cpu().falling_back_within(host.clone()), host)
    };
    let (device, host) = within(2 * one);
    let x = device.solve((&a).into(), (&b).into()).unwrap();
    assert_eq!((host.used(), host.peak()), (0, one + bytes(&b)));
    assert!(last_decision().unwrap().on_host.is_none());
    device.qr((&a).into()).unwrap();
    assert!(host.used() == 0 && host.peak() >= one, "{host:?}");
    // Once and not twice: in panels.
    let (device, host) = within(2 * one - 1);
    device.inverse((&a).into()).unwrap();
    assert!(last_decision().unwrap().on_host.is_some());
    assert!(host.used() == 0 && host.peak() < 2 * one, "{host:?}");
    let (device, _) = within(one - 1);
    let error = device.qr((&a).into()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested >= one), "{error}");
    assert!(error.to_string().contains("raise the budget"), "{error}");
    let y = within(2 * one).0.solve((&a).into(), (&b).into()).unwrap();
    assert_eq!(x, y);
}

pub(crate) fn child_passing() {
    let (ledger, gpu) = (Ledger::here(), Gpu::new(&Driver::new(0).unwrap().stream().unwrap()));
    refined_solutions(&gpu);
    parts_that_are_turned(&gpu);
    zeros_above_the_diagonal(&gpu);
    not_finite(&ledger, &gpu);
    lines_that_are_the_same(&ledger, &gpu);
    halves(&ledger, &gpu);
    products_on_the_cpu(&gpu);
    results_in_host_memory(&gpu);
    batches_go_on(&ledger, &gpu);
    closures_go_on(&ledger, &gpu);
    plans_touch_nothing(&ledger, &gpu);
}

fn host(bytes: u64) -> Budget {
    Budget::new(Memory::Host, bytes)
}

fn bytes<T>(matrix: &Array2<T>) -> u64 {
    (matrix.len() * size_of::<T>()) as u64
}

/// Both budgets suffice as they are planned, and not with one byte less.
fn refined_solutions(gpu: &Gpu) {
    let (a, b) = (regular(40, 1), matrix(40, 3, 2));
    let [there_a, there_b] = [&a, &b].map(|values| DeviceMat::upload(gpu, values.into()).unwrap());
    let device = |room: u64, host: &Budget| {
        let room = Budget::new(Memory::Device, room);
        let device = Device::with(gpu).rated(Rates::h200()).within(budgets(room.clone())).choosing(Choice::Gpu);
        (device.guarded(Breaker::new(0, Settings::default())).falling_back_within(host.clone()), room)
    };
    // In the smaller type, a solution and a residual, and exchanges; and again where the matrix has to be a copy to be read.
    let on_gpu = bytes(&a) / 2 + 2 * bytes(&b) + 8 * 40;
    // One part, twice where it is scaled here, all of it in the smaller type, and right-hand sides.
    let passing = bytes(&a) + bytes(&a) / 2 + bytes(&b);
    for (by, on_gpu, passing) in [(1.0, on_gpu, passing), (2.0, on_gpu + bytes(&a), passing + bytes(&a))] {
        let enough = host(passing);
        let solve = |device: &Device| {
            let a = there_a.view().scaled(by);
            device.solve_refined(a.into(), (&there_b).into(), Refinement::default()).map(|refined| refined.solution)
        };
        // What cuSOLVER wants beside them it says when they are there.
        let (roomy, room) = device(1 << 20, &enough);
        solve(&roomy).unwrap();
        let taken = room.peak();
        let (exact, room) = device(taken, &enough);
        near(&(a.dot(&solve(&exact).unwrap()) * by), &b);
        assert_eq!(last_decision().unwrap().gpu.unwrap().device_bytes, on_gpu);
        assert_eq!((room.peak(), room.used(), enough.used(), enough.peak()), (taken, 0, 0, passing));
        let error = solve(&device(taken - 1, &enough).0).unwrap_err();
        assert!(taken >= on_gpu && matches!(error, Error::Budget { .. }), "{error}");
        let error = solve(&device(on_gpu - 1, &enough).0).unwrap_err();
        assert!(matches!(error, Error::Budget { requested, .. } if requested == on_gpu), "{error}");
        let error = solve(&device(taken, &host(passing - 1)).0).unwrap_err();
        assert!(matches!(error, Error::Budget { requested, .. } if requested == passing), "{error}");
    }
    // Where f64 is slow, corrections are tried first; what they lack the other way does not need.
    let mut rates = Rates::h200();
    rates.gpu.as_mut().unwrap().processor.flops.f64 /= 1e6;
    let slow = device(1 << 20, &host(0)).0.rated(rates);
    near(&a.dot(&slow.solve_auto((&there_a).into(), (&there_b).into()).unwrap()), &b);
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.side), ("solve", Side::Gpu));
    let error = slow.solve_refined((&there_a).into(), (&there_b).into(), Refinement::default()).unwrap_err();
    assert!(matches!(error, Error::Budget { available: 0, .. }), "{error}");
}

/// What a GPU has to turn takes its memory twice, as decisions say.
fn parts_that_are_turned(gpu: &Gpu) {
    let values = regular(20, 1).mapv(|x| Complex64::new(x, 1.0));
    let there = DeviceMat::upload(gpu, (&values).into()).unwrap();
    let device = forced(gpu);
    let taken = |a: Operand<'_, Complex64>| {
        drop(device.lu(a).unwrap());
        // Beside what each block of the norm's kernel comes to, and halves of rows.
        last_decision().unwrap().gpu.unwrap().device_bytes - 16 * 20 - 8 * (1024 + 2 * 20)
    };
    let own = bytes(&values);
    let view = there.view();
    assert_eq!([view, view.conj(), view.t()].map(|view| taken(view.into())), [own, 2 * own, own]);
    // Parts with gaps are copies on the GPU before they come for the norm, where its kernel is not there, and conjugates two.
    let frame = DeviceMat::upload(gpu, (&regular(23, 1).mapv(|x| Complex64::new(x, 1.0))).into()).unwrap();
    let part = frame.view().part(rows(1, 21), columns(2, 22)).unwrap();
    let of_parts = [part, part.conj(), part.t(), part.h()].map(|view| taken(view.into()));
    assert_eq!(of_parts, [2 * own, 4 * own, 2 * own, 2 * own]);
    let mut to = DeviceMat::upload(gpu, (&values).into()).unwrap();
    for (view, copies) in [(view, 0), (view.h(), 0), (view.scaled(Complex64::i()), 1), (view.conj(), 2)] {
        let (one, zero) = (Complex64::new(1.0, 0.0), Complex64::default());
        device.matmul(Precision::Auto, one, view.into(), (&there).into(), zero, (&mut to).into()).unwrap();
        assert_eq!(last_decision().unwrap().gpu.unwrap().device_bytes, copies * own);
    }
}

/// They take no memory.
fn zeros_above_the_diagonal(gpu: &Gpu) {
    let there = DeviceMat::upload(gpu, (&definite(40, 1)).into()).unwrap();
    let (device, mut to) = (forced(gpu), DeviceMat::upload(gpu, (&matrix(40, 40, 1)).into()).unwrap());
    let allocated = |work: &mut dyn FnMut()| {
        let before = tilewright_driver::bytes_allocated();
        work();
        tilewright_driver::bytes_allocated() - before
    };
    let factored = allocated(&mut || drop(device.cholesky::<f64>((&there).into()).unwrap()));
    let cleared = allocated(&mut || device.cholesky_into::<f64>((&there).into(), (&mut to).into()).unwrap());
    assert_eq!(cleared, factored);
    let l = to.download().unwrap();
    assert!(l.indexed_iter().all(|((row, column), value)| row >= column || *value == 0.0));
}

/// Which element is not finite is found in parts, with no budget; above the diagonal of a Hermitian matrix nothing comes to the host.
fn not_finite(ledger: &Ledger, gpu: &Gpu) {
    let device = forced(gpu).falling_back_within(host(0));
    let mut a = regular(40, 1);
    a[[3, 31]] = f64::INFINITY;
    let there = DeviceMat::upload(gpu, (&a).into()).unwrap();
    let error = device.svd::<f64>((&there).into()).err();
    assert!(matches!(error, Some(Error::NotFinite { row: 3, column: 31, .. })), "{error:?}");
    let before = ledger.get(Entry::Copied);
    device.eigenvalues_hermitian::<f64>((&there).into()).unwrap();
    let copied = ledger.get(Entry::Copied) - before;
    assert!(copied < bytes(&a) as i64 / 4, "{copied}");
    // Wherever it stands, in a matrix or its adjoint, nothing more is taken on the GPU for the search: as much as for one that is stored so.
    let mut wide = matrix(30, 40, 1);
    [wide[[20, 3]], wide[[4, 17]]] = [f64::NAN; 2];
    let frame = Array2::from_shape_fn((33, 47), |(i, j)| if i < 30 && j < 40 { wide[[i, j]] } else { 0.0 });
    let [there_wide, there_tall, frame] =
        [wide.view(), wide.t(), frame.view()].map(|values| DeviceMat::upload(gpu, (&values).into()).unwrap());
    let part = frame.view().part(rows(0, 30), columns(0, 40)).unwrap();
    let searched = |a: Operand<'_, f64>, at: [usize; 2]| {
        let before = tilewright_driver::bytes_allocated();
        let error = device.svd(a).err();
        let is_found = |row, column| [row, column] == at;
        assert!(matches!(error, Some(Error::NotFinite { row, column, .. }) if is_found(row, column)), "{error:?}");
        tilewright_driver::bytes_allocated() - before
    };
    let stored = searched((&there_wide).into(), [20, 3]);
    assert_eq!([part, there_tall.view().t()].map(|view| searched(view.into(), [20, 3])), [stored; 2]);
    let stored = searched((&there_tall).into(), [17, 4]);
    assert_eq!([part.t(), there_wide.view().t()].map(|view| searched(view.into(), [17, 4])), [stored; 2]);
    let error = device.eigenvalues_hermitian::<f64>(there.view().t().into()).err();
    assert!(matches!(error, Some(Error::NotFinite { row: 31, column: 3, .. })), "{error:?}");
}

/// Lines that are the same, or nearly, are found in parts, with no budget: the matrix comes once, and what is alike again.
fn lines_that_are_the_same(ledger: &Ledger, gpu: &Gpu) {
    let device = forced(gpu).falling_back_within(host(0));
    let (a, b) =
        (Array2::from_shape_fn((40, 40), |(i, j)| ((i * i + 3 * i * j + 7 * j) as f64).sin()), matrix(40, 1, 1));
    let twice = |lies_by_rows: bool| {
        let mut a = a.clone();
        let mut turned = if lies_by_rows { a.view_mut() } else { a.view_mut().reversed_axes() };
        let line = turned.row(4).to_owned();
        turned.row_mut(31).assign(&line);
        a
    };
    let hilbert = Array2::from_shape_fn((40, 40), |(i, j)| 1.0 / (i + j + 1) as f64);
    for (values, is_singular) in [(twice(true), true), (twice(false), true), (hilbert, false), (a.clone(), false)] {
        let there = DeviceMat::upload(gpu, (&values).into()).unwrap();
        let part = DeviceMat::upload(gpu, (&ndarray::concatenate![ndarray::Axis(0), b.t(), values]).into()).unwrap();
        for view in [there.view(), there.view().t(), part.view().part(rows(1, 41), columns(0, 40)).unwrap()] {
            let before = ledger.get(Entry::Copied);
            let solved = device.solve(view.into(), (&b).into());
            assert_eq!(matches!(solved, Err(Error::Singular { size: 40, .. })), is_singular, "{solved:?}");
            let copied = ledger.get(Entry::Copied) - before;
            assert!(copied < 3 * bytes(&a) as i64, "{copied}");
        }
    }
}

/// Halves whose other factor is stored come once for all tiles, and within the budget.
fn halves(ledger: &Ledger, gpu: &Gpu) {
    let of = |values: &Array2<f64>| values.mapv(f16::from_f64);
    let (a, b) = (of(&matrix(30, 40, 1)), of(&matrix(40, 20, 2)));
    let expected = of(&matrix(30, 40, 1).dot(&matrix(40, 20, 2)));
    let (there, stored) = (DeviceMat::upload(gpu, (&a).into()).unwrap(), MemorySource::new(b.view()));
    let multiply = |host: &Budget, a: Operand<'_, f16>| {
        let mut c = Array2::from_elem((30, 20), f16::NAN);
        let device = small(gpu, ROOM).choosing(Choice::Cpu).falling_back_within(host.clone());
        let before = ledger.get(Entry::Copied);
        device.matmul(Precision::Auto, 1.0, a, (&stored).into(), 0.0, (&mut c).into())?;
        assert_eq!(c, expected);
        Ok::<_, Error>(ledger.get(Entry::Copied) - before)
    };
    // The matrix, the result, and five columns of the other factor: tiles are 6 x 4.
    let tight = host(bytes(&a) + 2 * 30 * 20 + 5 * 2 * 40);
    assert_eq!(multiply(&tight, (&there).into()).unwrap(), bytes(&a) as i64);
    assert!(tight.used() == 0 && tight.peak() > tight.limit() - 80, "{tight:?}");
    let error = multiply(&host(bytes(&a) - 1), (&there).into()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested == bytes(&a)), "{error}");
    // Turned, and a part of more.
    let turned = DeviceMat::upload(gpu, (&a.t()).into()).unwrap();
    assert_eq!(multiply(&host(ROOM), turned.view().t().into()).unwrap(), bytes(&a) as i64);
    let mut framed = Array2::from_elem((33, 41), f16::NAN);
    framed.slice_mut(ndarray::s![2..32, ..40]).assign(&a);
    let (frame, there) = (bytes(&framed), DeviceMat::upload(gpu, (&framed).into()).unwrap());
    let part = there.view().part(rows(2, 32), columns(0, 40)).unwrap();
    assert_eq!(multiply(&host(ROOM), part.into()).unwrap(), frame as i64);
    let error = multiply(&host(frame), part.into()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested == frame + bytes(&a)), "{error}");
}

fn rows(begin: usize, end: usize) -> std::ops::Range<tilewright_hybrid::Rows> {
    tilewright_hybrid::Rows(begin)..tilewright_hybrid::Rows(end)
}

fn columns(begin: usize, end: usize) -> std::ops::Range<tilewright_hybrid::Columns> {
    tilewright_hybrid::Columns(begin)..tilewright_hybrid::Columns(end)
}

/// What the CPU fetches takes the budget, once.
fn products_on_the_cpu(gpu: &Gpu) {
    let (a, b, c) = (matrix(9, 6, 1), matrix(6, 5, 2), matrix(9, 5, 3));
    let [there_a, there_b] = [&a, &b].map(|values| DeviceMat::upload(gpu, values.into()).unwrap());
    let all = bytes(&a) + bytes(&b) + bytes(&c);
    let multiply = |device: &Device| {
        let mut to = DeviceMat::upload(gpu, (&c).into()).unwrap();
        let done = device.matmul(Precision::Auto, 3.0, (&there_a).into(), (&there_b).into(), -2.0, (&mut to).into());
        done.map(|()| assert_eq!(to.download().unwrap(), a.dot(&b) * 3.0 - &c * 2.0))
    };
    for bytes in [all, all - 1] {
        let budget = host(bytes);
        let asked = forced(gpu).choosing(Choice::Cpu).falling_back_within(budget.clone());
        // A GPU that has no room at all, though nothing was new there.
        let breaker = Breaker::new(0, Settings::default());
        breaker.set_policy(tilewright_hybrid::faults::Policy::CpuOnly);
        let moved =
            eager(gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker).falling_back_within(budget.clone());
        for device in [asked, moved] {
            let done = multiply(&device);
            match bytes == all {
                true => assert_eq!((done.unwrap(), last_outcome().unwrap().side), ((), Side::Cpu)),
                false => assert!(matches!(done, Err(Error::Budget { .. })), "{done:?}"),
            }
            assert!(budget.used() == 0 && (bytes < all || budget.peak() == all), "{budget:?}");
        }
    }
}

/// What is made whole before it takes its place takes the budget, and new arrays do not. Where that is short the CPU needs none of it.
fn results_in_host_memory(gpu: &Gpu) {
    let (a, b, c) = (matrix(9, 6, 1), matrix(6, 5, 2), matrix(9, 5, 3));
    let there = DeviceMat::upload(gpu, (&a).into()).unwrap();
    let of_a = MemorySource::new(a.view());
    let (one, all) = (bytes(&c), bytes(&a) + bytes(&c));
    type Multiply<'a> = &'a dyn Fn(&Device) -> Result<Array2<f64>, Error>;
    let here = |device: &Device, a: Operand<'_, f64>, b: Operand<'_, f64>| {
        let mut to = c.clone();
        device.matmul(Precision::Auto, 1.0, a, b, -2.0, (&mut to).into()).map(|()| to + &c * 2.0)
    };
    let there_b = DeviceMat::upload(gpu, (&b).into()).unwrap();
    let slices = |count: usize, device: &Device| {
        let mut results = vec![c.clone(); count];
        let (a, b) = (vec![&a; count], vec![&b; count]);
        device.matmul_batched(Precision::Auto, 1.0, a, b, -2.0, &mut results)?;
        assert!(results.iter().all(|result| *result == results[0]));
        Ok(&results[0] + &c * 2.0)
    };
    let wants: [(u64, bool, Multiply<'_>); 6] = [
        (one, true, &|device| here(device, (&a).into(), (&b).into())),
        (one, false, &|device| here(device, (&there).into(), (&b).into())),
        // What is stored is gathered.
        (all, false, &|device| here(device, (&of_a).into(), (&there_b).into())),
        (0, true, &|device| device.product((&a).into(), (&b).into())),
        (0, false, &|device| device.product((&there).into(), (&b).into())),
        // The largest of three times three matrices, and a copy of one.
        (4 * bytes(&a), true, &|device| slices(3, device)),
    ];
    for (number, (wanted, is_here, multiply)) in wants.into_iter().enumerate() {
        let enough = host(wanted);
        assert_eq!(multiply(&forced(gpu).falling_back_within(enough.clone())).unwrap(), a.dot(&b), "{number}");
        assert_eq!((enough.used(), enough.peak()), (0, wanted), "{number}");
        if wanted == 0 {
            continue;
        }
        let error = multiply(&forced(gpu).falling_back_within(host(wanted - 1))).unwrap_err();
        assert!(matches!(error, Error::Budget { requested, .. } if requested == wanted || requested == one), "{error}");
        let breaker = Breaker::new(0, Settings::default());
        let auto = eager(gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
        match multiply(&auto.falling_back_within(host(wanted - 1))) {
            Ok(product) => assert_eq!((product, last_outcome().unwrap().side), (a.dot(&b), Side::Cpu)),
            // The CPU has to fetch what is not here.
            Err(error) => {
                assert!(!is_here && matches!(error, Error::FallbackWouldExceedBudget { .. }), "{number}: {error}")
            }
        }
        assert_eq!(breaker.health().recent_failures, 0, "{number}");
    }
    // Halves one after the other, vectors in panels, and batches of vectors one below another.
    let halves = [&a, &b, &c].map(|values| values.mapv(f16::from_f64));
    let mut results = vec![halves[2].clone(); 3];
    let budget = host(ROOM);
    let device = forced(gpu).falling_back_within(budget.clone());
    device.matmul_batched(Precision::Auto, 1.0, vec![&halves[0]; 3], vec![&halves[1]; 3], 0.0, &mut results).unwrap();
    assert_eq!((budget.used(), budget.peak()), (0, bytes(&halves[2])));
    let (tall, x) = (matrix(63, 17, 1), matrix(17, 1, 2));
    let mut results = vec![Array2::zeros((63, 1)); 3];
    let budget = host(3 * 8 * 63);
    let device = small(gpu, 8 << 10).choosing(Choice::Gpu).falling_back_within(budget.clone());
    device.matmul_batched(Precision::Auto, 1.0, vec![&tall; 3], vec![&x; 3], 0.0, &mut results).unwrap();
    assert!(last_decision().unwrap().gpu.unwrap().tiles.is_some());
    assert_eq!((budget.used(), budget.peak()), (0, 3 * 8 * 63));
    let (vectors, mut y) = (matrix(3 * 17, 1, 3), Array2::zeros((63, 1)));
    let budget = host(8 * 63);
    let device = Device::cpu().falling_back_within(budget.clone());
    device.matvec_batched(Precision::Auto, 1.0, (&tall).into(), (&vectors).into(), 0.0, (&mut y).into()).unwrap();
    assert_eq!((budget.used(), budget.peak()), (0, 8 * 63));
}

/// A batch that the GPU fails at goes on, on the CPU, with the product that failed: nothing is added twice.
fn batches_go_on(ledger: &Ledger, gpu: &Gpu) {
    const OUT_OF_MEMORY: i64 = 2;
    let [a, b, c] =
        [(5, 4), (4, 3), (5, 3)].map(|(rows, columns)| Vec::from_iter((0..3).map(|seed| matrix(rows, columns, seed))));
    let there: Vec<_> = a.iter().map(|values| DeviceMat::upload(gpu, values.into()).unwrap()).collect();
    let halves = |all: &[Array2<f64>]| Vec::from_iter(all.iter().map(|values| values.mapv(f16::from_f64)));
    let (half_a, half_b) = (halves(&a), halves(&b));
    let mut sides = Vec::new();
    for number in 1.. {
        let breaker = Breaker::new(0, Settings::default());
        let device = eager(gpu, budgets(Budget::new(Memory::Device, ROOM)), &breaker);
        let (mut results, mut half_results) = (c.clone(), halves(&c));
        ledger.fail(number, OUT_OF_MEMORY);
        device.matmul_batched(Precision::Auto, 3.0, &there, &b, -2.0, &mut results).unwrap();
        let is_injected = ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
        ledger.mend();
        ledger.fail(number, OUT_OF_MEMORY);
        device.matmul_batched(Precision::Auto, 3.0, &half_a, &half_b, -2.0, &mut half_results).unwrap();
        let is_injected = is_injected || ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
        ledger.mend();
        let expected: Vec<_> = a.iter().zip(&b).zip(&c).map(|((a, b), c)| a.dot(b) * 3.0 - c * 2.0).collect();
        assert_eq!(half_results, halves(&expected), "call {number}");
        assert_eq!(results, expected, "call {number}");
        sides.push(last_outcome().unwrap().side);
        if !is_injected {
            break;
        }
    }
    assert!(sides.len() > 12 && sides[..sides.len() - 1].contains(&Side::Cpu), "{sides:?}");
    assert_eq!(sides.last(), Some(&Side::Gpu));
}

/// A closure that the GPU fails at, wherever in its squares, is the CPU's, or an error where the GPU was asked for. (Kernels of a stub compute nothing: what
/// does not fail is not looked at.)
fn closures_go_on(ledger: &Ledger, gpu: &Gpu) {
    const INVALID_HANDLE: i64 = 400;
    let relation = BitMatrix::from_fn(150, 150, |from, to| from + 1 == to).unwrap();
    let closed = closure(&relation).unwrap();
    let mut fell_back = 0;
    for number in 1.. {
        let (breaker, budgets) = (Breaker::new(0, Settings::default()), budgets(Budget::new(Memory::Device, ROOM)));
        let device = eager(gpu, budgets.clone(), &breaker);
        ledger.fail(number, INVALID_HANDLE);
        let made = device.bit_closure(&relation).unwrap();
        let is_injected = ledger.get(Entry::Calls) >= ledger.get(Entry::FailsAt);
        ledger.mend();
        if last_outcome().unwrap().side == Side::Cpu {
            assert_eq!(made, closed, "call {number}");
            fell_back += 1;
            ledger.fail(number, INVALID_HANDLE);
            let asked = device.choosing(Choice::Gpu).guarded(Breaker::new(0, Settings::default()));
            let error = asked.bit_closure(&relation).unwrap_err();
            ledger.mend();
            assert_eq!(error.class(), tilewright_hybrid::Class::Device, "call {number}: {error}");
        }
        assert_eq!(budgets.device.used(), 0, "call {number}");
        if !is_injected {
            // Three of them, and counts.
            assert_eq!(budgets.device.peak(), 3 * 150 * 32 + 4 * 150);
            break;
        }
    }
    assert!(fell_back > 10, "{fell_back}");
}

/// Plans of batches and of integers are what is decided, and call nobody.
fn plans_touch_nothing(ledger: &Ledger, gpu: &Gpu) {
    let [a, b, c] =
        [(5, 4), (4, 3), (5, 3)].map(|(rows, columns)| Vec::from_iter((0..3).map(|seed| matrix(rows, columns, seed))));
    let there: Vec<_> = a.iter().map(|values| DeviceMat::upload(gpu, values.into()).unwrap()).collect();
    let upload = |a: &Array2<i8>| DeviceMat::upload(gpu, a.into()).unwrap();
    let (of_a, of_b) = (a[0].mapv(|x| x as i8), b[0].mapv(|x| x as i8));
    let (there_a, mut sums) = (upload(&of_a), Array2::<i32>::zeros((5, 3)));
    let device = small(gpu, ROOM);
    let mut results = c.clone();
    let asked = || [Entry::Calls, Entry::Asked, Entry::Copied].map(|entry| ledger.get(entry));
    for is_there in [true, false] {
        let left: Vec<Operand<'_, f64>> = match is_there {
            true => there.iter().map(Operand::from).collect(),
            false => a.iter().map(Operand::from).collect(),
        };
        let right: Vec<Operand<'_, f64>> = b.iter().map(Operand::from).collect();
        let before = asked();
        let targets: Vec<Target<'_, f64>> = results.iter_mut().map(Target::from).collect();
        let planned = device.plan_batched(Precision::Auto, [&left, &right], -2.0, &targets).unwrap();
        assert_eq!(asked(), before);
        device.matmul_batched(Precision::Auto, 1.0, left, right, -2.0, targets).unwrap();
        assert_eq!(last_decision().unwrap(), planned);
        let integers: Operand<'_, i8> = if is_there { (&there_a).into() } else { (&of_a).into() };
        let before = asked();
        let planned = device.plan_integers([integers, (&of_b).into()], &(&mut sums).into()).unwrap();
        assert_eq!(asked(), before);
        device.matmul_integer(Overflow::Error, integers, (&of_b).into(), (&mut sums).into()).unwrap();
        assert_eq!(last_decision().unwrap(), planned);
    }
    let none = device.plan_batched::<f64>(Precision::Auto, [&[], &[]], 0.0, &[]).unwrap_err();
    assert!(matches!(none, Error::Shape { what: "matrices", .. }), "{none}");
}
