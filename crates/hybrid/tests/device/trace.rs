//! A chrome-trace file of decisions and operations.

use ndarray::Array2;
use serde_json::Value;
use tilewright_hybrid::Device;
use tilewright_hybrid::dispatch::{Choice, Rates, Trace};

use super::{matrix, product};

/// The events of this test's threads: others run beside it, in the same process.
fn events(trace: &Trace, operation: &str) -> Vec<Value> {
    let whole: Value = serde_json::from_str(&trace.json()).unwrap();
    let all = whole["traceEvents"].as_array().unwrap();
    all.iter().filter(|event| event["name"].as_str().unwrap().contains(operation)).cloned().collect()
}

#[test]
fn m16_a_trace_has_decisions_and_operations() {
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::of_cores(2));
    let trace = Trace::begin();
    // Nobody else here factors what has 37 rows.
    let a = matrix(37, 5, 1);
    device.qr((&a).into()).unwrap();
    std::thread::scope(|scope| scope.spawn(|| device.qr((&a).into()).unwrap()).join().unwrap());
    let of_this = |event: &Value| event["args"]["bytes"] == 8 * (37 * 5 + 5);
    let events: Vec<_> = events(&trace, "qr").into_iter().filter(of_this).collect();
    let kinds: Vec<_> =
        events.iter().map(|event| (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap())).collect();
    let one = [("i", "decided: cpu.qr.f64"), ("X", "cpu.qr.f64")];
    assert_eq!(kinds, [one, one].concat());
    for pair in events.chunks(2) {
        let (decision, operation) = (&pair[0], &pair[1]);
        assert_eq!((&decision["tid"], &decision["pid"]), (&operation["tid"], &operation["pid"]));
        assert!(decision["ts"].as_f64().unwrap() <= operation["ts"].as_f64().unwrap(), "{pair:?}");
        assert!(operation["dur"].as_f64().unwrap() > 0.0);
        assert_eq!(operation["args"]["reason"], "no GPU");
        assert!(operation["args"]["expected_on_cpu_us"].as_f64().unwrap() > 0.0);
        assert!(operation["args"]["expected_on_gpu_us"].is_null());
    }
    assert_ne!(events[0]["tid"], events[2]["tid"], "threads are told apart");
}

#[test]
fn a_failure_is_in_the_trace_and_an_end_is_an_end() {
    let device = Device::cpu().choosing(Choice::Auto);
    let (trace, ended) = (Trace::begin(), Trace::begin());
    let nothing = Array2::<f64>::zeros((41, 41));
    device.inverse((&nothing).into()).unwrap_err();
    let failed = |trace: &Trace| {
        events(trace, "cpu.inverse")
            .iter()
            .any(|event| event["args"]["error"] == "the matrix of size 41 is singular: pivot 0 is zero")
    };
    assert!(failed(&trace) && failed(&ended));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    ended.write(&path).unwrap();
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(written["displayTimeUnit"], "ms");
    drop(ended);
    // The other one goes on.
    let before = events(&trace, "matmul").len();
    product(&device, [3, 4, 5], 0.0).unwrap();
    assert!(events(&trace, "matmul").len() >= before + 2);
}
