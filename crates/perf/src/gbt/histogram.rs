//! Sums of residuals by bin, from which splits are chosen.

use super::cuts::Cuts;

/// The residuals' sum and the number of rows, each as much as it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) residual: f64,
    pub(super) rows: f64,
}

impl Sum {
    pub(super) fn add(&mut self, other: Sum) {
        self.residual += other.residual;
        self.rows += other.rows;
    }

    pub(super) fn less(self, other: Sum) -> Sum {
        Sum { residual: self.residual - other.residual, rows: self.rows - other.rows }
    }

    /// The squared loss of one row.
    pub(super) fn squared(self) -> f64 {
        self.residual * self.residual / self.rows
    }

    /// How much the squared loss falls when these rows get a leaf of their own, twice.
    fn score(self, l2: f64) -> f64 {
        self.residual * self.residual / (self.rows + l2)
    }

    /// The leaf that is best for these rows.
    pub(super) fn leaf(self, l2: f64) -> f64 {
        if self.rows + l2 > 0.0 { self.residual / (self.rows + l2) } else { 0.0 }
    }
}

/// Rows as bins, column after column: a histogram goes through one column at a time.
pub(super) struct Binned {
    columns: Vec<Vec<u8>>,
    /// Where each column's bins begin in a histogram, and their end.
    starts: Vec<usize>,
}

impl Binned {
    pub(super) fn new(cuts: &Cuts, features: &[f32]) -> Self {
        let count = cuts.columns();
        let of = |column: usize| features.iter().skip(column).step_by(count).map(|v| cuts.bin(column, *v)).collect();
        let ends = (0..count).scan(0, |end, column| {
            *end += cuts.bins(column);
            Some(*end)
        });
        Self { columns: (0..count).map(of).collect(), starts: std::iter::once(0).chain(ends).collect() }
    }

    pub(super) fn bin(&self, column: usize, row: u32) -> u8 {
        self.columns[column][row as usize]
    }
}

/// For each column that a tree may ask about, the sums of its bins.
pub(super) struct Histogram(Vec<Sum>);

/// The best question about some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    pub(super) column: usize,
    /// Rows whose bin is above it go right.
    pub(super) threshold: u8,
    /// The rows that go left.
    pub(super) left: Sum,
}

impl Histogram {
    pub(super) fn of(binned: &Binned, columns: &[usize], left: &[Sum], rows: &[u32]) -> Self {
        let mut sums = vec![Sum::default(); binned.starts.last().copied().unwrap_or(0)];
        for &column in columns {
            let (bins, sums) = (&binned.columns[column], &mut sums[binned.starts[column]..binned.starts[column + 1]]);
            for &row in rows {
                sums[usize::from(bins[row as usize])].add(left[row as usize]);
            }
        }
        Self(sums)
    }

    /// What is left of a parent when one child is taken away: the other child, without going through its rows.
    pub(super) fn less(mut self, child: &Histogram) -> Self {
        self.0.iter_mut().zip(&child.0).for_each(|(sum, child)| *sum = sum.less(*child));
        self
    }

    /// The split with the largest gain, if one has any.
    pub(super) fn best(&self, binned: &Binned, columns: &[usize], all: Sum, l2: f64, min_leaf: f64) -> Option<Split> {
        let whole = all.score(l2);
        let mut best = (whole.abs() * 1e-12 + 1e-12, None);
        for &column in columns {
            let sums = &self.0[binned.starts[column]..binned.starts[column + 1]];
            let mut left = Sum::default();
            for (bin, sum) in sums[..sums.len() - 1].iter().enumerate() {
                left.add(*sum);
                let right = all.less(left);
                if left.rows < min_leaf || right.rows < min_leaf {
                    continue;
                }
                let gain = left.score(l2) + right.score(l2) - whole;
                if gain > best.0 {
                    best = (gain, Some(Split { column, threshold: bin as u8, left }));
                }
            }
        }
        best.1
    }
}
