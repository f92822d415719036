//! Reductions that threads share: which ones, and in what order values are added.
//!
//! A sum over a row of a picture, over a whole tensor, over what a softmax normalises is too long for one thread. Such a
//! reduction is *collective*: a group of threads goes along it together, and a kernel has one set of dimensions that it does so
//! for. The order of additions follows from sizes alone, so that every machine and every way of running it gives the same bits.

mod group;
mod sharing;

pub use group::Group;
pub use sharing::{Shares, Sharing};

use crate::bind::Binding;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use crate::reduce::Reduction;
use crate::scan::{self, scanned};
use std::collections::BTreeSet;

/// Reductions of at most so many values are one thread's.
pub const SERIAL: i64 = 16;
/// Most accumulators.
pub(crate) const WIDEST: i64 = 1024;
/// Most accumulators of rows that are kept: as many threads share a long one as a block can have.
const WIDEST_KEPT: i64 = 4096;
/// Accumulators of a short row at least, where it has as many values: neighbouring threads then read a line of memory together.
const NARROW: i64 = 32;
/// Most values of a row that one accumulator takes, if threads are to keep it.
const STEPS: i64 = 8;
/// Segments that all rows together are cut into, about, so that there are blocks for all of a GPU. Where they are gone through again, blocks
/// wait for each other, so that all must be there at once.
const SEGMENTS: i64 = 512;
/// Rows that are enough to keep every processor busy, uncut, where each has a block.
const MANY: i64 = 512;
/// Rows that one block has where their values alternate in memory, as those of channels do; and such blocks that are enough.
const ABREAST: i64 = 32;
const ENOUGH: i64 = 128;
/// Values of the shortest segment.
const SHORTEST: i64 = 4096;
/// Values of the longest row that threads may keep.
const LONGEST: i64 = STEPS * WIDEST_KEPT;
/// Partial results that are combined side by side.
pub const PARTIALS: i64 = 32;

/// The order in which values are reduced.
///
/// A row of `n` values is cut into segments. Within a segment accumulator `j` of `width` takes the values `j`, `j + width`, ..
/// one after the other, starting from the identity; then neighbours are combined, pairs of pairs, until one is left. The
/// results of the segments are reduced in the same way, with [`PARTIALS`] accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// Accumulators, a power of two.
    pub width: u32,
    /// Values of a segment; as many as there are where a row is not cut.
    pub segment: i64,
}

impl Tree {
    /// The order for `rows` rows of `n` values. Rows that are gone through again are cut only where threads cannot keep them; others so that
    /// there are enough blocks however they lie in memory.
    pub fn new(n: i64, rows: i64, again: bool) -> Tree {
        let rows = rows.max(1);
        let enough = ENOUGH / ((rows + ABREAST - 1) / ABREAST);
        let (uncut, segments) =
            if again { (LONGEST, SEGMENTS / rows) } else { (SHORTEST, enough.max(SEGMENTS / rows)) };
        let length = || (n / segments).max(SHORTEST) as u64;
        let segment = if rows < MANY && n > uncut { length().next_power_of_two() as i64 } else { n };
        let power = (segment.max(1) as u64).next_power_of_two() as i64;
        let kept = again && n <= LONGEST;
        let widest = if kept { (power / STEPS).max(WIDEST) } else { WIDEST };
        let width = (power / 4).clamp(power.min(NARROW), widest);
        Tree { width: width as u32, segment: segment.max(1) }
    }

    /// Segments of a row of `n` values.
    pub fn segments(&self, n: i64) -> i64 {
        ((n + self.segment - 1) / self.segment).max(1)
    }
}

/// Reductions of one kind that stand directly in one another, as `sum::<(Y, X)>()` makes them.
pub(crate) struct Chain {
    pub(crate) reduction: Reduction,
    /// The dimensions, outermost first.
    pub(crate) dims: Vec<DimId>,
    /// What is reduced.
    pub(crate) source: NodeId,
    sizes: Vec<Size>,
}

/// The chain that begins with a node, if that is a reduction of dimensions as long as they are.
pub(crate) fn chain(graph: &Graph, node: NodeId) -> Option<Chain> {
    let Op::Reduce { reduction, .. } = graph.node(node).op else { return None };
    let mut chain = Chain { reduction, dims: Vec::new(), source: node, sizes: Vec::new() };
    while let Op::Reduce { reduction: inner, source, dim, size } = graph.node(chain.source).op {
        if inner != reduction || matches!(size, Size::Node(_)) {
            break;
        }
        chain.dims.push(dim);
        chain.sizes.push(size);
        chain.source = source;
    }
    if chain.dims.is_empty() { None } else { Some(chain) }
}

/// The dimensions that threads reduce together, outermost first, with their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The dimensions.
    pub dims: Vec<(DimId, i64)>,
    /// Whether something else reads the results, so that rows are gone through again; of rows that are scanned, whether they are
    /// reduced too.
    pub again: bool,
    /// Whether rows are scanned.
    pub scans: bool,
    /// Whether nothing reduces only some of the dimensions.
    pub everywhere: bool,
}

impl Shared {
    /// Chooses the dimensions of the longest reduction or scan that is not read at other coordinates.
    pub fn find(graph: &Graph, binding: &Binding<'_>) -> Result<Option<Shared>, Error> {
        let mut all: Vec<Vec<(DimId, i64)>> = Vec::new();
        for node in reached(graph, &BTreeSet::new()) {
            let dims = loops(graph, binding, node)?;
            if !dims.is_empty() && values(&dims) > SERIAL {
                all.push(dims);
            }
        }
        all.sort_by_key(|dims| std::cmp::Reverse(values(dims)));
        let mut fitting = None;
        for dims in all {
            if fitting.is_none() && fits(graph, binding, &dims)? {
                fitting = Some(dims);
            }
        }
        let Some(dims) = fitting else { return Ok(None) };
        let set: BTreeSet<DimId> = dims.iter().map(|(d, _)| *d).collect();
        let seen = reached(graph, &set);
        let scans = seen.iter().any(|n| scan::is_shared(graph, *n, &set));
        let heads: Vec<NodeId> = seen.into_iter().filter(|n| is_shared(graph, *n, &set)).collect();
        let read = |output: usize| graph.loops_of(output).iter().any(|d| set.contains(d));
        let nested = |n: &NodeId| {
            let inside = below(graph, &[chain(graph, *n).map_or(*n, |c| c.source)], &set);
            heads.iter().any(|h| inside.contains(h))
        };
        let again = match scans {
            true => !heads.is_empty(),
            false => (0..graph.outputs.len()).any(read) || heads.iter().any(nested),
        };
        Ok(Some(Shared { everywhere: everywhere(graph, &set), dims, again, scans }))
    }

    /// The dimensions as a set.
    pub(crate) fn set(&self) -> BTreeSet<DimId> {
        self.dims.iter().map(|(d, _)| *d).collect()
    }
}

fn values(dims: &[(DimId, i64)]) -> i64 {
    dims.iter().map(|(_, n)| *n).product()
}

/// The dimensions that a node reduces or scans, with their sizes; none if threads cannot share it.
fn loops(graph: &Graph, binding: &Binding<'_>, node: NodeId) -> Result<Vec<(DimId, i64)>, Error> {
    let along: Vec<(DimId, Size)> = match chain(graph, node) {
        Some(chain) => chain.dims.into_iter().zip(chain.sizes).collect(),
        None => scanned(graph, node).into_iter().collect(),
    };
    along.into_iter().map(|(dim, size)| Ok((dim, binding.size(dim, size)?))).collect()
}

/// Whether the dimensions are equally long wherever threads would go along them: two sums along one dimension need not be.
fn fits(graph: &Graph, binding: &Binding<'_>, dims: &[(DimId, i64)]) -> Result<bool, Error> {
    let set: BTreeSet<DimId> = dims.iter().map(|(d, _)| *d).collect();
    let agrees = |(dim, n): (DimId, i64)| dims.iter().all(|(d, m)| *d != dim || *m == n);
    for node in reached(graph, &set) {
        if (is_shared(graph, node, &set) || scan::is_shared(graph, node, &set))
            && !loops(graph, binding, node)?.into_iter().all(agrees)
        {
            return Ok(false);
        }
    }
    for output in 0..graph.outputs.len() {
        for dim in graph.loops_of(output) {
            if !agrees((dim, binding.size(dim, graph.output_size(output, dim))?)) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The dimensions of every reduction that threads may share which `node` reads at its own coordinates, with their sizes.
pub(crate) fn reduced(graph: &Graph, binding: &Binding<'_>, node: NodeId) -> Result<Vec<(DimId, i64)>, Error> {
    let mut all = Vec::new();
    for chain in below(graph, &[node], &BTreeSet::new()).into_iter().filter_map(|n| chain(graph, n)) {
        let sized = |(dim, size): (&DimId, &Size)| Ok((*dim, binding.size(*dim, *size)?));
        let dims: Vec<(DimId, i64)> = chain.dims.iter().zip(&chain.sizes).map(sized).collect::<Result<_, Error>>()?;
        if dims.iter().map(|(_, n)| *n).product::<i64>() > SERIAL {
            all.extend(dims);
        }
    }
    Ok(all)
}

/// Whether every reduction along dimensions of `set` is part of one along all of them, and read by nothing else.
fn everywhere(graph: &Graph, set: &BTreeSet<DimId>) -> bool {
    let mut links: BTreeSet<NodeId> = BTreeSet::new();
    let mut heads: BTreeSet<NodeId> = BTreeSet::new();
    for head in graph.ids().filter(|n| is_shared(graph, *n, set)) {
        heads.insert(head);
        let mut node = head;
        for _ in 1..set.len() {
            if let Op::Reduce { source, .. } = graph.node(node).op {
                links.insert(source);
                node = source;
            }
        }
    }
    let mut alone = graph.all_roots().iter().any(|root| links.contains(root));
    for id in graph.ids() {
        let op = &graph.node(id).op;
        let inside = heads.contains(&id) || links.contains(&id);
        alone |= matches!(op, Op::Reduce { dim, .. } if set.contains(dim)) && !inside;
        op.for_each_arg(|a| alone |= links.contains(&a) && !inside);
    }
    !alone
}

/// Whether threads share this reduction, where it is not read at other coordinates.
pub(crate) fn is_shared(graph: &Graph, node: NodeId, set: &BTreeSet<DimId>) -> bool {
    chain(graph, node).is_some_and(|c| c.dims.len() == set.len() && c.dims.iter().all(|d| set.contains(d)))
}

/// Nodes that outputs read at their own coordinates: not through [`Op::At`], nor through a reduction or a scan other than of `set`.
fn reached(graph: &Graph, set: &BTreeSet<DimId>) -> Vec<NodeId> {
    below(graph, &graph.all_roots(), set).into_iter().collect()
}

fn below(graph: &Graph, from: &[NodeId], set: &BTreeSet<DimId>) -> BTreeSet<NodeId> {
    let mut seen: BTreeSet<NodeId> = BTreeSet::new();
    let mut stack = from.to_vec();
    while let Some(node) = stack.pop() {
        if !seen.insert(node) {
            continue;
        }
        match &graph.node(node).op {
            Op::At { .. } => {}
            Op::Reduce { .. } => {
                stack.extend(chain(graph, node).filter(|_| is_shared(graph, node, set)).map(|c| c.source))
            }
            Op::Scan { source, .. } => stack.extend(scan::is_shared(graph, node, set).then_some(*source)),
            op => op.for_each_arg(|a| stack.push(a)),
        }
    }
    seen
}
