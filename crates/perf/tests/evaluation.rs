//! Regret and folds by hand, and a model of the synthetic operation from rows to a ranking.

use tilewright_perf::evaluation::{Metrics, Regret, folds};
use tilewright_perf::synthetic::Synthetic;
use tilewright_perf::training::{Examples, Plan, cross_validate};
use tilewright_perf::{DeviceFacts, Error};

#[test]
fn regret_is_chosen_per_best_less_one() {
    let problems = [7, 7, 7, 3, 3];
    let measured = [2.0, 1.0, 4.0, 10.0, 5.0];
    let predicted = [1.0, 3.0, 2.0, 9.0, 8.0];
    let one = Regret::of_top(1, &problems, &measured, &predicted).unwrap();
    assert_eq!(one.by_problem.into_iter().collect::<Vec<_>>(), [(3, 0.0), (7, 1.0)]);
    assert!((one.geometric_mean - (2f64.sqrt() - 1.0)).abs() < 1e-12);
    assert_eq!((one.ninetieth, one.worst), (1.0, 1.0));
    assert_eq!(Regret::of_top(2, &problems, &measured, &predicted).unwrap().worst, 1.0);
    assert_eq!(Regret::of_top(3, &problems, &measured, &predicted).unwrap().worst, 0.0);
}

#[test]
fn metrics_by_hand() {
    let (measured, predicted) = ([100.0, 200.0, 400.0], [110.0, 200.0, 300.0]);
    let Metrics { r2, mape, max_error } = Metrics::of(&measured, &predicted).unwrap();
    assert!((mape - (0.1 + 0.25) / 3.0).abs() < 1e-6, "{mape}");
    assert!((max_error - (4.0f64 / 3.0).ln()).abs() < 1e-6, "{max_error}");
    let variance = 2.0 * 2f64.ln().powi(2);
    let expected = 1.0 - (1.1f64.ln().powi(2) + 0.75f64.ln().powi(2)) / variance;
    assert!((r2 - expected).abs() < 1e-6, "{r2}, {expected}");
    assert!(matches!(Metrics::of(&measured, &predicted[1..]), Err(Error::Shape { found: 2, expected: 3, .. })));
    assert!(Metrics::of(&[], &[]).is_err());
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let refused = |problems: &[u32], measured: &[f32], k| Regret::of_top(k, problems, measured, &[1.0]).unwrap_err();
    assert!(matches!(refused(&[1], &[1.0, 2.0], 1), Error::Shape { found: 2, expected: 1, .. }));
    assert!(matches!(refused(&[1], &[1.0], 0), Error::TooFew { .. }));
    assert!(matches!(refused(&[1], &[0.0], 1), Error::NotFinite { .. }));
    assert!(matches!(folds(&[1, 1, 2], 3, 1).unwrap_err(), Error::TooFew { found: 2, least: 3, .. }));
}

#[test]
fn a_group_lies_in_one_fold_and_folds_are_about_equal() {
    let groups: Vec<u32> = (0..1000).map(|row| row % 53).collect();
    let fold = folds(&groups, 5, 9).unwrap();
    for group in 0..53 {
        let mut of: Vec<usize> = (group..1000).step_by(53).map(|row| fold[row]).collect();
        of.dedup();
        assert_eq!(of.len(), 1);
    }
    let of_group: Vec<usize> = fold[..53].to_vec();
    let counts = [0, 1, 2, 3, 4].map(|fold| of_group.iter().filter(|of| **of == fold).count());
    assert!(counts.iter().all(|count| (10..=11).contains(count)), "{counts:?}");
}

#[test]
fn a_problem_that_was_never_seen_gets_a_good_configuration() {
    let rows = Synthetic.rows(120, 60, 5);
    let examples = Examples::of(&Synthetic, &rows, &[DeviceFacts::h200()]).unwrap();
    assert_eq!(examples.problems().len(), 120);
    let plan = Plan { folds: 3, ..Plan::default() };
    let predicted = cross_validate(&examples, &plan).unwrap();
    let metrics = Metrics::of(examples.measured(), &predicted).unwrap();
    let regret = Regret::of_top(1, examples.cases(), examples.measured(), &predicted).unwrap();
    let of_roofline = Regret::of_top(1, examples.cases(), examples.measured(), examples.expected()).unwrap();
    let three = Regret::of_top(3, examples.cases(), examples.measured(), &predicted).unwrap();
    eprintln!(
        "{metrics:?} top-1 {:.4} {:.4} {:.4}, top-3 {:.4}, roofline alone {:.4}",
        regret.geometric_mean, regret.ninetieth, regret.worst, three.geometric_mean, of_roofline.geometric_mean
    );
    assert!(metrics.r2 > 0.98 && metrics.mape < 0.1, "{metrics:?}");
    assert!(regret.geometric_mean < 0.06, "{}", regret.geometric_mean);
    assert!(three.geometric_mean < regret.geometric_mean);
    assert!(of_roofline.geometric_mean > 2.0 * regret.geometric_mean);
}
