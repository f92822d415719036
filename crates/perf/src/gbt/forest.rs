//! Trees in the form in which they are asked: complete ones of one depth, a byte a question, many rows at once.

use serde::{Deserialize, Serialize};

/// Rows that are asked together.
pub(crate) const LANES: usize = 256;

/// Rows of one step of a loop: a register or two of any processor.
pub(super) const STEP: usize = 32;
/// Trees whose leaves are added together.
const TOGETHER: usize = 4;

/// Bins of so many rows, column after column.
pub(crate) type Block = [[u8; LANES]; 256];

/// Numbers of leaves of a step's rows, for each of the lowest questions of the deepest tree.
type Numbers = [[u8; STEP]; 128];

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

    /// What the trees say about the rows of a step, [`STEP`] or fewer; `raw` compiles it.
    ///
    /// A question that all rows answer alike is not asked of any of them: candidates of one problem agree on most. The others select, from
    /// the lowest questions up, as in [`Forest::add_tree`]; leaves are added in the same order, so the sums are the same to the bit.
    #[inline(always)]
    pub(super) fn ask(&self, rows: &Rows<'_>, sums: &mut [f32; STEP]) {
        sums.fill(self.base);
        let (questions, mut picked) = ((1 << self.depth) - 1, [0; STEP]);
        let trees = self.columns.chunks(questions).zip(self.thresholds.chunks(questions));
        for ((columns, thresholds), leaves) in trees.zip(self.leaves.chunks(1 << self.depth)) {
            let tree = Asked { columns, thresholds, rows };
            let first = tree.first_split(0);
            if first >= questions {
                let leaf = leaves[first - questions];
                sums.iter_mut().for_each(|sum| *sum += leaf);
                continue;
            }
            tree.select_below(first, &mut picked);
            sums.iter_mut().zip(&picked).for_each(|(sum, picked)| *sum += leaves[usize::from(*picked)]);
        }
    }

    /// Adds one tree's leaves to the sums of as many rows of a block.
    pub(super) fn add_tree(&self, tree: usize, block: &Block, sums: &mut [f32]) {
        let mut picked = [0; LANES];
        self.number(tree, block, &mut [[0; STEP]; 128], &mut picked[..sums.len()]);
        self.add(tree, tree + 1, &[picked; TOGETHER], sums);
    }

    /// Adds the leaves of some trees, in their order, whose numbers were picked.
    #[inline(always)]
    fn add(&self, first: usize, end: usize, picked: &[[u8; LANES]; TOGETHER], sums: &mut [f32]) {
        let leaves = &self.leaves[first << self.depth..end << self.depth];
        match self.depth {
            ..=3 => add_leaves::<8>(self.depth, leaves, picked, sums),
            4 => add_leaves::<16>(4, leaves, picked, sums),
            5 => add_leaves::<32>(5, leaves, picked, sums),
            6 => add_leaves::<64>(6, leaves, picked, sums),
            7 => add_leaves::<128>(7, leaves, picked, sums),
            _ => add_leaves::<256>(8, leaves, picked, sums),
        }
    }

    /// The number of each row's leaf in a tree.
    #[inline(always)]
    fn number(&self, tree: usize, block: &Block, numbers: &mut Numbers, picked: &mut [u8]) {
        match self.depth {
            1 => self.number_of::<1>(tree, block, numbers, picked),
            2 => self.number_of::<2>(tree, block, numbers, picked),
            3 => self.number_of::<3>(tree, block, numbers, picked),
            4 => self.number_of::<4>(tree, block, numbers, picked),
            5 => self.number_of::<5>(tree, block, numbers, picked),
            6 => self.number_of::<6>(tree, block, numbers, picked),
            7 => self.number_of::<7>(tree, block, numbers, picked),
            _ => self.number_of::<8>(tree, block, numbers, picked),
        }
    }

    /// Of a tree of this depth: when it is known, so are all bounds. Every question is asked of every row, and the answers select, from the
    /// lowest questions up, which leaf's number goes on: bytes of many rows at once, and no branch.
    #[inline(always)]
    fn number_of<const DEPTH: usize>(&self, tree: usize, block: &Block, numbers: &mut Numbers, picked: &mut [u8]) {
        let questions = (1 << DEPTH) - 1;
        let columns = &self.columns[tree * questions..][..questions];
        let thresholds = &self.thresholds[tree * questions..][..questions];
        for (step, picked) in picked.chunks_mut(STEP).enumerate() {
            let bins = |question: usize| &block[usize::from(columns[question])].as_chunks::<STEP>().0[step];
            let lowest = questions / 2;
            for k in 0..=lowest {
                let (left, right) = ([(2 * k) as u8; STEP], [(2 * k + 1) as u8; STEP]);
                numbers[k] = select(bins(lowest + k), thresholds[lowest + k], &left, &right);
            }
            for level in (0..DEPTH - 1).rev() {
                let first = (1 << level) - 1;
                for k in 0..=first {
                    let [left, right] = [numbers[2 * k], numbers[2 * k + 1]];
                    numbers[k] = select(bins(first + k), thresholds[first + k], &left, &right);
                }
            }
            picked.copy_from_slice(&numbers[0][..picked.len()]);
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

/// A tree that is asked about some rows.
struct Asked<'a> {
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

    /// The number of each row's leaf below a question.
    fn select_below(&self, node: usize, picked: &mut [u8; STEP]) {
        let (mut left, mut right) = ([0; STEP], [0; STEP]);
        for (child, side) in [(2 * node + 1, &mut left), (2 * node + 2, &mut right)] {
            let first = self.first_split(child);
            match first.checked_sub(self.columns.len()) {
                Some(leaf) => side.fill(leaf as u8),
                None => self.select_below(first, side),
            }
        }
        *picked = select(self.rows.bins(self.columns[node]), self.thresholds[node], &left, &right);
    }
}

/// Rows of a block that are asked together: those of a step.
pub(crate) struct Rows<'a> {
    block: &'a Block,
    step: usize,
    /// The smallest and the largest bin of each column.
    low: [u8; 256],
    high: [u8; 256],
}

impl<'a> Rows<'a> {
    /// The first `lanes` of a step of a block with so many columns; at least one.
    pub(super) fn new(block: &'a Block, columns: usize, step: usize, lanes: usize) -> Self {
        let (mut low, mut high) = ([0; 256], [0; 256]);
        for (bins, (low, high)) in block[..columns].iter().zip(low.iter_mut().zip(&mut high)) {
            let bins = &bins[step * STEP..][..lanes];
            (*low, *high) = bins.iter().fold((u8::MAX, 0), |(low, high), bin| (low.min(*bin), high.max(*bin)));
        }
        Self { block, step, low, high }
    }

    #[inline(always)]
    fn bins(&self, column: u8) -> &[u8; STEP] {
        &self.block[usize::from(column)].as_chunks::<STEP>().0[self.step]
    }
}

/// Adds the leaves of up to [`TOGETHER`] trees of at most `N` leaves, a power of two: known when compiled, it bounds the numbers.
#[inline(always)]
fn add_leaves<const N: usize>(depth: u8, leaves: &[f32], picked: &[[u8; LANES]; TOGETHER], sums: &mut [f32]) {
    let mut trees = [[0.0; N]; TOGETHER];
    let count = leaves.len() >> depth;
    for (tree, leaves) in trees.iter_mut().zip(leaves.chunks(1 << depth)) {
        tree[..leaves.len()].copy_from_slice(leaves);
    }
    let [a, b, c, d] = &trees;
    let of = |tree: &[f32; N], picked: u8| tree[usize::from(picked) & (N - 1)];
    let [in_a, in_b, in_c, in_d] = picked;
    if count == TOGETHER {
        for ((((sum, a_leaf), b_leaf), c_leaf), d_leaf) in sums.iter_mut().zip(in_a).zip(in_b).zip(in_c).zip(in_d) {
            *sum = *sum + of(a, *a_leaf) + of(b, *b_leaf) + of(c, *c_leaf) + of(d, *d_leaf);
        }
        return;
    }
    for (tree, picked) in trees.iter().zip(picked).take(count) {
        sums.iter_mut().zip(picked).for_each(|(sum, leaf)| *sum += of(tree, *leaf));
    }
}

/// Of each lane, `right` where the bin is above the threshold, else `left`; written so that it becomes a few instructions for many lanes.
#[inline(always)]
fn select(bins: &[u8; STEP], threshold: u8, left: &[u8; STEP], right: &[u8; STEP]) -> [u8; STEP] {
    let mut selected = [0; STEP];
    for lane in 0..STEP {
        let mask = u8::from(bins[lane] > threshold).wrapping_neg();
        selected[lane] = left[lane] ^ ((left[lane] ^ right[lane]) & mask);
    }
    selected
}
