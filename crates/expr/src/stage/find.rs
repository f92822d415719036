//! Which nodes a block keeps, and how far their stages reach.

use super::lower::{Around, Stages, is_plain};
use super::{ALONG, Margin, SHARED_BYTES, Stage, Staging, THREADS, TileLoop};
use crate::bind::Binding;
use crate::emit::points;
use crate::graph::{DimId, Graph, NodeId};
use crate::lower::lower_stages;
use crate::plan::Plan;
use crate::program::Inst;
use std::collections::BTreeSet;

/// Most points of a thread, register values counted.
const POINTS: u32 = 16;
/// Most graph nodes that a thread's straight-line code repeats.
const NODES: u32 = 4096;
/// Most places of a margin on both sides: what reaches farther has more margin than tile.
const REACH: i64 = 64;
/// Most stages.
const STAGES: usize = 6;
/// Reads of a plain load that make a stage worth its barrier; two of anything else do.
const READS: usize = 4;
/// Most instructions of a point that needs no shared memory: a thread computes again what its neighbours compute too.
const WINDOW: usize = 40;
/// Blocks that occupy a device.
const BLOCKS: i64 = 264;

/// A read of a stage by something: the stage, and how far away along each loop of the tile.
type Read = (usize, Vec<i64>);

impl Staging {
    /// What is worth keeping, if anything is. Loops and register dimensions of the plan are settled.
    pub(crate) fn find(graph: &Graph, plan: &Plan, binding: &Binding<'_>) -> Option<Staging> {
        if plan.group.is_some() || graph.padded.is_empty() {
            return None;
        }
        let mut list = candidates(graph, plan, binding);
        let mut staging = Staging { tile: tile(graph, plan, &list)?, stages: Vec::new(), windows: Vec::new() };
        if list.len() == graph.padded.len() {
            let (windows, _) = measure(graph, plan, &staging.tile, &list)?;
            if work(graph, plan, &staging.tile, &windows).is_some_and(|work| work <= WINDOW) {
                staging.windows = windows;
                return Some(staging);
            }
        }
        while !list.is_empty() {
            let (stages, reads) = measure(graph, plan, &staging.tile, &list)?;
            let worth = |s: &Stage, reads: usize| {
                let plain = graph.padded.get(&s.node).is_some_and(|p| is_plain(graph, p.source));
                reads >= if plain { READS } else { 2 } && s.margins.iter().all(|m| m.places() <= REACH)
            };
            let kept: Vec<Stage> =
                stages.iter().zip(&reads).filter(|(s, n)| worth(s, **n)).map(|(s, _)| s.clone()).collect();
            if kept.len() == list.len() {
                staging.stages = stages;
                break;
            }
            list = kept;
        }
        let count = staging.stages.len();
        (1..=STAGES).contains(&count).then_some(())?;
        staging.fit().then_some(staging)
    }

    /// Makes tiles smaller until their stages have room.
    fn fit(&mut self) -> bool {
        while self.bytes() > SHARED_BYTES {
            match self.tile.split_last_mut() {
                Some((_, [outer])) if outer.points > 1 => outer.points /= 2,
                _ => return false,
            }
        }
        true
    }
}

/// Instructions of a point where no border is and threads read their windows themselves.
fn work(graph: &Graph, plan: &Plan, tile: &[TileLoop], windows: &[Stage]) -> Option<usize> {
    let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
    let outputs: Vec<Vec<DimId>> = plan.outputs.iter().map(crate::plan::Slot::dims).collect();
    let stages = Stages { tile, list: windows, world: &world, around: Around::Inner };
    let along: Vec<(usize, u32)> = tile.iter().rev().map(|t| (t.number, t.points)).collect();
    let program =
        lower_stages(graph, &plan.operands(false), &outputs, stages, |program| points(program, plan, &along)).ok()?;
    let held: i64 = plan.registers.iter().map(|(_, n)| n).product();
    let all: usize = tile.iter().map(|t| t.points as usize).product::<usize>() * held as usize;
    let live = program.live();
    let done = program.values().filter(|v| live[v.0 as usize] && !matches!(program.inst(*v), Inst::Const(_)));
    Some(done.count() / all)
}

/// The nodes with a border along loops of the tile only, as large as these.
fn candidates(graph: &Graph, plan: &Plan, binding: &Binding<'_>) -> Vec<Stage> {
    let tile: Vec<(DimId, i64)> = plan.world.iter().rev().take(2).rev().map(|w| (w.dim, w.extent)).collect();
    let mut nodes: Vec<NodeId> = graph.padded.keys().copied().collect();
    nodes.sort_unstable();
    let as_large = |node: NodeId, (dim, extent): &(DimId, i64)| {
        binding.size(*dim, graph.size_of(node, *dim)).is_ok_and(|n| n == *extent)
    };
    let fits = |node: &NodeId| {
        let inside = graph.padded[node].coords.iter().all(|(d, _)| tile.iter().any(|(t, _)| t == d));
        inside && tile.iter().all(|t| as_large(*node, t))
    };
    let stage = |node: NodeId| {
        let shape = &graph.node(node).shape;
        Stage {
            node,
            dtype: graph.node(node).dtype,
            registers: plan.registers.iter().filter(|(d, _)| shape.iter().any(|(s, _)| s == d)).copied().collect(),
            margins: vec![Margin::ANY; tile.len()],
            padded: tile.iter().map(|(t, _)| graph.padded[&node].coords.iter().any(|(d, _)| d == t)).collect(),
            last_reader: usize::MAX,
            across: false,
        }
    };
    nodes.into_iter().filter(fits).map(stage).collect()
}

/// The loops of a tile, with as many points a thread as registers and compile time allow and the device has work for.
pub(super) fn tile(graph: &Graph, plan: &Plan, list: &[Stage]) -> Option<Vec<TileLoop>> {
    let last = plan.world.len().checked_sub(1)?;
    let held: u32 = plan.registers.iter().map(|(_, n)| *n as u32).product();
    let widest = list.iter().map(|s| s.dtype.size()).chain(plan.outputs.iter().map(|s| s.dtype.size())).max()?;
    let mut points = if widest > 4 { 2 } else { 4 };
    let crowded = |points: u32| points * held > POINTS || graph.len() as u32 * points * held > NODES;
    while points > 1 && crowded(points) {
        points /= 2;
    }
    let mut inner = TileLoop { dim: plan.world[last].dim, number: last, threads: ALONG, points };
    if last == 0 {
        inner.threads = THREADS;
        return Some(vec![inner]);
    }
    let w = &plan.world[last - 1];
    let mut outer = TileLoop { dim: w.dim, number: last - 1, threads: THREADS / ALONG, points: 4 };
    let others: i64 = plan.world[..last - 1].iter().map(|w| w.extent).product();
    let tiles = |extent: i64, t: &TileLoop| (extent + t.points_a_block() - 1) / t.points_a_block();
    let idle = |outer: &TileLoop| others * tiles(w.extent, outer) * tiles(plan.world[last].extent, &inner) < BLOCKS;
    while outer.points > 1 && (crowded(points * outer.points) || idle(&outer)) {
        outer.points /= 2;
    }
    Some(vec![outer, inner])
}

/// How far each stage has to reach, and how many places of it are read.
fn measure(graph: &Graph, plan: &Plan, tile: &[TileLoop], list: &[Stage]) -> Option<(Vec<Stage>, Vec<usize>)> {
    let mut open = list.to_vec();
    open.iter_mut().for_each(|s| s.margins = vec![Margin::ANY; tile.len()]);
    let mut stages = list.to_vec();
    stages.iter_mut().for_each(|s| s.margins = vec![Margin::NONE; tile.len()]);
    let mut places: Vec<BTreeSet<(usize, Vec<i64>)>> = vec![BTreeSet::new(); list.len()];
    for (stage, away) in reads(graph, plan, tile, &open, Around::Results)? {
        for (m, k) in stages[stage].margins.iter_mut().zip(&away) {
            *m = m.with(*k);
        }
        places[stage].insert((list.len(), away));
    }
    // Whoever reads a stage has a higher number.
    for reader in (0..list.len()).rev() {
        if places[reader].is_empty() {
            continue;
        }
        let near = graph.padded.get(&list[reader].node).is_some_and(|p| p.near);
        let reach: Vec<Margin> = (0..tile.len())
            .map(|i| {
                let margin = stages[reader].margins[i];
                let margin = if near && list[reader].padded[i] { margin.even() } else { margin };
                if i + 1 == tile.len() { margin.in_steps(i64::from(tile[i].points)) } else { margin }
            })
            .collect();
        for (stage, away) in reads(graph, plan, tile, &open, Around::Inside(reader))? {
            for ((m, reach), k) in stages[stage].margins.iter_mut().zip(&reach).zip(&away) {
                *m = m.and(reach.moved(*k));
            }
            places[stage].insert((reader, away));
        }
    }
    for (stage, places) in stages.iter_mut().zip(&places) {
        let last = places.iter().map(|(reader, _)| *reader).max();
        stage.last_reader = last.filter(|reader| *reader < list.len()).unwrap_or(usize::MAX);
    }
    Some((stages, places.iter().map(BTreeSet::len).collect()))
}

/// What one point reads of stages.
fn reads(graph: &Graph, plan: &Plan, tile: &[TileLoop], list: &[Stage], around: Around) -> Option<Vec<Read>> {
    let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
    let outputs: Vec<Vec<DimId>> = plan.outputs.iter().map(crate::plan::Slot::dims).collect();
    let stages = Stages { tile, list, world: &world, around };
    let start: Vec<i64> = (0..tile.len()).map(|i| stages.start(i)).collect();
    let operands = plan.operands(false);
    let program = lower_stages(graph, &operands, &outputs, stages, |program| points(program, plan, &[])).ok()?;
    let live = program.live();
    let mut found = Vec::new();
    for v in program.values().filter(|v| live[v.0 as usize]) {
        let Inst::Load { operand, index, .. } = program.inst(v) else { continue };
        let Some(stage) = usize::from(*operand).checked_sub(operands.len()) else { continue };
        let along = &index[index.len() - tile.len()..];
        let away = |(i, v)| program.affine(v).1 - list[stage].origin(tile, i) - start[i];
        found.push((stage, along.iter().copied().enumerate().map(away).collect()));
    }
    Some(found)
}
