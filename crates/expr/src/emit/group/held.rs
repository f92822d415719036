//! What threads keep of their row, in registers, from the turn that computes it to those that need it again.

use super::Writer;
use crate::collective::Group;
use crate::plan::Plan;
use crate::program::{Along, Goal, Inst, LOOPS, Program, Val};
use std::collections::{BTreeSet, HashMap};

/// Most words of 32 bits that the threads of a block keep in registers: half of what there are on a multiprocessor.
const KEPT: usize = 32 << 10;

/// Values that one turn computes and a later one needs again.
#[derive(Default)]
pub(super) struct Held {
    /// For each turn, what it is given.
    given: Vec<BTreeSet<Val>>,
    /// For each turn, what it keeps.
    kept: Vec<BTreeSet<Val>>,
}

impl Held {
    /// What is worth keeping; nothing if the threads have no room for it.
    pub(super) fn new(plan: &Plan, group: &Group, program: &Program) -> Held {
        let turns = usize::from(program.levels()) + 1;
        let along = (plan.world.len() - group.loops..plan.world.len()).fold(0, |bits: Along, i| bits | 1 << i);
        let world = (1 << LOOPS) - 1;
        let sets = || vec![BTreeSet::new(); turns];
        let mut held = Held { given: sets(), kept: sets() };
        let mut turn_of: HashMap<Val, usize> = HashMap::new();
        for turn in 0..turns {
            let goal = if turn + 1 == turns { Goal::Stores } else { Goal::Level(turn as u16) };
            let aimed = program.aimed(goal);
            let mut stack: Vec<Val> = aimed.stored().iter().flat_map(|s| s.needs()).collect();
            stack.extend(aimed.taken().flat_map(|(_, s)| &s.terms).flat_map(|(a, b)| [Some(*a), *b]).flatten());
            let mut seen: BTreeSet<Val> = BTreeSet::new();
            while let Some(v) = stack.pop() {
                if !seen.insert(v) {
                    continue;
                }
                let inst = program.inst(v);
                // A coordinate, or one near it, costs less than keeping it.
                let base = program.affine(v).0.map(|base| program.inst(base));
                let plain = matches!(base, None | Some(Inst::Coord(_) | Inst::Extent { .. } | Inst::Shared(_)));
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
        let threads = plan.block[0] * plan.block[1];
        let words = held.words(program) * (group.steps * threads) as usize;
        if (1..=KEPT).contains(&words) { held } else { Held::default() }
    }

    /// Most words that a thread has of a step at once: what some turn leaves to later ones.
    fn words(&self, program: &Program) -> usize {
        let left = |turn: usize| {
            let later: BTreeSet<Val> = self.given[turn + 1..].iter().flatten().copied().collect();
            let kept: BTreeSet<Val> = self.kept[..=turn].iter().flatten().copied().collect();
            later.intersection(&kept).map(|v| program.dtype(*v).size().div_ceil(4)).sum()
        };
        (0..self.kept.len()).map(left).max().unwrap_or(0)
    }

    pub(super) fn any(&self) -> bool {
        self.kept.iter().any(|kept| !kept.is_empty())
    }

    fn of(list: &[BTreeSet<Val>], turn: usize) -> impl Iterator<Item = Val> {
        list.get(turn).into_iter().flatten().copied()
    }
}

impl Writer<'_> {
    /// The program of a turn, with what it is given and what it keeps.
    pub(super) fn holding(&self, goal: Goal, turn: usize) -> Program {
        let (mut program, _) = super::scan::given(self.tile, goal);
        program.given.extend(Held::of(&self.held.given, turn));
        program.kept = Held::of(&self.held.kept, turn).collect();
        program
    }

    /// A turn's parameters for what it is given and keeps.
    pub(super) fn held_parameters(&self, turn: usize) -> String {
        let kind = |v: Val| self.tile.dtype(v).cuda();
        let given = Held::of(&self.held.given, turn).map(|v| format!(", const {} h{}", kind(v), v.0));
        let kept = Held::of(&self.held.kept, turn).map(|v| format!(", {}& h{}", kind(v), v.0));
        given.chain(kept).collect()
    }

    /// Defines the registers.
    pub(super) fn declare_held(&mut self) {
        let values: BTreeSet<Val> = self.held.kept.iter().flatten().copied().collect();
        for v in values {
            self.line(1, &format!("{} h{}[{}];", self.tile.dtype(v).cuda(), v.0, self.group.steps));
        }
    }

    /// The steps of a turn along a row, one after the other: `call` is the turn's, without its last arguments.
    pub(super) fn steps_of_row(&mut self, number: usize, call: &str) {
        let (lanes, width, steps) = (self.lanes(), self.group.tree.width, self.group.steps);
        let count = super::place::integer(self.group.wide());
        self.line(1, "TW_UNROLL");
        self.line(1, &format!("for (int k = 0; k < {steps}; ++k) {{"));
        self.line(2, &format!("const {count} at = first + t * {lanes} + k * {width};"));
        if !self.group.full {
            self.line(2, "if (at >= end) continue;");
        }
        self.point_of_row(2, "at");
        let all = Held::of(&self.held.given, number).chain(Held::of(&self.held.kept, number));
        let held: String = all.map(|v| format!(", h{}[k]", v.0)).collect();
        self.line(2, &format!("{call}{held});"));
        self.line(1, "}");
    }
}
