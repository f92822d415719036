//! Stages of streams in traces: all of them, inside their operation, on a stub; at the same time, on a GPU.

use std::collections::BTreeSet;

use ndarray::Array2;
use serde_json::Value;
use tilewright_driver::Device as Driver;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Tiles, Trace, last_decision};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Device, Operand};

use super::matrix;
use crate::ledger::{Entry, Ledger, Stubs};

const STAGES: [&str; 5] = ["read", "copy in", "compute", "copy back", "write"];

/// A bar: its name, begin and end in microseconds, what it stands on (a thousand for each thread), and what it says.
struct Bar {
    name: String,
    begin: f64,
    end: f64,
    track: u64,
    facts: Value,
}

/// All that has a length.
fn bars(trace: &Trace) -> Vec<Bar> {
    let whole: Value = serde_json::from_str(&trace.json()).unwrap();
    let events = whole["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let bar = |event: &Value| {
        let (begin, length) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        let (name, track) = (event["name"].as_str().unwrap().to_owned(), event["tid"].as_u64().unwrap());
        Bar { name, begin, end: begin + length, track, facts: event["args"].clone() }
    };
    events.map(bar).collect()
}

fn named<'a>(bars: &'a [Bar], name: &'a str) -> impl Iterator<Item = &'a Bar> {
    bars.iter().filter(move |bar| bar.name == name)
}

/// The name of what a bar stands on.
fn track(trace: &Trace, tid: u64) -> String {
    let whole: Value = serde_json::from_str(&trace.json()).unwrap();
    let names = whole["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "thread_name");
    let named: Vec<_> = names.filter(|event| event["tid"] == tid).map(|event| event["args"]["name"].clone()).collect();
    assert_eq!(named.len(), 1, "a name for each");
    named[0].as_str().unwrap().to_owned()
}

fn streaming(gpu: &Gpu, device: u64) -> Device {
    let budgets = Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, 1 << 20) };
    let device = Device::with(gpu).rated(Rates::h200()).within(budgets).choosing(Choice::Gpu);
    device.guarded(Breaker::new(0, Settings::default()))
}

#[test]
fn g6_all_stages_of_a_stream_are_in_its_trace() {
    Stubs::check("device::stages::g6_all_stages_of_a_stream_are_in_its_trace", "traced");
}

pub(crate) fn child_traced() {
    let (ledger, gpu) = (Ledger::here(), Gpu::new(&Driver::new(0).unwrap().stream().unwrap()));
    let (a, b) = (matrix(60, 90, 1), matrix(90, 50, 2));
    let device = streaming(&gpu, 24 << 10);
    let product = || assert_eq!(device.product((&a).into(), (&b).into()).unwrap(), a.dot(&b));
    let (regular, right) = (matrix(60, 60, 4) + Array2::from_diag_elem(60, 480.0), matrix(60, 20, 5));
    let factors = || drop(streaming(&gpu, 30 << 10).solve((&regular).into(), (&right).into()).unwrap());
    let timed = || ledger.get(Entry::Timed);
    product();
    factors();
    assert_eq!(timed(), 0, "nothing is measured that nobody keeps");

    let trace = Trace::begin();
    product();
    assert!(timed() > 0);
    is_whole(&trace, "gpu.matmul.f64");
    let Some(Tiles::Product(plan)) = last_decision().unwrap().gpu.unwrap().tiles else { panic!("in tiles") };
    let steps: usize = plan.counts().into_iter().product();
    let bars = bars(&trace);
    let [read, copied_in, computed, copied_back, written] = STAGES.map(|stage| named(&bars, stage).count());
    assert!(steps > 8 && plan.counts()[2] > 1, "{plan:?}");
    // A slot has room for a panel of either factor. The last tile is computed in strips, which go back one by one.
    assert_eq!([read, copied_in, copied_back], [2 * steps, 2 * steps, written]);
    assert!(computed >= steps && written >= steps / plan.counts()[2], "{computed} {written} {plan:?}");
    let told: BTreeSet<_> =
        named(&bars, "compute").map(|bar| [&bar.facts["tile"], &bar.facts["panel"]].map(Value::to_string)).collect();
    assert_eq!(told.len(), steps, "each says which tile and panel it is of: {told:?}");
    // Of each slot that is filled, and of no other, the copy says the same.
    let [mut read, mut copied] =
        ["read", "copy in"].map(|stage| named(&bars, stage).map(|bar| bar.facts.to_string()).collect::<Vec<_>>());
    read.sort();
    copied.sort();
    assert_eq!(read, copied);
    assert!(copied.iter().all(|facts| facts.contains("rows") && facts.contains("columns")), "{copied:?}");
    drop(trace);

    let before = timed();
    let trace = Trace::begin();
    factors();
    is_whole(&trace, "gpu.solve.f64");
    drop(trace);
    assert!(timed() > before);
    let before = timed();
    product();
    assert_eq!(timed(), before);
}

/// All stages are there, each on tracks of its own, within the operation.
fn is_whole(trace: &Trace, operation: &str) {
    let bars = bars(trace);
    let whole = bars.iter().find(|bar| bar.name == operation).unwrap();
    let mut tracks = BTreeSet::from([whole.track]);
    for stage in STAGES {
        let own: Vec<_> = named(&bars, stage).collect();
        assert!(!own.is_empty(), "{operation}: no {stage}");
        for bar in &own {
            assert!(bar.begin >= whole.begin - 1e-3 && bar.end <= whole.end + 1e-3, "{operation}: {stage}");
            assert!(track(trace, bar.track).starts_with(stage));
        }
        let own: BTreeSet<_> = own.iter().map(|bar| bar.track).collect();
        assert!(own.is_disjoint(&tracks), "{operation}: {stage}");
        tracks.extend(own);
    }
    // What one thread or queue does is done one after the other.
    for own in &tracks {
        let mut spans: Vec<_> = bars.iter().filter(|bar| bar.track == *own).map(|bar| (bar.begin, bar.end)).collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-3), "{spans:?}");
    }
}

/// Of the bars of one stage that begin while those of another one go on or come, how many lie beside one of these.
fn beside(bars: &[Bar], of: &str, others: &str) -> [usize; 2] {
    let last = named(bars, others).map(|bar| bar.begin).fold(0.0, f64::max);
    let own: Vec<_> = named(bars, of).filter(|bar| bar.begin < last).collect();
    let meets = |one: &&&Bar| named(bars, others).any(|two| one.end.min(two.end) > one.begin.max(two.begin));
    [own.iter().filter(meets).count(), own.len()]
}

/// While a tile is multiplied the next one comes: of tiles that take longer to multiply than to copy, from ordinary memory. How long each takes is not asked: other tests
/// use the GPU and its link meanwhile.
#[test]
fn g6_copies_in_run_beside_what_is_computed_on_the_gpu() {
    let test = "device::stages::g6_copies_in_run_beside_what_is_computed_on_the_gpu";
    let Some(gpu) = crate::gpu(test).filter(|gpu| crate::runs_kernels(&gpu.stream().device(), test)) else { return };
    let size = 12_288;
    let a = Array2::from_shape_fn((size, size), |(i, j)| ((i * 7 + j * 3) % 11) as f32 - 5.0);
    let budgets = Budgets { device: Budget::new(Memory::Device, 512 << 20), pinned: Budget::pinned() };
    let device = Device::with(&gpu).rated(Rates::h200()).within(budgets).choosing(Choice::Gpu);
    let mut c = Array2::<f32>::zeros((size, size));
    let mut times = |device: &Device| {
        let operand = Operand::from(&a);
        device.matmul(Precision::Auto, 1.0, operand, operand, 0.0, (&mut c).into()).unwrap();
    };
    // What is compiled, page-locked and woken up once.
    times(&device);
    let trace = Trace::begin();
    times(&device);
    // Others run beside this test, in the same process.
    let mut bars = bars(&trace);
    let bytes = last_decision().unwrap().bytes;
    let own = bars.iter().find(|bar| bar.name == "gpu.matmul.f32" && bar.facts["bytes"] == bytes).unwrap().track;
    bars.retain(|bar| bar.track / 1000 == own / 1000);
    let [beside, all] = beside(&bars, "compute", "copy in");
    eprintln!("beside {beside} of {all} products a copy ran");
    // In turns it would be none; alone on the GPU it is nearly all.
    assert!(all >= 4 && 2 * beside > all, "{beside} of {all}");
}
