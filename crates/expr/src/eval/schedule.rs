//! Order of evaluation: uniform values once per row, the others block by block in as few buffers as their lifetimes allow.

use crate::graph::{DimId, Graph};
use crate::lower::lower;
use crate::plan::Plan;
use crate::program::{Inst, Program, Val};

/// A program with its order of evaluation.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) program: Program,
    /// Values that are uniform along the inner dimension, in dependency order.
    pub(super) scalars: Vec<Val>,
    /// The others, with the buffer that each is written to.
    pub(super) vectors: Vec<(Val, usize)>,
    /// The buffer of each value that has one.
    pub(super) slot_of: Vec<Option<usize>>,
    /// Buffers.
    pub(super) slots: usize,
}

impl Schedule {
    pub(super) fn new(graph: &Graph, plan: &Plan) -> Schedule {
        let world: Vec<DimId> = plan.world.iter().map(|w| w.dim).collect();
        let outputs: Vec<_> = plan.outputs.iter().map(|s| s.dims()).collect();
        let program = lower(graph, &plan.operands(true), &outputs, &world, |program| {
            vec![world.iter().enumerate().map(|(i, d)| (*d, program.coord(i as u8))).collect()]
        });
        let live = program.live();
        let inner = 1u32.checked_shl(plan.world.len().wrapping_sub(1) as u32).unwrap_or(0);
        let mut schedule = Schedule {
            scalars: Vec::new(),
            vectors: Vec::new(),
            slot_of: vec![None; program.len()],
            slots: 0,
            program,
        };
        schedule.assign(&live, inner);
        schedule
    }

    fn assign(&mut self, live: &[bool], inner: u32) {
        let program = &self.program;
        let mut last_use = vec![0usize; program.len()];
        let mut note = |v: Val, at: usize| last_use[v.0 as usize] = at;
        let needed: Vec<Val> = program.values().filter(|v| live[v.0 as usize]).collect();
        for v in &needed {
            program.inst(*v).for_each_arg(|a| note(a, v.0 as usize));
        }
        for store in &program.stores {
            note(store.value, usize::MAX);
        }
        let mut free: Vec<usize> = Vec::new();
        for v in needed {
            if program.varies(v) & inner == 0 {
                self.scalars.push(v);
                continue;
            }
            if matches!(program.inst(v), Inst::Coord(_)) && last_use[v.0 as usize] == 0 {
                continue;
            }
            let slot = free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.slot_of[v.0 as usize] = Some(slot);
            self.vectors.push((v, slot));
            let mut ended: Vec<usize> = Vec::new();
            program.inst(v).for_each_arg(|a| {
                if let Some(slot) = self.slot_of[a.0 as usize]
                    && last_use[a.0 as usize] == v.0 as usize
                    && !ended.contains(&slot)
                {
                    ended.push(slot);
                }
            });
            free.extend(ended);
        }
    }
}
