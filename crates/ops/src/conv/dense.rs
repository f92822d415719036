//! Operands of convolutions as memory without gaps, whatever their layout was.

use super::element::Convolved;
use super::error::of_workspace;
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::tensor::{Item, Memory, Tensor};
use std::sync::Arc;
use tilewright_dims::{Dims, dims};
use tilewright_driver::DeviceBuffer;

dims! {
    /// A tensor's first dimension, whatever it is called.
    D0,
    /// Its second.
    D1,
    /// Its third.
    D2,
    /// Its fourth.
    D3
}

/// Four dimensions by position.
pub(crate) type Quad = (D0, D1, D2, D3);

/// Bytes that operands on a GPU are aligned to: what a thread loads at once, and what tensor maps ask for.
const ALIGNMENT: u64 = 16;

/// Memory that holds a tensor's elements in its order, from element `start` on.
pub(super) struct Dense<'a, T> {
    memory: &'a Memory<T>,
    start: usize,
    len: usize,
}

impl<'a, T: Item> Dense<'a, T> {
    /// The elements, if they are on the host.
    pub(super) fn host(&self) -> Option<&'a [T]> {
        match self.memory {
            Memory::Host(values) if self.len > 0 => values.get(self.start..self.start + self.len),
            Memory::Host(_) => Some(&[]),
            Memory::Gpu(_) => None,
        }
    }
}

impl<T: Item> Dense<'_, T> {
    /// The memory of a GPU that holds the elements, and the byte of it at which they begin.
    pub(super) fn on_gpu(&self) -> Option<(&DeviceBuffer<u8>, usize)> {
        match self.memory {
            Memory::Host(_) => None,
            Memory::Gpu(memory) => Some((&memory.bytes, self.start * size_of::<T>())),
        }
    }
}

impl<T: Item> DenseMut<'_, T> {
    /// The memory of a GPU that is to hold the elements, and the byte of it at which they begin.
    pub(super) fn on_gpu(&self) -> Option<(&DeviceBuffer<u8>, usize)> {
        match &*self.memory {
            Memory::Host(_) => None,
            Memory::Gpu(memory) => Some((&memory.bytes, self.start * size_of::<T>())),
        }
    }
}

/// As [`Dense`], to be written.
pub(super) struct DenseMut<'a, T> {
    memory: &'a mut Memory<T>,
    start: usize,
    len: usize,
}

impl<'a, T: Item> DenseMut<'a, T> {
    /// The elements, if they are on the host and nobody else's.
    pub(super) fn host(self) -> Option<&'a mut [T]> {
        match self.memory {
            Memory::Host(values) => Arc::get_mut(values)?.get_mut(self.start..self.start + self.len),
            Memory::Gpu(_) => None,
        }
    }
}

/// The elements of a tensor without gaps, from an aligned address on: itself, or what [`packed`] made of it.
pub(super) fn dense<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> Dense<'_, T> {
    let len = tensor.len();
    let (memory, _, start) = tensor.parts();
    Dense { memory, start, len }
}

/// As [`dense`], to be written; refuses memory that a clone or a view holds too.
pub(super) fn dense_mut<T: Item, L: Dims>(tensor: &mut Tensor<T, L>) -> Result<DenseMut<'_, T>, Error> {
    let len = tensor.len();
    let (memory, axes, start) = tensor.parts_mut();
    let alone = match memory {
        Memory::Host(values) => Arc::get_mut(values).is_some(),
        Memory::Gpu(memory) => Arc::get_mut(memory).is_some(),
    };
    match alone {
        true => Ok(DenseMut { memory, start, len }),
        false => Err(Error::shared(axes)),
    }
}

/// The sizes of a tensor with four dimensions.
pub(super) fn sizes<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> [usize; 4] {
    let (_, axes, _) = tensor.parts();
    std::array::from_fn(|i| axes.as_slice().get(i).map_or(1, |axis| axis.extent as usize))
}

/// Whether kernels can take the tensor as it lies.
pub(super) fn lies_dense<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> bool {
    let (memory, axes, start) = tensor.parts();
    let aligned = match memory {
        Memory::Host(_) => true,
        Memory::Gpu(m) => (m.bytes.device_ptr() + (start * size_of::<T>()) as u64).is_multiple_of(ALIGNMENT),
    };
    aligned && axes.is_dense()
}

/// The tensor by position and without gaps: the same memory where that is so, else a copy in `call`'s workspace.
pub(super) fn packed<T: Convolved, L: Dims>(
    call: &'static str,
    tensor: &Tensor<T, L>,
) -> Result<Tensor<T, Quad>, Error> {
    let by_position = tensor.clone().renamed::<Quad>();
    if lies_dense(&by_position) || by_position.is_empty() {
        return Ok(by_position);
    }
    of_workspace(call, T::copies().call(&by_position))
}

/// The GPU that all of these are on, if they are on one: `None` is the CPU. Numbers of operands are those of errors.
pub(super) fn one_place(devices: &[Device]) -> Result<Option<&Gpu>, Error> {
    let Some((first, others)) = devices.split_first() else { return Ok(None) };
    for (i, device) in others.iter().enumerate() {
        let same = match (first, device) {
            (Device::Cpu, Device::Cpu) => true,
            (Device::Gpu(a), Device::Gpu(b)) => a.same(b),
            _ => false,
        };
        if !same {
            return Err(Error::Devices { operand: i + 1, got: device.to_string(), expected: first.to_string() });
        }
    }
    Ok(first.as_gpu())
}

/// Runs `write` on the tensor's memory. A tensor with gaps gets a copy of what `write` has written into one without, in `call`'s workspace.
pub(super) fn write_packed<T: Convolved, L: Dims>(
    call: &'static str,
    tensor: &mut Tensor<T, L>,
    write: impl FnOnce(DenseMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    if lies_dense(tensor) {
        return write(dense_mut(tensor)?);
    }
    let nothing = Tensor::result(&[0; 4], None)?;
    let mut by_position = std::mem::replace(tensor, nothing).renamed::<Quad>();
    let written = write_with_gaps(call, &mut by_position, write);
    *tensor = by_position.renamed();
    written
}

fn write_with_gaps<T: Convolved>(
    call: &'static str,
    tensor: &mut Tensor<T, Quad>,
    write: impl FnOnce(DenseMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let extents = sizes(tensor).map(|e| e as i64);
    let mut without_gaps = of_workspace(call, Tensor::<T, Quad>::result(&extents, tensor.device().as_gpu()))?;
    write(dense_mut(&mut without_gaps)?)?;
    T::copies().call_into(tensor, &without_gaps)
}
