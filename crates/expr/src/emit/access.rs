//! Memory access: loads and stores of neighbouring elements become wide ones where the plan can prove alignment.

use crate::bind::Place;
use crate::dtype::DType;
use crate::plan::{Plan, Slot};
use crate::program::{Inst, Program, Val};

/// Elements that share everything but a literal offset: one pointer, several displacements.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The slot.
    pub slot: usize,
    /// Variable part of the coordinate along each axis.
    pub bases: Vec<Option<Val>>,
    /// Literal part that an unknown stride multiplies.
    pub shifts: Vec<i64>,
    /// What `bases` and `shifts` leave: byte offset of each member, with the member's number, sorted.
    pub members: Vec<(i64, usize)>,
    /// Alignment in bytes of the pointer.
    pub alignment: u32,
}

/// A stretch of a group that one instruction moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Byte offset from the group's pointer.
    pub at: i64,
    /// 4, 8 or 16 bytes; 0 for a single element; of a run that begins anywhere, any number of words.
    pub width: u32,
    /// Whether it begins at any byte, so that its words are put together from those around them.
    pub anywhere: bool,
    /// Members within.
    pub members: Vec<(i64, usize)>,
}

/// Groups accesses `(member number, component, index)` to one slot.
pub(super) fn groups<'a>(
    program: &Program,
    plan: &Plan,
    (number, slot): (usize, &Slot),
    accesses: impl Iterator<Item = (usize, u8, &'a [Val])>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let size = slot.dtype.size() as i64;
    for (member, component, index) in accesses {
        let mut at = i64::from(component) * size;
        let (mut bases, mut shifts) = (Vec::new(), Vec::new());
        for (axis, v) in slot.axes.iter().zip(index) {
            let (base, k) = program.affine(*v);
            bases.push(base);
            if axis.exact_stride {
                at += k * axis.axis.stride * slot.element_bytes() as i64;
                shifts.push(0);
            } else {
                shifts.push(k);
            }
        }
        match groups.iter_mut().find(|g| g.bases == bases && g.shifts == shifts) {
            Some(group) => group.members.push((at, member)),
            None => {
                let alignment = alignment(program, plan, slot, &bases);
                groups.push(Group { slot: number, bases, shifts, members: vec![(at, member)], alignment });
            }
        }
    }
    for group in &mut groups {
        group.members.sort_unstable();
    }
    groups
}

/// What is known of the pointer's alignment. The slot's own holds where the inner coordinate is the thread's and register
/// coordinates are literals; a thread's first point is a multiple of `lanes`.
fn alignment(program: &Program, plan: &Plan, slot: &Slot, bases: &[Option<Val>]) -> u32 {
    let element = slot.element_bytes() as u32;
    let floor = (element & element.wrapping_neg()).min(if slot.place == Place::Host { 16 } else { slot.alignment });
    let inner = plan.world.len().wrapping_sub(1);
    let mut known = slot.alignment;
    for (axis, base) in slot.axes.iter().zip(bases) {
        let dim = axis.axis.dim;
        if plan.registers.iter().any(|(d, _)| *d == dim) {
            if base.is_some() {
                return floor;
            }
        } else if plan.inner().is_some_and(|w| w.dim == dim) {
            match base {
                Some(v) if matches!(program.inst(*v), Inst::Coord(d) if usize::from(*d) == inner) => {
                    let step = axis.axis.stride.unsigned_abs() * u64::from(plan.inner_lanes()) * u64::from(element);
                    let power = 1 << step.trailing_zeros().min(4);
                    known = known.min(if axis.exact_stride { power } else { element.min(power) });
                }
                Some(_) => return floor,
                None => {}
            }
        }
    }
    known.max(floor)
}

/// Cuts a group into runs: words of 16, 8 or 4 bytes where they are aligned and every byte is a member's.
pub(super) fn runs(group: &Group, size: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    let members = &group.members;
    let mut i = 0;
    while i < members.len() {
        let at = members[i].0;
        let wide = [16u32, 8, 4].into_iter().find(|w| {
            let fits = *w > size as u32 && *w <= group.alignment && at.rem_euclid(i64::from(*w)) == 0;
            let count = *w as usize / size;
            fits && (0..count).all(|k| members.get(i + k).is_some_and(|m| m.0 == at + (k * size) as i64))
        });
        let count = wide.map_or(1, |w| w as usize / size);
        let same = members[i..].iter().take(count).copied().collect();
        runs.push(Run { at, width: wide.unwrap_or(0), anywhere: false, members: same });
        i += count;
    }
    runs
}

/// Fewest words of a run that begins anywhere: one more is read than it has.
const WORDS: usize = 2;

/// The runs of a group that is loaded from device memory: as [`runs`], and small elements side by side are words that begin anywhere.
pub(super) fn loaded(group: &Group, size: usize) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs(group, size) {
        match joined.last_mut() {
            Some(last)
                if last.width == 0 && run.width == 0 && run.at == last.at + (last.members.len() * size) as i64 =>
            {
                last.members.extend(run.members);
            }
            _ => joined.push(run),
        }
    }
    joined.into_iter().flat_map(|run| if run.width == 0 { words(run, size) } else { vec![run] }).collect()
}

/// Cuts elements side by side into words, if there are enough of them, and single elements.
fn words(mut run: Run, size: usize) -> Vec<Run> {
    let count = if size < 4 { run.members.len() * size / 4 } else { 0 };
    let whole = if count < WORDS { 0 } else { count * 4 / size };
    let rest = run.members.split_off(whole);
    let single = rest.into_iter().map(|m| Run { at: m.0, width: 0, anywhere: false, members: vec![m] });
    let words = Run { width: count as u32 * 4, anywhere: true, ..run };
    (whole > 0).then_some(words).into_iter().chain(single).collect()
}

/// The vector type that moves `width` bytes.
pub(super) fn vector(width: u32) -> &'static str {
    match width {
        16 => "uint4",
        8 => "uint2",
        _ => "unsigned",
    }
}

/// The 32-bit word `i` of a vector variable, or of an array.
pub(super) fn word(name: &str, width: u32, i: usize) -> String {
    match width {
        0 => format!("{name}[{i}]"),
        4 => name.to_string(),
        _ => format!("{name}.{}", ["x", "y", "z", "w"][i]),
    }
}

/// Takes the element at byte `at` out of a vector variable.
pub(super) fn extract(name: &str, width: u32, at: usize, dtype: DType) -> String {
    let low = word(name, width, at / 4);
    let shift = at % 4 * 8;
    let shifted = if shift == 0 { low.clone() } else { format!("({low} >> {shift})") };
    match dtype {
        DType::F32 => format!("__uint_as_float({low})"),
        DType::I32 => format!("(int){low}"),
        DType::U32 => low,
        DType::Bool => format!("({shifted} & 0xffu) != 0u"),
        DType::U8 | DType::I8 | DType::U16 | DType::I16 => format!("({}){shifted}", dtype.cuda()),
        DType::F16 | DType::BF16 => format!("tw::bits<{}>((unsigned short){shifted})", dtype.cuda()),
        DType::U64 | DType::I64 | DType::F64 => {
            format!("tw::join<{}>({low}, {})", dtype.cuda(), word(name, width, at / 4 + 1))
        }
    }
}

/// The 32-bit words that hold `values` (expressions of type `dtype`).
pub(super) fn pack(values: &[String], dtype: DType) -> Vec<String> {
    match dtype.size() {
        4 => values
            .iter()
            .map(|v| if dtype == DType::F32 { format!("__float_as_uint({v})") } else { format!("(unsigned){v}") })
            .collect(),
        8 => values.iter().flat_map(|v| [format!("tw::low({v})"), format!("tw::high({v})")]).collect(),
        size => values
            .chunks(4 / size)
            .map(|chunk| {
                let mask = if size == 1 { "unsigned char" } else { "unsigned short" };
                let parts: Vec<String> = chunk
                    .iter()
                    .enumerate()
                    .map(|(i, v)| match (i, dtype.is_half()) {
                        (0, true) => format!("(unsigned){v}.bits"),
                        (_, true) => format!("(unsigned){v}.bits << {}", i * size * 8),
                        (0, false) => format!("(unsigned)({mask}){v}"),
                        (_, false) => format!("(unsigned)({mask}){v} << {}", i * size * 8),
                    })
                    .collect();
                parts.join(" | ")
            })
            .collect(),
    }
}
