//! Trees in the form in which they are asked: complete ones of one depth, a byte a question, many rows at once.

use serde::{Deserialize, Serialize};

/// Rows that are asked together: a byte of each fills a register or two of any processor.
pub(crate) const LANES: usize = 32;

/// Bins of so many rows, column after column.
pub(crate) type Block = [[u8; LANES]; 256];

/// Numbers of leaves of a block's rows, for each of the lowest questions of the deepest tree.
type Numbers = [[u8; LANES]; 128];

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

    /// What the trees say about the rows of a block, [`LANES`] or fewer; `raw` compiles it.
    ///
    /// A question that all rows answer alike is not asked of any of them: candidates of one problem agree on most. The others select, from
    /// the lowest questions up, as in [`Forest::add_tree`]; leaves are added in the same order, so the sums are the same to the bit. `below`
    /// is [`Asked::select_below`] with itself.
    #[inline(always)]
    pub(super) fn ask(&self, rows: &Rows<'_>, sums: &mut [f32; LANES], below: impl Fn(&Asked<'_>, usize, &mut Picked)) {
        match self.depth {
            1 => self.ask_of::<2>(rows, sums, below),
            2 => self.ask_of::<4>(rows, sums, below),
            3 => self.ask_of::<8>(rows, sums, below),
            4 => self.ask_of::<16>(rows, sums, below),
            5 => self.ask_of::<32>(rows, sums, below),
            6 => self.ask_of::<64>(rows, sums, below),
            7 => self.ask_of::<128>(rows, sums, below),
            _ => self.ask_of::<256>(rows, sums, below),
        }
    }

    /// Of trees of so many leaves: when that is known, so are all bounds.
    #[inline(always)]
    fn ask_of<const LEAVES: usize>(
        &self,
        rows: &Rows<'_>,
        sums: &mut [f32; LANES],
        below: impl Fn(&Asked<'_>, usize, &mut Picked),
    ) {
        sums.fill(self.base);
        let (questions, mut picked) = (LEAVES - 1, [0; LANES]);
        let trees = self.columns.chunks_exact(questions).zip(self.thresholds.chunks_exact(questions));
        for ((columns, thresholds), leaves) in trees.zip(self.leaves.as_chunks::<LEAVES>().0) {
            let tree = Asked { columns, thresholds, rows };
            let first = tree.first_split(0);
            if first >= questions {
                let leaf = leaves[first - questions];
                sums.iter_mut().for_each(|sum| *sum += leaf);
                continue;
            }
            below(&tree, first, &mut picked);
            sums.iter_mut().zip(&picked).for_each(|(sum, picked)| *sum += leaves[usize::from(*picked) % LEAVES]);
        }
    }

    /// Adds one tree's leaves to the sums of the rows of blocks.
    pub(super) fn add_tree(&self, tree: usize, blocks: &[Block], sums: &mut [f32]) {
        let leaves = &self.leaves[tree << self.depth..][..1 << self.depth];
        let mut numbers = [[0; LANES]; 128];
        for (block, sums) in blocks.iter().zip(sums.chunks_mut(LANES)) {
            self.number(tree, block, &mut numbers);
            sums.iter_mut().zip(&numbers[0]).for_each(|(sum, picked)| *sum += leaves[usize::from(*picked)]);
        }
    }

    /// The number of each row's leaf in a tree: the first of `numbers` then.
    #[inline(always)]
    fn number(&self, tree: usize, block: &Block, numbers: &mut Numbers) {
        match self.depth {
            1 => self.number_of::<1>(tree, block, numbers),
            2 => self.number_of::<2>(tree, block, numbers),
            3 => self.number_of::<3>(tree, block, numbers),
            4 => self.number_of::<4>(tree, block, numbers),
            5 => self.number_of::<5>(tree, block, numbers),
            6 => self.number_of::<6>(tree, block, numbers),
            7 => self.number_of::<7>(tree, block, numbers),
            _ => self.number_of::<8>(tree, block, numbers),
        }
    }

    /// Of a tree of this depth: when it is known, so are all bounds. Every question is asked of every row, and the answers select, from the
    /// lowest questions up, which leaf's number goes on: bytes of many rows at once, and no branch.
    #[inline(always)]
    fn number_of<const DEPTH: usize>(&self, tree: usize, block: &Block, numbers: &mut Numbers) {
        let questions = (1 << DEPTH) - 1;
        let columns = &self.columns[tree * questions..][..questions];
        let thresholds = &self.thresholds[tree * questions..][..questions];
        let bins = |question: usize| &block[usize::from(columns[question])];
        let lowest = questions / 2;
        for k in 0..=lowest {
            let (left, right) = ([(2 * k) as u8; LANES], [(2 * k + 1) as u8; LANES]);
            numbers[k] = select(bins(lowest + k), thresholds[lowest + k], &left, &right);
        }
        for level in (0..DEPTH - 1).rev() {
            let first = (1 << level) - 1;
            for k in 0..=first {
                let [left, right] = [numbers[2 * k], numbers[2 * k + 1]];
                numbers[k] = select(bins(first + k), thresholds[first + k], &left, &right);
            }
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

/// Numbers of leaves of a block's rows.
pub(super) type Picked = [u8; LANES];

/// A tree that is asked about some rows.
pub(super) struct Asked<'a> {
    columns: &'a [u8],
    thresholds: &'a [u8],
    rows: &'a Rows<'a>,
}

impl Asked<'_> {
    /// The first question from a node on that rows may answer differently, or a leaf behind all questions.
    #[inline(always)]
    fn first_split(&self, mut node: usize) -> usize {
        while node < self.columns.len() {
            let (column, threshold) = (usize::from(self.columns[node]), self.thresholds[node]);
            let (all_right, some_right) = (self.rows.low[column] > threshold, self.rows.high[column] > threshold);
            if all_right != some_right {
                break;
            }
            node = 2 * node + 1 + usize::from(all_right);
        }
        node
    }

    /// The number of each row's leaf below a question, by another one's `below`, which is this.
    #[inline(always)]
    pub(super) fn select_below(&self, node: usize, picked: &mut Picked, below: impl Fn(&Self, usize, &mut Picked)) {
        let (mut left, mut right) = ([0; LANES], [0; LANES]);
        for (child, side) in [(2 * node + 1, &mut left), (2 * node + 2, &mut right)] {
            let first = self.first_split(child);
            match first.checked_sub(self.columns.len()) {
                Some(leaf) => side.fill(leaf as u8),
                None => below(self, first, side),
            }
        }
        *picked = select(self.rows.bins(self.columns[node]), self.thresholds[node], &left, &right);
    }
}

/// The rows of a block.
pub(crate) struct Rows<'a> {
    block: &'a Block,
    /// The smallest and the largest bin of each column.
    low: [u8; 256],
    high: [u8; 256],
}

impl<'a> Rows<'a> {
    /// The first `lanes` of a block with so many columns; at least one.
    pub(super) fn new(block: &'a Block, columns: usize, lanes: usize) -> Self {
        let (mut low, mut high) = ([0; 256], [0; 256]);
        for (bins, (low, high)) in block[..columns].iter().zip(low.iter_mut().zip(&mut high)) {
            (*low, *high) = bins[..lanes].iter().fold((u8::MAX, 0), |(low, high), bin| (low.min(*bin), high.max(*bin)));
        }
        Self { block, low, high }
    }

    #[inline(always)]
    fn bins(&self, column: u8) -> &[u8; LANES] {
        &self.block[usize::from(column)]
    }
}

/// Of each lane, `right` where the bin is above the threshold, else `left`; written so that it becomes a few instructions for many lanes.
#[inline(always)]
fn select(bins: &[u8; LANES], threshold: u8, left: &[u8; LANES], right: &[u8; LANES]) -> [u8; LANES] {
    let mut selected = [0; LANES];
    for lane in 0..LANES {
        let mask = u8::from(bins[lane] > threshold).wrapping_neg();
        selected[lane] = left[lane] ^ ((left[lane] ^ right[lane]) & mask);
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::{Block, Forest, LANES, Rows, Tree};
    use crate::random::Random;

    /// Trees whose questions are about a few bins of some columns, as neighbours have them.
    fn forest(depth: usize, random: &mut Random) -> Forest {
        let mut forest = Forest::new(0.5, depth);
        for _ in 0..20 {
            let mut tree = Tree::new(depth);
            tree.columns.iter_mut().for_each(|column| *column = random.below(40) as u8);
            tree.thresholds.iter_mut().for_each(|threshold| *threshold = random.below(10) as u8);
            tree.leaves.iter_mut().for_each(|leaf| *leaf = random.normal() as f32);
            forest.push(&tree);
        }
        forest
    }

    #[test]
    fn what_is_not_asked_changes_no_bit() {
        let mut random = Random::new(5);
        for depth in 1..=8 {
            let forest = forest(depth, &mut random);
            let mut block: Block = [[0; LANES]; 256];
            for bins in &mut block[..40] {
                // Of one column all rows have the same bin, of another one two, of another one ten.
                let (first, count) = (random.below(9), [1, 2, 10][random.below(3)]);
                bins.iter_mut().for_each(|bin| *bin = (first + random.below(count)) as u8);
            }
            let mut plainly = [0.5; LANES];
            (0..forest.trees()).for_each(|tree| forest.add_tree(tree, &[block], &mut plainly));
            for lanes in [LANES, 17, 1] {
                let mut sums = [0.0; LANES];
                super::super::raw::ask(&forest, &Rows::new(&block, 40, lanes), &mut sums);
                let bits = |sums: &[f32]| sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&sums[..lanes]), bits(&plainly[..lanes]), "depth {depth}, {lanes} rows");
            }
        }
    }
}
