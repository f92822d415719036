//! Tree after tree, each on what those before have left over.

use super::cuts::Cuts;
use super::forest::{Block, Forest, LANES};
use super::grow::Growth;
use super::histogram::Binned;
use super::{GbtValidParams, Table};
use crate::random::Random;

/// Rows that were made ready for any number of fits.
pub(super) struct Prepared<'a> {
    table: Table<'a>,
    binned: Binned,
    blocks: Vec<Box<Block>>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(table: Table<'a>, cuts: &Cuts) -> Self {
        Self { table, binned: Binned::new(cuts, table.features), blocks: cuts.blocks(&table) }
    }

    /// Fits the trees.
    pub(super) fn fit(&self, params: &GbtValidParams) -> Forest {
        let mut random = Random::new(params.seed);
        let held_out = groups_at_random(self.table.groups, params.held_out, &mut random);
        let (tested, known): (Vec<u32>, Vec<u32>) =
            (0..self.table.rows() as u32).partition(|row| held_out[*row as usize]);
        let mean =
            known.iter().map(|row| f64::from(self.table.targets[*row as usize])).sum::<f64>() / known.len() as f64;
        let mut forest = Forest::new(mean as f32, params.depth);
        let mut predicted = vec![mean as f32; self.table.rows()];
        let mut residuals = vec![0.0; self.table.rows()];
        let mut columns: Vec<usize> = (0..self.table.columns).collect();
        let asked = ((columns.len() as f64 * params.columns).ceil() as usize).clamp(1, columns.len());
        let mut best = (f64::INFINITY, 0);
        for tree in 0..params.trees {
            let targets = self.table.targets.iter().zip(&predicted);
            residuals.iter_mut().zip(targets).for_each(|(left, (y, p))| *left = f64::from(*y) - f64::from(*p));
            let mut rows: Vec<u32> = known.iter().copied().filter(|_| random.unit() < params.rows).collect();
            random.shuffle(&mut columns);
            let growth = Growth { params, binned: &self.binned, residuals: &residuals, columns: &columns[..asked] };
            forest.push(&growth.tree(&mut rows));
            self.add(&forest, tree, &mut predicted);
            let error = squared_error(self.table.targets, &predicted, &tested);
            if error < best.0 {
                best = (error, tree + 1);
            }
            if !tested.is_empty() && tree + 1 >= best.1 + params.patience.max(1) {
                break;
            }
        }
        if !tested.is_empty() {
            forest.truncate(best.1.max(1));
        }
        forest
    }

    fn add(&self, forest: &Forest, tree: usize, predicted: &mut [f32]) {
        for (block, predicted) in self.blocks.iter().zip(predicted.chunks_mut(LANES)) {
            forest.add_tree(tree, block, predicted);
        }
    }
}

/// Which rows are held out: those of about this part of the groups, one group at least if the part is above 0, and never all.
fn groups_at_random(groups: &[u32], part: f64, random: &mut Random) -> Vec<bool> {
    let mut distinct = groups.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    random.shuffle(&mut distinct);
    let most = distinct.len().saturating_sub(1);
    distinct.truncate(((distinct.len() as f64 * part).ceil() as usize).min(most));
    distinct.sort_unstable();
    groups.iter().map(|group| distinct.binary_search(group).is_ok()).collect()
}

fn squared_error(targets: &[f32], predicted: &[f32], rows: &[u32]) -> f64 {
    rows.iter().map(|row| f64::from(targets[*row as usize] - predicted[*row as usize]).powi(2)).sum()
}
