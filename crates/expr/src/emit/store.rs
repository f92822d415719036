//! Stores: last, as wide as alignment allows, streaming or not.

use super::access::{Group, groups, pack, runs, vector};
use super::body::Body;
use crate::plan::Slot;
use std::fmt::Write as _;

impl Body<'_> {
    pub(super) fn stores(&mut self) {
        let (plan, program) = (self.plan, self.program);
        for (number, slot) in plan.outputs.iter().enumerate() {
            let mut zeros: Vec<&[u8]> = Vec::new();
            let whole = |s: &crate::program::Store| usize::from(s.output) == number && s.partial.is_none();
            for s in program.stores.iter().filter(|s| whole(s)) {
                if !zeros.contains(&&s.only_at_zero[..]) {
                    zeros.push(&s.only_at_zero);
                }
            }
            for zero in zeros {
                let mine = |s: &crate::program::Store| whole(s) && s.only_at_zero[..] == *zero;
                let accesses =
                    program.stores.iter().enumerate().filter(|(_, s)| mine(s)).map(|(i, s)| (i, 0u8, &s.index[..]));
                let list = groups(program, plan, (number, slot), accesses);
                let condition: Vec<String> =
                    zero.iter().map(|d| format!("{} == 0", self.names.coord(usize::from(*d)))).collect();
                for group in list {
                    self.store(&group, slot, number, &condition.join(" && "));
                }
            }
        }
        let pending = std::mem::take(&mut self.pending);
        for (head, streaming) in [("  if (p.streaming) {\n", true), ("  } else {\n", false)] {
            self.text.push_str(head);
            for (guard, arguments) in &pending {
                let _ = writeln!(self.text, "    {guard}tw::arch::store<{streaming}>{arguments};");
            }
        }
        self.text.push_str("  }\n");
    }

    fn store(&mut self, group: &Group, slot: &Slot, number: usize, condition: &str) {
        let pointer = self.pointer(group, slot, &format!("out{number}"), false);
        let guard = if condition.is_empty() { String::new() } else { format!("if ({condition}) ") };
        let size = slot.dtype.size();
        for run in runs(group, size) {
            let values: Vec<String> =
                run.members.iter().map(|(_, m)| self.use_of(self.program.stores[*m].value)).collect();
            let element = run.at / size as i64;
            if run.width == 0 {
                let place = if element == 0 { pointer.clone() } else { format!("{pointer} + {element}") };
                self.pending.push((guard.clone(), format!("({place}, {})", values[0])));
                continue;
            }
            let kind = vector(run.width);
            let words = pack(&values, slot.dtype).join(", ");
            let whole = if run.width == 4 { words } else { format!("make_{kind}({words})") };
            let place = if element == 0 { pointer.clone() } else { format!("({pointer} + {element})") };
            self.pending.push((guard.clone(), format!("(({kind}*){place}, {whole})")));
        }
    }
}
