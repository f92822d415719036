//! Loops within a thread: which values stand in which, in an order in which each comes after what it reads.

use crate::map::Map;
use crate::program::{Along, Inst, LOOPS, LoopId, Program, Val};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A value, or a loop with what is computed at each of its steps.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// One value.
    Value(Val),
    /// A loop.
    Loop(Nest),
}

impl Item {
    /// The value, if it is one.
    pub(crate) fn value(&self) -> Option<Val> {
        match self {
            Item::Value(v) => Some(*v),
            Item::Loop(_) => None,
        }
    }
}

/// A loop with its body.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    /// The loop.
    pub(crate) id: LoopId,
    /// What is computed at each step.
    pub(crate) body: Vec<Item>,
    /// The reductions that take a value at each step.
    pub(crate) reductions: Vec<Val>,
    /// The number of the step, where something reads it.
    pub(crate) step: Option<Val>,
    /// Whether something inside can fail, so that steps which a point does not have must be told from those that it has.
    pub(crate) guarded: bool,
}

impl Nest {
    fn new(program: &Program, id: LoopId, members: &[Val], inside: Along) -> Nest {
        let (values, reductions) = split(program, id, members);
        let is_step = |v: &&Val| matches!(program.inst(**v), Inst::Step { within, .. } if *within == id);
        let guard = |v: &Val| matches!(program.inst(*v), Inst::Guard { .. });
        let (step, guarded) = (values.iter().find(is_step).copied(), values.iter().any(guard));
        Nest { id, body: nest(program, &values, inside | id.bit()), reductions, step, guarded }
    }
}

/// The outermost loop, not among `inside`, in which a value stands.
pub(crate) fn home(program: &Program, v: Val, inside: Along) -> Option<LoopId> {
    let mut bits = program.varies(v) & !inside;
    if let Some(within) = program.inst(v).ends() {
        bits |= (within.bit() | program.loops()[usize::from(within.0)].outer) & !inside;
    }
    let mut loops = bits >> LOOPS;
    while loops != 0 {
        let id = LoopId(loops.trailing_zeros() as u16);
        if program.loops()[usize::from(id.0)].outer & !inside == 0 {
            return Some(id);
        }
        loops &= loops - 1;
    }
    None
}

/// Splits the values of a loop into those of its body and the reductions that end with it.
pub(crate) fn split(program: &Program, id: LoopId, members: &[Val]) -> (BTreeSet<Val>, Vec<Val>) {
    let ends = |v: &&Val| program.inst(**v).ends() == Some(id);
    let body = members.iter().filter(|v| !ends(v)).copied().collect();
    (body, members.iter().filter(ends).copied().collect())
}

/// Orders `values`, which stand in the loops `inside`.
pub(crate) fn nest(program: &Program, values: &BTreeSet<Val>, inside: Along) -> Vec<Item> {
    let mut units: Vec<(Option<LoopId>, Vec<Val>)> = Vec::new();
    let mut of_loop: BTreeMap<LoopId, usize> = BTreeMap::new();
    let mut unit_of: Map<Val, usize> = Map::default();
    for v in values {
        let home = home(program, *v, inside);
        let at = home.and_then(|id| of_loop.get(&id).copied()).unwrap_or(units.len());
        if at == units.len() {
            units.push((home, Vec::new()));
            of_loop.extend(home.map(|id| (id, at)));
        }
        units[at].1.push(*v);
        unit_of.insert(*v, at);
    }
    let mut waits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units.len()];
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (u, (_, members)) in units.iter().enumerate() {
        for v in members {
            program.inst(*v).for_each_arg(|a| waits[u].extend(unit_of.get(&a).filter(|d| **d != u)));
        }
        waits[u].iter().for_each(|d| feeds[*d].push(u));
    }
    let mut left: Vec<usize> = waits.iter().map(BTreeSet::len).collect();
    let mut ready: BinaryHeap<Reverse<(Val, usize)>> = BinaryHeap::new();
    ready.extend((0..units.len()).filter(|u| left[*u] == 0).map(|u| Reverse((units[u].1[0], u))));
    let mut items = Vec::with_capacity(units.len());
    while let Some(Reverse((_, u))) = ready.pop() {
        let (home, members) = &units[u];
        items.push(match home {
            None => Item::Value(members[0]),
            Some(id) => Item::Loop(Nest::new(program, *id, members, inside)),
        });
        for next in &feeds[u] {
            left[*next] -= 1;
            if left[*next] == 0 {
                ready.push(Reverse((units[*next].1[0], *next)));
            }
        }
    }
    debug_assert_eq!(items.len(), units.len(), "a loop depends on itself");
    items
}
