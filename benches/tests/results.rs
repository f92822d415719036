//! Rows, their file, and the table.

use tilewright_benches::machine::{date_of, slug};
use tilewright_benches::report::{Peer, Report, Row, peers};
use tilewright_benches::table::table;

fn report() -> Report {
    let mut report = Report::new("NVIDIA H200", Some("580.1, CUDA 13.0".into()));
    report.add("crops", "50", "device_us", 4.123_456, "us").limited(1.5);
    report.add("crops", "150", "device_us", 9.0, "us");
    report
}

fn peer(metric: &str, name: &str, device: Option<&str>) -> Peer {
    let (suite, case, device) = ("crops".into(), "50".into(), device.map(Into::into));
    Peer { suite, case, metric: metric.into(), value: 120.0, peer: name.into(), device }
}

#[test]
fn a_row_for_each_peer() {
    let mut report = report();
    let found = [
        peer("device_us", "eager", None),
        peer("device_us", "compiled", Some("NVIDIA H200")),
        peer("device_us", "elsewhere", Some("NVIDIA A100")),
        peer("host_us", "other metric", None),
    ];
    report.join(&found);
    let names: Vec<_> = report.rows.iter().map(|row| (row.case.as_str(), row.peer.as_deref())).collect();
    assert_eq!(names, [("50", Some("eager")), ("50", Some("compiled")), ("150", None)]);
    assert!(report.rows.iter().take(2).all(|row| row.value == 4.1235 && row.peer_value == Some(120.0)));
    assert_eq!(report.rows[0].ratio, Some(29.101));
}

#[test]
fn peers_from_outside_stand_once_beside_own_ones() {
    let mut report = Report::new("NVIDIA H200", None);
    let name = ["crops", "50", "device_us"];
    report.add_against(name, 2.0, "us", Some(1.0), &[("a kernel per operation", 8.0), ("a CUDA graph", 4.0)]);
    report.join(&[peer("device_us", "eager", None)]);
    let rows: Vec<_> = report.rows.iter().map(|row| (row.peer.as_deref().unwrap(), row.ratio, row.limit)).collect();
    let expected = [
        ("a kernel per operation", Some(4.0), Some(1.0)),
        ("eager", Some(60.0), Some(1.0)),
        ("a CUDA graph", Some(2.0), Some(1.0)),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn peers_come_from_several_files() {
    let folder = tempfile::tempdir().unwrap();
    for (file, name) in [("peers.json", "eager"), ("peers-fkl.json", "FKL"), ("results.json", "no peer")] {
        let row =
            format!(r#"[{{"suite": "chain", "case": "20", "metric": "device_us", "value": 1, "peer": "{name}"}}]"#);
        std::fs::write(folder.path().join(file), row).unwrap();
    }
    let names: Vec<_> = peers(folder.path()).into_iter().map(|peer| peer.peer).collect();
    assert_eq!(names, ["FKL", "eager"]);
}

#[test]
fn a_part_of_a_run_replaces_its_own_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let read =
        |file: &std::path::Path| -> Vec<Row> { serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap() };
    let first = report();
    let file = first.write(folder.path(), "NVIDIA H200", true).unwrap();
    assert_eq!(file.file_name().unwrap(), "nvidia-h200.json");
    assert_eq!(read(&file), first.rows);

    let mut second = Report::new("NVIDIA H200", None);
    second.add("crops", "50", "device_us", 3.0, "us");
    second.write(folder.path(), "NVIDIA H200", false).unwrap();
    let values: Vec<f64> = read(&file).iter().map(|row| row.value).collect();
    assert_eq!(values, [9.0, 3.0]);

    second.write(folder.path(), "NVIDIA H200", true).unwrap();
    assert_eq!(read(&file), second.rows);
}

#[test]
fn peers_that_are_missing_or_broken_are_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(peers(folder.path()).is_empty());
    std::fs::write(folder.path().join("peers.json"), "[{").unwrap();
    assert!(peers(folder.path()).is_empty());
    let row = r#"[{"suite": "chain", "case": "20", "metric": "device_us", "value": 163, "peer": "torch.compile"}]"#;
    std::fs::write(folder.path().join("peers.json"), row).unwrap();
    assert_eq!(peers(folder.path())[0].value, 163.0);
}

#[test]
fn the_table_says_what_is_met() {
    let text = table(&report().rows);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["crops/50", "device_us", "4.12", "us", "1.50", "<=", "5.00", "met"]);
    assert_eq!(lines[2], ["crops/150", "device_us", "9.00", "us", "<=", "7.00", "missed"]);
}

#[test]
fn names_and_dates() {
    assert_eq!(slug("NVIDIA H200"), "nvidia-h200");
    assert_eq!(slug("cpu Intel(R) Xeon(R) Processor @ 2.50GHz"), "cpu-intel-xeon-processor-2-50ghz");
    assert_eq!(date_of(0), "1970-01-01");
    assert_eq!(date_of(11_016), "2000-02-29");
    assert_eq!(date_of(20_777), "2026-11-20");
}
