//! The order of a body's statements: loads where they are first needed, divisions that share divisors together, and what may
//! be taken over from an earlier row behind one comparison.

use super::access::Group;
use super::reuse::Reuse;
use crate::dtype::DType;
use crate::graph::Binary;
use crate::map::Map;
use crate::nest::{home, split};
use crate::program::{Along, Inst, LoopId, Program, Val};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// One step of a body.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A statement.
    Inst(Val),
    /// The loads of a group.
    Load(usize),
    /// Values taken over from an earlier row, or computed by these steps.
    Reuse(usize, Vec<Step>),
    /// Divisions `(quotient, dividend, divisor)` that do not depend on each other.
    Divide(Vec<(Val, Val, Val)>),
    /// A loop: what each step computes, and the reductions that take its values.
    Loop(LoopId, Vec<Step>, Vec<Val>),
}

/// Who uses a value. Literal parts of addresses are displacements, not values.
pub(super) struct Uses {
    live: Vec<bool>,
    stored: Vec<bool>,
    users: Vec<Vec<Val>>,
}

impl Uses {
    pub(super) fn new(program: &Program) -> Uses {
        let n = program.len();
        let mut uses = Uses { live: vec![false; n], stored: vec![false; n], users: vec![Vec::new(); n] };
        program.terms().for_each(|v| uses.stored[v.0 as usize] = true);
        for store in program.stored() {
            let address = store.index.iter().filter_map(|v| program.affine(*v).0);
            address.chain([store.value]).chain(store.condition()).for_each(|v| uses.stored[v.0 as usize] = true);
        }
        program.kept.iter().for_each(|v| uses.stored[v.0 as usize] = true);
        for v in program.values().rev().filter(|v| !program.given.contains(v)) {
            let at = v.0 as usize;
            uses.live[at] = uses.stored[at] || !uses.users[at].is_empty();
            if uses.live[at] {
                arguments(program, v, |a| uses.users[a.0 as usize].push(v));
            }
        }
        uses
    }

    /// Whether a statement uses the value.
    pub(super) fn live(&self, v: Val) -> bool {
        self.live[v.0 as usize]
    }

    /// Whether a store uses the value.
    pub(super) fn stored(&self, v: Val) -> bool {
        self.stored[v.0 as usize]
    }

    /// The live instructions that use the value.
    pub(super) fn of(&self, v: Val) -> &[Val] {
        &self.users[v.0 as usize]
    }
}

/// What an instruction's text names.
fn arguments(program: &Program, v: Val, mut f: impl FnMut(Val)) {
    match program.inst(v) {
        Inst::Load { index, .. } => index.iter().filter_map(|i| program.affine(*i).0).for_each(f),
        other => other.for_each_arg(&mut f),
    }
}

/// What is ordered: an instruction, or several that stand together.
struct Unit {
    step: Step,
    first: Val,
    members: Vec<Val>,
}

/// Orders the live instructions; divisors for which `by_reciprocal` holds have a reciprocal from outside. `None` if a `reuse`
/// depends on itself.
pub(super) fn schedule(
    program: &Program,
    uses: &Uses,
    loads: &[Group],
    reuses: &[Reuse],
    by_reciprocal: &dyn Fn(Val) -> bool,
) -> Option<Vec<Step>> {
    let all: BTreeSet<Val> = program.values().filter(|v| uses.live(*v)).collect();
    let alone = |v: Val| short_division(program, v).filter(|(_, _, d)| by_reciprocal(*d)).is_some();
    order(program, &all, 0, (loads, reuses), &alone)
}

/// A division `(quotient, dividend, divisor)` that may go by the divisor's reciprocal.
fn short_division(program: &Program, v: Val) -> Option<(Val, Val, Val)> {
    match program.inst(v) {
        Inst::Binary(Binary::Div, a, d) if program.dtype(v) == DType::F32 => Some((v, *a, *d)),
        _ => None,
    }
}

fn order(
    program: &Program,
    values: &BTreeSet<Val>,
    inside: Along,
    (loads, reuses): (&[Group], &[Reuse]),
    alone: &dyn Fn(Val) -> bool,
) -> Option<Vec<Step>> {
    let units = units(program, values, inside, (loads, reuses), alone)?;
    let mut unit_of: Map<Val, usize> = Map::default();
    for (u, unit) in units.iter().enumerate() {
        unit_of.extend(unit.members.iter().map(|v| (*v, u)));
    }
    let mut needs: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); units.len()];
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (u, unit) in units.iter().enumerate() {
        let mut need = |v: Val| {
            needs[u].extend(unit_of.get(&v).filter(|d| **d != u));
        };
        unit.members.iter().for_each(|v| arguments(program, *v, &mut need));
        if let Step::Reuse(r, _) = &unit.step {
            let reuse = &reuses[*r];
            let taken = reuse.values.iter().flat_map(|(_, there)| there);
            taken.chain(&reuse.there).chain([&reuse.here]).for_each(|v| need(*v));
        }
        needs[u].iter().for_each(|d| feeds[*d].push(u));
    }
    let mut stage = vec![0usize; units.len()];
    let divides = |u: usize| matches!(units[u].step, Step::Divide(_));
    let mut waits: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut ready: BinaryHeap<Reverse<(usize, bool, Val, usize)>> = BinaryHeap::new();
    let key = |u: usize, stage: usize| Reverse((stage, divides(u), units[u].first, u));
    ready.extend((0..units.len()).filter(|u| waits[*u] == 0).map(|u| key(u, 0)));
    let mut steps: Vec<Step> = Vec::new();
    let (mut done, mut last) = (0, None);
    while let Some(Reverse((at, division, _, u))) = ready.pop() {
        done += 1;
        match (&units[u].step, steps.last_mut()) {
            (Step::Divide(more), Some(Step::Divide(group))) if last == Some(at) => group.extend(more),
            (step, _) => steps.push(step.clone()),
        }
        last = division.then_some(at);
        for next in &feeds[u] {
            stage[*next] = stage[*next].max(at + usize::from(division));
            waits[*next] -= 1;
            if waits[*next] == 0 {
                ready.push(key(*next, stage[*next]));
            }
        }
    }
    (done == units.len()).then_some(steps)
}

fn units(
    program: &Program,
    values: &BTreeSet<Val>,
    inside: Along,
    (loads, reuses): (&[Group], &[Reuse]),
    alone: &dyn Fn(Val) -> bool,
) -> Option<Vec<Unit>> {
    let mut group_of: Map<Val, usize> = Map::default();
    for (g, group) in loads.iter().enumerate() {
        group_of.extend(group.members.iter().map(|(_, m)| (Val(*m as u32), g)));
    }
    let mut reuse_of: Map<Val, usize> = Map::default();
    for (r, reuse) in reuses.iter().enumerate() {
        reuse_of.extend(reuse.body.iter().map(|v| (*v, r)));
    }
    let division = |v: Val| short_division(program, v);
    let mut sharing: Map<Val, usize> = Map::default();
    values.iter().filter_map(|v| division(*v)).for_each(|(_, _, d)| *sharing.entry(d).or_default() += 1);

    let mut units: Vec<Unit> = Vec::new();
    let mut known: Map<Together, usize> = Map::default();
    for v in values {
        let together = match (home(program, *v, inside), reuse_of.get(v), group_of.get(v)) {
            (Some(id), _, _) => Some(Together::Loop(id)),
            (None, Some(r), _) => Some(Together::Reuse(*r)),
            (None, None, Some(g)) => Some(Together::Load(*g)),
            _ => None,
        };
        if let Some(u) = together.and_then(|t| known.get(&t)) {
            units[*u].members.push(*v);
            continue;
        }
        let step = match (together, program.inst(*v)) {
            // Its body is ordered when all its members are known.
            (Some(Together::Loop(id)), _) => Step::Loop(id, Vec::new(), Vec::new()),
            (Some(Together::Reuse(r)), _) => {
                Step::Reuse(r, order(program, &reuses[r].body, inside, (loads, &[]), alone)?)
            }
            (Some(Together::Load(g)), _) => Step::Load(g),
            (_, Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Shared(_)) => continue,
            _ => match division(*v).filter(|(_, _, d)| sharing[d] > 1 || alone(*v)) {
                Some(shared) => Step::Divide(vec![shared]),
                None => Step::Inst(*v),
            },
        };
        known.extend(together.map(|t| (t, units.len())));
        units.push(Unit { step, first: *v, members: vec![*v] });
    }
    for unit in &mut units {
        if let Step::Loop(id, body, reductions) = &mut unit.step {
            let (values, ends) = split(program, *id, &unit.members);
            *body = order(program, &values, inside | id.bit(), (loads, &[]), alone)?;
            *reductions = ends;
        }
    }
    Some(units)
}

/// What makes instructions stand together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Together {
    Loop(LoopId),
    Reuse(usize),
    Load(usize),
}
