//! How good predictions are: by how much the chosen candidate is slower than the best, and linfa's metrics.

use crate::Error;
use crate::random::Random;
use crate::shortlist;
use linfa::prelude::SingleTargetRegression;
use ndarray16::ArrayView1;
use std::collections::BTreeMap;

/// chosen / best - 1, over problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Regret {
    /// The geometric mean of chosen / best, less 1.
    pub geometric_mean: f64,
    /// What nine of ten problems stay below or at.
    pub ninetieth: f64,
    /// The largest.
    pub worst: f64,
    /// That of each problem, by its number.
    pub by_problem: BTreeMap<u32, f64>,
}

impl Regret {
    /// That of taking, in each problem, the fastest of the `k` rows that were predicted fastest: `k` = 1 takes the prediction's word,
    /// more means that so many are timed. `problems`, `measured` and `predicted` are of one length. Refuses other lengths, no rows,
    /// `k` = 0, and times that are not positive.
    pub fn of_top(k: usize, problems: &[u32], measured: &[f32], predicted: &[f32]) -> Result<Self, Error> {
        let each_its_own: Vec<u32> = (0..problems.len() as u32).collect();
        Self::of_timed(k, problems, &each_its_own, measured, predicted)
    }

    /// As [`Regret::of_top`], of the `k` rows that a [`shortlist`] has, by the number of each row's kind.
    pub fn of_timed(
        k: usize,
        problems: &[u32],
        kinds: &[u32],
        measured: &[f32],
        predicted: &[f32],
    ) -> Result<Self, Error> {
        let rows = problems.len();
        let lengths =
            [("kinds", kinds.len()), ("measured times", measured.len()), ("predicted times", predicted.len())];
        if let Some((what, found)) = lengths.into_iter().find(|(_, length)| *length != rows) {
            return Err(Error::Shape { what, found, expected: rows });
        }
        if rows == 0 || k == 0 {
            return Err(Error::TooFew { what: "rows or places to choose from", found: rows.min(k), least: 1 });
        }
        let unsound = |time: &&f32| !(time.is_finite() && **time > 0.0);
        if let Some((row, value)) = measured.iter().enumerate().find(|(_, time)| unsound(time)) {
            return Err(Error::NotFinite { what: "measured time", row, column: 0, value: *value });
        }
        let mut by_problem: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (row, problem) in problems.iter().enumerate() {
            by_problem.entry(*problem).or_default().push(row);
        }
        let regret = |rows: &mut Vec<usize>| {
            rows.sort_by(|a, b| predicted[*a].total_cmp(&predicted[*b]));
            let fastest =
                |rows: &[usize]| rows.iter().map(|row| f64::from(measured[*row])).fold(f64::INFINITY, f64::min);
            fastest(&shortlist(k, rows, |row| predicted[row], |row| kinds[row])) / fastest(rows) - 1.0
        };
        let by_problem = by_problem.into_iter().map(|(problem, mut rows)| (problem, regret(&mut rows))).collect();
        Ok(Self::summary(by_problem))
    }

    /// There is at least one problem.
    fn summary(by_problem: BTreeMap<u32, f64>) -> Self {
        let mut sorted: Vec<f64> = by_problem.values().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().map(|regret| regret.ln_1p()).sum::<f64>() / sorted.len() as f64;
        let ninetieth = sorted[(sorted.len() * 9).div_ceil(10) - 1];
        Self { geometric_mean: mean.exp_m1(), ninetieth, worst: sorted[sorted.len() - 1], by_problem }
    }
}

/// Metrics of predictions, by linfa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// The part of the variance of ln(time) that is explained.
    pub r2: f64,
    /// The mean of |predicted / measured - 1|.
    pub mape: f64,
    /// The largest |ln(predicted / measured)|.
    pub max_error: f64,
}

impl Metrics {
    /// Those of predicted times; both slices have one length and positive values. Refuses other lengths.
    pub fn of(measured: &[f32], predicted: &[f32]) -> Result<Self, Error> {
        if measured.len() != predicted.len() {
            return Err(Error::Shape { what: "predicted times", found: predicted.len(), expected: measured.len() });
        }
        let wide = |times: &[f32]| times.iter().map(|time| f64::from(*time)).collect::<Vec<f64>>();
        let (measured, predicted) = (wide(measured), wide(predicted));
        let log = |times: &[f64]| times.iter().map(|time| time.ln()).collect::<Vec<f64>>();
        let (log_measured, log_predicted) = (log(&measured), log(&predicted));
        let [truth, guess] = [&log_measured, &log_predicted].map(ArrayView1::from);
        // linfa divides by the side that is asked: for this metric that has to be the truth.
        let mape = ArrayView1::from(&measured).mean_absolute_percentage_error(&ArrayView1::from(&predicted))?;
        Ok(Self { r2: guess.r2(&truth)?, mape, max_error: guess.max_error(&truth)? })
    }
}

/// The fold of each row: 0 up to `folds`, the same for all rows of a group, about as many groups in each. Refuses fewer than 2 folds,
/// and fewer groups than folds.
pub fn folds(groups: &[u32], folds: usize, seed: u64) -> Result<Vec<usize>, Error> {
    let mut distinct = groups.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if folds < 2 || distinct.len() < folds {
        return Err(Error::TooFew { what: "groups for the folds", found: distinct.len(), least: folds.max(2) });
    }
    Random::new(seed).shuffle(&mut distinct);
    let of: BTreeMap<u32, usize> = distinct.into_iter().enumerate().map(|(at, group)| (group, at % folds)).collect();
    Ok(groups.iter().map(|group| of[group]).collect())
}
