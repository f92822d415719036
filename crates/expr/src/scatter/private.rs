//! Places that each block has for itself in shared memory, where the places that its values may go to are few.
//!
//! A block goes along a strip of tiles of one point of the outer loops that the result has, and lets the values meet in a table of
//! its own; at the end each of the table's values meets what the result holds. Since the order does not matter, that is the same
//! as if each value had met it there.

use super::{Collision, Partial};
use crate::dtype::DType;
use crate::graph::{DimId, Graph, NodeId, Op};
use crate::plan::Plan;
use crate::stage::SHARED_BYTES;

/// The longest dimension that a thread holds in registers.
pub(crate) const SHORT: i64 = 8;
/// Blocks that keep a device busy: more of them add to the result more often.
const BLOCKS: i64 = 528;
/// Values of a block for each place of its table, at least, where there are so many: what a place costs at the end is little then.
const WORTH: i64 = 16;
/// The largest sum in 32 bits.
const MOST: i64 = i32::MAX as i64;

/// What blocks have for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Private {
    /// How many of the loops, the outermost ones, a block has one index of.
    pub outer: usize,
    /// The axes of the table, outermost first, with their sizes: dimensions in registers, then those of computed places.
    pub axes: Vec<(DimId, i64)>,
    /// What values meet by.
    pub collision: Collision,
    /// The type of the table's values: of 32 bits, for sums that no block makes larger, or that of the result.
    pub dtype: DType,
    /// The largest value that is summed, if that is known.
    bound: Option<i64>,
}

impl Private {
    /// What blocks have for themselves, if that is worth it. Loops and register dimensions of the plan are settled.
    pub(crate) fn find(graph: &Graph, plan: &Plan) -> Option<Private> {
        let partial = graph.partial(0).filter(|_| graph.outputs.len() == 1)?;
        partial.collision.operation()?;
        let outer = plan.world.iter().take_while(|w| partial.keeps(w.dim)).count();
        let met = &plan.world[outer..];
        if met.is_empty() || met.iter().any(|w| partial.keeps(w.dim)) {
            return None;
        }
        let axes = axes(partial, plan);
        let node = graph.outputs[0].node;
        let (dtype, bound) = narrow(graph, node, partial.collision);
        let private = Private { outer, axes, collision: partial.collision, dtype, bound };
        let values: i64 = met.iter().map(|w| w.extent).product();
        (private.bytes() <= SHARED_BYTES && private.places() * 2 <= values).then_some(private)
    }

    /// Places of the table.
    pub fn places(&self) -> i64 {
        self.axes.iter().fold(1, |places, (_, n)| places.saturating_mul(*n))
    }

    /// Bytes of the table, in whole words: small values are exchanged with those beside them.
    pub fn bytes(&self) -> i64 {
        self.places().saturating_mul(self.dtype.size() as i64).saturating_add(3) / 4 * 4
    }

    /// Tiles that a block goes along, one after the other.
    pub(crate) fn turns(&self, plan: &Plan) -> i64 {
        let tiles = plan.tiles();
        let (outer, met) = tiles.split_at(self.outer);
        let (outer, met): (i64, i64) = (outer.iter().product(), met.iter().product());
        let values = self.values(plan);
        let busy = (outer * met + BLOCKS - 1) / BLOCKS;
        let worth = (self.places() * WORTH + values - 1) / values;
        let most = self.bound.map_or(i64::MAX, |bound| MOST / (bound * values));
        busy.max(worth.min(met)).clamp(1, most.max(1))
    }

    /// Values of a tile.
    fn values(&self, plan: &Plan) -> i64 {
        let held: i64 = plan.registers.iter().map(|(_, n)| n).product();
        (self.outer..plan.world.len()).map(|i| plan.tile(i)).product::<i64>() * held
    }

    /// Blocks along each strip of tiles, for each point of the outer loops.
    pub(crate) fn blocks(&self, plan: &Plan) -> i64 {
        let tiles = plan.tiles();
        let (outer, met) = tiles.split_at(self.outer);
        let turns = self.turns(plan);
        outer.iter().product::<i64>() * ((met.iter().product::<i64>() + turns - 1) / turns)
    }

    /// What the source text depends on.
    pub(crate) fn key(&self) -> Vec<u64> {
        let mut key = vec![self.outer as u64, self.dtype as u64, self.axes.len() as u64];
        key.extend(self.axes.iter().map(|(_, n)| *n as u64));
        key
    }
}

fn axes(partial: &Partial, plan: &Plan) -> Vec<(DimId, i64)> {
    let held = plan.registers.iter().filter(|(d, _)| partial.keeps(*d)).copied();
    held.chain(partial.places.iter().map(|p| (p.dim, p.extent))).collect()
}

/// The type of a table's values, and the largest absolute value that is summed: sums of what was made from few bits, or of ones,
/// need no 64.
fn narrow(graph: &Graph, node: NodeId, collision: Collision) -> (DType, Option<i64>) {
    let dtype = graph.node(node).dtype;
    let wide = matches!(dtype, DType::I64 | DType::U64) && collision == Collision::Sum;
    let Some((low, high)) = range(graph, node).filter(|_| wide) else { return (dtype, None) };
    let bound = high.max(-low).max(1);
    // A strip has a tile at least, whose values are at most so many.
    if bound > MOST >> 14 {
        return (dtype, None);
    }
    (if low < 0 { DType::I32 } else { DType::U32 }, Some(bound))
}

/// The smallest and the largest value that a node may have, as far as its type or that which it was made from tells.
pub(crate) fn range(graph: &Graph, node: NodeId) -> Option<(i64, i64)> {
    let of_type = |dtype: DType| match dtype {
        DType::Bool => Some((0, 1)),
        DType::U8 => Some((0, 255)),
        DType::I8 => Some((-128, 127)),
        DType::U16 => Some((0, 65_535)),
        DType::I16 => Some((-32_768, 32_767)),
        _ => None,
    };
    match &graph.node(node).op {
        Op::Const(s) => s.as_i64().map(|v| (v, v)),
        Op::Cast(a) if !graph.node(*a).dtype.is_float() => range(graph, *a),
        _ => of_type(graph.node(node).dtype),
    }
}
