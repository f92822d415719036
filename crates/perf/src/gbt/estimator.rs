//! One model of trees, and linfa's traits for it.

use super::boost::Prepared;
use super::cuts::Cuts;
use super::forest::{Forest, LANES, Rows};
use super::{GbtValidParams, Table, raw};
use crate::Error;
use linfa::dataset::{AsSingleTargets, DatasetBase};
use linfa::traits::{Fit, PredictInplace};
use ndarray16::{Array1, ArrayBase, Data, Ix2};
use serde::{Deserialize, Serialize};

/// Fitted gradient-boosted trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Gbt {
    cuts: Cuts,
    forest: Forest,
}

/// The form in which trees are read, before anybody asks them.
#[derive(Deserialize)]
struct Unchecked {
    cuts: Cuts,
    forest: Forest,
}

impl TryFrom<Unchecked> for Gbt {
    type Error = String;

    fn try_from(Unchecked { cuts, forest }: Unchecked) -> Result<Self, String> {
        match cuts.fault().or_else(|| forest.fault(cuts.columns())) {
            Some(fault) => Err(format!("no trees as a fit writes them: {fault}")),
            None => Ok(Self { cuts, forest }),
        }
    }
}

impl Gbt {
    /// Fits trees to a table. Refuses lengths that do not fit and numbers that are not finite.
    pub fn fit(params: &GbtValidParams, table: Table<'_>) -> Result<Self, Error> {
        table.check()?;
        let cuts = Cuts::of(&table, params.bins);
        let forest = Prepared::new(table, &cuts).fit(params);
        Ok(Self { cuts, forest })
    }

    /// The target of each row of `features`, which stand row after row. Refuses a part of a row.
    pub fn predict_rows(&self, features: &[f32]) -> Result<Vec<f32>, Error> {
        let columns = self.cuts.columns();
        if !features.len().is_multiple_of(columns) {
            let expected = features.len().next_multiple_of(columns);
            return Err(Error::Shape { what: "features of rows", found: features.len(), expected });
        }
        let table = Table { features, columns, targets: &[], groups: &[] };
        let mut predicted = vec![0.0; features.len() / columns];
        let mut sums = [0.0; LANES];
        for (block, predicted) in self.cuts.blocks(&table).iter().zip(predicted.chunks_mut(LANES)) {
            raw::ask(&self.forest, &Rows::new(block, columns, predicted.len()), &mut sums);
            predicted.copy_from_slice(&sums[..predicted.len()]);
        }
        Ok(predicted)
    }

    /// How many trees there are; fewer than asked for if the fit stopped early.
    pub fn trees(&self) -> usize {
        self.forest.trees()
    }
}

impl<F, D, T> Fit<ArrayBase<D, Ix2>, T, Error> for GbtValidParams
where
    F: linfa::Float,
    D: Data<Elem = F>,
    T: AsSingleTargets<Elem = F>,
{
    type Object = Gbt;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<Gbt, Error> {
        let features: Vec<f32> = dataset.records().iter().map(single).collect();
        let targets: Vec<f32> = dataset.as_single_targets().iter().map(single).collect();
        let each = || (0..targets.len() as u32).collect();
        let groups: Vec<u32> = self.groups.clone().unwrap_or_else(each);
        let columns = dataset.records().ncols();
        Gbt::fit(self, Table { features: &features, columns, targets: &targets, groups: &groups })
    }
}

impl<F: linfa::Float, D: Data<Elem = F>> PredictInplace<ArrayBase<D, Ix2>, Array1<F>> for Gbt {
    fn predict_inplace<'a>(&'a self, records: &'a ArrayBase<D, Ix2>, targets: &mut Array1<F>) {
        assert_eq!(records.ncols(), self.cuts.columns(), "the records have other columns than those of the fit");
        let features: Vec<f32> = records.iter().map(single).collect();
        let predicted = self.predict_rows(&features).unwrap_or_default();
        targets.iter_mut().zip(predicted).for_each(|(target, value)| *target = F::cast(value));
    }

    fn default_target(&self, records: &ArrayBase<D, Ix2>) -> Array1<F> {
        Array1::zeros(records.nrows())
    }
}

fn single<F: linfa::Float>(value: &F) -> f32 {
    value.to_f32().unwrap_or(f32::NAN)
}
