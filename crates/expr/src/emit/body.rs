//! The body: one statement per instruction, loads where they are first needed, stores last.

use super::access::{Group, extract, groups, pack, runs, vector};
use super::{Names, Params};
use crate::bind::Place;
use crate::dtype::{DType, Scalar};
use crate::graph::{Binary, Unary};
use crate::plan::{Plan, Slot};
use crate::program::{Inst, Program, Val};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Writes the device function `name`, which computes one thread's points.
pub(super) fn function(out: &mut String, name: &str, plan: &Plan, names: &Names, program: &Program) {
    let coords: String = plan
        .world
        .iter()
        .enumerate()
        .map(|(i, w)| format!(", const {} {}", if w.wide() { "long long" } else { "int" }, names.coord(i)))
        .collect();
    let _ = writeln!(out, "static TW_DEVICE void {name}(const Head& p, const unsigned char* data{coords}) {{");
    let mut body = Body {
        plan,
        names,
        program,
        text: String::new(),
        value: HashMap::new(),
        pointers: HashMap::new(),
        pending: Vec::new(),
    };
    let loads = body.load_groups();
    let live = needed(program);
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    for (g, group) in loads.iter().enumerate() {
        group.members.iter().for_each(|(_, member)| {
            group_of.insert(*member, g);
        });
    }
    let mut done = vec![false; loads.len()];
    for stage in stages(program, &live) {
        for v in stage.straight {
            match program.inst(v) {
                Inst::Load { .. } => {
                    let g = group_of[&(v.0 as usize)];
                    if !std::mem::replace(&mut done[g], true) {
                        body.load(&loads[g]);
                    }
                }
                _ => body.statement(v),
            }
        }
        body.divisions(&stage.divisions);
    }
    body.stores();
    out.push_str(&body.text);
    out.push_str("}\n\n");
}

/// For each value, whether a statement uses it. Literal parts of addresses are displacements, not values.
fn needed(program: &Program) -> Vec<bool> {
    let mut needed = vec![false; program.len()];
    let address = |needed: &mut Vec<bool>, index: &[Val]| {
        for v in index {
            if let (Some(base), _) = program.affine(*v) {
                needed[base.0 as usize] = true;
            }
        }
    };
    for store in &program.stores {
        needed[store.value.0 as usize] = true;
        address(&mut needed, &store.index);
    }
    for v in (0..program.len() as u32).rev().map(Val) {
        if needed[v.0 as usize] {
            match program.inst(v) {
                Inst::Load { index, .. } => address(&mut needed, index),
                other => other.for_each_arg(|a| needed[a.0 as usize] = true),
            }
        }
    }
    needed
}

/// A stretch of the body: straight code, then divisions that share their divisors and do not depend on each other.
#[derive(Default)]
struct Stage {
    straight: Vec<Val>,
    divisions: Vec<(Val, Val, Val)>,
}

/// Orders the live instructions so that divisions of `f32` by a divisor that others share come in groups.
fn stages(program: &Program, live: &[bool]) -> Vec<Stage> {
    let division = |v: Val| match program.inst(v) {
        Inst::Binary(Binary::Div, a, d) if program.dtype(v) == DType::F32 => Some((v, *a, *d)),
        _ => None,
    };
    let mut sharing: HashMap<Val, usize> = HashMap::new();
    let alive = || program.values().filter(|v| live[v.0 as usize]);
    alive().filter_map(division).for_each(|(_, _, d)| *sharing.entry(d).or_default() += 1);
    let mut depth = vec![0usize; program.len()];
    let mut stages = vec![Stage::default()];
    for v in alive() {
        let mut at = 0;
        program.inst(v).for_each_arg(|a| at = at.max(depth[a.0 as usize]));
        if stages.len() < at + 2 {
            stages.resize_with(at + 2, Stage::default);
        }
        match division(v).filter(|(_, _, d)| sharing[d] > 1) {
            Some(shared) => {
                stages[at].divisions.push(shared);
                depth[v.0 as usize] = at + 1;
            }
            None => {
                stages[at].straight.push(v);
                depth[v.0 as usize] = at;
            }
        }
    }
    stages
}

struct Body<'a> {
    plan: &'a Plan,
    names: &'a Names,
    program: &'a Program,
    text: String,
    /// What to write where a value is used.
    value: HashMap<Val, String>,
    /// Pointers already computed, by their text.
    pointers: HashMap<String, String>,
    /// Stores, each with its condition and arguments.
    pending: Vec<(String, String)>,
}

impl Body<'_> {
    fn load_groups(&self) -> Vec<Group> {
        let live = needed(self.program);
        let mut all = Vec::new();
        for (number, slot) in self.plan.inputs.iter().enumerate() {
            let accesses =
                self.program.values().filter(|v| live[v.0 as usize]).filter_map(|v| match self.program.inst(v) {
                    Inst::Load { operand, component, index } if usize::from(*operand) == number => {
                        Some((v.0 as usize, *component, &index[..]))
                    }
                    _ => None,
                });
            all.extend(groups(self.program, self.plan, (number, slot), accesses));
        }
        all
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
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

    fn use_of(&self, v: Val) -> String {
        match self.program.inst(v) {
            Inst::Const(s) => literal(*s),
            Inst::Coord(d) => self.names.coord(usize::from(*d)),
            Inst::Extent { operand, axis } => format!("p.in{operand}_n{axis}"),
            _ => self.value.get(&v).cloned().unwrap_or_else(|| format!("v{}", v.0)),
        }
    }

    /// A variable with the address of a group's first displacement.
    fn pointer(&mut self, group: &Group, slot: &Slot, name: &str, constant: bool) -> String {
        let kind = slot.dtype.cuda();
        let qualifier = if constant { "const " } else { "" };
        let mut at = match slot.place {
            Place::Host if slot.exact_len().is_some() => {
                let (offsets, _) = Params::data_layout(self.plan);
                format!("((const {kind}*)(data + {}))", offsets[group.slot])
            }
            Place::Host => format!("((const {kind}*)(data + p.{name}_at))"),
            Place::Device => format!("p.{name}"),
        };
        let axes: Vec<_> =
            slot.axes.iter().enumerate().filter(|(a, _)| group.bases[*a].is_some() || group.shifts[*a] != 0).collect();
        let last = axes.last().map(|(a, _)| *a);
        // Pixels that are gathered share the addresses of their rows.
        let computed = |base: &Option<Val>| base.is_some_and(|v| !matches!(self.program.inst(v), Inst::Coord(_)));
        let pins = constant && slot.place == Place::Device && group.bases.iter().any(computed);
        for (a, axis) in axes {
            let scale = i64::from(slot.components);
            let mut index = group.bases[a].map(|b| self.use_of(b)).unwrap_or_else(|| "0".into());
            if group.shifts[a] != 0 {
                index = format!("({index} + {})", group.shifts[a]);
            }
            let step = if axis.exact_stride {
                match axis.axis.stride * scale {
                    1 => index,
                    stride => format!("(long long){index} * {stride}"),
                }
            } else {
                let times = if scale == 1 { String::new() } else { format!(" * {scale}") };
                format!("(long long){index} * p.{name}_s{a}{times}")
            };
            let text = format!("{at} + {step}");
            let pinned = pins && last != Some(a);
            let key = text.clone();
            at = match self.pointers.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let variable = format!("{name}_{}", self.pointers.len());
                    let text = if pinned { format!("tw::arch::pin({text})") } else { text.clone() };
                    self.line(format_args!("{qualifier}{kind}* const {variable} = {text}"));
                    self.pointers.insert(key, variable.clone());
                    variable
                }
            };
        }
        at
    }

    fn load(&mut self, group: &Group) {
        let (plan, number) = (self.plan, group.slot);
        let slot = &plan.inputs[number];
        let pointer = self.pointer(group, slot, &format!("in{number}"), true);
        let size = slot.dtype.size();
        for run in runs(group, size) {
            let element = run.at / size as i64;
            if run.width == 0 {
                let v = Val(run.members[0].1 as u32);
                let text = if element == 0 { format!("*{pointer}") } else { format!("{pointer}[{element}]") };
                self.define(v, text);
                continue;
            }
            let name = format!("w{}", run.members[0].1);
            let kind = vector(run.width);
            let place = if element == 0 { pointer.clone() } else { format!("({pointer} + {element})") };
            self.line(format_args!("const {kind} {name} = *(const {kind}*){place}"));
            for (at, member) in &run.members {
                let text = extract(&name, run.width, (at - run.at) as usize, slot.dtype);
                self.define(Val(*member as u32), text);
            }
        }
    }

    fn stores(&mut self) {
        let (plan, program) = (self.plan, self.program);
        for (number, slot) in plan.outputs.iter().enumerate() {
            let mut zeros: Vec<&[u8]> = Vec::new();
            for s in program.stores.iter().filter(|s| usize::from(s.output) == number) {
                if !zeros.contains(&&s.only_at_zero[..]) {
                    zeros.push(&s.only_at_zero);
                }
            }
            for zero in zeros {
                let mine = |s: &crate::program::Store| usize::from(s.output) == number && s.only_at_zero[..] == *zero;
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

    /// Divisions with shared divisors: quotients by their reciprocals, and the full division for all of them in the rare
    /// case that one is outside the range where those are exact.
    fn divisions(&mut self, group: &[(Val, Val, Val)]) {
        if group.is_empty() {
            return;
        }
        let mut names = Vec::with_capacity(group.len());
        for (v, a, d) in group {
            let divisor = format!("d{}", d.0);
            let known = self.value.contains_key(&Val(u32::MAX - d.0));
            if !known {
                self.line(format_args!("const tw::Divisor {divisor} = tw::divisor({})", self.use_of(*d)));
                self.value.insert(Val(u32::MAX - d.0), divisor.clone());
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
        let float = dtype.is_float();
        let of = |this: &Self, a: &Val| this.use_of(*a);
        let text = match self.program.inst(v) {
            Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Load { .. } => return,
            Inst::Unary(op, a) => unary(*op, &of(self, a), dtype),
            Inst::Binary(op, a, b) => {
                let operands = self.program.dtype(*a);
                binary(*op, &of(self, a), &of(self, b), operands)
            }
            Inst::Fma(a, b, c) => {
                let name = match dtype {
                    DType::F32 => "fmaf",
                    DType::F64 => "fma",
                    _ => "tw::fma",
                };
                debug_assert!(float || name == "tw::fma");
                format!("{name}({}, {}, {})", of(self, a), of(self, b), of(self, c))
            }
            Inst::Select(c, a, b) => format!("{} ? {} : {}", of(self, c), of(self, a), of(self, b)),
            Inst::Cast(a) => format!("tw::cast<{}>({})", dtype.cuda(), of(self, a)),
            Inst::Bits(a) => format!("tw::bits<{}>({})", dtype.cuda(), of(self, a)),
            Inst::Guard { value, low, high, index } => format!(
                "tw::guard({}, {}, {}, p.error, {})",
                of(self, value),
                of(self, low),
                of(self, high),
                of(self, index)
            ),
        };
        self.define(v, text);
    }
}

fn unary(op: Unary, a: &str, dtype: DType) -> String {
    match op {
        Unary::Neg if dtype.is_float() => format!("-{a}"),
        Unary::Not if dtype == DType::Bool => format!("!{a}"),
        Unary::Neg => format!("tw::neg({a})"),
        Unary::Abs => format!("tw::abs({a})"),
        Unary::Sqrt => format!("tw::sqrt({a})"),
        Unary::Floor => format!("tw::floor({a})"),
        Unary::Ceil => format!("tw::ceil({a})"),
        Unary::Trunc => format!("tw::trunc({a})"),
        Unary::Round => format!("tw::round({a})"),
        Unary::Not => format!("tw::invert({a})"),
    }
}

fn binary(op: Binary, a: &str, b: &str, dtype: DType) -> String {
    let infix = |s: &str| format!("{a} {s} {b}");
    let call = |s: &str| format!("tw::{s}({a}, {b})");
    match op {
        Binary::Add if dtype.is_float() => infix("+"),
        Binary::Sub if dtype.is_float() => infix("-"),
        Binary::Mul if dtype.is_float() => infix("*"),
        Binary::Div if dtype.is_float() => infix("/"),
        Binary::Add => call("add"),
        Binary::Sub => call("sub"),
        Binary::Mul => call("mul"),
        Binary::Div => call("div"),
        Binary::Min => call("minimum"),
        Binary::Max => call("maximum"),
        Binary::And => call("bit_and"),
        Binary::Or => call("bit_or"),
        Binary::Xor => call("bit_xor"),
        Binary::Shl => call("shl"),
        Binary::Shr => call("shr"),
        Binary::Lt => infix("<"),
        Binary::Le => infix("<="),
        Binary::Gt => infix(">"),
        Binary::Ge => infix(">="),
        Binary::Eq => infix("=="),
        Binary::Ne => infix("!="),
    }
}

/// A literal that reads back as exactly the same bits.
fn literal(s: Scalar) -> String {
    match s.dtype {
        DType::Bool => (s.bits & 1 == 1).to_string(),
        DType::F32 => {
            let v = s.get::<f32>();
            if v.is_finite() { bracket(format!("{v:?}f")) } else { format!("__uint_as_float({:#x}u)", s.bits) }
        }
        DType::F64 => {
            let v = s.get::<f64>();
            if v.is_finite() { bracket(format!("{v:?}")) } else { format!("__longlong_as_double({:#x}ll)", s.bits) }
        }
        DType::U32 => format!("{}u", s.bits),
        DType::U64 => format!("{}ull", s.bits),
        DType::I32 if s.get::<i32>() == i32::MIN => "(-2147483647 - 1)".into(),
        DType::I32 => bracket(s.get::<i32>().to_string()),
        DType::I64 if s.get::<i64>() == i64::MIN => "(-9223372036854775807ll - 1)".into(),
        DType::I64 => bracket(format!("{}ll", s.get::<i64>())),
        other => format!("({}){}", other.cuda(), bracket(s.as_i64().unwrap_or(0).to_string())),
    }
}

fn bracket(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}
