//! Whether the memory that a section is given holds what its plan says.

use super::HostSection;
use crate::bind::View;
use crate::dtype::{DType, HostSlice, HostSliceMut};
use crate::error::Error;

/// How messages call elements of several components: [`Rect`](crate::Rect), [`Affine`](crate::Affine),
/// [`Perspective`](crate::Perspective).
fn structs(components: u8) -> &'static str {
    match components {
        4 => "rectangles",
        6 => "affine maps",
        _ => "perspective maps",
    }
}

impl HostSection {
    /// Refuses slices of other elements, or of too few.
    pub(super) fn check_memory(&self, inputs: &[HostSlice<'_>], outputs: &[HostSliceMut<'_>]) -> Result<(), Error> {
        let memory =
            inputs.iter().map(|s| (s.len(), s.name())).chain(outputs.iter().map(|s| (s.len(), s.dtype().name())));
        let slots = self.plan.inputs.iter().chain(&self.plan.outputs);
        for (i, (slot, (len, got))) in slots.zip(memory).enumerate() {
            let operand = || match i.checked_sub(inputs.len()) {
                None => format!("operand {i}"),
                Some(o) => format!("output {o}"),
            };
            let expected = if slot.components == 1 { slot.dtype.name() } else { structs(slot.components) };
            if got != expected {
                return Err(Error::Elements { operand: operand(), expected, got });
            }
            let axes: Vec<_> = slot.axes.iter().map(|a| a.axis).collect();
            let needed = View::reach(&axes);
            if needed > len as i64 {
                return Err(Error::Memory { operand: operand(), needed, got: len as i64 });
            }
        }
        Ok(())
    }
}

impl HostSlice<'_> {
    /// What its elements are called.
    fn name(&self) -> &'static str {
        match self {
            HostSlice::Rect(_) => structs(4),
            HostSlice::Affine(_) => structs(6),
            HostSlice::Perspective(_) => structs(9),
            _ => self.dtype().name(),
        }
    }

    /// The type of each component.
    pub fn dtype(&self) -> DType {
        match self {
            HostSlice::Bool(_) => DType::Bool,
            HostSlice::U8(_) => DType::U8,
            HostSlice::I8(_) => DType::I8,
            HostSlice::U16(_) => DType::U16,
            HostSlice::I16(_) => DType::I16,
            HostSlice::U32(_) => DType::U32,
            HostSlice::I32(_) | HostSlice::Rect(_) => DType::I32,
            HostSlice::U64(_) => DType::U64,
            HostSlice::I64(_) => DType::I64,
            HostSlice::F16(_) => DType::F16,
            HostSlice::BF16(_) => DType::BF16,
            HostSlice::F32(_) | HostSlice::Affine(_) | HostSlice::Perspective(_) => DType::F32,
            HostSlice::F64(_) => DType::F64,
        }
    }
}
