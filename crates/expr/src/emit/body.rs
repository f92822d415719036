//! The body: one statement per instruction, loads where they are first needed, stores last.

use super::access::{Group, Run, extract, groups, loaded, runs, vector};
use super::reuse::{self, Reuse};
use super::schedule::{Step, Uses, schedule};
use super::sent::reciprocal;
use super::text::{binary, fma, literal, unary};
use super::{Names, Params};
use crate::bind::Place;
use crate::dtype::{DType, Scalar};
use crate::map::Map;
use crate::plan::{Plan, Slot};
use crate::program::{Inst, LoopId, Program, Val};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Writes the device function `name`, which computes one thread's points. `more`: parameters besides the coordinates.
pub(super) fn function(
    out: &mut String,
    name: &str,
    plan: &Plan,
    names: &Names,
    params: &Params,
    program: &Program,
    more: Option<&str>,
) {
    head(out, name, plan, names, more);
    let mut body = Body::new(plan, names, params, program);
    body.compute();
    body.accumulators();
    if program.stored().iter().any(|s| s.partial.is_none()) {
        body.stores();
    }
    body.partial_stores();
    out.push_str(&body.text);
    out.push_str("}\n\n");
}

/// Writes the first line of a function of a thread's coordinates.
pub(super) fn head(out: &mut String, name: &str, plan: &Plan, names: &Names, more: Option<&str>) {
    let coords: String = plan
        .world
        .iter()
        .enumerate()
        .map(|(i, w)| format!(", const {} {}", if w.wide() { "long long" } else { "int" }, names.coord(i)))
        .collect();
    let _ = writeln!(out, "static TW_DEVICE void {name}(const Params& p{coords}{}) {{", more.unwrap_or_default());
}

/// The statements of a function.
pub(super) struct Body<'a> {
    pub(super) plan: &'a Plan,
    pub(super) names: &'a Names,
    pub(super) params: &'a Params,
    pub(super) program: &'a Program,
    pub(super) text: String,
    /// What to write where a value is used.
    pub(super) value: Map<Val, String>,
    /// Calls of functions with several results, by their text.
    pub(super) several: Map<String, String>,
    /// Pointers already computed, by their text.
    pub(super) pointers: Map<String, String>,
    /// Divisors whose reciprocals are at hand.
    divisors: HashSet<Val>,
    /// Stores, each with its condition and arguments.
    pub(super) pending: Vec<(String, String)>,
    /// Whether what is loaded is not taken, but asked for: the L2 cache is to have it.
    pub(super) touches: bool,
    /// Where small integers stand among words, the least significant first: the word and the byte.
    small: Map<Val, (String, usize)>,
}

/// The steps of a body, with the loads and the values taken over that they name.
pub(super) struct Ordered {
    pub(super) steps: Vec<Step>,
    pub(super) loads: Vec<Group>,
    pub(super) reuses: Vec<Reuse>,
}

impl<'a> Body<'a> {
    pub(super) fn new(plan: &'a Plan, names: &'a Names, params: &'a Params, program: &'a Program) -> Body<'a> {
        Body {
            plan,
            names,
            params,
            program,
            text: String::new(),
            value: Map::default(),
            several: Map::default(),
            pointers: Map::default(),
            divisors: HashSet::new(),
            pending: Vec::new(),
            touches: false,
            small: Map::default(),
        }
    }

    /// Everything up to what is stored.
    pub(super) fn compute(&mut self) {
        let Ordered { steps, loads, reuses } = self.ordered();
        self.steps(&steps, &loads, &reuses);
    }

    /// The steps of that.
    pub(super) fn ordered(&self) -> Ordered {
        let (program, plan) = (self.program, self.plan);
        let uses = Uses::new(program);
        let loads = self.load_groups(&uses);
        let reuses = reuse::find(program, plan, &uses, &loads);
        let by_reciprocal = |d: Val| self.reciprocal(d).is_some();
        let steps = schedule(program, &uses, &loads, &reuses, &by_reciprocal)
            .or_else(|| schedule(program, &uses, &loads, &[], &by_reciprocal))
            .expect("what is not taken over depends on earlier instructions alone");
        Ordered { steps, loads, reuses }
    }

    fn load_groups(&self, uses: &Uses) -> Vec<Group> {
        let mut all = Vec::new();
        let stages = self.plan.staging.iter().flat_map(|s| s.stages.iter().map(|stage| stage.slot(&s.tile)));
        let stages: Vec<Slot> = stages.collect();
        for (number, slot) in self.plan.inputs.iter().chain(&stages).enumerate() {
            let accesses = self.program.values().filter(|v| uses.live(*v)).filter_map(|v| match self.program.inst(v) {
                Inst::Load { operand, component, index } if usize::from(*operand) == number => {
                    Some((v.0 as usize, *component, &index[..]))
                }
                _ => None,
            });
            all.extend(groups(self.program, self.plan, (number, slot), accesses));
        }
        all
    }

    pub(super) fn steps(&mut self, steps: &[Step], loads: &[Group], reuses: &[Reuse]) {
        for step in steps {
            match step {
                Step::Inst(v) => self.statement(*v),
                Step::Load(g) => self.load(&loads[*g]),
                Step::Divide(group) => self.divisions(group),
                Step::Reuse(r, body) => self.reuse(&reuses[*r], body, loads),
                Step::Loop(id, body, reductions) => self.looped(*id, body, reductions, loads),
            }
        }
    }

    /// A loop with its accumulators.
    fn looped(&mut self, id: LoopId, body: &[Step], reductions: &[Val], loads: &[Group]) {
        for v in reductions {
            let dtype = self.program.dtype(*v);
            let start = match self.program.inst(*v) {
                Inst::Reduce { reduction, .. } => literal(reduction.identity(dtype)),
                Inst::Iterate { carry, .. } => match self.program.inst(*carry) {
                    Inst::Carry { start, .. } => self.use_of(*start),
                    _ => continue,
                },
                _ => continue,
            };
            self.line(format_args!("{} v{} = {start}", dtype.cuda(), v.0));
            if let Inst::Iterate { carry, .. } = self.program.inst(*v) {
                self.value.insert(*carry, format!("v{}", v.0));
            }
        }
        self.addresses_outside(id, body, loads);
        let (step, extent) = (format!("s{}", id.0), self.program.loops()[usize::from(id.0)].extent);
        let _ = writeln!(self.text, "  for (int {step} = 0; {step} < {}; ++{step}) {{", self.use_of(extent));
        let known = (self.pointers.clone(), self.divisors.clone(), self.several.clone());
        self.steps(body, loads, &[]);
        for v in reductions {
            let (sum, dtype) = (format!("v{}", v.0), self.program.dtype(*v));
            let text = match self.program.inst(*v) {
                Inst::Reduce { value, times: Some(times), .. } => {
                    fma(&self.use_of(*value), &self.use_of(*times), &sum, dtype)
                }
                Inst::Reduce { reduction, value, .. } => {
                    binary(reduction.operation(), &sum, &self.use_of(*value), dtype)
                }
                Inst::Iterate { next, .. } => self.use_of(*next),
                _ => continue,
            };
            self.line(format_args!("{sum} = {text}"));
        }
        (self.pointers, self.divisors, self.several) = known;
        self.text.push_str("  }\n");
    }

    /// Values of an earlier row where the coordinates say so, else the steps that compute them.
    fn reuse(&mut self, reuse: &Reuse, body: &[Step], loads: &[Group]) {
        for (v, _) in &reuse.values {
            self.line(format_args!("{} r{}", self.program.dtype(*v).cuda(), v.0));
        }
        let here = self.use_of(reuse.here);
        for (i, there) in reuse.there.iter().enumerate() {
            let _ =
                write!(self.text, "{}if ({here} == {}) {{", if i == 0 { "  " } else { " else " }, self.use_of(*there));
            for (v, taken) in &reuse.values {
                let _ = write!(self.text, " r{} = {};", v.0, self.use_of(taken[i]));
            }
            self.text.push_str(" }");
        }
        self.text.push_str(" else {\n");
        let known = (self.pointers.clone(), self.several.clone());
        self.steps(body, loads, &[]);
        (self.pointers, self.several) = known;
        for (v, _) in &reuse.values {
            let text = self.use_of(*v);
            self.line(format_args!("r{} = {text}", v.0));
            self.value.insert(*v, format!("r{}", v.0));
            // The words that it came from stand in the block that ends here.
            self.small.remove(v);
        }
        self.text.push_str("  }\n");
    }

    /// The reciprocal of a divisor that is known before the kernel runs.
    fn reciprocal(&self, d: Val) -> Option<String> {
        match self.program.inst(d) {
            Inst::Const(s) => Some(literal(Scalar::of(reciprocal(s.get::<f32>())))),
            _ => {
                let at = self.params.sent.reciprocal(self.program, d)?;
                Some(format!("*(const float*)(p.sent + {at})"))
            }
        }
    }

    pub(super) fn line(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.push_str("  ");
        let _ = self.text.write_fmt(text);
        self.text.push_str(";\n");
    }

    fn define(&mut self, v: Val, text: String) {
        let name = format!("v{}", v.0);
        let kind = self.program.dtype(v).cuda();
        self.line(format_args!("const {kind} {name} = {text}"));
        self.value.insert(v, name);
    }

    pub(super) fn use_of(&self, v: Val) -> String {
        if let Inst::Scan { number, lane, terms } = self.program.inst(v) {
            return if terms.len() > 1 { format!("c{number}[{lane}]") } else { format!("c{number}") };
        }
        if self.program.given.contains(&v) {
            return format!("h{}", v.0);
        }
        match self.program.inst(v) {
            Inst::Const(s) => literal(*s),
            Inst::Coord(d) => self.names.coord(usize::from(*d)),
            Inst::Extent { operand, axis } => format!("p.in{operand}_n{axis}"),
            Inst::Step { within, .. } => format!("s{}", within.0),
            Inst::Shared(number) => format!("r{number}"),
            _ => self.value.get(&v).cloned().unwrap_or_else(|| format!("v{}", v.0)),
        }
    }

    fn load(&mut self, group: &Group) {
        let (plan, number) = (self.plan, group.slot);
        let Some(slot) = plan.inputs.get(number) else { return self.load_stage(group, number - plan.inputs.len()) };
        let name = format!("in{number}");
        let size = slot.dtype.size();
        let movable = slot.place == Place::Host && self.params.sent.fixed(number).is_none();
        let base = match movable {
            true => self.sent_offset(group, slot, &name),
            false => self.pointer(group, slot, &name, true),
        };
        let near = slot.place == Place::Device;
        for run in if near { loaded(group, size) } else { runs(group, size) } {
            let element = run.at / size as i64;
            if run.anywhere {
                self.take_anywhere(&run, &format!("{base} + {element}"), slot.dtype);
                continue;
            }
            let kind = if run.width == 0 { slot.dtype.cuda() } else { vector(run.width) };
            let text = match (movable, element) {
                (true, 0) => format!("tw::arch::sent<{kind}>(p, {base})"),
                (true, _) => format!("tw::arch::sent<{kind}>(p, {base} + {})", run.at),
                (false, 0) if run.width == 0 => format!("*{base}"),
                (false, _) if run.width == 0 => format!("{base}[{element}]"),
                (false, 0) => format!("*(const {kind}*){base}"),
                (false, _) => format!("*(const {kind}*)({base} + {element})"),
            };
            self.take(&run, &text, slot.dtype);
        }
    }

    /// The values of a run that is loaded by `text`.
    pub(super) fn take(&mut self, run: &Run, text: &str, dtype: DType) {
        if self.touches {
            return match text.strip_prefix('*') {
                Some(address) => self.line(format_args!("tw::arch::prefetch({address})")),
                None => self.line(format_args!("tw::arch::prefetch(&{text})")),
            };
        }
        if run.width == 0 {
            return self.define(Val(run.members[0].1 as u32), text.into());
        }
        let word = format!("w{}", run.members[0].1);
        self.line(format_args!("const {} {word} = {text}", vector(run.width)));
        for (at, member) in &run.members {
            let text = extract(&word, run.width, (at - run.at) as usize, dtype);
            self.define(Val(*member as u32), text);
        }
    }

    /// The values of a run that begins at any byte.
    fn take_anywhere(&mut self, run: &Run, place: &str, dtype: DType) {
        let word = format!("w{}", run.members[0].1);
        self.line(format_args!("unsigned {word}[{}]", run.width / 4));
        self.line(format_args!("tw::arch::words({place}, {word})"));
        for (at, member) in &run.members {
            let (v, at) = (Val(*member as u32), (at - run.at) as usize);
            self.define(v, extract(&word, 0, at, dtype));
            if matches!(dtype, DType::U8 | DType::U16) {
                self.small.insert(v, (format!("{word}[{}]", at / 4), at % 4));
            }
        }
    }

    /// What shared reductions and scans take goes where the thread has it; what later turns need is kept.
    fn accumulators(&mut self) {
        let program = self.program;
        for (lane, v) in program.scanned().iter().enumerate() {
            let place = if program.scanned().len() > 1 { format!("x[{lane}]") } else { "x".into() };
            let value = self.use_of(*v);
            self.line(format_args!("{place} = {value}"));
        }
        for v in &program.kept {
            let value = self.use_of(*v);
            self.line(format_args!("h{} = {value}", v.0));
        }
        for (number, shared) in program.taken() {
            for (lane, (value, times)) in shared.terms.iter().enumerate() {
                let place = if shared.terms.len() > 1 { format!("k{number}[{lane}]") } else { format!("k{number}") };
                let value = self.use_of(*value);
                let text = match times {
                    Some(times) => fma(&value, &self.use_of(*times), &place, shared.dtype),
                    None => binary(shared.reduction.operation(), &place, &value, shared.dtype),
                };
                self.line(format_args!("{place} = {text}"));
            }
        }
    }

    /// Divisions with shared divisors: quotients by their reciprocals, and the full division for all of them in the rare
    /// case that one is outside the range where those are exact.
    fn divisions(&mut self, group: &[(Val, Val, Val)]) {
        if group.is_empty() {
            return;
        }
        let mut names = Vec::with_capacity(group.len());
        for (v, a, d) in group {
            let divisor = format!("d{}", d.0);
            if self.divisors.insert(*d) {
                let value = self.use_of(*d);
                let text = match self.reciprocal(*d) {
                    Some(reciprocal) => format!("{{{value}, {reciprocal}}}"),
                    None => format!("tw::divisor({value})"),
                };
                self.line(format_args!("const tw::Divisor {divisor} = {text}"));
            }
            let name = format!("v{}", v.0);
            self.line(format_args!("float {name} = tw::quotient({}, {divisor})", self.use_of(*a)));
            names.push((name, *v, *a, *d));
        }
        let all: Vec<String> = names.iter().map(|(name, ..)| format!("tw::regular({name})")).collect();
        self.text.push_str(&format!("  if (!({})) {{\n", all.join(" & ")));
        for (name, v, a, d) in names {
            let text = format!("    {name} = tw::divide({}, {});\n", self.use_of(a), self.use_of(d));
            self.text.push_str(&text);
            self.value.insert(v, name);
        }
        self.text.push_str("  }\n");
    }

    fn statement(&mut self, v: Val) {
        let dtype = self.program.dtype(v);
        let of = |this: &Self, a: &Val| this.use_of(*a);
        let text = match self.program.inst(v) {
            Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Load { .. } => return,
            // Their loop writes them.
            Inst::Step { .. } | Inst::Reduce { .. } | Inst::Shared(_) | Inst::Scan { .. } => return,
            Inst::Carry { .. } | Inst::Iterate { .. } => return,
            Inst::Unary(op, a) => unary(*op, &of(self, a), dtype),
            Inst::Binary(op, a, b) => {
                let operands = self.program.dtype(*a);
                binary(*op, &of(self, a), &of(self, b), operands)
            }
            Inst::Fma(a, b, c) => fma(&of(self, a), &of(self, b), &of(self, c), dtype),
            Inst::Select(c, a, b) => format!("{} ? {} : {}", of(self, c), of(self, a), of(self, b)),
            Inst::Cast(a) => match self.small.get(a).filter(|_| dtype == DType::F32) {
                Some((word, at)) => format!("tw::small<{}, {at}>({word})", self.program.dtype(*a).size()),
                None => format!("tw::cast<{}>({})", dtype.cuda(), of(self, a)),
            },
            Inst::Bits(a) => format!("tw::bits<{}>({})", dtype.cuda(), of(self, a)),
            Inst::Call(function, args) => {
                let args: Vec<String> = args.iter().map(|a| of(self, a)).collect();
                self.call(*function, &args)
            }
            Inst::Guard { value, low, high, index } => {
                let reported = index.map_or_else(String::new, |i| format!(", {}", self.use_of(i)));
                format!("tw::guard({}, {}, {}, p.error{reported})", of(self, value), of(self, low), of(self, high))
            }
        };
        self.define(v, text);
    }
}
