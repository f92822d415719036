//! Elements from one memory to another: between devices, into vectors and arrays, and into a tensor that is there.

use super::axes::{for_each_offset, names};
use super::{GpuMemory, Item, Memory, Tensor};
use crate::device::Device;
use crate::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_driver::{DeviceBuffer, DeviceBytes, DeviceRoom};
use tilewright_expr::DType;

impl<T: Item, L: Dims> Tensor<T, L> {
    /// The same tensor on `device`: itself if it is there, else a copy without gaps, in which what a view repeats stands once.
    /// From a GPU this waits for the results.
    pub fn to(&self, device: &Device) -> Result<Self, Error> {
        match (&self.memory, device) {
            (Memory::Host(_), Device::Cpu) => Ok(self.clone()),
            (Memory::Host(_), Device::Gpu(gpu)) => {
                let axes = self.axes.packed();
                let bytes = gpu.stream().upload(bytemuck::cast_slice(&self.packed()))?;
                let memory = Memory::Gpu(Arc::new(GpuMemory { gpu: gpu.clone(), bytes }));
                Ok(Tensor { memory, axes, start: 0, _layout: PhantomData })
            }
            (Memory::Gpu(m), Device::Gpu(gpu)) if m.gpu.same(gpu) => Ok(self.clone()),
            (Memory::Gpu(_), _) => self.download()?.to(device),
        }
    }

    /// Its memory, where that is a GPU's and has its elements in `L`'s order and nothing else.
    pub fn device_bytes(&self) -> Option<DeviceBytes<'_>> {
        match &self.memory {
            Memory::Gpu(m) if self.fills(&m.bytes) => Some(m.bytes.device_bytes()),
            _ => None,
        }
    }

    /// The same to be written: nothing too where the memory is shared.
    pub fn device_room(&mut self) -> Option<DeviceRoom<'_>> {
        let fills = self.device_bytes().is_some();
        match &mut self.memory {
            Memory::Gpu(m) if fills => Arc::get_mut(m).map(|m| m.bytes.device_room()),
            _ => None,
        }
    }

    fn fills(&self, memory: &DeviceBuffer<u8>) -> bool {
        self.start == 0 && self.axes.is_dense() && memory.len() == self.len() * size_of::<T>()
    }

    fn download(&self) -> Result<Self, Error> {
        let Memory::Gpu(m) = &self.memory else { return Ok(self.clone()) };
        let memory = Memory::Host(Arc::new(values_of(m)?));
        Ok(Tensor { memory, axes: self.axes, start: self.start, _layout: PhantomData })
    }

    /// The elements in `L`'s order, the last dimension fastest. From a GPU this waits for the results.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let host = self.download()?;
        let Memory::Host(m) = &host.memory else { return Ok(Vec::new()) };
        let memory = &m[self.lowest().min(m.len())..];
        if self.axes.is_dense() {
            return Ok(memory[..self.len()].to_vec());
        }
        let mut values = Vec::with_capacity(self.len());
        for_each_offset(self.axes.as_slice(), |at| values.push(memory[at]));
        Ok(values)
    }

    /// The elements as an array whose axes are `L`'s dimensions in order.
    pub fn to_array(&self) -> Result<ndarray::ArrayD<T>, Error> {
        let (extents, values) = (self.extents(), self.to_vec()?);
        let got = values.len();
        ndarray::ArrayD::from_shape_vec(extents.clone(), values).map_err(|_| Error::Length {
            dims: names::<L>(),
            expected: extents.iter().product(),
            extents,
            got,
        })
    }

    /// Copies `values`, in `L`'s order, into the tensor, which keeps its place and layout. A view that repeats elements is refused.
    pub fn write(&mut self, values: &[T]) -> Result<(), Error> {
        if values.len() != self.len() {
            let dims = names::<L>();
            return Err(Error::Length { dims, extents: self.extents(), expected: self.len(), got: values.len() });
        }
        if let Some(axis) = self.axes.repeated() {
            let dim = L::NAMES[L::IDS.iter().position(|d| *d == axis.dim).unwrap_or(0)];
            return Err(Error::Repeated { dim, extent: axis.extent as usize });
        }
        let (axes, lowest) = (self.axes, self.lowest());
        let put = |memory: &mut [T]| {
            let memory = &mut memory[lowest..];
            let mut rest = values.iter();
            for_each_offset(axes.as_slice(), |at| rest.next().into_iter().for_each(|v| memory[at] = *v));
        };
        match &mut self.memory {
            Memory::Host(m) => put(Arc::get_mut(m).ok_or_else(|| Error::shared(&axes))?),
            Memory::Gpu(m) => {
                let memory = Arc::get_mut(m).ok_or_else(|| Error::shared(&axes))?;
                if axes.is_dense() && memory.bytes.len() == size_of_val(values) {
                    return Ok(memory.bytes.copy_from_slice(bytemuck::cast_slice(values))?);
                }
                let mut all = values_of::<T>(memory)?;
                put(&mut all);
                memory.bytes.copy_from_slice(bytemuck::cast_slice(&all))?;
            }
        }
        Ok(())
    }

    /// The elements of a host tensor in `L`'s order, those that a view repeats once.
    fn packed(&self) -> Vec<T> {
        let Memory::Host(m) = &self.memory else { return Vec::new() };
        let memory = &m[self.lowest().min(m.len())..];
        let mut once = self.axes;
        once.as_mut_slice().iter_mut().filter(|a| a.stride == 0).for_each(|a| a.extent = a.extent.min(1));
        if once.is_dense() {
            return memory[..once.len()].to_vec();
        }
        let mut values = Vec::with_capacity(once.len());
        for_each_offset(once.as_slice(), |at| values.push(memory[at]));
        values
    }
}

/// All elements of device memory. Of `bool` every byte but 0 is true, as it is in kernels.
fn values_of<T: Item>(memory: &GpuMemory) -> Result<Vec<T>, Error> {
    memory.gpu.synchronize()?;
    let len = memory.bytes.len();
    // Words, so that the bytes are aligned for every element type.
    let mut words = vec![0u128; len.div_ceil(16)];
    memory.bytes.copy_to_slice(&mut bytemuck::cast_slice_mut(&mut words)[..len])?;
    let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[..len];
    if T::DTYPE == DType::Bool {
        bytes.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    let values: &[T] =
        bytemuck::checked::try_cast_slice(bytes).map_err(|_| Error::Bits { element: T::DTYPE.name() })?;
    Ok(values.to_vec())
}
