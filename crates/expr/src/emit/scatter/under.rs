//! Stores to places of their own under conditions: a word at once where all of its values are stored, else one by one.

use super::guard;
use crate::emit::access::{Run, groups, pack, runs, vector};
use crate::emit::body::Body;
use crate::program::Store;
use std::fmt::Write as _;

impl Body<'_> {
    /// The program's stores of this kind to one output.
    pub(super) fn stores_under_conditions(&mut self, output: usize) {
        let program = self.program;
        let under = |(_, s): &(usize, &Store)| {
            usize::from(s.output) == output && s.partial.is_some_and(|partial| !partial.computed)
        };
        let mut left: Vec<(usize, &Store)> = program.stored().iter().enumerate().filter(under).collect();
        // Those that are stored at the same points go together.
        while let Some((_, first)) = left.first() {
            let same = |(_, s): &(usize, &Store)| s.only_at_zero == first.only_at_zero;
            let (mine, others): (Vec<_>, Vec<_>) = left.iter().copied().partition(same);
            self.under_conditions(output, &mine);
            left = others;
        }
    }

    fn under_conditions(&mut self, output: usize, stores: &[(usize, &Store)]) {
        let (plan, program) = (self.plan, self.program);
        let slot = &plan.outputs[output];
        let accesses = stores.iter().map(|(number, s)| (*number, 0u8, &s.index[..]));
        for group in groups(program, plan, (output, slot), accesses) {
            let pointer = self.pointer(&group, slot, &format!("out{output}"), false);
            for run in runs(&group, slot.dtype.size()) {
                self.run_under_conditions(&pointer, output, &run);
            }
        }
    }

    fn run_under_conditions(&mut self, pointer: &str, output: usize, run: &Run) {
        let dtype = self.plan.outputs[output].dtype;
        let place = |at: i64| match at / dtype.size() as i64 {
            0 => pointer.to_string(),
            element => format!("({pointer} + {element})"),
        };
        let stores: Vec<&Store> = run.members.iter().map(|(_, number)| &self.program.stores[*number]).collect();
        let values: Vec<String> = stores.iter().map(|s| self.use_of(s.value)).collect();
        let conditions: Vec<Option<String>> = stores.iter().map(|s| s.condition().map(|c| self.use_of(c))).collect();
        let zero = self.at_zero(stores[0]);
        let mut otherwise = "";
        if run.width > 0 {
            let (kind, words) = (vector(run.width), pack(&values, dtype).join(", "));
            let whole = if run.width == 4 { words } else { format!("make_{kind}({words})") };
            let mut all: Vec<String> = conditions.iter().flatten().cloned().collect();
            all.dedup();
            let mut all: Vec<String> = (!all.is_empty()).then(|| all.join(" & ")).into_iter().collect();
            all.extend(zero.iter().cloned());
            let text = format!("tw::arch::store<false>(({kind}*){}, {whole})", place(run.at));
            self.line(format_args!("{}{text}", guard(&all)));
            if all.is_empty() {
                return;
            }
            otherwise = "else ";
        }
        let mut each = Vec::with_capacity(values.len());
        for (((at, _), value), condition) in run.members.iter().zip(&values).zip(conditions) {
            let condition: Vec<String> = zero.iter().cloned().chain(condition).collect();
            each.push(format!("{}tw::arch::store<false>({}, {value});", guard(&condition), place(*at)));
        }
        let _ = writeln!(self.text, "  {otherwise}{{ {} }}", each.join(" "));
    }
}
