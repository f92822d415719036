//! Scans: every value along a dimension becomes what all values up to it make.
//!
//! In which order values are taken is the same on every machine. Where threads share a row it is cut into *strips* of [`strip`]
//! values, and a strip into chunks of [`CHUNK`]. The total of a chunk takes its values one after the other; totals of neighbours
//! are combined, pairs of pairs. What stands before a strip is what stood before the one before it, and then its total; of two
//! halves the second has before it what the first has, and then the first one's total. A chunk's results take its values one
//! after the other, from what stands before it on. Few long rows are cut into segments; what stands before a segment is what
//! the totals of those before it come to, as the segments of a reduction do. Anywhere else a value is the reduction of all
//! values up to it.

use crate::collective::{Tree, WIDEST};
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use crate::reduce::Reduction;
use std::collections::BTreeSet;

/// Neighbouring values that a thread takes one after the other.
pub const CHUNK: u32 = 4;
/// Most values of a strip: those of a warp.
const STRIP: u32 = 32 * CHUNK;
/// Rows that keep every processor busy with a warp for each.
const MANY: i64 = 2048;

/// Segments that all rows together are cut into, at most: each has a counter, of those that are 0 between launches.
const SEGMENTS: i64 = 512;
/// Values of the shortest segment.
const SHORTEST: i64 = 8192;

/// Values of a strip where threads go along rows by `width` values at a time.
pub fn strip(width: u32) -> u32 {
    width.min(STRIP)
}

impl Tree {
    /// The order for `rows` rows of `n` values that are scanned. Rows that are reduced as well are not cut.
    pub fn scanned(n: i64, rows: i64, cut: bool) -> Tree {
        let length = (n / (SEGMENTS / rows.max(1)).max(1)).max(SHORTEST) as u64;
        let segment = if cut && 2 * rows <= SEGMENTS { length.next_power_of_two() as i64 } else { n };
        let widest = if rows < MANY { WIDEST } else { i64::from(STRIP) };
        let width = (n.max(1) as u64).next_power_of_two() as i64;
        Tree { width: width.clamp(i64::from(CHUNK), widest) as u32, segment: segment.min(n).max(1) }
    }
}

/// The dimension that a node scans, if it is a scan along a dimension as long as it is.
pub(crate) fn scanned(graph: &Graph, node: NodeId) -> Option<(DimId, Size)> {
    let Op::Scan { source, dim, .. } = graph.node(node).op else { return None };
    let size = graph.size_of(source, dim);
    (!matches!(size, Size::Node(_))).then_some((dim, size))
}

/// Whether threads that go along the dimensions of `set` together share this scan, where it is not read at other coordinates.
pub(crate) fn is_shared(graph: &Graph, node: NodeId, set: &BTreeSet<DimId>) -> bool {
    set.len() == 1 && scanned(graph, node).is_some_and(|(dim, _)| set.contains(&dim))
}

impl Graph {
    /// At each index of `dim`, all values of `source` from the first to the one there. Halves are scanned in `f32`.
    pub fn scan(&mut self, reduction: Reduction, source: NodeId, dim: DimId) -> NodeId {
        self.needed(source, dim, 0);
        self.widened(source, |g, source| {
            let dtype = g.node(source).dtype;
            g.push(Op::Scan { reduction, source, dim }, dtype)
        })
    }
}
