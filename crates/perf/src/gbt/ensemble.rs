//! Several fits that differ in their seed: their mean is the prediction, their spread how sure it is.

use super::boost::Prepared;
use super::cuts::Cuts;
use super::forest::{Block, Forest, LANES, Rows};
use super::{GbtParams, GbtValidParams, Table, raw};
use crate::Error;
use linfa::ParamGuard;
use serde::{Deserialize, Serialize};

/// Fits of the same table with different seeds. They share the columns' bins, so a row is cut into bins once.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble(Trees);

/// What an ensemble is made of; one that was read has to be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trees {
    cuts: Cuts,
    forests: Vec<Forest>,
}

impl Ensemble {
    /// Fits `seeds` (1 to 16) times, on a thread each. Refuses what [`GbtParams`] and [`Table`] refuse.
    pub fn fit(params: &GbtParams, seeds: u64, table: Table<'_>) -> Result<Self, Error> {
        let params = params.check_ref()?;
        if !(1..=16).contains(&seeds) {
            return Err(Error::Parameter { name: "seeds", found: seeds.to_string(), expected: "1..=16" });
        }
        table.check()?;
        let cuts = Cuts::of(&table, params.bins);
        let prepared = Prepared::new(table, &cuts);
        let seeded = |seed: u64| GbtValidParams { seed: params.seed.wrapping_add(seed), ..params.clone() };
        let forests = std::thread::scope(|scope| {
            let prepared = &prepared;
            let fits: Vec<_> = (0..seeds).map(|seed| scope.spawn(move || prepared.fit(&seeded(seed)))).collect();
            let joined = fits.into_iter().map(|fit| fit.join());
            joined.map(|fit| fit.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        Ok(Self(Trees { cuts, forests }))
    }

    /// How many features a row has.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }

    /// How many trees each fit has.
    pub fn trees(&self) -> Vec<usize> {
        self.0.counts()
    }

    pub(crate) fn into_trees(self) -> Trees {
        self.0
    }

    /// Mean and standard deviation over the seeds, of each row of `features`, which stand row after row. Refuses a part of a row.
    pub fn predict_rows(&self, features: &[f32]) -> Result<Vec<(f32, f32)>, Error> {
        let columns = self.columns();
        if !features.len().is_multiple_of(columns) {
            let expected = features.len().next_multiple_of(columns);
            return Err(Error::Shape { what: "features of rows", found: features.len(), expected });
        }
        let mut asker = Asker::new(&self.0);
        let mut predicted = Vec::with_capacity(features.len() / columns);
        for rows in features.chunks(columns * LANES) {
            for (lane, row) in rows.chunks(columns).enumerate() {
                asker.fill(lane, row);
            }
            predicted.extend(asker.ask());
        }
        Ok(predicted)
    }
}

impl Trees {
    pub(crate) fn columns(&self) -> usize {
        self.cuts.columns()
    }

    pub(crate) fn counts(&self) -> Vec<usize> {
        self.forests.iter().map(Forest::trees).collect()
    }

    /// What is wrong with trees that were read from a file.
    pub(crate) fn fault(&self) -> Option<String> {
        if self.forests.is_empty() || self.forests.len() > 16 {
            return Some(format!("{} seeds", self.forests.len()));
        }
        self.cuts.fault().or_else(|| self.forests.iter().find_map(|forest| forest.fault(self.columns())))
    }
}

/// Asks an ensemble about [`LANES`] rows at a time, in memory of its own: nothing is allocated.
pub(crate) struct Asker<'a> {
    trees: &'a Trees,
    block: Block,
    lanes: usize,
    before: [f32; 255],
}

impl<'a> Asker<'a> {
    #[inline(always)]
    pub(crate) fn new(trees: &'a Trees) -> Self {
        Self { trees, block: [[0; LANES]; 256], lanes: 0, before: [0.0; 255] }
    }

    /// Puts a row into a lane; lanes are filled in order.
    #[inline(always)]
    pub(crate) fn fill(&mut self, lane: usize, row: &[f32]) {
        self.lanes = lane + 1;
        self.trees.cuts.fill(lane, row, &mut self.before, &mut self.block);
    }

    /// Mean and standard deviation of each lane that was filled.
    pub(crate) fn ask(&mut self) -> impl Iterator<Item = (f32, f32)> + use<> {
        let (mut mean, mut square, mut said) = ([0.0f32; LANES], [0.0f32; LANES], [0.0; LANES]);
        let rows = Rows::new(&self.block, self.trees.columns(), self.lanes);
        for (seen, forest) in self.trees.forests.iter().enumerate() {
            raw::ask(forest, &rows, &mut said);
            // Welford's update: no difference of large sums.
            for ((said, mean), square) in said.iter().zip(mean.iter_mut()).zip(square.iter_mut()) {
                let away = said - *mean;
                *mean += away / (seen + 1) as f32;
                *square += away * (said - *mean);
            }
        }
        let others = self.trees.forests.len().saturating_sub(1).max(1) as f32;
        mean.into_iter().zip(square.map(move |square| (square / others).max(0.0).sqrt())).take(self.lanes)
    }
}
