//! What threads keep of their row in registers, from the turn that computes it to those that need it again.

use crate::collective::Group;
use crate::plan::Plan;
use crate::program::{Along, Goal, Inst, LOOPS, Program, Val};
use std::collections::{BTreeSet, HashMap};

/// Most 32-bit registers of a thread for what it keeps of its row.
const KEPT: usize = 128;

/// Values that one turn computes and a later one needs again: for each turn what it is given, and what it keeps.
#[derive(Default)]
pub(super) struct Held {
    pub(super) given: Vec<BTreeSet<Val>>,
    pub(super) kept: Vec<BTreeSet<Val>>,
}

impl Held {
    /// What is worth keeping; nothing if the threads have no room for it.
    pub(super) fn new(plan: &Plan, group: &Group, program: &Program) -> Held {
        let turns = usize::from(program.levels()) + 1;
        let along = (plan.world.len() - group.loops..plan.world.len()).fold(0, |bits: Along, i| bits | 1 << i);
        let world = (1 << LOOPS) - 1;
        let mut held = Held { given: vec![BTreeSet::new(); turns], kept: vec![BTreeSet::new(); turns] };
        let mut turn_of: HashMap<Val, usize> = HashMap::new();
        for turn in 0..turns {
            let goal = if turn + 1 == turns { Goal::Stores } else { Goal::Level(turn as u16) };
            let aimed = program.aimed(goal);
            let mut stack: Vec<Val> =
                aimed.stored().iter().flat_map(|s| s.index.iter().copied().chain([s.value])).collect();
            stack.extend(aimed.taken().flat_map(|(_, s)| &s.terms).flat_map(|(a, b)| [Some(*a), *b]).flatten());
            let mut seen: BTreeSet<Val> = BTreeSet::new();
            while let Some(v) = stack.pop() {
                if !seen.insert(v) {
                    continue;
                }
                let inst = program.inst(v);
                let plain = matches!(inst, Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Shared(_));
                let varies = program.varies(v);
                let of_row = !plain && varies & along != 0 && varies & !world == 0;
                match turn_of.get(&v).filter(|t| **t < turn && of_row) {
                    Some(before) => {
                        held.given[turn].insert(v);
                        held.kept[*before].insert(v);
                    }
                    None => {
                        turn_of.entry(v).or_insert(turn);
                        inst.for_each_arg(|a| stack.push(a));
                    }
                }
            }
        }
        let words = |v: &Val| program.dtype(*v).size().div_ceil(4);
        let alive = |turn: usize| -> usize {
            let needed: BTreeSet<&Val> = held.given[turn + 1..].iter().flatten().collect();
            held.kept[..=turn].iter().flatten().filter(|v| needed.contains(v)).map(words).sum()
        };
        let most = (0..turns - 1).map(alive).max().unwrap_or(0);
        if most * group.steps as usize > KEPT { Held::default() } else { held }
    }

    pub(super) fn any(&self) -> bool {
        self.kept.iter().any(|k| !k.is_empty())
    }

    pub(super) fn of(list: &[BTreeSet<Val>], turn: usize) -> impl Iterator<Item = Val> {
        list.get(turn).into_iter().flatten().copied()
    }
}
