//! Memory of kernels on the host model: elements as bytes, at addresses as a GPU's, with guards around what is written.

use super::Exactly;
use tilewright_expr::{bf16, f16};
use tilewright_ops::conv::Precision;

fn bytes<T: Exactly + bytemuck::NoUninit>(values: &[f32]) -> Vec<u8> {
    let values: Vec<T> = values.iter().map(|v| T::of(*v)).collect();
    bytemuck::cast_slice(&values).to_vec()
}

fn values<T: Exactly + bytemuck::Pod>(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(size_of::<T>()).map(|v| bytemuck::pod_read_unaligned::<T>(v).value()).collect()
}

/// Values as elements of a type.
pub(crate) fn to_bytes(precision: Precision, values: &[f32]) -> Vec<u8> {
    match precision {
        Precision::F16 => bytes::<f16>(values),
        Precision::Bf16 => bytes::<bf16>(values),
        Precision::F32 => bytes::<f32>(values),
    }
}

pub(crate) fn from_bytes(precision: Precision, bytes: &[u8]) -> Vec<f32> {
    match precision {
        Precision::F16 => values::<f16>(bytes),
        Precision::Bf16 => values::<bf16>(bytes),
        Precision::F32 => values::<f32>(bytes),
    }
}

/// Memory at a multiple of 128 bytes, as buffers of a GPU have it.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Line([u8; 128]);

pub(crate) fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = vec![Line([0; 128]); bytes.len().div_ceil(128).max(1)];
    lines.iter_mut().zip(bytes.chunks(128)).for_each(|(line, part)| line.0[..part.len()].copy_from_slice(part));
    lines
}

/// As [`lines`], with one before and one behind that nothing may write.
pub(crate) fn guarded(bytes: &[u8]) -> Vec<Line> {
    let guard = Line([GUARD; 128]);
    let mut all = [vec![guard], lines(bytes), vec![guard]].concat();
    // What of the last line belongs to nobody is guarded too.
    all[1 + bytes.len() / 128].0[bytes.len() % 128..].fill(GUARD);
    all
}

const GUARD: u8 = 0xa5;

/// So many bytes of what [`guarded`] has made. Panics where something was written beside them.
pub(crate) fn within(lines: &[Line], len: usize) -> Vec<u8> {
    let all: Vec<u8> = lines.iter().flat_map(|line| line.0).collect();
    let (before, rest) = all.split_at(128);
    let (bytes, behind) = rest.split_at(len);
    assert!(before.iter().chain(behind).all(|byte| *byte == GUARD), "written beside a result of {len} bytes");
    bytes.to_vec()
}
