//! Lowering where there are stages: what is kept is read, not computed.

use super::{Stage, TileLoop};
use crate::dtype::Scalar;
use crate::graph::{Binary, DimId, Graph, NodeId, Op};
use crate::lower::{Lower, Point, find};
use crate::program::{Inst, Program, Store, Val};

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// Results.
    Results,
    /// Results at points around which no border is.
    Inner,
    /// The values of a stage in a block that no border touches.
    Inside(usize),
    /// The values of a stage in any block.
    Edge(usize),
}

/// The stages that something is computed from.
pub(crate) struct Stages<'a> {
    /// The loops of the tile.
    pub(crate) tile: &'a [TileLoop],
    /// All stages.
    pub(crate) list: &'a [Stage],
    /// The loops.
    pub(crate) world: &'a [DimId],
    /// What is computed.
    pub(crate) around: Around,
}

impl Stages<'_> {
    /// The stage that is filled.
    fn filled(&self) -> Option<usize> {
        match self.around {
            Around::Results | Around::Inner => None,
            Around::Inside(stage) | Around::Edge(stage) => Some(stage),
        }
    }

    /// The position that the thread's own coordinate along loop `i` of the tile counts from: positions are not negative.
    pub(crate) fn start(&self, i: usize) -> i64 {
        self.filled().map_or(0, |s| self.list[s].filled(self.tile, i).before)
    }

    /// Literals that coordinates of a filled stage reach another one by, beside those of taps.
    fn slack(&self, i: usize) -> i64 {
        if matches!(self.around, Around::Edge(_)) { 0 } else { i64::from(self.tile[i].points) - 1 }
    }
}

impl Lower<'_> {
    /// What stands for a node where no border is met: its source.
    pub(crate) fn open(&self, node: NodeId, point: u32) -> Option<NodeId> {
        let stages = self.stages.as_ref()?;
        let met = match stages.around {
            Around::Inside(stage) => stages.list[stage].node == node,
            Around::Inner => stages.list.iter().any(|s| s.node == node && self.within(s, point)),
            Around::Results | Around::Edge(_) => false,
        };
        if met { self.graph.padded.get(&node).map(|p| p.source) } else { None }
    }

    /// Whether a point is as near to the thread's own as a window reaches.
    fn within(&self, window: &Stage, point: u32) -> bool {
        let Some(stages) = &self.stages else { return false };
        let point = &self.points[point as usize].0;
        stages.tile.iter().enumerate().filter(|(i, _)| window.padded[*i]).all(|(i, t)| {
            let (margin, slack) = (window.margins[i], stages.slack(i));
            let away = find(point, t.dim).and_then(|v| self.away(v, i));
            away.is_some_and(|away| (margin.before..=margin.after + slack).contains(&away))
        })
    }

    /// The value of `node` at a point, read from a stage that holds it there.
    pub(crate) fn kept(&mut self, node: NodeId, point: u32) -> Option<Val> {
        let stages = self.stages.as_ref().filter(|s| s.around != Around::Inner)?;
        let number = stages.list.iter().position(|s| s.node == node)?;
        if stages.filled().is_some_and(|f| number >= f) {
            return None;
        }
        let stage = &stages.list[number];
        let point = self.points[point as usize].0.clone();
        let inner =
            |dim: &DimId| stages.tile.iter().any(|t| t.dim == *dim) || stage.registers.iter().any(|(d, _)| d == dim);
        let own = |dim: &DimId, v: Val| match self.program.inst(v) {
            Inst::Coord(d) => stages.world.get(usize::from(*d)) == Some(dim),
            _ => false,
        };
        if point.iter().any(|(dim, v)| !inner(dim) && !own(dim, *v)) {
            return None;
        }
        let mut index = Vec::with_capacity(stage.registers.len() + stages.tile.len());
        for (dim, n) in &stage.registers {
            let v = find(&point, *dim)?;
            let literal = self.program.constant(v)?.as_i64()?;
            index.push((0..*n).contains(&literal).then_some((v, 0))?);
        }
        for (i, t) in stages.tile.iter().enumerate() {
            let v = find(&point, t.dim)?;
            let away = self.away(v, i)?;
            let (margin, slack) = (stage.margins[i], stages.slack(i));
            if !(margin.before..=margin.after + slack).contains(&away) {
                return None;
            }
            index.push((v, stage.origin(stages.tile, i) + stages.start(i)));
        }
        let (operand, dtype) = (self.operands.len() + number, stage.dtype);
        let index = index.into_iter().map(|(v, k)| self.program.plus(v, k as i32)).collect();
        Some(self.program.load(operand as u16, 0, index, dtype))
    }

    /// How far a coordinate is from the thread's own along loop `i` of the tile, or from where the border of the filled stage
    /// brings that.
    fn away(&self, v: Val, i: usize) -> Option<i64> {
        let stages = self.stages.as_ref()?;
        let (base, k) = self.program.affine(v);
        let base = base?;
        if matches!(self.program.inst(base), Inst::Coord(d) if usize::from(*d) == stages.tile[i].number) {
            return Some(k);
        }
        let (at, c) = self.program.affine(self.brought[i]?);
        (at == Some(base)).then_some(k - c)
    }

    /// The values of a stage at every point, stored to it.
    pub(crate) fn fill(&mut self, stage: usize, points: Vec<Point>) {
        for mut point in points {
            point.sort_unstable_by_key(|(d, _)| *d);
            let Some(stages) = &self.stages else { return };
            let (kept, tile) = (&stages.list[stage], stages.tile);
            let again = |(d, v): &(DimId, Val)| {
                let literal = self.program.constant(*v).is_some_and(|s| s.bits != 0);
                literal && kept.registers.iter().all(|(r, _)| r != d)
            };
            if point.iter().any(again) {
                continue;
            }
            let registers = kept.registers.iter().filter_map(|(d, _)| find(&point, *d));
            let mut index: Vec<Val> = registers.collect();
            for (i, t) in tile.iter().enumerate() {
                let place = kept.origin(tile, i) + stages.start(i);
                index.extend(find(&point, t.dim).map(|v| self.program.plus(v, place as i32)));
            }
            let node = kept.node;
            self.bring(stage, &point);
            let value = self.value(node, &point);
            let only_at_zero = Box::default();
            self.program.stores.push(Store { output: 0, index: index.into(), value, only_at_zero, partial: None });
        }
    }

    /// Finds out where the border of the filled stage brings the thread's own coordinates, in a block that it touches.
    fn bring(&mut self, stage: usize, point: &Point) {
        let Some(Stages { around: Around::Edge(_), list, tile, .. }) = &self.stages else { return };
        let Some(padded) = self.graph.padded.get(&list[stage].node).filter(|p| p.near) else { return };
        let coords: Vec<Option<NodeId>> =
            tile.iter().map(|t| padded.coords.iter().find(|(d, _)| *d == t.dim).map(|(_, c)| *c)).collect();
        for (i, coord) in coords.into_iter().enumerate() {
            self.brought[i] = coord.map(|c| self.value(c, point));
        }
    }
}

impl Program {
    /// `v + k` of an `i32`.
    fn plus(&mut self, v: Val, k: i32) -> Val {
        let k = self.constant_of(Scalar::of(k));
        self.binary(Binary::Add, v, k)
    }
}

/// Whether a node is no more than a load.
pub(crate) fn is_plain(graph: &Graph, node: NodeId) -> bool {
    match &graph.node(node).op {
        Op::Input { .. } | Op::Const(_) => true,
        Op::Cast(a) | Op::Bits(a) => is_plain(graph, *a),
        Op::At { source, .. } => is_plain(graph, *source),
        _ => false,
    }
}
