//! The loop that asks trees, compiled twice: for every processor, and for those with wider registers.

use super::forest::{Asked, Forest, LANES, Picked, Rows};

/// What the trees say about some rows; the same bits on every processor: nothing contracts, and no order changes.
pub(super) fn ask(forest: &Forest, rows: &Rows<'_>, sums: &mut [f32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function's one demand is that the processor has AVX2, which was asked just now.
        return unsafe { ask_with_avx2(forest, rows, sums) };
    }
    forest.ask(rows, sums, below);
}

fn below(tree: &Asked<'_>, node: usize, picked: &mut Picked) {
    tree.select_below(node, picked, below);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn ask_with_avx2(forest: &Forest, rows: &Rows<'_>, sums: &mut [f32; LANES]) {
    forest.ask(rows, sums, |tree, node, picked| below_with_avx2(tree, node, picked));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn below_with_avx2(tree: &Asked<'_>, node: usize, picked: &mut Picked) {
    tree.select_below(node, picked, |tree, node, picked| below_with_avx2(tree, node, picked));
}
