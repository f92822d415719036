//! Networks of minima and maxima: sorting without a branch, and the middle value of many.

use crate::graph::{Binary, Graph, NodeId};

impl Graph {
    /// Puts the smaller of two values at `low`, the larger at `high`; both are NaN if either is.
    fn exchange(&mut self, values: &mut [NodeId], low: usize, high: usize) {
        let (a, b) = (values[low], values[high]);
        values[low] = self.binary(Binary::Min, a, b);
        values[high] = self.binary(Binary::Max, a, b);
    }

    /// Sorts by Batcher's merge exchange (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M): 3 exchanges for
    /// 3 values, 9 for 5, 16 for 7.
    pub(super) fn sort(&mut self, values: &mut [NodeId]) {
        let n = values.len();
        let top = n.next_power_of_two() / 2;
        let mut p = top;
        while p > 0 {
            let (mut q, mut r, mut d) = (top, 0, p);
            loop {
                for i in (0..n.saturating_sub(d)).filter(|i| i & p == r) {
                    self.exchange(values, i, i + d);
                }
                if q == p {
                    break;
                }
                (d, q, r) = (q - p, q / 2, p);
            }
            p /= 2;
        }
    }

    /// The middle one of an odd number of values. Of a little more than half of them the smallest and the largest cannot be it:
    /// they are left out, one more is taken in, until one remains.
    pub(super) fn middle(&mut self, mut values: Vec<NodeId>) -> NodeId {
        let mut rest = values.split_off((values.len() / 2 + 2).min(values.len()));
        while values.len() > 1 {
            self.extremes_out(&mut values);
            values.extend(rest.pop());
        }
        values[0]
    }

    /// Leaves out the smallest and the largest.
    fn extremes_out(&mut self, values: &mut Vec<NodeId>) {
        let last = values.len() - 1;
        for i in 0..values.len() / 2 {
            self.exchange(values, i, last - i);
        }
        for i in 1..values.len().div_ceil(2) {
            self.exchange(values, 0, i);
            self.exchange(values, last - i, last);
        }
        values.swap_remove(last);
        values.swap_remove(0);
    }
}
