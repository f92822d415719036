//! One tree, grown from the root.

use super::GbtValidParams;
use super::forest::Tree;
use super::histogram::{Binned, Histogram, Sum};

/// What all nodes of a tree share.
pub(super) struct Growth<'a> {
    pub(super) params: &'a GbtValidParams,
    pub(super) binned: &'a Binned,
    /// What is left of each row.
    pub(super) left: &'a [Sum],
    /// The columns that this tree may ask about.
    pub(super) columns: &'a [usize],
}

/// A node that may be split.
struct Node {
    at: usize,
    level: usize,
    sum: Sum,
}

impl Growth<'_> {
    pub(super) fn tree(&self, rows: &mut [u32]) -> Tree {
        let mut tree = Tree::new(self.params.depth);
        let mut sum = Sum::default();
        rows.iter().for_each(|row| sum.add(self.left[*row as usize]));
        let root = Node { at: 0, level: 0, sum };
        let histogram = Histogram::of(self.binned, self.columns, self.left, rows);
        self.grow(&mut tree, root, rows, Some(histogram));
        tree
    }

    fn grow(&self, tree: &mut Tree, node: Node, rows: &mut [u32], histogram: Option<Histogram>) {
        let min_leaf = self.params.min_leaf as f64;
        let split =
            histogram.as_ref().and_then(|all| all.best(self.binned, self.columns, node.sum, self.params.l2, min_leaf));
        let (Some(split), Some(histogram)) = (split, histogram) else {
            return self.leaf(tree, &node);
        };
        tree.columns[node.at] = split.column as u8;
        tree.thresholds[node.at] = split.threshold;
        let middle = partition(rows, |row| self.binned.bin(split.column, row) <= split.threshold);
        let (left, right) = rows.split_at_mut(middle);
        let child = |at, sum| Node { at, level: node.level + 1, sum };
        let nodes = [child(2 * node.at + 1, split.left), child(2 * node.at + 2, node.sum.less(split.left))];
        let [of_left, of_right] = self.histograms(node.level + 1, histogram, left, right);
        let [left_node, right_node] = nodes;
        self.grow(tree, left_node, left, of_left);
        self.grow(tree, right_node, right, of_right);
    }

    /// Those of the children, if they can be split: the smaller one counted, the larger one by subtraction.
    fn histograms(&self, level: usize, parent: Histogram, left: &[u32], right: &[u32]) -> [Option<Histogram>; 2] {
        if level == self.params.depth {
            return [None, None];
        }
        let count = |rows| Histogram::of(self.binned, self.columns, self.left, rows);
        if left.len() <= right.len() {
            let small = count(left);
            let large = parent.less(&small);
            [Some(small), Some(large)]
        } else {
            let small = count(right);
            let large = parent.less(&small);
            [Some(large), Some(small)]
        }
    }

    /// All leaves below a node that is not split have its value.
    fn leaf(&self, tree: &mut Tree, node: &Node) {
        let below = 1 << (self.params.depth - node.level);
        let first = (node.at + 1 - (1 << node.level)) * below;
        tree.leaves[first..first + below].fill((self.params.rate * node.sum.leaf(self.params.l2)) as f32);
    }
}

/// Puts the rows that hold before the others; says how many those are.
fn partition(rows: &mut [u32], holds: impl Fn(u32) -> bool) -> usize {
    let mut middle = 0;
    for at in 0..rows.len() {
        if holds(rows[at]) {
            rows.swap(at, middle);
            middle += 1;
        }
    }
    middle
}
