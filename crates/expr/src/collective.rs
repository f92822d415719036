//! Reductions that threads share: which ones, and in what order values are added.
//!
//! A sum over a row of a picture, over a whole tensor, over what a softmax normalises is too long for one thread. Such a
//! reduction is *collective*: a group of threads goes along it together, and a kernel has one set of dimensions that it does so
//! for. The order of additions follows from sizes alone, so that every machine and every way of running it gives the same bits.

use crate::bind::Binding;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId, Op, Size};
use crate::plan::{Extent, Plan, Slot, WorldDim};
use crate::reduce::Reduction;
use crate::scan::{self, CHUNK, scanned};
use std::collections::BTreeSet;

/// Reductions of at most so many values are one thread's.
pub const SERIAL: i64 = 16;
/// Most accumulators.
pub(crate) const WIDEST: i64 = 1024;
/// Most accumulators of rows that are kept: as many threads share a long one as a block can have.
const WIDEST_KEPT: i64 = 4096;
/// Most values of a row that one accumulator takes, if threads are to keep it.
const STEPS: i64 = 8;
/// Segments that all rows together are cut into, about: where they are gone through again, blocks wait for each other, so that all
/// must be there at once.
const SEGMENTS: i64 = 512;
/// Values of the shortest segment.
const SHORTEST: i64 = 4096;
/// Rows that are enough to keep every processor busy, uncut.
const MANY: i64 = 512;
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
    /// The order for `rows` rows of `n` values. Rows that are gone through again are cut only where threads cannot keep them.
    pub fn new(n: i64, rows: i64, again: bool) -> Tree {
        let uncut = if again { LONGEST } else { SHORTEST };
        // So few rows have a segment each at least.
        let length = || (n / (SEGMENTS / rows.max(1))).max(SHORTEST) as u64;
        let segment = if rows < MANY && n > uncut { length().next_power_of_two() as i64 } else { n };
        let power = (segment.max(1) as u64).next_power_of_two() as i64;
        let kept = again && n <= LONGEST;
        let widest = if kept { (power / STEPS).max(WIDEST) } else { WIDEST };
        Tree { width: (power / 4).clamp(1, widest) as u32, segment: segment.max(1) }
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

/// Threads of a block, if one row does not need more.
const BLOCK: u32 = 256;
/// Most threads of a block, and those of one whose neighbours work on neighbouring rows.
const MOST_THREADS: u32 = 1024;
/// Most accumulators of one thread.
const HELD: u32 = 32;

/// How the threads of a block go along rows. A *row* is a point of the loops that are not reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many of the world's loops are reduced: the innermost ones.
    pub loops: usize,
    /// The dimensions that are reduced.
    pub set: BTreeSet<DimId>,
    /// Values of a row.
    pub n: i64,
    /// The order in which they are reduced.
    pub tree: Tree,
    /// Whether rows are gone through again.
    pub again: bool,
    /// Whether rows are scanned.
    pub scans: bool,
    /// Steps in which a thread goes along a row, if they are few enough to be written one after the other; else 0.
    pub steps: u32,
    /// Whether every accumulator takes equally many values of a row.
    pub full: bool,
    /// Threads that share a row. Each has `width / threads` accumulators, for as many neighbouring values.
    pub threads: u32,
    /// Rows of a block.
    pub rows: u32,
    /// Whether its dimensions are reduced together in every place.
    pub everywhere: bool,
    /// Whether neighbouring threads are those of neighbouring rows, because memory is contiguous along the innermost loop
    /// that is not reduced.
    pub tall: bool,
    /// Whether other sections of a launch are computed beside it, whose blocks it cannot wait for.
    pub beside: bool,
}

impl Group {
    /// Puts the reduced dimensions at the end of the world.
    pub(crate) fn new(shared: &Shared, world: &mut Vec<WorldDim>) -> Group {
        world.retain(|w| shared.dims.iter().all(|(d, _)| *d != w.dim));
        let rows: i64 = world.iter().map(|w| w.extent).product();
        let n: i64 = shared.dims.iter().map(|(_, n)| *n).product();
        let reduced =
            shared.dims.iter().map(|(dim, n)| WorldDim { dim: *dim, extent: *n, class: Extent::MultipleOf(1) });
        world.extend(reduced);
        let tree = match shared.scans {
            true => Tree::scanned(n, rows, !shared.again),
            false => Tree::new(n, rows, shared.again),
        };
        let (loops, again, everywhere) = (shared.dims.len(), shared.again, shared.everywhere);
        let scans = shared.scans;
        let set = shared.set();
        let full = n > 0 && n % i64::from(tree.width) == 0;
        let steps = match again && !scans && n <= LONGEST {
            true if full => n as u32 / tree.width,
            true => (n.max(1) as u32).div_ceil(tree.width).next_power_of_two(),
            false => 0,
        };
        let (threads, rows, tall, beside) = (1, 1, false, false);
        Group { loops, n, set, tree, again, scans, everywhere, steps, full, threads, rows, tall, beside }
    }

    /// The loops that are not reduced, and those that are.
    pub fn split<'a>(&self, world: &'a [WorldDim]) -> (&'a [WorldDim], &'a [WorldDim]) {
        world.split_at(world.len() - self.loops)
    }

    /// Segments of a row.
    pub fn segments(&self) -> i64 {
        self.tree.segments(self.n)
    }

    /// Whether the segments of rows are gone through again and again. Their blocks wait for each other after each turn; in a
    /// launch with other sections, one block goes through all segments of its rows.
    pub fn in_turns(&self) -> bool {
        self.again && !self.scans && self.segments() > 1
    }

    /// Whether the blocks of the launch wait for each other, so that all must be there at once. Fewer blocks do as well.
    pub fn together(&self) -> bool {
        self.in_turns() && !self.beside
    }

    pub(crate) fn blocks(&self, world: &[WorldDim]) -> i64 {
        let segments = if self.in_turns() && self.beside { 1 } else { self.segments() };
        self.row_blocks(world) * segments
    }

    /// Blocks that all first segments take.
    pub fn row_blocks(&self, world: &[WorldDim]) -> i64 {
        let (outer, _) = self.split(world);
        let per = i64::from(self.rows);
        match outer.split_last() {
            Some((last, rest)) if self.tall => {
                rest.iter().map(|w| w.extent).product::<i64>() * ((last.extent + per - 1) / per)
            }
            _ => (outer.iter().map(|w| w.extent).product::<i64>() + per - 1) / per,
        }
    }

    /// Whether the number of a value within its row needs 64 bits.
    pub fn wide(&self) -> bool {
        self.n > i64::from(i32::MAX)
    }

    /// Whether the number of a row needs 64 bits.
    pub fn wide_rows(&self, world: &[WorldDim]) -> bool {
        self.split(world).0.iter().map(|w| w.extent).product::<i64>() > i64::from(i32::MAX)
    }

    pub(crate) fn key(&self, world: &[WorldDim]) -> impl Iterator<Item = u64> {
        let wide = [u64::from(self.wide()), u64::from(self.wide_rows(world))];
        let wide = wide.into_iter().chain([u64::from(self.steps), u64::from(self.full && self.steps > 0)]);
        let parts = [u64::from(self.tree.width), u64::from(self.threads), u64::from(self.rows), u64::from(self.tall)];
        let cut = u64::from(self.segments() > 1);
        let segment = if cut == 1 { self.tree.segment as u64 } else { 0 };
        let beside = u64::from(self.beside);
        parts.into_iter().chain(wide).chain([self.loops as u64, u64::from(self.again), cut, segment, beside])
    }
}

impl Plan {
    /// Which threads share a row, and how many neighbouring values each takes at a time. `beside` other sections, blocks have as
    /// many threads as theirs.
    pub(crate) fn choose_threads(&mut self, beside: bool) {
        let held: u32 = self.registers.iter().map(|(_, n)| *n as u32).product();
        let Some(group) = &self.group else { return };
        let (outer, reduced) = group.split(&self.world);
        let width = group.tree.width;
        let slots = || self.inputs.iter().chain(&self.outputs);
        let runs = |s: &&Slot, dim: DimId| {
            let packed = self.registers.iter().find_map(|(d, n)| (s.stride(*d) == Some(1)).then_some(*n)).unwrap_or(1);
            s.stride(dim) == Some(packed)
        };
        let along = |dim: DimId| slots().filter(|s| runs(s, dim)).map(|s| (16 / s.dtype.size()) as u32).min();
        let inner = reduced.last().and_then(|w| along(w.dim));
        let tall = inner.is_none() && outer.last().is_some_and(|w| w.extent >= 8 && along(w.dim).is_some());
        let most = if beside || group.steps == 0 { BLOCK } else { MOST_THREADS };
        let least = (width / most).max(1);
        let lanes = if group.scans {
            CHUNK
        } else if tall {
            let threads = (width * held.next_power_of_two() / HELD).clamp(1, width).max(width.min(HELD));
            width / threads
        } else {
            let mut lanes = inner.unwrap_or(1).min(width);
            while lanes > 1 && lanes * held > 16 {
                lanes /= 2;
            }
            lanes.max(least)
        };
        let threads = width / lanes;
        let (rows, block) = match tall {
            true => ((MOST_THREADS / threads).min(HELD), [(MOST_THREADS / threads).min(HELD), threads]),
            false => ((BLOCK / threads).max(1), [BLOCK.max(threads), 1]),
        };
        (self.lanes, self.lane_loop, self.block) = (lanes, self.world.len() - 1, block);
        if let Some(group) = &mut self.group {
            (group.threads, group.rows, group.tall, group.beside) = (threads, rows, tall, beside);
        }
    }

    /// Whether a dimension is reduced by one thread somewhere, step after step, so that it must stay a loop of its own.
    pub(crate) fn reduces_alone(&self, graph: &Graph, dim: DimId) -> bool {
        let reduces = |op: &Op| matches!(op, Op::Reduce { dim: d, .. } if *d == dim);
        if !graph.nodes().any(|n| reduces(&n.op)) {
            return false;
        }
        let Some(group) = &self.group else { return true };
        let (_, reduced) = group.split(&self.world);
        if reduced.iter().all(|w| w.dim != dim) {
            return true;
        }
        graph.nodes().any(|n| matches!(n.op, Op::At { .. })) || !group.everywhere
    }
}
