//! Bytes in ordinary memory that are values of any type.

use crate::Error;
use std::ops::{Deref, DerefMut};
use tilewright_expr::DType;
use tilewright_expr::dtype::{HostSlice, HostSliceMut};

/// Bytes at an address that every element type may have.
#[derive(Debug)]
pub(super) struct Bytes {
    words: Vec<u128>,
    bytes: usize,
}

impl Bytes {
    /// So many zeros.
    pub(super) fn new(bytes: usize) -> Bytes {
        Bytes { words: vec![0; bytes.div_ceil(size_of::<u128>())], bytes }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// Calls `$body` for the slice that is of type `$dtype`.
macro_rules! of_type {
    ($dtype:expr, $slice:ident, $cast:ident, $bytes:expr) => {
        match $dtype {
            DType::Bool => bytemuck::checked::$cast($bytes).map($slice::Bool).ok(),
            DType::U8 => Some($slice::U8($bytes)),
            DType::I8 => bytemuck::$cast($bytes).map($slice::I8).ok(),
            DType::U16 => bytemuck::$cast($bytes).map($slice::U16).ok(),
            DType::I16 => bytemuck::$cast($bytes).map($slice::I16).ok(),
            DType::U32 => bytemuck::$cast($bytes).map($slice::U32).ok(),
            DType::I32 => bytemuck::$cast($bytes).map($slice::I32).ok(),
            DType::U64 => bytemuck::$cast($bytes).map($slice::U64).ok(),
            DType::I64 => bytemuck::$cast($bytes).map($slice::I64).ok(),
            DType::F16 => bytemuck::$cast($bytes).map($slice::F16).ok(),
            DType::BF16 => bytemuck::$cast($bytes).map($slice::BF16).ok(),
            DType::F32 => bytemuck::$cast($bytes).map($slice::F32).ok(),
            DType::F64 => bytemuck::$cast($bytes).map($slice::F64).ok(),
        }
    };
}

/// Bytes as values to read.
pub(super) fn values(dtype: DType, bytes: &[u8]) -> Result<HostSlice<'_>, Error> {
    of_type!(dtype, HostSlice, try_cast_slice, bytes).ok_or_else(|| not_values(dtype))
}

/// Bytes as values to write.
pub(super) fn values_mut(dtype: DType, bytes: &mut [u8]) -> Result<HostSliceMut<'_>, Error> {
    of_type!(dtype, HostSliceMut, try_cast_slice_mut, bytes).ok_or_else(|| not_values(dtype))
}

/// Only bytes of `bool` that are neither 0 nor 1 are no values: the others are aligned.
fn not_values(dtype: DType) -> Error {
    tilewright_ops::Error::Bits { element: dtype.name() }.into()
}
