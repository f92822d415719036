//! The loop that asks trees, compiled twice: for every processor, and for those with wider registers.

use super::forest::{Block, Forest, LANES};

/// What the trees say about the first `lanes` rows of a block; the same bits on every processor: nothing contracts, and no order changes.
pub(super) fn ask(forest: &Forest, block: &Block, lanes: usize, sums: &mut [f32; LANES]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the function's one demand is that the processor has AVX2, which was asked just now.
        return unsafe { ask_with_avx2(forest, block, lanes, sums) };
    }
    forest.ask(block, lanes, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn ask_with_avx2(forest: &Forest, block: &Block, lanes: usize, sums: &mut [f32; LANES]) {
    forest.ask(block, lanes, sums);
}
