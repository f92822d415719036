//! What a fit can be told, and the ranges of it.

use crate::Error;
use linfa::ParamGuard;

/// Parameters of a fit that were checked.
#[derive(Clone, Debug, PartialEq)]
pub struct GbtValidParams {
    pub(super) trees: usize,
    pub(super) depth: usize,
    pub(super) rate: f64,
    pub(super) rows: f64,
    pub(super) columns: f64,
    pub(super) l2: f64,
    pub(super) min_leaf: usize,
    pub(super) bins: usize,
    pub(super) seed: u64,
    pub(super) held_out: f64,
    pub(super) patience: usize,
    pub(super) shared: f64,
    pub(super) focus: f64,
    pub(super) groups: Option<Vec<u32>>,
}

/// Parameters of a fit of gradient-boosted trees; `check` (or `fit`, which calls it) refuses those outside their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct GbtParams(GbtValidParams);

impl Default for GbtParams {
    fn default() -> Self {
        Self(GbtValidParams {
            trees: 300,
            depth: 6,
            rate: 0.1,
            rows: 0.8,
            columns: 0.9,
            l2: 1.0,
            min_leaf: 2,
            bins: 255,
            seed: 1,
            held_out: 0.0,
            patience: 0,
            shared: 1.0,
            focus: 0.0,
            groups: None,
        })
    }
}

impl GbtParams {
    /// The largest number of trees, 1 to 10,000.
    pub fn trees(mut self, trees: usize) -> Self {
        self.0.trees = trees;
        self
    }

    /// How many questions lead to a leaf, 1 to 8.
    pub fn depth(mut self, depth: usize) -> Self {
        self.0.depth = depth;
        self
    }

    /// What part of its step each tree takes, above 0 and up to 1.
    pub fn rate(mut self, rate: f64) -> Self {
        self.0.rate = rate;
        self
    }

    /// What part of the rows a tree sees, above 0 and up to 1.
    pub fn rows(mut self, rows: f64) -> Self {
        self.0.rows = rows;
        self
    }

    /// What part of the columns a tree may ask about, above 0 and up to 1.
    pub fn columns(mut self, columns: f64) -> Self {
        self.0.columns = columns;
        self
    }

    /// The weight of the squared leaves in the loss, 0 or more.
    pub fn l2(mut self, l2: f64) -> Self {
        self.0.l2 = l2;
        self
    }

    /// The fewest rows of a leaf, at least 1.
    pub fn min_leaf(mut self, min_leaf: usize) -> Self {
        self.0.min_leaf = min_leaf;
        self
    }

    /// The largest number of quantile bins a column is cut into, 2 to 255.
    pub fn bins(mut self, bins: usize) -> Self {
        self.0.bins = bins;
        self
    }

    /// What all random choices follow from.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Holds out this part of the groups (0 up to 0.5) and stops when `patience` further trees have not made their error smaller; the
    /// trees up to the best are kept.
    pub fn early_stopping(mut self, held_out: f64, patience: usize) -> Self {
        (self.0.held_out, self.0.patience) = (held_out, patience);
        self
    }

    /// How much the mean error of a group's rows counts, 0 to 1, beside how they differ: 1 is the squared loss. Where only the order within a
    /// group matters, less of it leaves the trees to what differs.
    pub fn shared(mut self, shared: f64) -> Self {
        self.0.shared = shared;
        self
    }

    /// How fast rows count less the farther they are above the least target of their group, 0 or more: a row that is `d` above it counts `exp(-focus d)`. Where
    /// only the least of a group is looked for, more of it leaves the trees to what is near it. 0: all rows count alike.
    pub fn focus(mut self, focus: f64) -> Self {
        self.0.focus = focus;
        self
    }

    /// The group of each row, where linfa's data set cannot say it. Without them each row is a group.
    pub fn groups(mut self, groups: Vec<u32>) -> Self {
        self.0.groups = Some(groups);
        self
    }
}

impl ParamGuard for GbtParams {
    type Checked = GbtValidParams;
    type Error = Error;

    fn check_ref(&self) -> Result<&GbtValidParams, Error> {
        let it = &self.0;
        let part = |value: f64| value > 0.0 && value <= 1.0;
        let rules: [(&'static str, bool, String, &'static str); 11] = [
            ("trees", (1..=10_000).contains(&it.trees), it.trees.to_string(), "1..=10000"),
            ("depth", (1..=8).contains(&it.depth), it.depth.to_string(), "1..=8"),
            ("rate", part(it.rate), it.rate.to_string(), "above 0, up to 1"),
            ("rows", part(it.rows), it.rows.to_string(), "above 0, up to 1"),
            ("columns", part(it.columns), it.columns.to_string(), "above 0, up to 1"),
            ("l2", it.l2 >= 0.0 && it.l2.is_finite(), it.l2.to_string(), "0 or more, finite"),
            ("min_leaf", it.min_leaf >= 1, it.min_leaf.to_string(), "1 or more"),
            ("bins", (2..=255).contains(&it.bins), it.bins.to_string(), "2..=255"),
            ("held_out", (0.0..=0.5).contains(&it.held_out), it.held_out.to_string(), "0 to 0.5"),
            ("shared", (0.0..=1.0).contains(&it.shared), it.shared.to_string(), "0 to 1"),
            ("focus", it.focus >= 0.0 && it.focus.is_finite(), it.focus.to_string(), "0 or more, finite"),
        ];
        match rules.into_iter().find(|(_, holds, ..)| !holds) {
            Some((name, _, found, expected)) => Err(Error::Parameter { name, found, expected }),
            None => Ok(it),
        }
    }

    fn check(self) -> Result<GbtValidParams, Error> {
        self.check_ref()?;
        Ok(self.0)
    }
}
