//! Values of a stage as text: where they stand, how they are read and written.

use crate::emit::access::{Group, groups, pack, runs, vector};
use crate::emit::body::Body;
use crate::program::{Inst, Val};

impl Body<'_> {
    /// Reads values of a stage.
    pub(in crate::emit) fn load_stage(&mut self, group: &Group, stage: usize) {
        let Some(staging) = &self.plan.staging else { return };
        let dtype = staging.stages[stage].dtype;
        let pointer = self.stage_pointer(group, stage, "const ");
        for run in runs(group, dtype.size()) {
            let element = run.at / dtype.size() as i64;
            let text = match run.width {
                0 => format!("{pointer}[{element}]"),
                width => format!("*(const {}*)({pointer} + {element})", vector(width)),
            };
            self.take(&run, &text, dtype);
        }
    }

    /// Writes what the program stores to a stage.
    pub(in crate::emit) fn store_stage(&mut self, stage: usize) {
        let (program, plan) = (self.program, self.plan);
        let Some(staging) = &plan.staging else { return };
        let slot = staging.stages[stage].slot(&staging.tile);
        let number = plan.inputs.len() + stage;
        let accesses = program.stores.iter().enumerate().map(|(i, s)| (i, 0u8, &s.index[..]));
        for group in groups(program, plan, (number, &slot), accesses) {
            let pointer = self.stage_pointer(&group, stage, "");
            for run in runs(&group, slot.dtype.size()) {
                let values: Vec<String> =
                    run.members.iter().map(|(_, m)| self.use_of(program.stores[*m].value)).collect();
                let element = run.at / slot.dtype.size() as i64;
                if run.width == 0 {
                    self.line(format_args!("{pointer}[{element}] = {}", values[0]));
                    continue;
                }
                let (kind, words) = (vector(run.width), pack(&values, slot.dtype).join(", "));
                let whole = if run.width == 4 { words } else { format!("make_{kind}({words})") };
                self.line(format_args!("*({kind}*)({pointer} + {element}) = {whole}"));
            }
        }
    }

    /// A variable with the address that the displacements of a group count from.
    fn stage_pointer(&mut self, group: &Group, stage: usize, qualifier: &str) -> String {
        let Some(staging) = &self.plan.staging else { return String::new() };
        let kept = &staging.stages[stage];
        let slot = kept.slot(&staging.tile);
        let kind = slot.dtype.cuda();
        let mut text = format!("({qualifier}{kind}*)(tw::shared_memory() + {})", staging.offset(stage));
        for (i, t) in staging.tile.iter().enumerate() {
            let axis = kept.registers.len() + i;
            let Some(base) = group.bases[axis] else { continue };
            let place = self.place(base, t.number);
            match (group.shifts[axis], slot.axes[axis].axis.stride) {
                (0, 1) => text += &format!(" + {place}"),
                (0, stride) => text += &format!(" + {place} * {stride}"),
                (shift, stride) => text += &format!(" + ({place} + {shift}) * {stride}"),
            }
        }
        self.variable(&format!("{qualifier}{kind}*"), &format!("stage{stage}"), text.clone(), &text)
    }

    /// A coordinate along a loop of the tile as a place, counted as the thread's own place is.
    fn place(&self, v: Val, number: usize) -> String {
        let (coord, place) = (self.names.coord(number), self.names.place(number));
        match self.program.inst(v) {
            Inst::Coord(d) if usize::from(*d) == number => place,
            _ => format!("({} - {coord} + {place})", self.use_of(v)),
        }
    }
}
