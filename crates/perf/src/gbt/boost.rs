//! Tree after tree, each on what those before have left over.

use super::cuts::Cuts;
use super::forest::{Block, Forest};
use super::grow::Growth;
use super::histogram::{Binned, Sum};
use super::{GbtValidParams, Table};
use crate::random::Random;

/// Rows that were made ready for any number of fits.
pub(super) struct Prepared<'a> {
    table: Table<'a>,
    binned: Binned,
    groups: Groups,
    blocks: Vec<Block>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(table: Table<'a>, cuts: &Cuts) -> Self {
        let (binned, groups) = (Binned::new(cuts, table.features), Groups::of(table.groups));
        Self { table, binned, groups, blocks: cuts.blocks(&table) }
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
        let weights = self.groups.weights(self.table.targets, params.focus);
        let mut left = self.left(&predicted, &weights, params.shared);
        let mut columns: Vec<usize> = (0..self.table.columns).collect();
        let asked = ((columns.len() as f64 * params.columns).ceil() as usize).clamp(1, columns.len());
        let mut best = (f64::INFINITY, 0);
        for tree in 0..params.trees {
            let mut rows: Vec<u32> = known.iter().copied().filter(|_| random.unit() < params.rows).collect();
            random.shuffle(&mut columns);
            let growth = Growth { params, binned: &self.binned, left: &left, columns: &columns[..asked] };
            forest.push(&growth.tree(&mut rows));
            forest.add_tree(tree, &self.blocks, &mut predicted);
            left = self.left(&predicted, &weights, params.shared);
            let error = tested.iter().map(|row| left[*row as usize].squared()).sum();
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

    /// What is left to learn of each row, with that part of its group's mean, as much as the row counts.
    fn left(&self, predicted: &[f32], weights: &[f64], shared: f64) -> Vec<Sum> {
        let left = self.table.targets.iter().zip(predicted).map(|(y, p)| f64::from(*y) - f64::from(*p));
        let mut left: Vec<f64> = left.collect();
        if shared < 1.0 {
            self.groups.take_from_means(&mut left, weights, 1.0 - shared);
        }
        left.iter().zip(weights).map(|(left, weight)| Sum { residual: weight * left, rows: *weight }).collect()
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

/// The group of each row, counted from 0, and how many groups there are.
struct Groups {
    of_row: Vec<usize>,
    count: usize,
}

impl Groups {
    fn of(groups: &[u32]) -> Self {
        let mut distinct = groups.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let number = |group: &u32| distinct.partition_point(|it| it < group);
        let of_row: Vec<usize> = groups.iter().map(number).collect();
        Self { of_row, count: distinct.len() }
    }

    /// How much each row counts, by how far it is above the least of its group.
    fn weights(&self, targets: &[f32], focus: f64) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; self.count];
        for (target, group) in targets.iter().zip(&self.of_row) {
            least[*group] = least[*group].min(f64::from(*target));
        }
        targets.iter().zip(&self.of_row).map(|(y, group)| (focus * (least[*group] - f64::from(*y))).exp()).collect()
    }

    /// Takes a part of its group's mean from each value.
    fn take_from_means(&self, values: &mut [f64], weights: &[f64], part: f64) {
        let mut sums = vec![[0.0; 2]; self.count];
        for ((value, weight), group) in values.iter().zip(weights).zip(&self.of_row) {
            sums[*group][0] += weight * value;
            sums[*group][1] += weight;
        }
        let means: Vec<f64> = sums.iter().map(|[sum, weight]| part * sum / weight).collect();
        values.iter_mut().zip(&self.of_row).for_each(|(value, group)| *value -= means[*group]);
    }
}
