//! Columns cut into bins: at most 255, each with about as many rows as the others.

use super::Table;
use super::forest::{Block, LANES};
use serde::{Deserialize, Serialize};

/// Where each column is cut. The bin of a value is the number of cuts that are not above it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Vec<f32>>", into = "Vec<Vec<f32>>")]
pub(super) struct Cuts(Vec<Column>);

/// The cuts of a column, in rising order, and where to begin to look for a value among them: its range in equal parts.
#[derive(Clone, Debug, PartialEq)]
struct Column {
    cuts: Vec<f32>,
    low: f32,
    parts_per_unit: f32,
    /// How many cuts lie in the parts before each, and in all.
    before: [u8; PARTS + 1],
}

/// Parts of a column's range.
const PARTS: usize = 256;

impl Column {
    fn new(cuts: Vec<f32>) -> Self {
        let (low, high) = (cuts.first().copied().unwrap_or(0.0), cuts.last().copied().unwrap_or(0.0));
        let parts_per_unit = PARTS as f32 / (high - low);
        // Cuts of a file that are refused later may lie anywhere.
        let parts_per_unit = if parts_per_unit.is_finite() { parts_per_unit } else { 0.0 };
        let mut column = Self { cuts, low, parts_per_unit, before: [0; PARTS + 1] };
        for cut in 0..column.cuts.len().min(254) {
            let part = column.part(column.cuts[cut]);
            column.before[part + 1..].iter_mut().for_each(|count| *count += 1);
        }
        column
    }

    #[inline(always)]
    fn part(&self, value: f32) -> usize {
        // Casts saturate, and no number is 0: every value has a part, and a larger one none before.
        (((value - self.low) * self.parts_per_unit) as i32).clamp(0, PARTS as i32 - 1) as usize
    }

    #[inline(always)]
    fn bin(&self, value: f32) -> u8 {
        let part = self.part(value);
        let (mut bin, end) = (self.before[part], self.before[part + 1]);
        while bin < end && self.cuts[usize::from(bin)] <= value {
            bin += 1;
        }
        bin
    }
}

impl From<Vec<Vec<f32>>> for Cuts {
    fn from(columns: Vec<Vec<f32>>) -> Self {
        Self(columns.into_iter().map(Column::new).collect())
    }
}

impl From<Cuts> for Vec<Vec<f32>> {
    fn from(cuts: Cuts) -> Self {
        cuts.0.into_iter().map(|column| column.cuts).collect()
    }
}

impl Cuts {
    pub(super) fn of(table: &Table<'_>, bins: usize) -> Self {
        let column = |column: usize| {
            let mut values: Vec<f32> = table.features.iter().skip(column).step_by(table.columns).copied().collect();
            values.sort_by(f32::total_cmp);
            Column::new(cuts_of(&values, bins))
        };
        Self((0..table.columns).map(column).collect())
    }

    pub(super) fn columns(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bins(&self, column: usize) -> usize {
        self.0[column].cuts.len() + 1
    }

    pub(super) fn bin(&self, column: usize, value: f32) -> u8 {
        self.0[column].bin(value)
    }

    /// Puts a row of features into a lane. A value that is that of the lane before has its bin: candidates that stand next to each other
    /// share most of theirs.
    #[inline(always)]
    pub(super) fn fill(&self, lane: usize, row: &[f32], before: &mut [f32], block: &mut Block) {
        for ((column, value), (before, bins)) in self.0.iter().zip(row).zip(before.iter_mut().zip(block.iter_mut())) {
            bins[lane] = if lane > 0 && value == before { bins[lane - 1] } else { column.bin(*value) };
            *before = *value;
        }
    }

    /// All rows of a table, in blocks.
    pub(super) fn blocks(&self, table: &Table<'_>) -> Vec<Block> {
        let mut before = vec![0.0; table.columns];
        let chunks = table.features.chunks(table.columns * LANES);
        let block = |rows: &[f32]| {
            let mut block = [[0; LANES]; 256];
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
        let rises =
            |cuts: &[f32]| cuts.windows(2).all(|pair| pair[0] < pair[1]) && cuts.iter().all(|cut| cut.is_finite());
        let bad = self.0.iter().position(|column| column.cuts.len() > 254 || !rises(&column.cuts));
        bad.map(|column| {
            format!("column {column}, whose {} cuts do not rise or are too many", self.0[column].cuts.len())
        })
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
    use crate::random::Random;

    #[test]
    fn few_values_have_a_bin_each() {
        assert_eq!(cuts_of(&[1.0, 1.0, 2.0, 4.0], 255), [1.5, 3.0]);
        let cuts = Cuts::from(vec![vec![1.5, 3.0]]);
        assert_eq!([0.0, 1.5, 2.9, 3.0, f32::NAN].map(|value| cuts.bin(0, value)), [0, 1, 1, 2, 0]);
    }

    #[test]
    fn many_values_are_cut_at_quantiles_that_rise() {
        let mut values: Vec<f32> = (0..10_000).map(|i| ((i * i) % 1013) as f32).collect();
        values.sort_by(f32::total_cmp);
        let cuts = Cuts::from(vec![cuts_of(&values, 255)]);
        assert_eq!(cuts.fault(), None);
        let mut counts = vec![0; cuts.bins(0)];
        values.iter().for_each(|value| counts[usize::from(cuts.bin(0, *value))] += 1);
        let fair = values.len() / counts.len();
        assert!(counts.iter().all(|count| (1..=4 * fair).contains(count)), "{counts:?}");
    }

    #[test]
    fn parts_lead_to_the_bin_that_counting_finds() {
        let mut random = Random::new(3);
        for count in [0, 1, 2, 17, 254] {
            let mut values: Vec<f32> = (0..count).map(|_| (20.0 * random.normal()).exp() as f32).collect();
            values.sort_by(f32::total_cmp);
            values.dedup();
            let cuts = Cuts::from(vec![values.clone()]);
            let asked = (0..4000).map(|_| (20.0 * random.normal()).exp() as f32).chain(values.clone());
            for value in asked.chain([0.0, -1e30, f32::MAX, f32::INFINITY]) {
                assert_eq!(
                    usize::from(cuts.bin(0, value)),
                    values.iter().filter(|cut| **cut <= value).count(),
                    "{value}"
                );
            }
        }
    }

    #[test]
    fn neighbours_among_the_floats_are_told_apart() {
        let low = 1.0f32;
        let high = low.next_up();
        let cuts = Cuts::from(vec![cuts_of(&[low, high], 255)]);
        assert_eq!((cuts.bin(0, low), cuts.bin(0, high)), (0, 1));
    }
}
