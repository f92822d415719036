//! Addresses of what is read and written; what does not vary with a loop stands outside of it.

use super::access::Group;
use super::body::Body;
use super::schedule::Step;
use crate::bind::Place;
use crate::graph::Binary;
use crate::plan::Slot;
use crate::program::{Along, Inst, LOOPS, LoopId, Val};

/// An index along an axis, and what it varies along.
struct Moving {
    axis: usize,
    index: String,
    varies: Along,
}

impl Body<'_> {
    /// Defines the parts of addresses that are read in a loop and do not vary with it.
    pub(super) fn addresses_outside(&mut self, id: LoopId, body: &[Step], loads: &[Group]) {
        let plan = self.plan;
        for step in body {
            match step {
                Step::Load(g) => {
                    let group = &loads[*g];
                    let Some(slot) = plan.inputs.get(group.slot).filter(|s| s.place == Place::Device) else { continue };
                    self.address(group, slot, (&format!("in{}", group.slot), true), Some(id));
                }
                Step::Loop(_, inner, _) => self.addresses_outside(id, inner, loads),
                _ => {}
            }
        }
    }

    /// A variable with the address of a group's first displacement.
    pub(super) fn pointer(&mut self, group: &Group, slot: &Slot, name: &str, constant: bool) -> String {
        self.address(group, slot, (name, constant), None)
    }

    /// The address of a group's first displacement, or as much of it as does not vary with a loop.
    fn address(
        &mut self,
        group: &Group,
        slot: &Slot,
        (name, constant): (&str, bool),
        outside: Option<LoopId>,
    ) -> String {
        let kind = if constant { slot.dtype.cuda_read() } else { slot.dtype.cuda() };
        let qualifier = if constant { "const " } else { "" };
        let mut at = match self.params.sent.fixed(group.slot).filter(|_| slot.place == Place::Host) {
            Some(offset) => format!("((const {kind}*)(p.sent + {offset}))"),
            None => format!("p.{name}"),
        };
        let axes = self.moving_axes(group, slot);
        let last = axes.last().map(|m| m.axis);
        // Pixels that are gathered share the addresses of their rows.
        let computed = |base: &Option<Val>| {
            base.is_some_and(|v| !matches!(self.program.inst(v), Inst::Coord(_) | Inst::Step { .. }))
        };
        let pins = constant && slot.place == Place::Device && group.bases.iter().any(computed);
        // Loops that are open before that one begins.
        let open = outside.map(|id| self.program.loops()[usize::from(id.0)].outer | ((1 << LOOPS) - 1));
        for Moving { axis: a, index, varies } in axes {
            if open.is_some_and(|open| varies & !open != 0) {
                break;
            }
            let axis = &slot.axes[a];
            let scale = i64::from(slot.components);
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
            let defined = if pinned { format!("tw::arch::pin({text})") } else { text.clone() };
            at = self.variable(&format!("{qualifier}{kind}*"), name, text, &defined);
        }
        at
    }

    /// A variable with the byte offset of a group's first displacement within what was sent.
    pub(super) fn sent_offset(&mut self, group: &Group, slot: &Slot, name: &str) -> String {
        let mut at = format!("p.{name}_at");
        for Moving { axis: a, index, .. } in self.moving_axes(group, slot) {
            let axis = &slot.axes[a];
            let bytes = slot.element_bytes();
            let step = match axis.exact_stride {
                true => format!("(int){index} * {}", axis.axis.stride * bytes as i64),
                false => format!("(int){index} * p.{name}_s{a} * {bytes}"),
            };
            let text = format!("{at} + {step}");
            at = self.variable("int", name, text.clone(), &text);
        }
        at
    }

    /// Axes along which an access moves. An index that a loop adds to comes in two parts, so that the first stands outside of it.
    fn moving_axes(&self, group: &Group, slot: &Slot) -> Vec<Moving> {
        let mut all = Vec::new();
        for axis in (0..slot.axes.len()).filter(|a| group.bases[*a].is_some() || group.shifts[*a] != 0) {
            let shift = group.shifts[axis];
            let Some(base) = group.bases[axis] else {
                all.push(Moving { axis, index: format!("(0 + {shift})"), varies: 0 });
                continue;
            };
            let parts = if shift == 0 { self.around_loop(base) } else { None };
            for v in parts.map_or(vec![base], Vec::from) {
                let text = self.use_of(v);
                let index = if shift == 0 { text } else { format!("({text} + {shift})") };
                all.push(Moving { axis, index, varies: self.program.varies(v) });
            }
        }
        all
    }

    /// The parts of a sum of which one varies with fewer loops than the other: that one first.
    fn around_loop(&self, v: Val) -> Option<[Val; 2]> {
        let Inst::Binary(Binary::Add, a, b) = self.program.inst(v) else { return None };
        let loops = |v: Val| self.program.varies(v) >> LOOPS;
        match (loops(*a), loops(*b)) {
            (few, many) if few != many && few & many == few => Some([*a, *b]),
            (many, few) if few != many && few & many == few => Some([*b, *a]),
            _ => None,
        }
    }

    /// The variable that holds `text`, written as `defined` where it is new.
    pub(super) fn variable(&mut self, kind: &str, name: &str, text: String, defined: &str) -> String {
        if let Some(known) = self.pointers.get(&text) {
            return known.clone();
        }
        let variable = format!("{name}_{}", self.pointers.len());
        self.line(format_args!("{kind} const {variable} = {defined}"));
        self.pointers.insert(text, variable.clone());
        variable
    }
}
