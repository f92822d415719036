//! The trees as linfa's estimator: parameters, data sets, cross-validation, early stopping, serde.

use linfa::prelude::*;
use linfa::{Dataset, ParamGuard};
use ndarray16::{Array1, Array2};
use tilewright_perf::{Ensemble, Error, Gbt, GbtParams, Table};

/// Rows whose target is known: a step, a product, and a column that says nothing.
fn data(rows: usize) -> Dataset<f64, f64, ndarray16::Ix1> {
    let cell = |row: usize, column: usize| ((row * 7919 + 31 * column * row) % 1009) as f64 / 1009.0;
    let records = Array2::from_shape_fn((rows, 3), |(row, column)| cell(row + 1, column + 1));
    let target = |row: ndarray16::ArrayView1<'_, f64>| f64::from(u8::from(row[0] > 0.5)) + row[0] * row[1];
    let targets: Array1<f64> = records.rows().into_iter().map(target).collect();
    Dataset::new(records, targets)
}

#[test]
fn linfa_fits_predicts_and_cross_validates() {
    let mut data = data(1000);
    let params = [GbtParams::default().trees(5), GbtParams::default().trees(150)];
    let r2 = data
        .cross_validate_single(5, &params, |predicted, truth| predicted.r2(truth))
        .map_err(|error: Error| error.to_string())
        .unwrap();
    assert!(r2[1] > 0.98 && r2[1] > r2[0], "{r2}");
}

#[test]
fn parameters_outside_their_ranges_are_refused_by_name() {
    let default = GbtParams::default;
    let cases = [
        (default().trees(0), "trees"),
        (default().depth(9), "depth"),
        (default().rate(0.0), "rate"),
        (default().rate(f64::NAN), "rate"),
        (default().rows(1.1), "rows"),
        (default().columns(0.0), "columns"),
        (default().l2(-1.0), "l2"),
        (default().min_leaf(0), "min_leaf"),
        (default().bins(256), "bins"),
        (default().early_stopping(0.6, 5), "held_out"),
        (default().shared(-0.1), "shared"),
        (default().shared(f64::NAN), "shared"),
    ];
    for (params, expected) in cases {
        assert!(matches!(params.check(), Err(Error::Parameter { name, .. }) if name == expected), "{expected}");
    }
}

#[test]
fn tables_that_cannot_be_learned_from_are_refused() {
    let params = GbtParams::default().check().unwrap();
    let fit = |features: &[f32], targets: &[f32], groups: &[u32]| {
        Gbt::fit(&params, Table { features, columns: 1, targets, groups }).unwrap_err()
    };
    assert!(matches!(fit(&[1.0], &[1.0], &[0]), Error::TooFew { found: 1, .. }));
    assert!(matches!(fit(&[1.0], &[1.0, 2.0], &[0, 1]), Error::Shape { found: 1, expected: 2, .. }));
    assert!(matches!(fit(&[1.0, 2.0], &[1.0, 2.0], &[0]), Error::Shape { found: 1, expected: 2, .. }));
    assert!(matches!(fit(&[1.0, f32::NAN], &[1.0, 2.0], &[0, 1]), Error::NotFinite { row: 1, column: 0, .. }));
    assert!(matches!(fit(&[1.0, 2.0], &[f32::INFINITY, 2.0], &[0, 1]), Error::NotFinite { row: 0, .. }));
    let table = Table { features: &[1.0, 2.0], columns: 0, targets: &[1.0, 2.0], groups: &[0, 1] };
    assert!(matches!(Gbt::fit(&params, table), Err(Error::Shape { .. })));
}

#[test]
fn early_stopping_keeps_the_best_trees_of_noise() {
    let rows = 300;
    let noise: Vec<f32> = (0..rows).map(|row| ((row * 7919 + 13) % 101) as f32).collect();
    let features: Vec<f32> = (0..rows).map(|row| ((row * 104_729) % 211) as f32).collect();
    let groups: Vec<u32> = (0..rows as u32).map(|row| row / 10).collect();
    let params = GbtParams::default().trees(400).early_stopping(0.2, 10).check().unwrap();
    let fit = Gbt::fit(&params, Table { features: &features, columns: 1, targets: &noise, groups: &groups }).unwrap();
    assert!(fit.trees() < 100, "{}", fit.trees());
}

#[test]
fn without_what_groups_share_only_their_order_is_learned() {
    // A group's rows differ by 0 to 0.9; groups lie up to 1000 apart, by nothing that a feature says.
    let rows = 400;
    let features: Vec<f32> = (0..rows).map(|row| (row % 10) as f32).collect();
    let groups: Vec<u32> = (0..rows as u32).map(|row| row / 10).collect();
    let apart = |group: u32| ((group * 7919) % 1000) as f32;
    let targets: Vec<f32> = groups.iter().zip(&features).map(|(group, x)| apart(*group) + 0.1 * x).collect();
    let table = Table { features: &features, columns: 1, targets: &targets, groups: &groups };
    let said = |shared: f64| {
        let params = GbtParams::default().trees(100).shared(shared).check().unwrap();
        let said = Gbt::fit(&params, table).unwrap().predict_rows(&(0..10).map(|x| x as f32).collect::<Vec<_>>());
        said.unwrap()
    };
    let (alone, with) = (said(0.0), said(1.0));
    assert!(alone.windows(2).all(|pair| (pair[1] - pair[0] - 0.1).abs() < 0.02), "{alone:?}");
    assert!(with.windows(2).any(|pair| (pair[1] - pair[0] - 0.1).abs() > 0.1), "{with:?}");
}

#[test]
fn the_same_seed_gives_the_same_trees_and_another_gives_others() {
    let data = data(200);
    let fit = |seed| GbtParams::default().trees(10).seed(seed).fit(&data).unwrap();
    assert_eq!(fit(1), fit(1));
    assert_ne!(fit(1), fit(2));
}

#[test]
fn constant_columns_and_targets_are_learned() {
    let params = GbtParams::default().trees(3).rows(1.0);
    let table = Table { features: &[4.0; 6], columns: 2, targets: &[2.5; 3], groups: &[0, 1, 2] };
    let ensemble = Ensemble::fit(&params, 3, table).unwrap();
    assert_eq!(ensemble.predict_rows(&[9.0, -9.0]).unwrap(), [(2.5, 0.0)]);
    assert!(matches!(ensemble.predict_rows(&[1.0]), Err(Error::Shape { found: 1, expected: 2, .. })));
    assert!(matches!(Ensemble::fit(&params, 0, table), Err(Error::Parameter { name: "seeds", .. })));
}

#[test]
fn serde_brings_a_fit_back_and_refuses_what_no_fit_is() {
    let data = data(300);
    let fit = GbtParams::default().trees(4).depth(3).fit(&data).unwrap();
    let text = serde_json::to_string(&fit).unwrap();
    assert_eq!(serde_json::from_str::<Gbt>(&text).unwrap(), fit);
    let broken = text.replacen("\"depth\":3", "\"depth\":4", 1);
    let error = serde_json::from_str::<Gbt>(&broken).unwrap_err().to_string();
    assert!(error.contains("leaves of depth 4") || error.contains("questions"), "{error}");
}
