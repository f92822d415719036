//! Columns cut into bins: at most 255, each with about as many rows as the others.

use super::Table;
use super::forest::{Block, LANES};
use serde::{Deserialize, Serialize};

/// Where each column is cut, in rising order. The bin of a value is the number of cuts that are not above it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cuts(Vec<Vec<f32>>);

impl Cuts {
    pub(super) fn of(table: &Table<'_>, bins: usize) -> Self {
        let column = |column: usize| {
            let mut values: Vec<f32> = table.features.iter().skip(column).step_by(table.columns).copied().collect();
            values.sort_by(f32::total_cmp);
            cuts_of(&values, bins)
        };
        Self((0..table.columns).map(column).collect())
    }

    pub(super) fn columns(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bins(&self, column: usize) -> usize {
        self.0[column].len() + 1
    }

    pub(super) fn bin(&self, column: usize, value: f32) -> u8 {
        self.0[column].partition_point(|cut| *cut <= value) as u8
    }

    /// Puts a row of features into a lane. A value that is that of the lane before has its bin: candidates that stand next to each other
    /// share most of theirs.
    pub(super) fn fill(&self, lane: usize, row: &[f32], before: &mut [f32], block: &mut Block) {
        for ((column, value), (before, bins)) in row.iter().enumerate().zip(before.iter_mut().zip(block.iter_mut())) {
            bins[lane] = if lane > 0 && value == before { bins[lane - 1] } else { self.bin(column, *value) };
            *before = *value;
        }
    }

    /// All rows of a table, in blocks.
    pub(super) fn blocks(&self, table: &Table<'_>) -> Vec<Box<Block>> {
        let mut before = vec![0.0; table.columns];
        let chunks = table.features.chunks(table.columns * LANES);
        let block = |rows: &[f32]| {
            let mut block = Box::new([[0; LANES]; 256]);
            for (lane, row) in rows.chunks(table.columns).enumerate() {
                self.fill(lane, row, &mut before, &mut block);
            }
            block
        };
        chunks.map(block).collect()
    }

    /// What is wrong with cuts that were read from a file.
    pub(super) fn fault(&self) -> Option<String> {
        if self.0.is_empty() || self.0.len() > 255 {
            return Some(format!("{} columns", self.0.len()));
        }
        let rises = |cuts: &[f32]| cuts.windows(2).all(|pair| pair[0] < pair[1]) && cuts.iter().all(|cut| cut.is_finite());
        let bad = self.0.iter().position(|cuts| cuts.len() > 254 || !rises(cuts));
        bad.map(|column| format!("column {column}, whose {} cuts do not rise or are too many", self.0[column].len()))
    }
}

/// Between distinct values if there are few, else at quantiles of the sorted values.
fn cuts_of(sorted: &[f32], bins: usize) -> Vec<f32> {
    let mut distinct = sorted.to_vec();
    distinct.dedup();
    let mut cuts: Vec<f32> = if distinct.len() <= bins {
        distinct.windows(2).map(|pair| middle(pair[0], pair[1])).collect()
    } else {
        (1..bins).filter_map(|bin| between(sorted, bin * sorted.len() / bins)).collect()
    };
    cuts.dedup();
    cuts
}

/// A cut just below the run of equal values that `at` is in; none below the first value.
fn between(sorted: &[f32], at: usize) -> Option<f32> {
    let start = sorted.partition_point(|value| *value < sorted[at]);
    (start > 0).then(|| middle(sorted[start - 1], sorted[start]))
}

/// A number above `low` and not above `high`.
fn middle(low: f32, high: f32) -> f32 {
    let middle = low / 2.0 + high / 2.0;
    if middle > low && middle <= high { middle } else { high }
}

#[cfg(test)]
mod tests {
    use super::{Cuts, cuts_of};

    #[test]
    fn few_values_have_a_bin_each() {
        assert_eq!(cuts_of(&[1.0, 1.0, 2.0, 4.0], 255), [1.5, 3.0]);
        let cuts = Cuts(vec![vec![1.5, 3.0]]);
        assert_eq!([0.0, 1.5, 2.9, 3.0, f32::NAN].map(|value| cuts.bin(0, value)), [0, 1, 1, 2, 0]);
    }

    #[test]
    fn many_values_are_cut_at_quantiles_that_rise() {
        let mut values: Vec<f32> = (0..10_000).map(|i| ((i * i) % 1013) as f32).collect();
        values.sort_by(f32::total_cmp);
        let cuts = Cuts(vec![cuts_of(&values, 255)]);
        assert_eq!(cuts.fault(), None);
        let mut counts = vec![0; cuts.bins(0)];
        values.iter().for_each(|value| counts[usize::from(cuts.bin(0, *value))] += 1);
        let fair = values.len() / counts.len();
        assert!(counts.iter().all(|count| (1..=4 * fair).contains(count)), "{counts:?}");
    }

    #[test]
    fn neighbours_among_the_floats_are_told_apart() {
        let low = 1.0f32;
        let high = low.next_up();
        let cuts = Cuts(vec![cuts_of(&[low, high], 255)]);
        assert_eq!((cuts.bin(0, low), cuts.bin(0, high)), (0, 1));
    }
}
