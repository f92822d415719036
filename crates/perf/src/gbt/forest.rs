//! Trees in the form in which they are asked: complete ones of one depth, a byte a question, many rows at once.

use serde::{Deserialize, Serialize};

/// Rows that are asked together.
pub(crate) const LANES: usize = 64;

/// Bins of so many rows, column after column.
pub(crate) type Block = [[u8; LANES]; 256];

/// Numbers of leaves, a row of them for each of the lowest questions.
pub(super) type Numbers = [[u8; LANES]; 128];

/// The threshold that no bin is above: such a question always leads left.
const NEVER: u8 = u8::MAX;

/// A tree while it grows. Node `k` has the children `2k + 1` and `2k + 2`; the leaves stand behind the questions.
pub(super) struct Tree {
    pub(super) columns: Vec<u8>,
    pub(super) thresholds: Vec<u8>,
    pub(super) leaves: Vec<f32>,
}

impl Tree {
    pub(super) fn new(depth: usize) -> Self {
        let questions = (1 << depth) - 1;
        Self { columns: vec![0; questions], thresholds: vec![NEVER; questions], leaves: vec![0.0; questions + 1] }
    }
}

/// Trees of one depth, as three arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forest {
    base: f32,
    depth: u8,
    columns: Vec<u8>,
    thresholds: Vec<u8>,
    leaves: Vec<f32>,
}

impl Forest {
    pub(super) fn new(base: f32, depth: usize) -> Self {
        Self { base, depth: depth as u8, columns: Vec::new(), thresholds: Vec::new(), leaves: Vec::new() }
    }

    pub(super) fn push(&mut self, tree: &Tree) {
        self.columns.extend(&tree.columns);
        self.thresholds.extend(&tree.thresholds);
        self.leaves.extend(&tree.leaves);
    }

    pub(super) fn trees(&self) -> usize {
        self.leaves.len() >> self.depth
    }

    pub(super) fn truncate(&mut self, trees: usize) {
        let questions = trees * ((1 << self.depth) - 1);
        self.columns.truncate(questions);
        self.thresholds.truncate(questions);
        self.leaves.truncate(trees << self.depth);
    }

    /// What the trees say about each row of a block.
    #[inline(always)]
    pub(super) fn ask(&self, block: &Block, sums: &mut [f32; LANES]) {
        sums.fill(self.base);
        let mut numbers = [[0; LANES]; 128];
        for tree in 0..self.trees() {
            self.ask_tree(tree, block, &mut numbers, sums);
        }
    }

    /// Adds one tree's leaves. Every question is asked of every row, and the answers select, from the lowest questions up, which leaf's
    /// number goes on: bytes of many rows at once, and no branch.
    #[inline(always)]
    pub(super) fn ask_tree(&self, tree: usize, block: &Block, numbers: &mut Numbers, sums: &mut [f32; LANES]) {
        let depth = usize::from(self.depth);
        let questions = (1usize << depth) - 1;
        let columns = &self.columns[tree * questions..][..questions];
        let thresholds = &self.thresholds[tree * questions..][..questions];
        let leaves = &self.leaves[tree << depth..][..1 << depth];
        let lowest = questions / 2;
        for (k, numbers) in numbers[..=lowest].iter_mut().enumerate() {
            let (bins, threshold) = (&block[usize::from(columns[lowest + k])], thresholds[lowest + k]);
            for (number, bin) in numbers.iter_mut().zip(bins) {
                *number = (2 * k) as u8 + u8::from(*bin > threshold);
            }
        }
        for level in (0..depth - 1).rev() {
            let first = (1 << level) - 1;
            for k in 0..=first {
                let (bins, threshold) = (&block[usize::from(columns[first + k])], thresholds[first + k]);
                let (left, right) = (numbers[2 * k], numbers[2 * k + 1]);
                for (lane, number) in numbers[k].iter_mut().enumerate() {
                    *number = if bins[lane] > threshold { right[lane] } else { left[lane] };
                }
            }
        }
        for (sum, number) in sums.iter_mut().zip(&numbers[0]) {
            *sum += leaves[usize::from(*number) & ((1 << depth) - 1)];
        }
    }

    /// What is wrong with trees that were read from a file.
    pub(super) fn fault(&self, columns: usize) -> Option<String> {
        if !(1..=8).contains(&self.depth) {
            return Some(format!("a depth of {}", self.depth));
        }
        let (trees, questions) = (self.trees(), (1usize << self.depth) - 1);
        if trees == 0 || self.leaves.len() != trees << self.depth {
            return Some(format!("{} leaves of depth {}", self.leaves.len(), self.depth));
        }
        if self.columns.len() != trees * questions || self.thresholds.len() != trees * questions {
            return Some(format!("{} and {} questions", self.columns.len(), self.thresholds.len()));
        }
        if let Some(column) = self.columns.iter().find(|column| usize::from(**column) >= columns) {
            return Some(format!("a question about column {column} of {columns}"));
        }
        let finite = self.base.is_finite() && self.leaves.iter().all(|leaf| leaf.is_finite());
        (!finite).then(|| "a leaf that is no finite number".to_owned())
    }
}
