//! What the record of an operation says of what moved: as it was decided, and as it was copied.

use super::watched::{SIZE, Verb, room, tight, verbs};
use super::{matrix, small};
use crate::ledger::{Entry, Ledger, Stubs};
use ndarray::{Array2, s};
use std::sync::Mutex;
use tilewright_driver::Device as Driver;
use tilewright_hybrid::dispatch::{Choice, Job, Tiles, Verb as Of, last_decision, last_outcome};
use tilewright_hybrid::linear::Gpu;
use tilewright_hybrid::store::{Element, NpySink, NpySource, Order, Sink, WriteTyped};
use tilewright_hybrid::stream::Traffic;
use tilewright_hybrid::{Columns, Device, Operand, Rows, Shape, Side};

use super::verbs::{definite, regular};

/// What tiles copy, where nothing is added but to a product.
fn planned(tiles: Tiles) -> Traffic {
    let [to_gpu, to_host] = match tiles {
        Tiles::Product(plan) => [plan.bytes_to_gpu(true), plan.bytes_to_host()],
        Tiles::Matvec(plan) => [plan.bytes_to_gpu(false), plan.bytes_to_host()],
        Tiles::Factors(plan) => [plan.bytes_to_gpu(), plan.bytes_to_host()],
        Tiles::Solution { factors, solution } => {
            [factors.bytes_to_gpu() + solution.bytes_to_gpu(), factors.bytes_to_host() + solution.bytes_to_host()]
        }
        Tiles::Expression(plan) => [plan.bytes_to_gpu(), plan.bytes_to_host()],
        Tiles::Bits(plan) => [plan.bytes_to_gpu(), plan.bytes_to_host()],
        tiles => panic!("{tiles}"),
    };
    Traffic { to_gpu: to_gpu as u64, to_host: to_host as u64 }
}

/// Runs a verb, and gives what was streamed of it.
fn streamed((name, verb): &Verb<'_>, device: &Device) -> Tiles {
    verb(device).unwrap();
    let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
    let tiles = decision.gpu.as_ref().unwrap().tiles.unwrap();
    assert_eq!((outcome.side, outcome.halvings), (Side::Gpu, 0), "{name}");
    assert_eq!(outcome.tiles, Some(tiles), "{name}: {decision}");
    assert_eq!(outcome.traffic, planned(tiles), "{name}: {decision}");
    tiles
}

#[test]
fn m16_what_is_streamed_runs_as_it_was_decided_and_says_what_moved() {
    let test = "device::recorded::m16_what_is_streamed_runs_as_it_was_decided_and_says_what_moved";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, d, b) = (regular(SIZE, 1), definite(SIZE, 2), matrix(SIZE, SIZE, 3));
    let c = Mutex::new(matrix(SIZE, SIZE, 4));
    let few = b.slice(s![.., ..2]);
    let folder = tempfile::tempdir().unwrap();
    let sink = NpySink::create(folder.path().join("a.npy"), &[SIZE, SIZE], Element::F64, Order::C).unwrap();
    sink.write(&sink.extents().whole(), a.as_standard_layout().as_slice().unwrap()).unwrap();
    Box::new(sink).commit().unwrap();
    let file = NpySource::open(folder.path().join("a.npy")).unwrap();
    let mut all = verbs(&a, &d, &b, &c);
    let [ra, from] = [Operand::from(&a), Operand::from(&file)];
    all.push(("few solutions", Box::new(move |device| device.solve(ra, (&few).into()).map(drop))));
    all.push(("lu of a file", Box::new(move |device| device.lu::<f64>(from).map(drop))));
    all.push(("solve of a file", Box::new(move |device| device.solve::<f64>(from, ra).map(drop))));
    for verb in &all {
        streamed(verb, &tight(&gpu, room(&gpu)).0);
        // What cuSOLVER wants decides about a column of a panel now and then.
        let by_lu = matches!(verb.0, "lu" | "solve" | "few solutions" | "inverse");
        for more in (0..1600).step_by(16).filter(|_| by_lu) {
            streamed(verb, &tight(&gpu, room(&gpu) + more).0);
        }
    }
    // A plan knows what cuSOLVER wants once that is there.
    let device = tight(&gpu, room(&gpu)).0;
    let job = Job::verb::<f64>(Of::Solve, Shape::new(Rows(SIZE), Columns(SIZE)), Columns(SIZE)).unwrap();
    let plan = device.plan(&job).unwrap().gpu.unwrap();
    let solve = all.iter().find(|(name, _)| *name == "solve").unwrap();
    assert_eq!(plan.tiles, Some(streamed(solve, &device)));
    assert_eq!(last_decision().unwrap().gpu.unwrap().device_bytes, plan.device_bytes);
}

#[test]
fn what_the_record_says_was_copied() {
    Stubs::check("device::recorded::what_the_record_says_was_copied", "recorded");
}

/// By a stub that counts what is copied.
pub(crate) fn child_recorded() {
    let (ledger, gpu) = (Ledger::here(), Gpu::new(&Driver::new(0).unwrap().stream().unwrap()));
    let (a, d, b) = (regular(SIZE, 1), definite(SIZE, 2), matrix(SIZE, SIZE, 3));
    let c = Mutex::new(matrix(SIZE, SIZE, 4));
    // Pivots, their number, and diagonals.
    let besides = (64 * SIZE) as u64;
    for device in [tight(&gpu, room(&gpu)).0, small(&gpu, 1 << 30).choosing(Choice::Gpu)] {
        for (name, verb) in verbs(&a, &d, &b, &c).into_iter().filter(|(name, _)| *name != "evaluate") {
            let before = ledger.get(Entry::Copied);
            verb(&device).unwrap();
            let copied = (ledger.get(Entry::Copied) - before) as u64;
            let Traffic { to_gpu, to_host } = last_outcome().unwrap().traffic;
            let counted = to_gpu + to_host;
            let is_factored = matches!(name, "solve" | "lu" | "cholesky" | "inverse");
            let most = if is_factored { counted + besides } else { counted };
            assert!((counted..=most).contains(&copied), "{name}: {copied} of {counted}, {}", last_decision().unwrap());
        }
    }
    // On the CPU nothing.
    let a = Array2::<f64>::eye(9);
    Device::cpu().product((&a).into(), (&a).into()).unwrap();
    assert_eq!(last_outcome().unwrap().traffic, Traffic::default());
}
