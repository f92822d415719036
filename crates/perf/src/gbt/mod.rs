//! Gradient-boosted regression trees as a linfa estimator.
//!
//! Squared loss, histogram splits over quantile bins, L2 on the leaves, rows and columns sampled per tree, early stopping on groups
//! that are held out (Friedman, 2001; Chen and Guestrin, 2016). linfa has no regression trees; its traits, data sets, metrics and
//! cross-validation fit around ours:
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray16::{Array1, Array2};
//! use tilewright_perf::GbtParams;
//!
//! let records = Array2::from_shape_fn((400, 2), |(row, column)| ((row * (column + 3)) % 97) as f64);
//! let targets: Array1<f64> = records.rows().into_iter().map(|row| row[0] * row[1]).collect();
//! let data = linfa::Dataset::new(records, targets);
//! let model = GbtParams::default().trees(200).fit(&data).unwrap();
//! let r2 = model.predict(&data).r2(&data).unwrap();
//! assert!(r2 > 0.99);
//! ```

mod boost;
mod cuts;
mod ensemble;
mod estimator;
mod forest;
mod grow;
mod histogram;
mod params;
mod raw;

pub use ensemble::Ensemble;
pub(crate) use ensemble::{Asker, Trees};
pub use estimator::Gbt;
pub use params::{GbtParams, GbtValidParams};

pub(crate) use forest::LANES;

use crate::Error;

/// Rows of features with their targets, as plain slices.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// The features, row after row.
    pub features: &'a [f32],
    /// How many features a row has: 1 to 255.
    pub columns: usize,
    /// A target for each row.
    pub targets: &'a [f32],
    /// The group of each row. Rows of one group are held out together; for latencies a group is a problem.
    pub groups: &'a [u32],
}

impl Table<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// Refuses lengths that do not fit, and numbers that are not finite.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let shape = |what, found, expected| Err(Error::Shape { what, found, expected });
        if !(1..=255).contains(&self.columns) {
            return shape("columns of a table", self.columns, self.columns.clamp(1, 255));
        }
        if self.features.len() != self.rows() * self.columns {
            return shape("features of a table", self.features.len(), self.rows() * self.columns);
        }
        if self.groups.len() != self.rows() {
            return shape("groups of a table", self.groups.len(), self.rows());
        }
        if self.rows() < 2 {
            return Err(Error::TooFew { what: "rows to learn from", found: self.rows(), least: 2 });
        }
        if let Some(at) = self.features.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / self.columns, at % self.columns);
            return Err(Error::NotFinite { what: "feature", row, column, value: self.features[at] });
        }
        if let Some(row) = self.targets.iter().position(|value| !value.is_finite()) {
            return Err(Error::NotFinite { what: "target", row, column: 0, value: self.targets[row] });
        }
        Ok(())
    }
}
