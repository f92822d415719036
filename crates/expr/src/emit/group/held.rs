//! What threads keep of their row from the turn that computes it to those that need it again: the first steps' values in
//! registers, the others' in shared memory.

use super::Writer;
use crate::collective::Group;
use crate::plan::Plan;
use crate::program::{Along, Goal, Inst, LOOPS, Program, Val};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most words of 32 bits that a thread keeps of its row.
const KEPT: usize = 128;
/// So many of them stand in registers before any goes to shared memory.
const REGISTERS: usize = 32;
/// Most bytes of shared memory for what a block keeps: all that is there without asking, less what the turns' ends take.
const SHARED_BYTES: usize = 46 << 10;

/// Values that one turn computes and a later one needs again.
#[derive(Default)]
pub(super) struct Held {
    /// For each turn, what it is given.
    given: Vec<BTreeSet<Val>>,
    /// For each turn, what it keeps.
    kept: Vec<BTreeSet<Val>>,
    /// Steps whose values stand in registers: the first ones.
    register_steps: u32,
    /// Steps whose values stand in shared memory.
    shared_steps: u32,
    /// Where the values of such a step are, in bytes of a thread: those that no turn needs at once share a place.
    places: BTreeMap<Val, usize>,
    /// Bytes of a thread for such a step.
    step_bytes: usize,
}

impl Held {
    /// What is worth keeping; nothing if the threads have no room for it.
    pub(super) fn new(plan: &Plan, group: &Group, program: &Program) -> Held {
        let turns = usize::from(program.levels()) + 1;
        let along = (plan.world.len() - group.loops..plan.world.len()).fold(0, |bits: Along, i| bits | 1 << i);
        let world = (1 << LOOPS) - 1;
        let sets = || vec![BTreeSet::new(); turns];
        let mut held = Held { given: sets(), kept: sets(), ..Held::default() };
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
        held.find_places(program);
        held.share_out(group.steps, plan.block[0] * plan.block[1])
    }

    /// Gives each value a place among the bytes of a step; places become free after the turn that needs them last.
    fn find_places(&mut self, program: &Program) {
        let mut free: Vec<(usize, usize)> = Vec::new();
        for turn in 0..self.kept.len() {
            let later: BTreeSet<&Val> = self.given[turn + 1..].iter().flatten().collect();
            let ended = self.given[turn].iter().filter(|v| !later.contains(v));
            free.extend(ended.map(|v| (program.dtype(*v).size(), self.places[v])));
            for v in &self.kept[turn] {
                let size = program.dtype(*v).size();
                let place = match free.iter().position(|(s, _)| *s == size) {
                    Some(i) => free.swap_remove(i).1,
                    None => {
                        let place = self.step_bytes.next_multiple_of(size);
                        self.step_bytes = place + size;
                        place
                    }
                };
                self.places.insert(*v, place);
            }
        }
        self.step_bytes = self.step_bytes.next_multiple_of(8);
    }

    /// Decides which steps' values stand in registers; nothing is kept if there is no room.
    fn share_out(mut self, steps: u32, threads: u32) -> Held {
        let words = self.step_bytes.div_ceil(4);
        if words == 0 || words * steps as usize > KEPT {
            return Held::default();
        }
        let shared = (words * steps as usize).saturating_sub(REGISTERS) / words;
        self.shared_steps = shared.min(SHARED_BYTES / (self.step_bytes * threads as usize)) as u32;
        self.register_steps = steps - self.shared_steps;
        self
    }

    pub(super) fn any(&self) -> bool {
        !self.places.is_empty()
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

    /// What a turn is called with at step `k`, which is one of those in registers, or one of those in shared memory.
    fn held_arguments(&self, turn: usize, shared: bool) -> String {
        let all = Held::of(&self.held.given, turn).chain(Held::of(&self.held.kept, turn));
        let threads = self.plan.block[0] * self.plan.block[1];
        let place = |v: Val| match shared {
            true => format!(", s{}[(k - {}) * {threads}]", v.0, self.held.register_steps),
            false => format!(", h{}[k]", v.0),
        };
        all.map(place).collect()
    }

    /// Defines the registers and the pointers to a thread's part of shared memory.
    pub(super) fn declare_held(&mut self) {
        let (registers, shared) = (self.held.register_steps, self.held.shared_steps);
        let threads = self.plan.block[0] * self.plan.block[1];
        let from = self.scratch(self.held.step_bytes as u32 * shared * threads);
        for (v, place) in self.held.places.clone() {
            let kind = self.tile.dtype(v).cuda();
            if registers > 0 {
                self.line(1, &format!("{kind} h{}[{registers}];", v.0));
            }
            if shared > 0 {
                let at = from + place as u32 * shared * threads;
                self.line(1, &format!("{kind}* const s{} = ({kind}*)(tw::shared_memory() + {at}) + threadIdx.x;", v.0));
            }
        }
    }

    /// The steps of a turn along a row that is kept: `turn` is the call without its last arguments.
    pub(super) fn steps_of_held(&mut self, number: usize, call: &str) {
        let (lanes, width) = (self.lanes(), self.group.tree.width);
        let (registers, shared) = (self.held.register_steps, self.held.shared_steps);
        let count = super::place::integer(self.group.wide());
        for (from, to, in_shared) in [(0, registers, false), (registers, registers + shared, true)] {
            if from == to {
                continue;
            }
            if !in_shared {
                self.line(1, "TW_UNROLL");
            }
            self.line(1, &format!("for (int k = {from}; k < {to}; ++k) {{"));
            self.line(2, &format!("const {count} at = first + t * {lanes} + k * {width};"));
            self.line(2, "if (at >= end) continue;");
            self.point_of_row(2, "at");
            let held = self.held_arguments(number, in_shared);
            self.line(2, &format!("{call}{held});"));
            self.line(1, "}");
        }
    }
}
