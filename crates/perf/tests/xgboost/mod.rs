//! Our trees against XGBoost's on the same rows, folds and parameters. `reference.py` wrote both files beside this one.

use flate2::read::GzDecoder;
use std::io::Read;
use tilewright_perf::{Gbt, GbtParams, Table};

const TABLE: &[u8] = include_bytes!("table.csv.gz");
const FIGURES: &str = include_str!("figures.json");

/// Rows of one side of a fold.
#[derive(Default)]
struct Rows {
    groups: Vec<u32>,
    features: Vec<f32>,
    targets: Vec<f32>,
}

impl Rows {
    fn of(cells: &[Vec<f32>], pick: impl Fn(f32) -> bool) -> Self {
        let mut rows = Self::default();
        for cells in cells.iter().filter(|cells| pick(cells[0])) {
            rows.groups.push(cells[1] as u32);
            rows.features.extend(&cells[2..cells.len() - 1]);
            rows.targets.push(cells[cells.len() - 1]);
        }
        rows
    }
}

#[test]
fn our_error_is_no_worse() {
    let mut text = String::new();
    GzDecoder::new(TABLE).read_to_string(&mut text).unwrap();
    let cells = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    let cells: Vec<Vec<f32>> = text.lines().map(cells).collect();
    let figures: serde_json::Value = serde_json::from_str(FIGURES).unwrap();
    let number = |name: &str| figures["parameters"][name].as_f64().unwrap();
    let params = GbtParams::default()
        .trees(figures["rounds"].as_u64().unwrap() as usize)
        .depth(number("max_depth") as usize)
        .rate(number("eta"))
        .rows(number("subsample"))
        .columns(number("colsample_bytree"))
        .l2(number("lambda"))
        .min_leaf(number("min_child_weight") as usize)
        .bins(number("max_bin") as usize);
    let mut square = 0.0;
    for held in 0..5 {
        let known = Rows::of(&cells, |fold| fold != held as f32);
        let tested = Rows::of(&cells, |fold| fold == held as f32);
        let columns = tested.features.len() / tested.targets.len();
        for seed in 1..=3 {
            let params = linfa::ParamGuard::check(params.clone().seed(seed)).unwrap();
            let table = Table { features: &known.features, columns, targets: &known.targets, groups: &known.groups };
            let predicted = Gbt::fit(&params, table).unwrap().predict_rows(&tested.features).unwrap();
            let errors = predicted.iter().zip(&tested.targets).map(|(p, y)| f64::from(p - y).powi(2));
            square += errors.sum::<f64>() / 3.0;
        }
    }
    let (ours, theirs) = ((square / cells.len() as f64).sqrt(), figures["rmse"].as_f64().unwrap());
    eprintln!("ours {ours:.5}, XGBoost {theirs:.5}, ratio {:.4}", ours / theirs);
    assert!(ours <= 1.02 * theirs, "ours {ours:.5}, XGBoost {theirs:.5}");
}
