//! What one row of points takes over from the row before it.
//!
//! A thread with several rows reads an expression at two or more computed rows for each of its own: the taps of a resize, a
//! warp, a stencil of variable step. The first tap of a row is mostly where an earlier tap of the row before it was, but where
//! exactly is known at run time only. So the kernel compares coordinates, and evaluates the expression only where none is met.
//! The comparison costs two instructions for all channels; equal coordinates mean equal bits.

use super::access::Group;
use super::schedule::Uses;
use crate::dtype::DType;
use crate::graph::{Binary, DimId, NodeId};
use crate::plan::Plan;
use crate::program::{Along, Inst, Program, Val};
use std::collections::{BTreeSet, HashSet};

/// Most taps of a row that are followed.
const TAPS: usize = 4;

/// Values that may be taken over.
#[derive(Clone, Debug)]
pub(super) struct Reuse {
    /// The coordinate at which they are wanted.
    pub here: Val,
    /// Coordinates of the row before.
    pub there: Vec<Val>,
    /// Each value, and what it is where `here` equals the coordinate of the same position in `there`.
    pub values: Vec<(Val, Vec<Val>)>,
    /// Instructions that nothing else needs.
    pub body: BTreeSet<Val>,
}

/// One expression along one dimension, all its other coordinates being the same: coordinates and values, row after row.
struct Walk {
    source: NodeId,
    dim: DimId,
    others: Vec<(DimId, Val)>,
    taps: Vec<(Val, Val)>,
}

/// Everything worth taking over, by descending size of what is saved.
pub(super) fn find(program: &Program, plan: &Plan, uses: &Uses, loads: &[Group]) -> Vec<Reuse> {
    if plan.lanes < 2 || plan.lane_loop + 1 == plan.world.len() || !program.loops().is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Reuse> = Vec::new();
    for walk in walks(program, plan) {
        follow(&walk, plan.lanes as usize, &mut found);
    }
    let no_one = HashSet::new();
    for reuse in &mut found {
        reuse.body = exclusive(program, uses, loads, reuse, &no_one);
    }
    found.sort_by_key(|r| std::cmp::Reverse(r.body.len()));
    let mut chosen: Vec<Reuse> = Vec::new();
    let mut taken_over: HashSet<Val> = HashSet::new();
    for mut reuse in found {
        let taken = reuse.values.iter().flat_map(|(_, there)| there);
        let hidden = |v: &Val| chosen.iter().any(|c| c.body.contains(v) && c.values.iter().all(|(out, _)| out != v));
        if taken.chain(&reuse.there).chain([&reuse.here]).any(hidden) {
            continue;
        }
        let mut outside = taken_over.clone();
        outside.extend(reuse.values.iter().flat_map(|(_, there)| there.iter().copied()));
        outside.extend(reuse.there.iter().chain([&reuse.here]).copied());
        reuse.body = exclusive(program, uses, loads, &reuse, &outside);
        let apart = chosen.iter().all(|c| c.body.is_disjoint(&reuse.body));
        if apart && worth_it(program, &reuse) {
            taken_over = outside;
            chosen.push(reuse);
        }
    }
    drop_inner(uses, &mut chosen);
    chosen
}

/// Keeps the values that something outside their body uses, be it a value of a later row that is kept itself.
fn drop_inner(uses: &Uses, chosen: &mut [Reuse]) {
    let mut wanted: HashSet<Val> = HashSet::new();
    for reuse in chosen.iter() {
        let leaves = |v: &Val| uses.stored(*v) || uses.of(*v).iter().any(|user| !reuse.body.contains(user));
        wanted.extend(reuse.values.iter().map(|(v, _)| *v).filter(leaves));
    }
    let mut known = 0;
    while known < wanted.len() {
        known = wanted.len();
        let kept = chosen.iter().flat_map(|r| &r.values).filter(|(v, _)| wanted.contains(v));
        let more: Vec<Val> = kept.flat_map(|(_, there)| there.iter().copied()).collect();
        wanted.extend(more);
    }
    for reuse in chosen {
        reuse.values.retain(|(v, _)| wanted.contains(v));
    }
}

/// A body without a load is cheaper than the branch around it; a division may belong to a group of its own.
fn worth_it(program: &Program, reuse: &Reuse) -> bool {
    let any = |test: &dyn Fn(&Inst) -> bool| reuse.body.iter().any(|v| test(program.inst(*v)));
    any(&|i| matches!(i, Inst::Load { .. })) && !any(&|i| matches!(i, Inst::Binary(Binary::Div, ..)))
}

fn walks(program: &Program, plan: &Plan) -> Vec<Walk> {
    let (rows, inner): (Along, Along) = (1 << plan.lane_loop, 1 << (plan.world.len() - 1));
    // Taps at a constant distance are told apart when the kernel is written; what varies along the inner loop differs from
    // thread to thread, and a branch would part them.
    let computed = |v: Val| {
        let own = |base: Val| matches!(program.inst(base), Inst::Coord(_));
        program.affine(v).0.is_some_and(|base| !own(base))
            && program.varies(v) & rows != 0
            && program.varies(v) & inner == 0
    };
    let mut walks: Vec<Walk> = Vec::new();
    for site in &program.sites {
        for (dim, coord) in site.at.iter().filter(|(_, v)| computed(*v) && program.dtype(*v) == DType::I32) {
            let others: Vec<(DimId, Val)> = site.at.iter().filter(|(d, _)| d != dim).copied().collect();
            let tap = (*coord, site.value);
            match walks.iter_mut().find(|w| w.source == site.source && w.dim == *dim && w.others == others) {
                Some(walk) if walk.taps.iter().any(|(c, _)| c == coord) => {}
                Some(walk) => walk.taps.push(tap),
                None => walks.push(Walk { source: site.source, dim: *dim, others, taps: vec![tap] }),
            }
        }
    }
    walks
}

/// The first taps of a row may be where taps of the row before were; the last one leads the way and is always computed.
fn follow(walk: &Walk, rows: usize, found: &mut Vec<Reuse>) {
    let taps = walk.taps.len() / rows;
    if !walk.taps.len().is_multiple_of(rows) || !(2..=TAPS).contains(&taps) {
        return;
    }
    for row in 1..rows {
        for tap in 0..taps - 1 {
            let (here, value) = walk.taps[row * taps + tap];
            let before = (row - 1) * taps + tap;
            let earlier = [walk.taps[before + 1], walk.taps[before]];
            let there: Vec<Val> = earlier.iter().map(|(c, _)| *c).collect();
            let values = (value, earlier.iter().map(|(_, v)| *v).collect());
            match found.iter_mut().find(|r| r.here == here && r.there == there) {
                Some(known) if known.values.iter().any(|(v, _)| *v == value) => {}
                Some(known) => known.values.push(values),
                None => found.push(Reuse { here, there, values: vec![values], body: BTreeSet::new() }),
            }
        }
    }
}

/// The instructions that only these values need. Those of `outside` are needed elsewhere too.
fn exclusive(program: &Program, uses: &Uses, loads: &[Group], reuse: &Reuse, outside: &HashSet<Val>) -> BTreeSet<Val> {
    let mut shared = outside.clone();
    loop {
        let mut body: BTreeSet<Val> = reuse.values.iter().map(|(v, _)| *v).collect();
        for v in program.values().rev().filter(|v| uses.live(*v) && !shared.contains(v)) {
            let statement = !matches!(program.inst(v), Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. });
            if statement && !uses.stored(v) && uses.of(v).iter().all(|user| body.contains(user)) {
                body.insert(v);
            }
        }
        // Loads through one pointer stay together.
        let split: Vec<Val> = loads
            .iter()
            .map(|group| group.members.iter().map(|(_, m)| Val(*m as u32)))
            .filter(|members| members.clone().any(|m| !body.contains(&m)))
            .flat_map(|members| members.filter(|m| body.contains(m)))
            .collect();
        if split.is_empty() {
            return body;
        }
        shared.extend(split);
    }
}
