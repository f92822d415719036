//! The parameter block: one packed struct by value, the same bytes in Rust and in the kernel.

use super::Names;
use super::run::Role;
use super::sent::Sent;
use crate::bind::Place;
use crate::plan::{Extent, Plan, Slot};
use crate::program::{Inst, Program};
use std::fmt::Write as _;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Device address of an input.
    Input(u16),
    /// Device address of an output.
    Output(u16),
    /// Device address of the error words.
    Error,
    /// Device address of host operands that the block has no room for; 0 if there are none.
    Far,
    /// Device address of counters and partial results that blocks share; see [`Kernel::workspace_bytes`](super::Kernel::workspace_bytes).
    Workspace,
    /// Elements between indices of an input's axis.
    InputStride(u16, u8),
    /// Elements between indices of an output's axis.
    OutputStride(u16, u8),
    /// Length of a loop.
    Extent(u8),
    /// Blocks along a loop.
    Tiles(u8),
    /// Length of an input's axis.
    InputExtent(u16, u8),
    /// Tiles that a block goes along, of a kernel whose blocks scatter to places of their own first.
    Turns,
    /// Where a host operand starts, in bytes from the start of what was sent beside or instead of it.
    Offset(u16),
    /// Whether the results are too large for the L2 cache to keep, so that they had better not fill it.
    Streaming,
}

/// Bytes of the counters at the start of a workspace.
pub const COUNTER_BYTES: usize = 4096;

/// Bytes of results from which on they are written past the L2 cache: half of an H200's.
pub(super) const STREAMING_BYTES: i64 = 32 << 20;

pub(super) fn result_bytes(plan: &Plan) -> i64 {
    let bytes = |s: &Slot| s.axes.iter().map(|a| a.axis.extent).product::<i64>() * s.element_bytes() as i64;
    plan.outputs.iter().map(bytes).sum()
}

impl Slot {
    /// A stride and the bytes of its field.
    fn stride_field(&self, axis: u8) -> (i64, usize) {
        (self.axes[usize::from(axis)].axis.stride, if self.wide_strides() { 8 } else { 4 })
    }
}

impl Field {
    /// Whether it is a device address, which changes from call to call.
    pub fn is_address(self) -> bool {
        matches!(self, Field::Input(_) | Field::Output(_) | Field::Error | Field::Far | Field::Workspace)
    }
}

/// The layout of the parameter block.
#[derive(Clone, Debug)]
pub struct Params {
    /// Fields with their byte offsets, in declaration order.
    pub fields: Vec<(Field, u32)>,
    declarations: Vec<String>,
    /// Bytes of the fields.
    pub head_bytes: usize,
    /// Operands in host memory.
    pub sent: Sent,
}

impl Params {
    pub(super) fn new(
        plan: &Plan,
        programs: &[Option<&Program>],
        guards: bool,
        (names, role): (&Names, Role),
    ) -> Params {
        Params::of(plan, programs, guards, (names, role), |_| true)
    }

    /// Those fields alone that are `wanted`.
    pub(super) fn of(
        plan: &Plan,
        programs: &[Option<&Program>],
        guards: bool,
        (names, role): (&Names, Role),
        wanted: impl Fn(Field) -> bool,
    ) -> Params {
        let sent = Sent::new(plan, programs, role);
        let mut wide: Vec<(Field, String)> = Vec::new();
        let mut narrow: Vec<(Field, String)> = Vec::new();
        for (i, slot) in plan.inputs.iter().enumerate() {
            let k = i as u16;
            match slot.place {
                Place::Device => wide.push((Field::Input(k), format!("const {}* in{i}", slot.dtype.cuda_read()))),
                Place::Host if sent.fixed(i).is_some() => {}
                Place::Host => narrow.push((Field::Offset(k), format!("int in{i}_at"))),
            }
        }
        for (i, slot) in plan.outputs.iter().enumerate() {
            wide.push((Field::Output(i as u16), format!("{}* out{i}", slot.dtype.cuda())));
        }
        if guards {
            wide.push((Field::Error, "unsigned* error".into()));
        }
        if plan.group.as_ref().is_some_and(|g| g.segments() > 1) {
            wide.push((Field::Workspace, "unsigned char* workspace".into()));
        }
        if sent.any_movable() {
            wide.push((Field::Far, "const unsigned char* far".into()));
        }
        for (inputs, slots) in [(true, &plan.inputs), (false, &plan.outputs)] {
            for (i, slot) in slots.iter().enumerate() {
                for (a, _) in slot.axes.iter().enumerate().filter(|(_, a)| !a.exact_stride) {
                    let (kind, list) = match slot.wide_strides() {
                        true => ("long long", &mut wide),
                        false => ("int", &mut narrow),
                    };
                    list.push(match inputs {
                        true => (Field::InputStride(i as u16, a as u8), format!("{kind} in{i}_s{a}")),
                        false => (Field::OutputStride(i as u16, a as u8), format!("{kind} out{i}_s{a}")),
                    });
                }
            }
        }
        for (i, w) in plan.world.iter().enumerate() {
            if let Extent::MultipleOf(_) = w.class {
                if w.wide() {
                    wide.push((Field::Extent(i as u8), format!("long long {}", names.extent(i))));
                } else {
                    narrow.push((Field::Extent(i as u8), format!("int {}", names.extent(i))));
                }
                narrow.push((Field::Tiles(i as u8), format!("unsigned {}", names.tiles(i))));
            }
        }
        for (i, shape) in plan.shapes.iter().enumerate() {
            for a in 0..shape.len() {
                let reads =
                    |p: &&Program| p.values().any(|v| *p.inst(v) == Inst::Extent { operand: i as u16, axis: a as u8 });
                if programs.iter().flatten().any(reads) {
                    narrow.push((Field::InputExtent(i as u16, a as u8), format!("int in{i}_n{a}")));
                }
            }
        }
        if plan.private.is_some() {
            narrow.push((Field::Turns, "unsigned turns".into()));
        }
        narrow.push((Field::Streaming, "int streaming".into()));
        let mut fields = Vec::new();
        let mut declarations = Vec::new();
        let mut at = 0u32;
        for (size, list) in [(8, wide), (4, narrow)] {
            for (field, text) in list.into_iter().filter(|(field, _)| wanted(*field)) {
                fields.push((field, at));
                declarations.push(text);
                at += size;
            }
        }
        let head_bytes = at.next_multiple_of(8) as usize;
        Params { fields, declarations, head_bytes, sent }
    }

    /// Decides how large the block is: `most` bytes where operands of any size travel.
    pub(super) fn settle(&mut self, most: usize) {
        self.sent.settle(most - self.sent_offset().min(most));
    }

    /// Where host operands start in the block.
    pub fn sent_offset(&self) -> usize {
        self.head_bytes.next_multiple_of(16)
    }

    /// Bytes of the block.
    pub fn bytes(&self) -> usize {
        match self.sent.capacity() {
            0 => self.head_bytes,
            capacity => self.sent_offset() + capacity,
        }
    }

    /// Bytes of the workspace: a counter, zero between launches, for each block of rows, and from [`COUNTER_BYTES`] on 8 bytes for
    /// each segment of each row and shared reduction or scan. Scans have a counter for each segment, and two more.
    pub(super) fn workspace_bytes(&self, plan: &Plan, shared: usize) -> usize {
        let Some(group) = plan.group.as_ref().filter(|g| g.segments() > 1) else { return 0 };
        let rows = group.row_blocks(&plan.world) * i64::from(group.rows);
        COUNTER_BYTES + (rows * group.segments()) as usize * shared * 8
    }

    /// Where `field` stands, if the kernel has it.
    pub fn offset(&self, field: Field) -> Option<usize> {
        self.fields.iter().find(|(f, _)| *f == field).map(|(_, at)| *at as usize)
    }

    /// Writes everything but addresses and host operands into `block` (at least [`Params::head_bytes`] long).
    pub fn pack(&self, plan: &Plan, block: &mut [u8]) {
        let tiles = plan.tiles();
        let pieces = self.sent.pieces(plan);
        for (field, at) in &self.fields {
            let at = *at as usize;
            let (value, bytes) = match *field {
                Field::Input(_) | Field::Output(_) | Field::Error | Field::Far | Field::Workspace => (0, 8),
                Field::InputStride(i, a) => plan.inputs[i as usize].stride_field(a),
                Field::OutputStride(i, a) => plan.outputs[i as usize].stride_field(a),
                Field::Extent(i) => {
                    let w = &plan.world[i as usize];
                    (w.extent, if w.wide() { 8 } else { 4 })
                }
                Field::Tiles(i) => (tiles[i as usize], 4),
                Field::InputExtent(i, a) => (plan.shapes[i as usize][a as usize].1, 4),
                Field::Offset(i) => (pieces.offset(usize::from(i)).unwrap_or(0) as i64, 4),
                Field::Turns => (plan.private.as_ref().map_or(1, |p| p.turns(plan)), 4),
                Field::Streaming => (i64::from(result_bytes(plan) > STREAMING_BYTES), 4),
            };
            // Little-endian, as every machine with CUDA is: the low bytes of a narrow field come first.
            block[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }

    pub(super) fn declare(&self, source: &mut String) {
        self.declare_as(source, "Params");
    }

    /// Declares the block as a struct of that name.
    pub(super) fn declare_as(&self, source: &mut String, name: &str) {
        let _ = writeln!(source, "struct {name} {{");
        for text in &self.declarations {
            let _ = writeln!(source, "  {text};");
        }
        if self.sent.capacity() > 0 {
            let _ = writeln!(source, "  TW_ALIGN(16) unsigned char sent[{}];", self.sent.capacity());
        }
        source.push_str("};\n\n");
    }

    pub(super) fn world_extent(&self, plan: &Plan, names: &Names, dim: usize) -> String {
        match plan.world[dim].class {
            Extent::Exact(n) => n.to_string(),
            Extent::MultipleOf(_) => format!("p.{}", names.extent(dim)),
        }
    }
}
