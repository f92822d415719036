//! Tensors as arguments of a user's kernel.

use super::{Item, Memory, Tensor};
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_driver::argument::{self, Access, Given, MOST_AXES, Shape};
use tilewright_driver::{Argument, IntoArgument};

impl<T: Item, L: Dims> Tensor<T, L> {
    fn described(&self, access: Access) -> Argument<'_> {
        let (mut extents, mut strides) = ([1; MOST_AXES], [0; MOST_AXES]);
        for (axis, (extent, stride)) in self.axes.as_slice().iter().zip(extents.iter_mut().zip(&mut strides)) {
            (*extent, *stride) = (axis.extent, axis.stride);
        }
        let shape = Shape::Axes(argument::Axes { names: L::NAMES, extents, strides });
        let memory = match &self.memory {
            Memory::Host(m) => {
                let len = m.len().saturating_sub(self.start);
                argument::Memory { address: 0, len, access, device: None, stream: None, shape }
            }
            Memory::Gpu(m) => argument::Memory {
                address: m.bytes.device_ptr() + (self.start * size_of::<T>()) as u64,
                len: (m.bytes.len() / size_of::<T>()).saturating_sub(self.start),
                access,
                device: Some(m.gpu.ordinal()),
                stream: Some(m.gpu.stream()),
                shape,
            },
        };
        Argument { element: argument::ElementType::of::<T>(), given: Given::Memory(memory) }
    }
}

impl<T: Item, L: Dims> IntoArgument for &Tensor<T, L> {
    fn argument(&mut self) -> Argument<'_> {
        self.described(Access::Read)
    }
}

impl<T: Item, L: Dims> IntoArgument for &mut Tensor<T, L> {
    fn argument(&mut self) -> Argument<'_> {
        let alone = match &mut self.memory {
            Memory::Host(m) => Arc::get_mut(m).is_some(),
            Memory::Gpu(m) => Arc::get_mut(m).is_some(),
        };
        self.described(if alone { Access::Write } else { Access::Shared })
    }
}
