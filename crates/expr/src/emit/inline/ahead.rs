//! What a function loads that a kernel can ask for ahead: where it knows a point, but not yet the value that it gives.

use crate::bind::Place;
use crate::emit::access::{Group, Run, loaded, vector};
use crate::emit::body::Body;
use crate::emit::schedule::Step;
use crate::graph::Binary;
use crate::plan::{Plan, Slot};
use crate::program::{Inst, Program, Val};
use std::collections::BTreeSet;

/// The loads of a body that may come ahead of the rest.
pub(super) struct Ahead {
    /// Their groups.
    groups: Vec<usize>,
    /// What their addresses need.
    before: BTreeSet<Val>,
    /// What the rest needs.
    after: BTreeSet<Val>,
}

impl Ahead {
    /// Those of the steps that vary along more than the innermost dimension, the first `most` words of them: what repeats from row to row
    /// is near anyway.
    pub(super) fn find(body: &Body<'_>, steps: &[Step], loads: &[Group], most: usize) -> Ahead {
        let Body { plan, program, .. } = *body;
        let (mut groups, mut words) = (Vec::new(), 0);
        let straight = steps.iter().all(|step| matches!(step, Step::Inst(_) | Step::Load(_) | Step::Divide(_)));
        for step in if straight { steps } else { &[] } {
            let Step::Load(g) = step else { continue };
            let of_group = words_of(plan, program, &loads[*g]).filter(|more| words + more <= most);
            words += of_group.unwrap_or(0);
            groups.extend(of_group.map(|_| *g));
        }
        let before = needed(program, groups.iter().flat_map(|g| bases(&loads[*g])), |_| false);
        let held: BTreeSet<Val> = groups.iter().flat_map(|g| members(&loads[*g])).collect();
        let after = needed(program, program.stored().iter().map(|s| s.value), |v| held.contains(&v));
        Ahead { groups, before, after }
    }

    /// The members of the structure that holds them.
    pub(super) fn fields(&self, plan: &Plan, loads: &[Group]) -> Vec<String> {
        self.runs(plan, loads).map(|(slot, run)| format!("{} {}", kind(slot, &run), name(&run))).collect()
    }

    /// The body that has the L2 cache read them.
    pub(super) fn touch(&self, body: &mut Body<'_>, steps: &[Step], loads: &[Group]) {
        body.touches = true;
        self.begin(body, steps, loads);
    }

    /// The body that loads them into the structure `ahead`.
    pub(super) fn load(&self, body: &mut Body<'_>, steps: &[Step], loads: &[Group]) {
        self.begin(body, steps, loads);
        for (_, run) in self.runs(body.plan, loads) {
            body.line(format_args!("ahead.{0} = {0}", name(&run)));
        }
    }

    fn begin(&self, body: &mut Body<'_>, steps: &[Step], loads: &[Group]) {
        let first = |step: &&Step| match step {
            Step::Inst(v) => self.before.contains(v),
            Step::Load(g) => self.groups.contains(g),
            _ => false,
        };
        let steps: Vec<Step> = steps.iter().filter(first).cloned().collect();
        body.steps(&steps, loads, &[]);
    }

    /// The steps that are left, in a body that finds them in `ahead`.
    pub(super) fn rest(&self, body: &mut Body<'_>, steps: &[Step], loads: &[Group]) -> Vec<Step> {
        if self.groups.is_empty() {
            return steps.to_vec();
        }
        for (slot, run) in self.runs(body.plan, loads) {
            body.take(&run, &format!("ahead.{}", name(&run)), slot.dtype);
        }
        let left = |step: &&Step| match step {
            Step::Inst(v) => self.after.contains(v),
            Step::Load(g) => !self.groups.contains(g) && members(&loads[*g]).any(|v| self.after.contains(&v)),
            _ => true,
        };
        steps.iter().filter(left).cloned().collect()
    }

    fn runs<'a>(&'a self, plan: &'a Plan, loads: &'a [Group]) -> impl Iterator<Item = (&'a Slot, Run)> {
        self.groups.iter().flat_map(move |g| {
            let slot = &plan.inputs[loads[*g].slot];
            loaded(&loads[*g], slot.dtype.size()).into_iter().map(move |run| (slot, run))
        })
    }
}

/// The words of a group that may come ahead; nothing if it may not, or what for.
fn words_of(plan: &Plan, program: &Program, group: &Group) -> Option<usize> {
    let slot = plan.inputs.get(group.slot).filter(|slot| slot.place == Place::Device)?;
    let inner = 1 << plan.world.len().checked_sub(1)?;
    let varies = group.bases.iter().flatten().any(|v| program.varies(*v) & !inner != 0);
    let known = needed(program, bases(group), |_| false).into_iter().all(|v| is_simple(program, v));
    let runs = loaded(group, slot.dtype.size());
    let possible = varies && known && runs.iter().all(|run| !run.anywhere);
    possible.then(|| runs.iter().map(|run| run.width.max(slot.dtype.size() as u32).div_ceil(4) as usize).sum())
}

/// Whether a value is a coordinate, or arithmetic that is a statement of its own.
fn is_simple(program: &Program, v: Val) -> bool {
    match program.inst(v) {
        _ if program.given.contains(&v) => false,
        Inst::Binary(Binary::Div, ..) => !program.dtype(v).is_float(),
        Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } => true,
        Inst::Unary(..) | Inst::Binary(..) | Inst::Fma(..) | Inst::Select(..) | Inst::Cast(_) | Inst::Bits(_) => true,
        _ => false,
    }
}

/// All that these values need, themselves among it, but neither those that are at hand nor what only they, or what is given, need.
fn needed(program: &Program, of: impl Iterator<Item = Val>, at_hand: impl Fn(Val) -> bool) -> BTreeSet<Val> {
    let mut needed = BTreeSet::new();
    let mut next: Vec<Val> = of.collect();
    while let Some(v) = next.pop() {
        if !at_hand(v) && needed.insert(v) && !program.given.contains(&v) {
            program.inst(v).for_each_arg(|a| next.push(a));
        }
    }
    needed
}

/// What the coordinates of a group's elements are computed from.
fn bases(group: &Group) -> impl Iterator<Item = Val> {
    group.bases.iter().flatten().copied()
}

fn members(group: &Group) -> impl Iterator<Item = Val> {
    group.members.iter().map(|(_, member)| Val(*member as u32))
}

fn kind(slot: &Slot, run: &Run) -> &'static str {
    if run.width == 0 { slot.dtype.cuda() } else { vector(run.width) }
}

/// As the body calls what it loads.
fn name(run: &Run) -> String {
    format!("{}{}", if run.width == 0 { "v" } else { "w" }, run.members[0].1)
}
