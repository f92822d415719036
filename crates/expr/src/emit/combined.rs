//! Several sections in one kernel: each in a namespace of its own, and an entry that finds a block's section from its number.
//!
//! All blocks have the same threads, and take as many registers and as much shared memory as the section that needs most.

use super::params::{STREAMING_BYTES, result_bytes};
use super::run::Role;
use super::{ENTRY, Field, Kernel, Params, Piece, Room, Written, emit_with, include};
use crate::error::Error;
use crate::plan::Plan;
use crate::sections::{Section, Sections};
use std::fmt::Write as _;

/// The kernel of a launch, and how to call it.
#[derive(Clone, Debug)]
pub struct Combined {
    /// What people read before the source: each section's loops and operands by their own names, in comments.
    pub head: String,
    /// The source, a function of the graph and [`Sections::key`] alone.
    pub source: String,
    /// Name of the entry.
    pub entry: &'static str,
    /// Bytes of the parameter block.
    pub bytes: usize,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Each section's part of the parameter block: where it starts, what it holds, how many reductions threads share.
    parts: Vec<(usize, Params, usize)>,
}

/// What an address of the parameter block is that of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// An operand.
    Operand(usize),
    /// A result, so many bytes from its start on.
    Result(usize, u64),
    /// The error words.
    Error,
    /// The buffer of host operands that the block has no room for, so many bytes from its start on.
    Far(u64),
    /// Memory that the blocks of a section share: its number, and the bytes that it needs.
    Workspace(usize, usize),
}

/// What one call sends, and where.
#[derive(Clone, Debug, Default)]
pub struct Sending {
    /// Operands in the parameter block, from its start.
    pub block: Vec<Piece>,
    /// Places in the block for reciprocals, as [`super::reciprocals`] computes them, and where the operand's elements start.
    pub reciprocals: Vec<(usize, Piece)>,
    /// Operands in a device buffer.
    pub buffer: Vec<Piece>,
    /// Bytes of that buffer.
    pub buffer_bytes: usize,
}

/// Writes the kernel of a launch, for a device that takes a parameter block of `most` bytes.
pub fn combine(sections: &Sections<'_>, room: Room, most: usize) -> Result<Combined, Error> {
    if let [section] = sections.list.as_slice() {
        let kernel = emit_with(&section.graph, &section.plan, room.bytes())?;
        let Kernel { head, source, entry, params, shared_bytes, shared, .. } = kernel;
        let (bytes, parts) = (params.bytes(), vec![(0, params, shared)]);
        return Ok(Combined { head, source, entry, bytes, shared_bytes, parts });
    }
    let role = Role::Section(sections.list.len());
    let write = |s: &Section<'_>| Written::new(&s.graph, &s.plan, role);
    let mut written: Vec<Written> = sections.list.iter().map(write).collect::<Result<_, Error>>()?;
    let wide = sections.large_grid();
    let (places, bytes) = places(&mut written, wide, (room, most))?;
    let (mut head, mut source) = (String::new(), String::new());
    let mut headers: Vec<&str> = Vec::new();
    for (number, section) in written.iter().enumerate() {
        let _ = write!(head, "// section {number}\n{}", section.head);
        headers.extend(&section.headers);
    }
    let order = ["prelude", "half_value", "collective", "scan", "scatter", "arch/warp"];
    include(&mut source, &order.into_iter().filter(|name| headers.contains(name)).collect::<Vec<_>>());
    for (number, section) in written.iter().enumerate() {
        let _ = writeln!(source, "namespace section{number} {{\n");
        section.params.declare(&mut source);
        let _ = writeln!(source, "{}\n}}  // namespace section{number}\n", section.functions);
    }
    entry(&mut source, written.len(), wide);
    let shared_bytes = written.iter().map(|s| s.shared_bytes).max().unwrap_or(0);
    let parts = places.into_iter().zip(written).map(|(at, s)| (at, s.params, s.shared)).collect();
    Ok(Combined { head, source, entry: ENTRY, bytes, shared_bytes, parts })
}

/// Bytes of the table of first blocks, that of the first section being left out.
fn table_bytes(sections: usize, wide: bool) -> usize {
    (sections - 1) * if wide { 8 } else { 4 }
}

/// Divides the parameter block: where each section's part starts, and how long the block is.
fn places(written: &mut [Written], wide: bool, (room, most): (Room, usize)) -> Result<(Vec<usize>, usize), Error> {
    let table = table_bytes(written.len(), wide).next_multiple_of(16);
    let head = |s: &Written| s.params.sent_offset() + s.params.sent.fixed_bytes();
    let heads: usize = table + written.iter().map(head).sum::<usize>();
    let movable = written.iter().filter(|s| s.params.sent.any_movable()).count();
    let room = (room.bytes().saturating_sub(heads) / movable.max(1)) & !15;
    let mut at = table;
    let mut places = Vec::with_capacity(written.len());
    for section in written.iter_mut() {
        let end = head(section) + room;
        section.params.settle(end);
        places.push(at);
        at += section.params.bytes().next_multiple_of(16);
    }
    if at > most {
        return Err(Error::Parameters { sections: written.len(), bytes: at, limit: most });
    }
    Ok((places, at))
}

/// The parameter block, and the kernel.
fn entry(source: &mut String, sections: usize, wide: bool) {
    let kind = if wide { "unsigned long long" } else { "unsigned" };
    let _ = writeln!(source, "struct Params {{\n  {kind} first[{}];", sections - 1);
    for number in 0..sections {
        let _ = writeln!(source, "  TW_ALIGN(16) section{number}::Params section{number};");
    }
    let plan_threads = crate::plan::BLOCK;
    let _ = writeln!(
        source,
        "}};\n\nextern \"C\" __global__ void __launch_bounds__({plan_threads}) {ENTRY}(const __grid_constant__ Params p) {{\n  \
         tw::arch::take_turn();"
    );
    let block = Role::Kernel.block(kind, wide);
    let _ = writeln!(source, "  const {kind} block = {block};");
    find(source, 0..sections, 1);
    source.push_str("}\n");
}

/// Halves the sections until one is left, and calls that.
fn find(source: &mut String, sections: std::ops::Range<usize>, depth: usize) {
    let indent = "  ".repeat(depth);
    let first = sections.start;
    if sections.len() == 1 {
        let number = if first == 0 { "block".into() } else { format!("block - p.first[{}]", first - 1) };
        let _ = writeln!(source, "{indent}section{first}::run(p.section{first}, {number});");
        return;
    }
    let middle = first + sections.len() / 2;
    let _ = writeln!(source, "{indent}if (block < p.first[{}]) {{", middle - 1);
    find(source, first..middle, depth + 1);
    let _ = writeln!(source, "{indent}}} else {{");
    find(source, middle..sections.end, depth + 1);
    let _ = writeln!(source, "{indent}}}");
}

impl Combined {
    /// Writes everything but addresses and host operands into `block` (at least [`Combined::bytes`] long).
    pub fn pack(&self, sections: &Sections<'_>, block: &mut [u8]) {
        let bytes: i64 = sections.list.iter().map(|s| result_bytes(&s.plan)).sum();
        for ((at, params, _), section) in self.parts.iter().zip(&sections.list) {
            params.pack(&section.plan, &mut block[*at..]);
            // What fills the cache is what all sections write.
            if let Some(streaming) = params.offset(Field::Streaming) {
                let at = at + streaming;
                block[at..at + 4].copy_from_slice(&i32::from(bytes > STREAMING_BYTES).to_le_bytes());
            }
        }
        if self.parts.len() == 1 {
            return;
        }
        let size = if sections.large_grid() { 8 } else { 4 };
        for (i, first) in sections.first_blocks().into_iter().skip(1).enumerate() {
            block[i * size..(i + 1) * size].copy_from_slice(&first.to_le_bytes()[..size]);
        }
    }

    /// Where addresses stand in the parameter block.
    pub fn addresses(&self, sections: &Sections<'_>) -> Vec<(Address, usize)> {
        let (mut addresses, mut workspaces, mut far) = (Vec::new(), 0, 0);
        for ((at, params, shared), section) in self.parts.iter().zip(&sections.list) {
            let buffered = params.sent.pieces(&section.plan).buffer_bytes as u64;
            for (field, offset) in &params.fields {
                let address = match *field {
                    Field::Input(i) => Address::Operand(section.operands[usize::from(i)]),
                    Field::Output(i) => {
                        let (target, slot) = (section.targets[usize::from(i)], &section.plan.outputs[usize::from(i)]);
                        Address::Result(target.result, (target.start * slot.element_bytes() as i64) as u64)
                    }
                    Field::Error => Address::Error,
                    // 0 says that the operands are in the block.
                    Field::Far if buffered > 0 => Address::Far(far),
                    Field::Workspace => {
                        workspaces += 1;
                        Address::Workspace(workspaces - 1, params.workspace_bytes(&section.plan, *shared))
                    }
                    _ => continue,
                };
                addresses.push((address, at + *offset as usize));
            }
            far += buffered;
        }
        addresses
    }

    /// What a call sends.
    pub fn sending(&self, sections: &Sections<'_>) -> Sending {
        let mut all = Sending::default();
        for ((at, params, _), section) in self.parts.iter().zip(&sections.list) {
            all.add((params, &section.plan), *at, |i| section.operands[i]);
        }
        all
    }
}

impl Sending {
    /// What goes to the parameters that begin `at` a byte of the block; `operand` says which of the launch's one is.
    pub(super) fn add(&mut self, (params, plan): (&Params, &Plan), at: usize, operand: impl Fn(usize) -> usize) {
        let (pieces, start) = (params.sent.pieces(plan), at + params.sent_offset());
        let moved = |p: &Piece, by: usize| Piece { operand: operand(p.operand), at: p.at + by, bytes: p.bytes };
        let from = |p: &Piece| start + pieces.offset(p.operand).unwrap_or(0);
        self.reciprocals.extend(pieces.reciprocals.iter().map(|p| (from(p), moved(p, start))));
        self.block.extend(pieces.block.iter().map(|p| moved(p, start)));
        self.buffer.extend(pieces.buffer.iter().map(|p| moved(p, self.buffer_bytes)));
        self.buffer_bytes += pieces.buffer_bytes;
    }
}
