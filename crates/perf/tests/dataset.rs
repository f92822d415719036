//! Files of rows: several runs, ends that are missing, rows about the same, and what is refused.

use std::fs;
use tilewright_perf::Error;
use tilewright_perf::dataset::{Row, append, merged, named, read};

fn row(n: i64, block: i64, median_us: f32) -> Row {
    Row {
        op: "fill".to_owned(),
        problem: named([("n", n)]),
        configuration: named([("block", block)]),
        device: "a GPU, \"quoted\"".to_owned(),
        clock_mhz: 1800.0,
        power_w: 300.5,
        median_us,
        spread: 0.01,
    }
}

#[test]
fn several_runs_append() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fill.csv.gz");
    assert_eq!(read(&path).unwrap(), []);
    append(&path, &[row(1, 64, 2.5), row(1, 128, 0.1)]).unwrap();
    append(&path, &[]).unwrap();
    append(&path, &[row(-7, 64, 1e9)]).unwrap();
    assert_eq!(read(&path).unwrap(), [row(1, 64, 2.5), row(1, 128, 0.1), row(-7, 64, 1e9)]);
}

#[test]
fn a_file_cut_anywhere_gives_what_is_whole_and_takes_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fill.csv.gz");
    let rows: Vec<Row> = (0..40).map(|n| row(n, n * n % 7, 1.0 + n as f32 / 3.0)).collect();
    append(&path, &rows[..20]).unwrap();
    let first = fs::read(&path).unwrap().len();
    append(&path, &rows[20..]).unwrap();
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let left = read(&path).unwrap();
        assert_eq!(left, rows[..left.len()], "{length}");
        assert!(length < first || left.len() >= 20, "{length} of {first}: {}", left.len());
        append(&path, &[row(99, 1, 1.0)]).unwrap();
        let mut expected = left;
        expected.push(row(99, 1, 1.0));
        assert_eq!(read(&path).unwrap(), expected, "{length}");
    }
}

#[test]
fn rows_about_the_same_become_one() {
    let runs = vec![row(1, 64, 3.0), row(2, 64, 9.0), row(1, 64, 1.0), row(1, 64, 2.0)];
    let one = merged(runs);
    assert_eq!(one.len(), 2);
    assert_eq!((one[0].median_us, one[0].spread, &one[0].problem), (2.0, 0.5, &named([("n", 1)])));
    assert_eq!(one[1], row(2, 64, 9.0));
}

#[test]
fn rows_that_do_not_fit_leave_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fill.csv.gz");
    append(&path, &[row(1, 64, 2.5)]).unwrap();
    let before = fs::read(&path).unwrap();
    let other = Row { problem: named([("m", 1)]), ..row(1, 64, 1.0) };
    let more = Row { problem: named([("n", 1), ("m", 1)]), ..row(1, 64, 1.0) };
    for refused in [other, more, row(1, 64, 0.0), row(1, 64, f32::NAN), row(1, 64, f32::INFINITY)] {
        assert!(matches!(append(&path, &[refused]), Err(Error::Data { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn foreign_files_are_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fill.csv.gz");
    fs::write(&path, "op,device\nfill,gpu\n").unwrap();
    assert!(matches!(read(&path), Err(Error::File { .. })));
    let refused = |text: &str| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packer, text.as_bytes()).unwrap();
        fs::write(&path, packer.finish().unwrap()).unwrap();
        match read(&path) {
            Err(Error::Data { line, what, .. }) => (line, what),
            other => panic!("{other:?}"),
        }
    };
    let header = "op,device,clock_mhz,power_w,median_us,spread,problem.n";
    assert_eq!(refused("op,device\nfill,gpu\n").0, 1);
    assert_eq!(refused(&format!("{header},colour\nfill,gpu,1,1,1,0,1,1\n")).0, 1);
    let (line, what) = refused(&format!("{header}\nfill,gpu,1,1,1,0,1\nfill,gpu,1,1,-1,0,1\n"));
    assert_eq!((line, what.contains("`-1`") && what.contains("median_us")), (3, true), "{what}");
    assert_eq!(refused(&format!("{header}\nfill,gpu,1,1,1,0,1.5\n")).0, 2);
    assert_eq!(refused(&format!("{header}\nfill,gpu,1,1\n")).0, 2);
}
