//! Whether memory is where, as long and as laid out as a kernel takes it.

use super::Misfit;
use super::element::{fits_memory, wrong_type};
use tilewright_driver::argument::{Access, Axes, ElementType, MOST_AXES, Memory, Shape};
use tilewright_headers::cuda_type::CudaType;
use tilewright_headers::layout::{Axis, DeclaredTensor};

pub(super) fn check_memory(
    of: &CudaType,
    constant: bool,
    device: usize,
    element: &ElementType,
    memory: &Memory<'_>,
) -> Result<(), Misfit> {
    if !fits_memory(of, element, &memory.shape) {
        return Err(wrong_type(of, element));
    }
    if memory.device != Some(device) {
        let got = memory.device.map_or("the CPU".to_owned(), |number| format!("GPU {number}"));
        return Err(Misfit::Place { got, expected: format!("GPU {device}") });
    }
    match memory.access {
        Access::Read if !constant => return Err(Misfit::ReadOnly),
        Access::Shared if !constant => return Err(Misfit::Shared),
        _ => {}
    }
    let no_elements = |axes: &Axes| axes.iter().any(|(_, extent, _)| extent == 0);
    if memory.len == 0 || memory.address == 0 || matches!(&memory.shape, Shape::Axes(axes) if no_elements(axes)) {
        return Err(Misfit::Empty);
    }
    // A struct's own alignment is known to its Rust twin's allocation only; numbers inside have 8 bytes at most.
    let alignment = of.alignment();
    if !memory.address.is_multiple_of(alignment as u64) {
        return Err(Misfit::Alignment { address: memory.address, alignment, element: of.to_string() });
    }
    Ok(())
}

pub(super) fn check_axes(tensor: &DeclaredTensor, dims: &[(String, i64)], axes: &Axes) -> Result<(), Misfit> {
    let declared = |name: &str| dims.iter().any(|(dim, _)| dim == name);
    if dims.len() != axes.names.len() || !axes.names.iter().all(|name| declared(name)) {
        let expected: Vec<&str> = dims.iter().map(|(dim, _)| dim.as_str()).collect();
        return Err(Misfit::Dimensions { expected: expected.join(", "), got: axes.names.join(", ") });
    }
    for (dim, expected) in dims {
        let given = axes.iter().find(|(name, ..)| name == dim);
        let (_, got, stride) = given.unwrap_or(("", 0, 0));
        if got != *expected {
            return Err(Misfit::Extent { dim: dim.clone(), expected: *expected, got });
        }
        check_strides(tensor, dim, stride)?;
    }
    Ok(())
}

/// An axis that counts in units of `fold` is where a plain one would be if its step is as long as `fold` plain steps.
fn check_strides(tensor: &DeclaredTensor, dim: &str, stride: i64) -> Result<(), Misfit> {
    let axes = || tensor.layout.axes().iter().filter(|a| a.dim == dim);
    let finest = axes().map(|a| a.fold).min().unwrap_or(1);
    if finest > 1 {
        return Err(Misfit::Coarse { dim: dim.to_owned(), fold: finest });
    }
    let step = |a: &Axis| stride.saturating_mul(i64::from(a.fold));
    match axes().find(|a| a.size > 1 && a.stride != step(a)) {
        Some(a) => Err(Misfit::Stride { axis: a.to_string(), expected: a.stride, got: step(a) }),
        None => Ok(()),
    }
}

pub(super) fn check_length(tensor: &DeclaredTensor, element: &ElementType, memory: &Memory<'_>) -> Result<(), Misfit> {
    let bytes = tensor.element.bytes().unwrap_or(element.bytes) as u64;
    let expected = tensor.layout.storage().unsigned_abs().saturating_mul(bytes);
    let got = (memory.len as u64).saturating_mul(element.bytes as u64);
    if got < expected { Err(Misfit::Length { expected, got }) } else { Ok(()) }
}

/// Whether the elements lie one behind the other, the last axis fastest.
pub(super) fn is_dense(axes: &Axes) -> bool {
    let (rank, mut expected) = (axes.names.len().min(MOST_AXES), 1i64);
    axes.extents[..rank].iter().zip(&axes.strides[..rank]).rev().all(|(extent, stride)| {
        let fits = *extent == 1 || *stride == expected;
        expected = expected.saturating_mul(*extent);
        fits
    })
}
