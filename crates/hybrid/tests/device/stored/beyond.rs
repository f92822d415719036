//! Systems and factors of what is stored, on the CPU, in host memory that has no room for them.

use super::shelf::{Lies, STORES, Shelf, Whole, read};
use crate::device::on_the_gpu::{budgets, eager, shrinking};
use crate::device::verbs::{definite, near, regular};
use crate::device::{matrix, small};
use crate::ledger::Stubs;
use ndarray::Array2;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tilewright_driver::Device as Driver;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Gathered, Job, Tiles, Verb, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings, Why};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{Element, NpySource};
use tilewright_hybrid::stream::{Cancel, Traffic, Verify};
use tilewright_hybrid::{Class, Columns, Device, Error, Operand, Rows, Shape, Side};

/// Rows and columns of a matrix of 64,800 bytes.
const SIZE: usize = 90;
const BYTES: u64 = (SIZE * SIZE * 8) as u64;

/// Host memory for the matrix and a half, and for less than the matrix.
const ROOMS: [u64; 2] = [BYTES / 2 * 3, BYTES / 5 * 4];

fn on_cpu(host: &Budget) -> Device {
    Device::cpu().falling_back_within(host.clone())
}

/// That the last operation went in panels as it was decided, within the budget.
fn went_in_panels(host: &Budget, spills: bool) -> Tiles {
    let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
    let on_host = decision.on_host.unwrap_or_else(|| panic!("{decision}"));
    assert_eq!((decision.side, outcome.side, outcome.tiles), (Side::Cpu, Side::Cpu, Some(on_host.tiles)), "{decision}");
    assert_eq!((on_host.spills, outcome.traffic), (spills, Traffic::default()), "{decision}");
    assert!(decision.to_string().contains(&format!("streamed in {}", on_host.tiles)), "{decision}");
    // Slots take what is left.
    assert!((on_host.host_bytes..=host.limit()).contains(&host.peak()), "{on_host:?} {host:?} {}", host.peak());
    assert_eq!(host.used(), 0);
    host.reset_peak();
    on_host.tiles
}

/// Solutions and inverses, from stores into stores and into memory, with factors in memory and in a file.
#[test]
fn systems_beyond_host_memory_go_through_the_cpu_in_panels() {
    let shelf = Shelf::new(None);
    let (a, b) = (regular(SIZE, 1), matrix(SIZE, 4, 3));
    for (bytes, lies) in ROOMS.into_iter().flat_map(|bytes| STORES.map(|lies| (bytes, lies))) {
        let (host, spills) = (Budget::new(Memory::Host, bytes), bytes < BYTES);
        let device = on_cpu(&host);
        let device = if spills { device.spilling_into(shelf.folder.path()) } else { device };
        let (of_a, of_b) = (shelf.put(lies, "a", &a), shelf.put(lies, "b", &b));
        let mut x = Array2::from_elem((SIZE, 4), f64::NAN);
        of_a.operand(|a| of_b.operand(|b| device.solve_into(a, b, (&mut x).into()))).unwrap();
        let tiles = went_in_panels(&host, spills);
        assert!(matches!(tiles, Tiles::Solution { factors, .. } if factors.panels() > 1), "{tiles}");
        near(&a.dot(&x), &b);
        // The matrix transposed, a right-hand side in memory, and a result that is handed over.
        let x = of_a.operand(|a| device.solve(a.t(), (&b).into())).unwrap();
        went_in_panels(&host, spills);
        near(&a.t().dot(&x), &b);
        let sink = Whole(shelf.sink(lies, "inverse", Element::F64, [SIZE, SIZE]));
        of_a.operand(|a| device.solve_into(a, Operand::identity(Rows(SIZE)), sink.into())).unwrap();
        went_in_panels(&host, spills);
        near(&a.dot(&read::<f64>(&*shelf.source(lies, "inverse"))), &Array2::eye(SIZE));
    }
}

/// Factors are made in the memory in which they are handed over, and what follows from them too.
#[test]
fn factors_of_what_is_stored_take_the_memory_of_the_matrix_once() {
    let shelf = Shelf::new(None);
    let (a, s, b) = (regular(SIZE, 1), definite(SIZE, 2), matrix(SIZE, 4, 3));
    let host = Budget::new(Memory::Host, ROOMS[0]);
    // A folder is none for what is wanted in memory.
    let device = on_cpu(&host).spilling_into("/nowhere");
    let (of_a, of_s) = (shelf.put(Lies::Npy, "a", &a), shelf.put(Lies::Npy, "s", &s));
    let lu = of_a.operand(|a| device.lu(a)).unwrap();
    assert!(matches!(went_in_panels(&host, false), Tiles::Factors(plan) if plan.panels() > 1));
    near(&a.dot(&lu.solve((&b).into()).unwrap()), &b);
    let cholesky = of_s.operand(|s| device.cholesky(s)).unwrap();
    went_in_panels(&host, false);
    near(&s.dot(&cholesky.solve((&b).into()).unwrap()), &b);
    let exact = Device::cpu().determinant((&a).into()).unwrap();
    let determinant = of_a.operand(|a| device.determinant(a)).unwrap();
    went_in_panels(&host, false);
    assert!((determinant / exact - 1.0).abs() < 1e-9, "{determinant} {exact}");
    for lies in STORES {
        let sink = Whole(shelf.sink(lies, "factors", Element::F64, [SIZE, SIZE]));
        let pivots = of_a.operand(|a| device.lu_into(a, sink.into())).unwrap();
        went_in_panels(&host, false);
        assert_eq!(pivots.permutation(), lu.permutation());
        let sink = Whole(shelf.sink(lies, "factors", Element::F64, [SIZE, SIZE]));
        of_s.operand(|s| device.cholesky_into(s, sink.into())).unwrap();
        went_in_panels(&host, false);
        let l = read::<f64>(&*shelf.source(lies, "factors"));
        near(&l.dot(&l.t()), &s);
    }
}

#[test]
fn m16_a_plan_says_that_it_goes_in_panels() {
    let shelf = Shelf::new(None);
    let (of_a, b) = (shelf.put(Lies::Npy, "a", &regular(SIZE, 1)), matrix(SIZE, 4, 3));
    let shape = Shape::new(Rows(SIZE), Columns(SIZE));
    for bytes in [ROOMS[1], ROOMS[0], 4 * BYTES] {
        let host = Budget::new(Memory::Host, bytes);
        let device = on_cpu(&host).spilling_into(shelf.folder.path());
        of_a.operand(|a| device.solve(a, (&b).into())).unwrap();
        let decided = last_decision().unwrap();
        let mut job = Job::verb::<f64>(Verb::Solve, shape, Columns(4)).unwrap();
        (job.read[0], job.gathered) = (decided.read[0], Some(Gathered { whole: job.host_bytes + BYTES, result: 0 }));
        let planned = device.plan(&job).unwrap();
        // NPY files lie by rows, of which several columns are read together.
        assert_eq!(
            planned.on_host.map(|it| (it.host_bytes, it.spills)),
            decided.on_host.map(|it| (it.host_bytes, it.spills))
        );
        assert_eq!(planned.tiles().is_some(), bytes < 2 * BYTES, "{planned}");
        assert!(planned.cpu.wall >= planned.cpu.compute.max(planned.cpu.bring), "{planned}");
        job.gathered = None;
        let whole = device.plan(&job).unwrap();
        assert_eq!((whole.cpu.compute < planned.cpu.compute, whole.on_host), (planned.tiles().is_some(), None));
    }
}

/// Nothing is changed where there is no room, where a file ends early, and where a solution is wrong; and whoever watches sees each step, and may stop it.
#[test]
fn m9_m15_what_goes_in_panels_is_watched_checked_and_leaves_nothing_where_it_fails() {
    let shelf = Shelf::new(None);
    let (of_a, b) = (shelf.put(Lies::Npy, "a", &regular(SIZE, 1)), matrix(SIZE, 4, 3));
    let (host, steps) = (Budget::new(Memory::Host, ROOMS[0]), Arc::new(Mutex::new(Vec::new())));
    let mut x = Array2::from_elem((SIZE, 4), 7.0);
    let mut solve = |device: &Device, of: Operand<'_, f64>| {
        let solved = device.solve_into(of, (&b).into(), (&mut x).into());
        assert_eq!((host.used(), solved.is_ok()), (0, x.iter().all(|x| *x != 7.0)), "{solved:?}");
        x.fill(7.0);
        solved
    };
    let told = steps.clone();
    let device = on_cpu(&host).telling(move |done, steps| told.lock().unwrap().push((done, steps)));
    of_a.operand(|a| solve(&device.clone().verifying(Verify::default()), a)).unwrap();
    let seen = std::mem::take(&mut *steps.lock().unwrap());
    let all = seen.len() as u64;
    assert!(all > 3 && seen.iter().copied().eq((1..=all).map(|done| (done, all))), "{seen:?}");
    let wrong = device.clone().verifying(Verify { margin: 0.0, ..Verify::default() });
    let error = of_a.operand(|a| solve(&wrong, a)).unwrap_err();
    assert!(matches!(error, Error::WrongSolution { size: SIZE, .. }), "{error}");

    let (cancel, last) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
    let (stop, counted) = (cancel.clone(), last.clone());
    let stopped = device.clone().cancelled_by(&cancel).telling(move |done, steps| {
        counted.store(done, Ordering::Relaxed);
        if done > steps / 2 {
            stop.cancel();
        }
    });
    let error = of_a.operand(|a| solve(&stopped, a)).unwrap_err();
    assert!(matches!(error, Error::Cancelled { done, steps } if done == steps / 2 + 1 && steps == all), "{error}");
    assert_eq!(last.load(Ordering::Relaxed), all / 2 + 1);

    let short = on_cpu(&Budget::new(Memory::Host, ROOMS[1]));
    let error = of_a.operand(|a| solve(&short, a)).unwrap_err();
    assert!(matches!(error, Error::Budget { what: "host memory", .. }), "{error}");
    let nowhere = short.spilling_into(shelf.path("nowhere"));
    assert_eq!(of_a.operand(|a| solve(&nowhere, a)).unwrap_err().class(), Class::Io);
    let npy = NpySource::open(shelf.path("a")).unwrap();
    std::fs::OpenOptions::new().write(true).open(shelf.path("a")).unwrap().set_len(BYTES / 2).unwrap();
    assert_eq!(solve(&device, (&npy).into()).unwrap_err().class(), Class::Io);
    assert!(last_decision().unwrap().on_host.is_some());
}

/// What fails on the GPU goes on, on the CPU, in panels where host memory has no room for all of it.
#[test]
fn b2_what_failed_on_the_gpu_goes_on_in_panels() {
    Stubs::check("device::stored::beyond::b2_what_failed_on_the_gpu_goes_on_in_panels", "beyond host memory");
}

pub(crate) fn child_beyond_host_memory() {
    let gpu = Gpu::new(&Driver::new(0).unwrap().stream().unwrap());
    let shelf = Shelf::new(Some(&gpu));
    let (a, b) = (regular(SIZE, 1), matrix(SIZE, 4, 3));
    let of_a = shelf.put(Lies::Npy, "a", &a);
    let solve = |host: &Budget, folder: Option<&Path>| {
        let breaker = Breaker::new(0, Settings::default());
        // Half of the matrix when it is decided, and nothing when it is asked for.
        let device = eager(&gpu, budgets(shrinking(1, 0)), &breaker).falling_back_within(host.clone());
        let device = folder.into_iter().fold(device, |device, folder| device.spilling_into(folder));
        let mut x = Array2::from_elem((SIZE, 4), f64::NAN);
        of_a.operand(|a| device.solve_into(a, (&b).into(), (&mut x).into())).map(|()| x)
    };
    for bytes in ROOMS {
        let (host, spills) = (Budget::new(Memory::Host, bytes), bytes < BYTES);
        let x = solve(&host, Some(shelf.folder.path())).unwrap();
        near(&a.dot(&x), &b);
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert_eq!((decision.side, outcome.side), (Side::Gpu, Side::Cpu), "{decision}");
        assert!(matches!(outcome.why, Some(Why::Failed(_))), "{outcome:?}");
        let on_host = decision.on_host.unwrap();
        assert_eq!((outcome.tiles, on_host.spills), (Some(on_host.tiles), spills));
        assert!(host.used() == 0 && host.peak() <= bytes, "{host:?}");
    }
    let error = solve(&Budget::new(Memory::Host, ROOMS[1]), None).unwrap_err();
    assert!(matches!(error, Error::FallbackWouldExceedBudget { operation: "solve", .. }), "{error}");
    // Streamed through the GPU the factors lie in a file as well.
    let room = BYTES / 2 + gpu.solver().unwrap().getrf_bytes::<f64>(SIZE, 1).unwrap() as u64;
    let host = Budget::new(Memory::Host, ROOMS[1]);
    let device = small(&gpu, room).choosing(Choice::Gpu).falling_back_within(host.clone());
    let solve = |device: &Device| of_a.operand(|a| device.solve(a, (&b).into()));
    let error = solve(&device).unwrap_err();
    assert!(matches!(error, Error::Budget { what: "host memory", .. }), "{error}");
    near(&a.dot(&solve(&device.spilling_into(shelf.folder.path())).unwrap()), &b);
    let outcome = last_outcome().unwrap();
    assert!((outcome.side, outcome.tiles.is_some(), host.peak()) == (Side::Gpu, true, 0), "{outcome:?} {host:?}");
}
