//! Operands in host memory: they travel with the launch, packed.
//!
//! Those whose size the kernel knows stand at fixed places of the parameter block, so that it reads them as constants.
//! The others follow as long as there is room, and go through a device buffer when there is none: which of the two is decided
//! by each call, in the same kernel. Divisors are accompanied by their reciprocals.

use super::run::Role;
use crate::bind::Place;
use crate::dtype::DType;
use crate::graph::Binary;
use crate::plan::{Plan, Slot};
use crate::program::{Inst, Program, Val};

/// Most bytes of operands at fixed places, of all sections together.
const FIXED_BYTES: usize = 2048;

/// Where the operands of a kernel stand.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Operands at fixed places: number and offset.
    fixed: Vec<(usize, usize)>,
    /// Reciprocals of the elements of fixed operands: the operand and the offset.
    reciprocals: Vec<(usize, usize)>,
    /// Operands whose place depends on the call.
    movable: Vec<usize>,
    fixed_bytes: usize,
    capacity: usize,
}

/// An operand that travels with a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The operand.
    pub operand: usize,
    /// Bytes from the start of the block's or the buffer's operands.
    pub at: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

/// What one call sends, and where.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// Operands in the parameter block, from [`super::Params::sent_offset`] on.
    pub block: Vec<Piece>,
    /// Places in the block for the reciprocals of an operand's elements, as [`reciprocals`] computes them.
    pub reciprocals: Vec<Piece>,
    /// Operands in a device buffer.
    pub buffer: Vec<Piece>,
    /// Bytes of that buffer.
    pub buffer_bytes: usize,
}

impl Pieces {
    /// Where an operand starts.
    pub fn offset(&self, operand: usize) -> Option<usize> {
        self.block.iter().chain(&self.buffer).find(|p| p.operand == operand).map(|p| p.at)
    }
}

pub(super) fn bytes_of(slot: &Slot) -> usize {
    let len: i64 = slot.axes.iter().map(|a| a.axis.extent).product();
    len.max(0) as usize * slot.element_bytes()
}

impl Sent {
    pub(super) fn new(plan: &Plan, programs: &[Option<&Program>], role: Role) -> Sent {
        let mut sent = Sent::default();
        let most = FIXED_BYTES / if let Role::Section(of) = role { of } else { 1 };
        for (i, slot) in plan.inputs.iter().enumerate().filter(|(_, s)| s.place == Place::Host) {
            let divides = programs.iter().flatten().any(|p| is_divisor(p, i));
            let bytes = bytes_of(slot).next_multiple_of(16);
            let wanted = bytes * if divides { 2 } else { 1 };
            if slot.exact_len().is_none() || sent.fixed_bytes + wanted > most {
                sent.movable.push(i);
                continue;
            }
            sent.fixed.push((i, sent.fixed_bytes));
            if divides {
                sent.reciprocals.push((i, sent.fixed_bytes + bytes));
            }
            sent.fixed_bytes += wanted;
        }
        sent
    }

    /// Takes `room` bytes of the block where operands of any size travel, else as many as there are.
    pub(super) fn settle(&mut self, room: usize) {
        // Kernels name the place, even if there is no room.
        let room = room.max(self.fixed_bytes + 16);
        self.capacity = if self.movable.is_empty() { self.fixed_bytes } else { room };
    }

    /// Bytes of operands at fixed places.
    pub(super) fn fixed_bytes(&self) -> usize {
        self.fixed_bytes
    }

    /// Bytes of the parameter block for operands.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether some operand may have to go through a device buffer.
    pub fn any_movable(&self) -> bool {
        !self.movable.is_empty()
    }

    /// The fixed place of an operand.
    pub(super) fn fixed(&self, operand: usize) -> Option<usize> {
        self.fixed.iter().find(|(i, _)| *i == operand).map(|(_, at)| *at)
    }

    /// Where the reciprocal of the divisor `v` stands, if it is sent.
    pub(super) fn reciprocal(&self, program: &Program, v: Val) -> Option<usize> {
        let Inst::Load { operand, component: 0, index } = program.inst(v) else { return None };
        let start = self.reciprocals.iter().find(|(i, _)| *i == usize::from(*operand))?.1;
        match index.as_ref() {
            [] => Some(start),
            [k] => program.constant(*k).and_then(|k| usize::try_from(k.as_i64()?).ok()).map(|k| start + 4 * k),
            _ => None,
        }
    }

    /// What a call with this plan sends.
    pub fn pieces(&self, plan: &Plan) -> Pieces {
        let piece = |operand: usize, at: usize| Piece { operand, at, bytes: bytes_of(&plan.inputs[operand]) };
        let places = |list: &[(usize, usize)]| list.iter().map(|(i, at)| piece(*i, *at)).collect();
        let line_up = |start: usize| {
            let mut at = start;
            let mut list = Vec::with_capacity(self.movable.len());
            for i in &self.movable {
                list.push(piece(*i, at));
                at = (at + bytes_of(&plan.inputs[*i])).next_multiple_of(16);
            }
            (list, at)
        };
        let mut pieces =
            Pieces { block: places(&self.fixed), reciprocals: places(&self.reciprocals), ..Pieces::default() };
        let (beside, end) = line_up(self.fixed_bytes);
        if end <= self.capacity {
            pieces.block.extend(beside);
        } else {
            (pieces.buffer, pieces.buffer_bytes) = line_up(0);
        }
        pieces
    }
}

/// Whether `f32` elements of this operand divide something, each found by a literal index.
fn is_divisor(program: &Program, operand: usize) -> bool {
    program.values().any(|v| match program.inst(v) {
        Inst::Binary(Binary::Div, _, d) if program.dtype(*d) == DType::F32 => match program.inst(*d) {
            Inst::Load { operand: o, index, .. } if usize::from(*o) == operand => match index.as_ref() {
                [] => true,
                [k] => program.constant(*k).is_some(),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    })
}

/// The reciprocal that a kernel divides by `d` with: correctly rounded, or NaN where that division would not be exact (the
/// kernel then divides in full).
pub(super) fn reciprocal(d: f32) -> f32 {
    let size = d.abs();
    let plain = (2f32.powi(-40)..=2f32.powi(40)).contains(&size) && d.to_bits() & 0x7f_ffff != 0x7f_ffff;
    if plain { 1.0 / d } else { f32::NAN }
}

/// Writes the reciprocals of `f32` elements.
pub fn reciprocals(elements: &[u8], places: &mut [u8]) {
    for (element, place) in elements.chunks_exact(4).zip(places.chunks_exact_mut(4)) {
        let d = f32::from_le_bytes([element[0], element[1], element[2], element[3]]);
        place.copy_from_slice(&reciprocal(d).to_le_bytes());
    }
}
